"""What there is: stated facts, things found on first look, things made; and what is not there."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from itertools import pairwise

from mcp_world.core.clock import iso, parse_time
from mcp_world.core.errors import BadInput
from mcp_world.core.ledger import Entity, Ledger, Origin, fits
from mcp_world.core.seed import Rng, digest
from mcp_world.core.types import Json
from mcp_world.engines.contract import Facts
from mcp_world.engines.procedural.model import Kind, Model
from mcp_world.engines.procedural.pattern import NoMatch, string_for
from mcp_world.engines.procedural.values import Hint
from mcp_world.spec.names import kind_of, words

_ABSENT = frozenset(
    {
        "missing",
        "nonexistent",
        "nonexisting",
        "nope",
        "ghost",
        "nowhere",
        "nobody",
        "nothing",
        "invalid",
        "bogus",
    }
)
_ABSENT_PAIRS = (("no", "such"), ("not", "exist"), ("non", "existent"), ("does", "not"), ("not", "real"))


class Population:
    """The things of one world.

    Args:
        model: The reading of the server.
        ledger: The world's ledger.
        seed: The world's seed.
        start: The world's time before its first step; what was there then is older.
        now: The world's time.
    """

    def __init__(self, model: Model, ledger: Ledger, seed: int, start: datetime, now: datetime) -> None:
        self.model = model
        self.ledger = ledger
        self.seed = seed
        self.start = start
        self.now = now

    def all(self, kind: Kind, scope: Mapping[str, Json]) -> list[Entity]:
        """The things of a kind within a scope; on the first look at a scope, some are found there."""
        self._fill(kind, scope)
        return self.known(kind, scope)

    def known(self, kind: Kind, scope: Mapping[str, Json]) -> list[Entity]:
        """The things of a kind within a scope that are there already."""
        folder = scope.get(kind.folder) if kind.folder else None
        if not isinstance(folder, str):
            return self.ledger.within(kind.name, scope)
        rest = {name: value for name, value in scope.items() if name != kind.folder}
        return [e for e in self.ledger.within(kind.name, rest) if _folder(str(e.id)) == folder.rstrip("/")]

    def closed(self, kind: Kind, scope: Mapping[str, Json]) -> bool:
        """Whether all there is of a kind within a scope has been stated or listed, so that a new name is a wrong one."""
        return self.ledger.marked(("stated", kind.name)) or self.ledger.marked(("listed", *_key(kind, scope)))

    def list_all(self, kind: Kind, scope: Mapping[str, Json]) -> None:
        """Note that the agent has been shown how many there are of a kind within a scope."""
        self.ledger.mark(("listed", *_key(kind, scope)))

    def locate(self, kind: Kind, id: Json, scope: Mapping[str, Json]) -> Entity | None:
        """The thing of an id within a scope, or None where it is not there.

        A name that people make up (a repository, a channel, a path) is taken to be there on first sight, as long as
        nothing was stated or listed that says otherwise; an id that a service gives out must be known.
        """
        found = [e for e in self.ledger.find(kind.name, id) if fits(e.scope, scope)]
        for entity in found:
            if entity.deleted is None:
                return entity
        if found or self.closed(kind, scope) or not may_be(kind, id) or self.ledger.marked(("absent", str(id))):
            return None
        if not kind.natural:
            self._fill(kind, scope)
            return next(
                (e for e in self.ledger.find(kind.name, id) if fits(e.scope, scope) and e.deleted is None), None
            )
        if absent(id):
            return None
        return self.find(kind, id, scope)

    def find(
        self,
        kind: Kind,
        id: Json,
        scope: Mapping[str, Json],
        fields: dict[str, Json] | None = None,
        age: float = 0.5,
    ) -> Entity:
        """Put in a thing that was always there, only not seen yet."""
        scope = {name: value for name, value in scope.items() if name != kind.folder}
        oldest = self._parent_born(kind, scope) or self.start - timedelta(days=300)
        jitter = Rng.of(self.seed, kind.name, id, "born").below(600)
        moment = max(
            oldest,
            min(self.start, self.start - (self.start - oldest) * age * 0.95 - timedelta(seconds=jitter)),
        )
        return self._add(kind, id, scope, fields or {}, moment, found=True)

    def make(self, kind: Kind, id: Json, scope: Mapping[str, Json], fields: dict[str, Json]) -> Entity:
        """Put in a thing that the agent makes now."""
        return self._add(kind, id, scope, fields, self.now, found=False)

    def _add(
        self,
        kind: Kind,
        id: Json,
        scope: Mapping[str, Json],
        fields: dict[str, Json],
        moment: datetime,
        *,
        found: bool,
    ) -> Entity:
        origin: Origin = "found" if found else "made"
        return self.ledger.add(kind.name, id, scope=dict(scope), fields=fields, origin=origin, born=iso(moment))

    def next_id(self, kind: Kind, scope: Mapping[str, Json], fields: Mapping[str, Json]) -> Json:
        """An id for a new thing, in the style of those there are."""
        given = fields.get(kind.id_field)
        if given is None and kind.natural:
            name = next(
                (fields[f] for f in ("name", "title", "path", "slug", "key") if isinstance(fields.get(f), str)),
                None,
            )
            given = "-".join(words(name)) if isinstance(name, str) and kind.id_field in ("slug", "key") else name
        if given is not None and may_be(kind, given):
            return given
        self._fill(kind, scope)
        for value in scope.values():
            if may_be(kind, f"{value}-1") and not may_be(kind, "1"):  # a ticket's key begins with its project's
                return f"{value}-{self.ledger.next(f'{kind.name}:{value}', len(self.known(kind, scope)) + 1)}"
        if kind.whole:
            return self.ledger.top(kind.name, scope) + 1
        style = _numbered(next(self.ledger.ids(kind.name), ""))
        if style is not None:
            stem, width = style
            used = [text[len(stem) :] for text in map(str, self.ledger.ids(kind.name)) if text.startswith(stem)]
            return f"{stem}{max(int(number) for number in used if number.isdigit()) + 1:0{width}d}"
        return self.fresh_id(kind, scope, self.ledger.next(f"id:{kind.name}"))

    def parents(self, entity: Entity) -> list[Entity]:
        """The things that one belongs to."""
        return self._parents(self.model.kind(entity.kind), entity.scope)

    def _parents(self, kind: Kind, scope: Mapping[str, Json]) -> list[Entity]:
        """The things that a scope names."""
        return [
            entity
            for arg, parent in kind.parents.items()
            if arg in scope
            for entity in self.ledger.find(parent, scope[arg])
            if fits(entity.scope, scope) and entity.deleted is None
        ]

    def _parent_born(self, kind: Kind, scope: Mapping[str, Json]) -> datetime | None:
        born = [entity.born for entity in self._parents(kind, scope) if entity.born]
        return parse_time(max(born)) if born else None

    # finding

    def _fill(self, kind: Kind, scope: Mapping[str, Json]) -> None:
        if self.ledger.marked(("stated", kind.name)) or not self.ledger.mark(("filled", *_key(kind, scope))):
            return
        rng = Rng.of(self.seed, "population", *_key(kind, scope))
        deep = len(scope) >= 3
        wanted = rng.between(0, 6) if deep else rng.between(9, 36)
        if any(parent.origin == "made" for parent in self._parents(kind, scope)):
            return  # what was only just made has nothing in it yet
        have = len(self.known(kind, scope))
        for index in range(max(0, wanted - have)):
            age = 1 - (index + 1) / (wanted + 1)
            id = index + 1 if kind.whole else self.fresh_id(kind, scope, index)
            if kind.whole:
                while any(fits(e.scope, scope) for e in self.ledger.find(kind.name, id)):
                    id += 1
            if not any(fits(e.scope, scope) for e in self.ledger.find(kind.name, id)):
                self.find(kind, id, scope, age=age)

    def fresh_id(self, kind: Kind, scope: Mapping[str, Json], index: object) -> Json:
        """An id in the style of the kind's own field."""
        node = kind.id_node or {}
        for attempt in range(20):
            rng = Rng(digest(self.seed, "id", *_key(kind, scope), index, attempt))
            id = self._styled(kind, node, scope, rng)
            if not self.ledger.find(kind.name, id):
                return id
        return f"{id}-{index}"

    def _styled(self, kind: Kind, node: dict[str, Json], scope: Mapping[str, Json], rng: Rng) -> Json:
        values = self.model.values
        field = kind.id_field
        hint = Hint(field, kind.noun, self.start)
        folder = scope.get(kind.folder) if kind.folder else None
        if isinstance(folder, str):
            return f"{folder.rstrip('/')}/{values.title(Hint('title', 'file', self.start), rng)}"
        examples = node.get("examples")
        if isinstance(node.get("enum"), list) and node["enum"]:
            return rng.pick(node["enum"])
        if isinstance(node.get("pattern"), str):
            try:
                return string_for(node["pattern"], rng, int(node.get("minLength", 0)), node.get("maxLength"))
            except NoMatch:
                pass
        if isinstance(node.get("format"), str):
            text = values.format(node["format"], hint, rng)
            if text is not None:
                return text
        if isinstance(examples, list) and examples and isinstance(examples[0], str):
            return _like(examples[0], rng)
        if kind.natural:
            last = words(field)[-1]
            if last in ("name", "title", "slug", "key"):
                return values.title(Hint("title", kind.noun, self.start), rng) if last != "slug" else values.slug(rng)
            return values.string(hint, rng)
        last = words(field)[-1] if words(field) else "id"
        if last in ("id", "key", "code", "number", "uid"):
            return values.identifier(kind.noun or "item", rng)
        return values.string(hint, rng)


