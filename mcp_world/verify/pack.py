"""Rule packs: files of rules, found by name or path, and tried on their own examples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, get_args

from mcp_world.core.errors import BadInput
from mcp_world.core.types import Json, Severity
from mcp_world.spec.files import find, read_data, shipped
from mcp_world.verify.expression import VARIABLES, Expression, ExpressionError
from mcp_world.verify.rules import Example, Match, Pack, Rule, Template

FOLDER: Final = "verifiers"
_RULE = frozenset({"rule", "match", "when", "check", "message", "severity", "tags", "passes", "fails"})
_PACK = frozenset({"about", "match", "rules"})
_MATCH = frozenset({"server", "tool", "annotations"})
_EMPTY: Final[dict[str, Json]] = {
    "args": {}, "result": None, "text": "", "is_error": False, "ledger": [], "step": 1, "previous": None, "tool": "", "record": None,
}  # fmt: skip


def load_pack(name: str) -> Pack:
    """A pack by its name or path.

    Raises:
        BadInput: There is none, or it is wrong; says which rule, and where in it.
    """
    return read_pack(find(FOLDER, name))


def shipped_packs() -> Iterator[tuple[str, Path]]:
    """The packs that can be named: the user's own and those that ship."""
    return shipped(FOLDER)


def read_pack(path: Path) -> Pack:
    """Read a pack from a file.

    Raises:
        BadInput: It cannot be read, or is wrong.
    """
    data = read_data(path)
    where = str(path)
    if not isinstance(data, dict) or not isinstance(data.get("rules"), list):
        raise BadInput("a pack is an object with a list of rules", where=where, do="See docs/verifiers.md.")
    _known(data, _PACK, where)
    match = _match(data.get("match"), f"{where}#/match")
    rules: list[Rule] = []
    names: set[str] = set()
    for index, entry in enumerate(data["rules"]):
        rule = _rule(entry, path.stem, match, f"{where}#/rules/{index}")
        if rule.name in names:
            raise BadInput(f"there is a rule {rule.name!r} already", where=f"{where}#/rules/{index}/rule")
        names.add(rule.name)
        rules.append(rule)
    return Pack(path.stem, rules)


def self_test(pack: Pack) -> Iterator[str]:
    """Each example that a rule judges otherwise than the pack says, and each rule that has none, as a line."""
    for rule in pack.rules:
        for passes in (True, False):
            if not any(example.passes is passes for example in rule.examples):
                yield f"{rule.name}: no example that {'passes' if passes else 'fails'}"
        for number, example in enumerate(rule.examples, 1):
            applies, said = rule.applies(example.variables), rule.broken(example.variables)
            kind = "passes" if example.passes else "fails"
            if not applies:
                yield f"{rule.name}: example {number} ({kind}): `when` is not true of it, so that it shows nothing"
            elif example.passes and said is not None:
                yield f"{rule.name}: example {number} ({kind}) is found wrong: {said}"
            elif not example.passes and said is None:
                yield f"{rule.name}: example {number} ({kind}) is let pass"


def _rule(entry: Json, pack: str, outer: Match, where: str) -> Rule:
    if not isinstance(entry, dict):
        raise BadInput("a rule is an object", where=where)
    _known(entry, _RULE, where)
    name = entry.get("rule")
    if not isinstance(name, str) or not name:
        raise BadInput("a rule has a name", where=f"{where}/rule")
    severity = entry.get("severity", "error")
    if severity not in get_args(Severity):
        raise BadInput(
            f"the severity {severity!r} is none of {', '.join(get_args(Severity))}", where=f"{where}/severity"
        )
    tags = entry.get("tags", [])
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise BadInput("tags are a list of words", where=f"{where}/tags")
    own = _match(entry.get("match"), f"{where}/match")
    match = Match(own.servers or outer.servers, own.tools or outer.tools, {**outer.annotations, **own.annotations})
    when = entry.get("when")
    message = entry.get("message")
    if not isinstance(message, str) or not message:
        raise BadInput(f"rule {name!r} has no message", where=f"{where}/message")
    return Rule(
        f"{pack}/{name}",
        match,
        None if when is None else _expression(when, name, f"{where}/when"),
        _expression(entry.get("check"), name, f"{where}/check"),
        _template(message, name, f"{where}/message"),
        severity,
        tuple(tags),
        (*_examples(entry, "passes", name, where), *_examples(entry, "fails", name, where)),
    )


def _examples(entry: Mapping[str, Json], key: str, name: str, where: str) -> Iterator[Example]:
    given = entry.get(key, [])
    for index, variables in enumerate(given if isinstance(given, list) else [given]):
        place = f"{where}/{key}" + (f"/{index}" if isinstance(given, list) else "")
        if not isinstance(variables, dict):
            raise BadInput(f"an example of rule {name!r} is an object of variables", where=place)
        unknown = sorted(variables.keys() - VARIABLES)
        if unknown:
            raise BadInput(
                f"an example of rule {name!r} speaks of {unknown[0]!r}",
                where=place,
                do=f"Use {', '.join(sorted(VARIABLES))}.",
            )
        yield Example({**_EMPTY, **variables}, key == "passes")


def _match(data: Json, where: str) -> Match:
    if data is None:
        return Match()
    if not isinstance(data, dict):
        raise BadInput("match is an object", where=where)
    _known(data, _MATCH, where)
    annotations = data.get("annotations", {})
    if not isinstance(annotations, dict):
        raise BadInput("annotations are an object", where=f"{where}/annotations")
    return Match(_globs(data, "server", where), _globs(data, "tool", where), annotations)


def _globs(data: Mapping[str, Json], key: str, where: str) -> tuple[str, ...]:
    given = data.get(key, [])
    globs = given if isinstance(given, list) else [given]
    if not all(isinstance(glob, str) for glob in globs):
        raise BadInput(f"{key} is a glob or a list of globs", where=f"{where}/{key}")
    return tuple(globs)


def _expression(source: Json, name: str, where: str) -> Expression:
    if not isinstance(source, str) or not source.strip():
        raise BadInput(f"rule {name!r} needs an expression here, in quotes", where=where)
    try:
        return Expression(source)
    except ExpressionError as error:
        raise _wrong(error, name, where) from None


def _template(text: str, name: str, where: str) -> Template:
    try:
        return Template(text)
    except ExpressionError as error:
        raise _wrong(error, name, where) from None


def _wrong(error: ExpressionError, name: str, where: str) -> BadInput:
    line = f"line {error.line}, " if error.line > 1 else ""
    return BadInput(f"rule {name!r}, {line}column {error.column}: {error.reason}", where=where)


def _known(data: Mapping[str, Json], known: frozenset[str], where: str) -> None:
    unknown = sorted(data.keys() - known)
    if unknown:
        raise BadInput(f"there is no {unknown[0]!r} here", where=where, do=f"Use {', '.join(sorted(known))}.")
