"""Rules: what a step must be like, as data; anyone can write them, and they run no code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from mcp_world.core.encoding import encode
from mcp_world.core.types import Json, Severity, Violation
from mcp_world.verify.account import Account
from mcp_world.verify.expression import NOTHING, Expression, TooMuch
from mcp_world.verify.seen import Seen

_HOLE = re.compile(r"\{([^{}]+)\}")


@dataclass(frozen=True, slots=True)
class Match:
    """Which steps a rule is about.

    Args:
        servers: Globs of the server's name; empty for every one.
        tools: Globs of the tool's name; empty for every one.
        annotations: Annotations that the tool has.
    """

    servers: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    annotations: Mapping[str, Json] = field(default_factory=dict)

    def server(self, *names: str) -> bool:
        """Whether it is about a server of one of these names."""
        return not self.servers or any(fnmatchcase(name, glob) for name in names for glob in self.servers)

    def tool(self, names: Sequence[str], annotations: Mapping[str, Json]) -> bool:
        """Whether it is about a tool of one of these names and with these annotations."""
        return (not self.tools or any(fnmatchcase(name, glob) for name in names for glob in self.tools)) and all(
            annotations.get(name) == value for name, value in self.annotations.items()
        )


class Template:
    """A message in which `{…}` holds an expression.

    Args:
        text: The text.

    Raises:
        ExpressionError: An expression cannot be used.
    """

    __slots__ = ("_parts",)

    def __init__(self, text: str) -> None:
        pieces = _HOLE.split(text)
        self._parts: list[str | Expression] = [
            Expression(piece) if index % 2 else piece for index, piece in enumerate(pieces)
        ]

    @property
    def uses(self) -> frozenset[str]:
        """The variables that it speaks of."""
        return frozenset().union(*(part.uses for part in self._parts if isinstance(part, Expression)))

    def fill(self, variables: Mapping[str, Json]) -> str:
        """The text; what is not there is shown as `-`."""
        return "".join(part if isinstance(part, str) else _shown(part.value(variables)) for part in self._parts)


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    """A step that a rule lets pass, or finds wrong.

    Args:
        variables: What expressions may speak of.
        passes: Whether it is right.
    """

    variables: Mapping[str, Json]
    passes: bool


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """One rule of a pack.

    Args:
        name: Its name, with the pack's before it.
        match: Which steps it is about.
        when: Of these, which: an expression that is true. None for all.
        check: An expression that is true where the step is right.
        message: What is said where it is not.
        severity: How bad that is.
        tags: Words to choose it by.
        examples: Steps on which it was tried.
    """

    name: str
    match: Match
    when: Expression | None
    check: Expression
    message: Template
    severity: Severity
    tags: tuple[str, ...]
    examples: tuple[Example, ...]

    @property
    def uses(self) -> frozenset[str]:
        """The variables that it speaks of."""
        spoken = self.check.uses | self.message.uses
        return spoken if self.when is None else spoken | self.when.uses

    def applies(self, variables: Mapping[str, Json]) -> bool:
        """Whether the rule has something to say of a step."""
        return self.when is None or self.when.value(variables) is True

    def broken(self, variables: Mapping[str, Json]) -> str | None:
        """What is wrong with a step, or None.

        A rule that speaks of something that is not there says nothing.
        """
        if not self.applies(variables):
            return None
        value = self.check.value(variables)
        return self.message.fill(variables) if value is not True and value is not NOTHING else None


class Pack:
    """A verifier made of rules.

    Args:
        name: The pack's name.
        rules: Its rules.
    """

    def __init__(self, name: str, rules: Sequence[Rule]) -> None:
        self.name = name
        self.rules = tuple(rules)

    def __call__(self, seen: Seen, account: Account) -> Iterator[Violation]:
        """What rules find wrong with a step."""
        names = tuple({seen.tool.name, seen.tool.own_name})
        there: dict[str, Json] = {}
        for rule in self.rules:
            if not rule.match.tool(names, seen.tool.annotations):
                continue
            if not there:
                there = _plain(seen) | {"step": seen.step, "previous": account.last and _plain(account.last)}
            uses = rule.uses
            if "ledger" in uses and "ledger" not in there:
                there["ledger"] = account.to_json()  # only where it is spoken of, for it grows with the episode
            if "record" not in uses:
                yield from _judged(rule, there, "")
                continue
            for record in seen.records:
                yield from _judged(rule, {**there, "record": dict(record.fields)}, record.path)

    def within(self, *servers: str) -> Pack:
        """The rules that are about a server of one of these names."""
        return Pack(self.name, [rule for rule in self.rules if rule.match.server(*servers)])


def _judged(rule: Rule, variables: Mapping[str, Json], path: str) -> Iterator[Violation]:
    try:
        message = rule.broken(variables)
    except TooMuch:
        yield Violation(rule.name, path, "not run: the answer is too large for it", "info")
        return
    if message is not None:
        yield Violation(rule.name, path, message, rule.severity)


def _plain(seen: Seen) -> dict[str, Json]:
    """What expressions see of a step."""
    return {
        "tool": seen.tool.name, "args": dict(seen.arguments), "result": seen.data, "text": seen.observation.text,
        "is_error": seen.failed,
    }  # fmt: skip


def _shown(value: object) -> str:
    if value is NOTHING:
        return "-"
    if isinstance(value, str):
        return value
    try:
        return encode(value).decode()
    except (TypeError, ValueError):
        return str(value)