def may_be(kind: Kind, id: Json) -> bool:
    """Whether an id has the form that results of this kind ask for."""
    known = kind.fields.get(kind.id_field)
    if known is None or not known.stated or not isinstance(id, str):
        return True
    check = known.fabricator.checker(known.fabricator.flattener.flat(known.node))
    return check is None or check.is_valid(id)


def absent(id: Json) -> bool:
    """Whether a name says of itself that it is not there, as testers write them: `no-such-repo`."""
    parts = words(str(id))
    return bool(_ABSENT & set(parts)) or any((a, b) in _ABSENT_PAIRS for a, b in pairwise(parts))


def state(ledger: Ledger, model: Model, facts: Facts) -> None:
    """Put stated records into a fresh ledger. What is stated of a kind is all there is of it at the start.

    Args:
        ledger: An empty ledger.
        model: The reading of the server.
        facts: Records by kind, singular or plural.

    Raises:
        BadInput: A stated value is not valid in the results that would show it.
    """
    for text, records in facts.items():
        kind = model.kind_named(text) or model.kind(kind_of(text))
        ledger.mark(("stated", kind.name))
        for index, given in enumerate(records):
            record = {kind.spelling(name) or name: value for name, value in given.items()}
            for name, value in record.items():
                _conforms(kind, name, value, f"facts#/{text}/{index}/{name}")
            names = (kind.id_field, "id", f"{kind.noun}_id", "key", "number", "name", "path", "slug", "title")
            id = next((record[name] for name in names if isinstance(record.get(name), str | int)), index + 1)
            scope = {name: given[name] for name in kind.scope if name in given}
            ledger.add(kind.name, id, scope=scope, fields={kind.id_field: id, **record}, origin="fact")
    ledger.commit()


def _conforms(kind: Kind, name: str, value: Json, where: str) -> None:
    known = kind.fields.get(name)
    if known is None or not known.stated:
        return
    check = known.fabricator.checker(known.fabricator.flattener.flat(known.node))
    if check is not None and not check.is_valid(value):
        wrong = check.violations(value)
        raise BadInput(
            f"{wrong[0].message if wrong else 'not valid'}",
            where=where,
            do="Results that show it would not conform to the tool's outputSchema.",
        )


def _key(kind: Kind, scope: Mapping[str, Json]) -> tuple[str, ...]:
    return (kind.name, *(f"{name}={scope[name]}" for name in sorted(scope) if scope[name] is not None))


def _folder(path: str) -> str:
    return path.rsplit("/", 1)[0] if "/" in path else ""


def _numbered(id: Json) -> tuple[str, int] | None:
    """The stem and width of an id that ends in a number, such as tx_9 or INV-0012."""
    text = str(id)
    stem = text.rstrip("0123456789")
    digits = len(text) - len(stem)
    return (
        (stem, digits if text[len(stem)] == "0" else 1) if 0 < digits < 10 and stem and not stem[-1].isalnum() else None
    )


def _like(example: str, rng: Rng) -> str:
    """A text with the letters and digits of an example changed, its first word kept."""
    head = ""
    for mark in ("_", "-"):
        if mark in example:
            head = example[: example.index(mark) + 1]
            break
    tail = example[len(head) :]
    hexish = all(c in "0123456789abcdef-" for c in tail)
    out = []
    for c in tail:
        if c.isdigit() and not (hexish and any(ch.isalpha() for ch in tail)):
            out.append(rng.pick("0123456789"))
        elif hexish and c != "-":
            out.append(rng.pick("0123456789abcdef"))
        elif c.isalpha():
            out.append(rng.pick("ABCDEFGHJKLMNPQRSTUVWXYZ" if c.isupper() else "abcdefghijkmnpqrstuvwxyz"))
        else:
            out.append(c)
    return head + "".join(out)
