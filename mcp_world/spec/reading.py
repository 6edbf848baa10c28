"""What a tool means, read from its name, annotations, description and arguments: a verb, a noun, and what each argument is for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from mcp_world.spec.flatten import Flattener, types_of
from mcp_world.spec.model import Tool
from mcp_world.spec.names import kind_of, singular, words
from mcp_world.spec.schema import SchemaError

Verb = Literal["list", "get", "search", "count", "create", "update", "delete", "act", "upsert", "call"]
"""`act` moves a thing to another state (close, merge, archive); `call` is a plain function of its arguments."""

_VERBS: dict[str, Verb] = {
    **dict.fromkeys(("list", "ls", "enumerate", "browse", "index"), "list"),
    **dict.fromkeys(("get", "read", "fetch", "show", "describe", "view", "retrieve", "lookup", "inspect", "details", "download"), "get"),
    **dict.fromkeys(("search", "find", "query", "filter"), "search"),
    **dict.fromkeys(("count",), "count"),
    **dict.fromkeys(("create", "add", "new", "make", "post", "send", "insert", "register", "schedule", "book", "publish", "upload", "invite",
                     "place", "submit", "fork", "draft", "reply", "append", "append", "issue", "copy", "duplicate", "import", "comment"), "create"),
    **dict.fromkeys(("update", "edit", "modify", "patch", "change", "rename", "move", "configure", "adjust"), "update"),
    **dict.fromkeys(("set", "put", "upsert", "write", "save", "replace", "store", "apply"), "upsert"),
    **dict.fromkeys(("delete", "remove", "destroy", "drop", "unlink", "purge", "trash", "uninstall", "erase"), "delete"),
    **dict.fromkeys(("close", "reopen", "merge", "approve", "cancel", "archive", "unarchive", "complete", "assign", "unassign", "lock", "unlock",
                     "star", "unstar", "pin", "unpin", "mute", "unmute", "enable", "disable", "pause", "resume", "restart", "stop", "start",
                     "confirm", "reject", "accept", "decline", "refund", "capture", "void", "dispute", "resolve", "snooze", "mark", "watch",
                     "unwatch", "scale", "rollback", "revoke", "transfer", "share", "convert", "deactivate", "activate", "finalize", "pay",
                     "respond", "terminate", "abort", "expire", "retry", "win", "lose", "cordon", "uncordon", "restore", "suspend"), "act"),
}  # fmt: skip


def is_verb(word: str) -> bool:
    """Whether a word of a tool's name says what it does, and is no noun at other times."""
    return word in _VERBS and word not in _NOUNS_TOO


_PAST: dict[str, tuple[str, ...]] = {
    "close": ("closed",), "reopen": ("open", "reopened"), "merge": ("merged", "closed"), "approve": ("approved",),
    "cancel": ("cancelled", "canceled"), "archive": ("archived",), "unarchive": ("active", "open"), "complete": ("completed", "done"),
    "enable": ("enabled", "active"), "disable": ("disabled", "inactive"), "pause": ("paused",), "resume": ("active", "running", "resumed"),
    "stop": ("stopped",), "start": ("running", "started", "active", "in_progress"), "confirm": ("confirmed",), "reject": ("rejected",),
    "accept": ("accepted",), "decline": ("declined",), "refund": ("refunded",), "capture": ("captured", "succeeded", "paid"),
    "void": ("void", "voided"), "dispute": ("disputed",), "resolve": ("resolved", "closed"), "snooze": ("snoozed",),
    "revoke": ("revoked",), "activate": ("active",), "deactivate": ("inactive", "deactivated"), "finalize": ("open", "finalized"),
    "pay": ("paid",), "terminate": ("terminated",), "abort": ("aborted",), "expire": ("expired",), "win": ("won", "closed_won"),
    "lose": ("lost", "closed_lost"), "restore": ("active", "restored"), "suspend": ("suspended",), "publish": ("published",),
    "send": ("sent",), "lock": ("locked",), "unlock": ("unlocked",), "mute": ("muted",), "star": ("starred",), "pin": ("pinned",),
    "read": ("read",), "convert": ("converted", "qualified"),
}  # fmt: skip

_NOUNS_TOO = frozenset({"issue", "comment", "draft", "refund", "dispute", "index", "post", "share", "transfer", "star", "label",
                        "invite", "order", "book", "schedule", "watch", "lock", "report", "pin", "count", "details"})  # fmt: skip
_LANGUAGES = frozenset({"query", "statement", "sql", "command", "code", "script", "expression", "promql"})
"""What is said in a language of its own, and run rather than kept."""
_OWNERS = frozenset({"owner", "org", "workspace", "tenant", "organization", "account"})
_SMALL = frozenset({"a", "an", "the", "of", "for", "in", "on", "to", "from", "by", "with", "at", "all", "my", "and", "or", "your", "current",
                    "id", "ids", "v1", "v2", "v3", "api", "new", "single", "specific", "multiple", "many", "batch", "bulk", "tool",
                    "details", "detail", "info", "information", "list"})  # fmt: skip
_CUT = frozenset({"to", "from", "by", "in", "for", "of", "on", "with", "at", "as"})
ABBREVIATIONS = {"repo": "repository", "org": "organization", "db": "database", "msg": "message", "pr": "pull_request", "dm": "message",
                  "doc": "document", "env": "environment", "ns": "namespace", "tx": "transaction", "conv": "conversation"}  # fmt: skip

_ENDS = (("source", "destination"), ("from", "to"), ("old_path", "new_path"), ("src", "dst"), ("old_name", "new_name"))
"""Arguments of a move: what is moved, and where to."""

_PAGE = frozenset({"page", "page_number", "pagenumber"})
_LIMIT = frozenset({"limit", "per_page", "page_size", "max_results", "count", "first", "top", "size", "max", "num_results", "n", "take",
                    "max_items", "rows", "number_of_results", "max_count", "top_k", "result_limit", "limit_results"})  # fmt: skip
_OFFSET = frozenset({"offset", "skip", "start_index", "start_at", "from_index"})
_CURSOR = frozenset({"cursor", "after", "page_token", "next_token", "next_cursor", "starting_after", "continuation_token", "marker",
                     "start_cursor", "continue_token", "next_page_token", "continue"})  # fmt: skip
_SORT = frozenset({"sort", "sort_by", "order_by", "sort_field", "orderby", "sort_key"})
_ORDER = frozenset({"order", "direction", "sort_order", "sort_direction", "order_direction", "sort_dir"})
_QUERY = frozenset({"query", "q", "search", "search_query", "keyword", "keywords", "term", "search_term", "text", "search_text", "pattern",
                    "filter_text", "name_contains"})  # fmt: skip
_IGNORED = frozenset({"fields", "format", "verbose", "include", "expand", "locale", "language", "response_format", "output_format", "timeout",
                      "dry_run", "idempotency_key", "request_id", "detail", "raw", "select", "pretty", "confirm", "units"})  # fmt: skip
_BODIES = frozenset({"body", "data", "fields", "updates", "properties", "attributes", "payload", "patch", "record", "changes", "values",
                     "params", "resource", "item", "object", "input"})  # fmt: skip
_ID_WORDS = ("id", "number", "key", "name", "slug", "path", "sha", "ref", "uuid", "guid", "uri", "url", "ts", "code", "symbol", "handle",
             "email", "login", "username", "title", "iid", "arn", "uid")  # fmt: skip
_NATURAL = frozenset({"name", "slug", "path", "url", "uri", "title", "key", "login", "username", "email", "ref", "handle", "branch", "symbol",
                      "city", "location", "domain", "host", "hostname", "arn"})  # fmt: skip


@dataclass(slots=True)
class Reading:
    """What a tool means.

    Args:
        verb: What it does.
        word: The verb's word as written, such as `close`.
        kind: The noun, in the singular; empty where there is none.
        id_arg: The argument that names the thing, or "".
        id_list: The argument that holds a list of ids, or "".
        items_arg: The argument that holds a list of things to handle one by one, or "".
        scope: Arguments that say what the things belong to.
        page, limit, offset, cursor, sort, order, query: The arguments of those roles, or "".
        bodies: Arguments that are objects of fields.
        filters: Arguments that narrow a list.
        content: Arguments that carry a thing's fields.
    """

    verb: Verb
    word: str
    kind: str
    properties: dict[str, dict[str, Any]]
    required: frozenset[str]
    id_arg: str = ""
    id_list: str = ""
    items_arg: str = ""
    scope: tuple[str, ...] = ()
    page: str = ""
    limit: str = ""
    offset: str = ""
    cursor: str = ""
    sort: str = ""
    order: str = ""
    query: str = ""
    bodies: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()
    content: tuple[str, ...] = ()
    defaults: dict[str, Any] = field(default_factory=dict)

    @property
    def state_words(self) -> tuple[str, ...]:
        """The states that the verb leads to, such as closed for close."""
        return _PAST.get(self.word, ())

    @property
    def writes(self) -> bool:
        """Whether the tool changes the world."""
        return self.verb in ("create", "update", "delete", "act", "upsert")

    def scope_of(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """What a call's things belong to, by argument."""
        return {name: arguments[name] for name in self.scope if arguments.get(name) is not None}

    def filters_given(self, arguments: Mapping[str, Any]) -> bool:
        """Whether a call's arguments narrow a list: by a query, or by a filter that is not left at its default."""
        names = (*self.filters, self.query) if self.query else self.filters
        return any(arguments.get(name) not in (None, "", self.defaults.get(name)) for name in names)


def is_natural(name: str) -> bool:
    """Whether a field of this name holds names that people make up, rather than ids that a service gives out."""
    parts = words(name)
    return bool(parts) and parts[-1] in _NATURAL


def role_name(name: str) -> str:
    """An argument's name in snake case, for look-ups."""
    return "_".join(words(name))


def read(tool: Tool, prefix: tuple[str, ...] = (), nouns: frozenset[str] = frozenset()) -> Reading:
    """Read a tool.

    Args:
        tool: The tool.
        prefix: Words that every tool of the server begins with, such as its own name.
        nouns: Kinds that other tools of the server speak of.
    """
    schema = tool.input.checked if tool.input is not None else {}
    flattener = Flattener(schema)
    flat = _flat(flattener, schema)
    found = flat.get("properties")
    properties = {k: _solid(flattener, v) for k, v in found.items()} if isinstance(found, dict) else {}
    listed = flat.get("required")
    required = frozenset(k for k in listed if isinstance(k, str)) if isinstance(listed, list) else frozenset()
    verb, word, kind, many = _verb_and_noun(tool, prefix)
    reading = Reading(verb, word, kind, properties, required)
    _roles(reading, nouns, many)
    _mend(reading, tool, many)
    reading.defaults = {k: v["default"] for k, v in properties.items() if v.get("default") is not None}
    return reading


def _flat(flattener: Flattener, node: Any) -> dict[str, Any]:
    """A flat schema; nothing is known of one whose references go in a circle."""
    try:
        return flattener.flat(node)
    except SchemaError:
        return {}


def _solid(flattener: Flattener, node: Any) -> dict[str, Any]:
    """A property's flat schema; of `X or null`, the X."""
    flat = _flat(flattener, node)
    try:
        branches = [b for b in flattener.branches(flat) if b.get("type") != "null"]
    except SchemaError:
        return flat
    if len(branches) == 1:
        return {**{k: v for k, v in flat.items() if k in ("default", "description")}, **branches[0]}
    return flat


def _verb_and_noun(tool: Tool, prefix: tuple[str, ...]) -> tuple[Verb, str, str, bool]:
    parts = words(tool.own_name)
    if prefix and parts[: len(prefix)] == prefix and len(parts) > len(prefix):
        parts = parts[len(prefix) :]
    verb: Verb | None = None
    word = ""
    at = -1
    for index in (0, len(parts) - 1, *range(1, len(parts) - 1)):
        if 0 <= index < len(parts) and parts[index] in _VERBS:
            verb, word, at = _VERBS[parts[index]], parts[index], index
            break
    if verb is None:
        spoken = words(tool.description[:60])
        first = spoken[0] if spoken else ""
        first = first.removesuffix("s") if first.removesuffix("s") in _VERBS else first
        if first in ("get", "list", "search", "create", "update", "delete") and len(parts) <= 3:
            verb, word = _VERBS[first], first
        elif (
            tool.annotations.get("destructiveHint") is True
            and tool.annotations.get("readOnlyHint") is False
            and "delete" in spoken
        ):
            verb, word = "delete", "delete"
        else:
            return "call", parts[0] if parts else "", kind_of("_".join(parts)), False
    if word in ("create", "update") and "update" in parts and ("create" in parts) and "or" in parts:
        verb = "upsert"
    if word == "query" and (len(parts) == 1 or at > 0):
        return "call", parts[0], "", False  # run_query, explain_query, query: a language of its own
    noun = _noun(parts, at) or list(prefix[-1:])
    many = (bool(noun) and singular(noun[-1]) != noun[-1]) or any(
        p in ("batch", "bulk", "multiple", "many") for p in parts
    )
    kind = kind_of("_".join(noun))
    kind = ABBREVIATIONS.get(kind, kind)
    if "reply" in parts and word == "reply":
        kind = "message"
    return verb, word, kind, many


def _noun(parts: tuple[str, ...], at: int) -> list[str]:
    """The words of the noun: those behind the verb, up to a preposition; where there are none, those before it."""
    for side in (parts[at + 1 :], parts[: max(at, 0)]):
        noun: list[str] = []
        for index, part in enumerate(side):
            if part in _CUT and noun:
                break
            last = index + 1 == len(side) or side[index + 1] in _CUT
            second_verb = part in _VERBS and part not in _NOUNS_TOO and not last
            if part not in _SMALL and not part.isdigit() and not second_verb:
                noun.append(part)
        if noun:
            return noun
    return []


def _roles(reading: Reading, nouns: frozenset[str], many: bool) -> None:
    left: list[str] = []
    for name, schema in reading.properties.items():
        role = role_name(name)
        types = types_of(schema)
        number = not types or set(types) & {"integer", "number"}
        if reading.verb in ("list", "search", "get", "count", "call"):
            if role in _PAGE and number and not reading.page:
                reading.page = name
            elif role in _LIMIT and number and not reading.limit:
                reading.limit = name
            elif role in _OFFSET and number and not reading.offset:
                reading.offset = name
            elif role in _CURSOR and "string" in types and "format" not in schema and not reading.cursor:
                reading.cursor = name
            elif role in _SORT and not reading.sort:
                reading.sort = name
            elif role in _ORDER and not reading.order:
                reading.order = name
            elif (
                role in _QUERY
                and reading.verb in ("list", "search", "count")
                and not reading.query
                and "object" not in types
            ):
                reading.query = name
            else:
                left.append(name)
        else:
            left.append(name)
    if (
        reading.sort == ""
        and reading.order
        and _enum_words(reading.properties[reading.order]) - {"asc", "desc", "ascending", "descending"}
    ):
        reading.sort, reading.order = reading.order, ""
    _identify(reading, left, many)
    taken = {reading.id_arg, reading.id_list, reading.items_arg} - {""}
    left = [name for name in left if name not in taken]
    scope, bodies, filters, content = [], [], [], []
    for name in left:
        types = types_of(reading.properties[name])
        role = role_name(name)
        if role in _IGNORED and reading.verb not in ("create", "upsert", "update"):
            continue
        if types == ["object"] and role in _BODIES and reading.writes:
            bodies.append(name)
        elif _is_scope(name, reading, nouns):
            scope.append(name)
        elif reading.verb in ("list", "search", "count", "get"):
            filters.append(name)
        else:
            content.append(name)
    reading.scope, reading.bodies, reading.filters, reading.content = (
        tuple(scope),
        tuple(bodies),
        tuple(filters),
        tuple(content),
    )


def _enum_words(schema: dict[str, Any]) -> set[str]:
    options = schema.get("enum")
    return {str(option).lower() for option in options} if isinstance(options, list) else set()


def _identify(reading: Reading, names: list[str], many: bool) -> None:
    """Which argument names the thing, or the things."""
    kind = words(reading.kind)
    last = kind[-1] if kind else ""
    if reading.writes or reading.verb == "get":
        for name in names:
            schema = reading.properties[name]
            items = schema.get("items")
            if types_of(schema) != ["array"] or not isinstance(items, dict):
                continue
            stem = words(name)
            about = bool(stem) and (
                singular(stem[-1]) == last or stem[-1] in ("items", "records", "requests", "operations", "entries")
            )
            if "properties" in items and about and reading.verb in ("create", "update", "upsert", "delete", "act"):
                reading.items_arg = name
                return
            plain = not items or set(types_of(items)) & {"string", "integer"}
            idish = (
                stem[-1:] in (("ids",), ("keys",), ("names",), ("paths",), ("numbers",), ("urls",), ("uris",)) or about
            )
            if (
                plain
                and idish
                and reading.verb in ("get", "delete", "update", "act")
                and (many or name in reading.required)
            ):
                if reading.verb == "update" and any(
                    _matches_id(other, kind, reading) for other in names if other != name
                ):
                    continue
                reading.id_list = name
                return
    if reading.verb in ("get", "update", "delete", "act", "upsert"):
        single = [
            n
            for n in names
            if not types_of(reading.properties[n])
            or set(types_of(reading.properties[n])) & {"string", "integer", "number"}
        ]
        best = max(single, key=lambda n: _id_score(n, kind, reading), default="")
        if best and _id_score(best, kind, reading) > 0:
            reading.id_arg = best


def _matches_id(name: str, kind: tuple[str, ...], reading: Reading) -> bool:
    return _id_score(name, kind, reading) >= 6


def _id_score(name: str, kind: tuple[str, ...], reading: Reading) -> int:
    """How likely an argument names the thing itself; 0 for not at all."""
    parts = words(name)
    if not parts:
        return 0
    last = kind[-1] if kind else ""
    full = tuple(words(ABBREVIATIONS.get(parts[0], parts[0])))
    must = 3 if name in reading.required else 0
    if not must and reading.verb in ("create",):
        return 0
    if parts == ("id",):
        return 12 + must
    if parts[-1] in ("id", "number", "key", "sha", "ts", "uuid", "iid", "uid", "slug", "arn"):
        stem = parts[:-1]
        if stem and (
            stem == kind
            or stem[-1:] == kind[-1:]
            or "".join(stem) == "".join(kind)
            or ABBREVIATIONS.get("_".join(stem)) == "_".join(kind)
        ):
            return 11 + must
        if not stem:
            return 7 + must
        if last and last in stem:
            return 8 + must
        if len(kind) > 1 and stem[-1] in kind and must:
            return 3 + must
        return 0
    if last and (parts == kind or parts[-1] == last or full == kind):
        return 9 + must
    if parts[-1] in (
        "name",
        "path",
        "url",
        "uri",
        "title",
        "email",
        "login",
        "username",
        "symbol",
        "code",
        "ref",
        "handle",
    ):
        stem = parts[:-1]
        if stem and stem[-1:] == kind[-1:]:
            return 10 + must
        if not stem and must and reading.verb != "upsert":
            return 6 + must
        if not stem and must and parts[-1] in ("path", "name"):
            return 6 + must
    return 0


def _is_scope(name: str, reading: Reading, nouns: frozenset[str]) -> bool:
    """Whether an argument says what the things belong to."""
    if (
        not set(types_of(reading.properties[name])) & {"string", "integer", "number"}
        or "enum" in reading.properties[name]
    ):
        return False
    parts = words(name)
    stem = "_".join(parts[:-1]) if parts[-1:] and parts[-1] in _ID_WORDS else "_".join(parts)
    stem = ABBREVIATIONS.get(stem, stem)
    stem = kind_of(stem)
    needed = name in reading.required
    if len(parts) == 1 and parts[0] in _OWNERS:
        return needed
    if reading.verb in ("list", "search", "count"):
        return (needed and reading.verb != "search") or (needed and (stem in nouns or parts[-1] == "id"))
    known = stem in nouns and stem != reading.kind
    if reading.verb == "create":
        return (
            known and needed and (parts[-1] in ("id", "number", "key", "slug", "name", "ref", "ts") or len(parts) == 1)
        )
    return needed and (known or parts[-1] in ("id", "number"))


def _mend(reading: Reading, tool: Tool, many: bool) -> None:
    """Second thoughts, once the arguments are known."""
    read_only = tool.annotations.get("readOnlyHint") is True
    if reading.writes and read_only:
        reading.verb = "get" if reading.id_arg else "call"
    if reading.verb == "get" and not reading.id_arg and not reading.id_list:
        paged = reading.limit or reading.page or reading.cursor or reading.offset
        if many or paged:
            reading.verb = "list"
            _again(reading)
        elif not reading.kind or reading.required:
            reading.verb = "call"  # a function of its arguments, such as the weather of a place
    elif reading.verb == "get" and (many or reading.limit) and reading.id_arg and _foreign(reading):
        reading.verb = "list"
        reading.scope = (*reading.scope, reading.id_arg)
        reading.id_arg = ""
    if words(reading.kind)[-1:] and words(reading.kind)[-1] in _LANGUAGES and reading.verb != "list":
        reading.verb = "call"
    if reading.verb == "upsert" and not reading.id_arg and not reading.items_arg:
        reading.verb = "create"
    if reading.verb == "update" and not reading.id_arg and reading.word in ("move", "rename"):
        ends = next((pair for pair in _ENDS if all(end in reading.properties for end in pair)), None)
        if ends is not None:
            reading.id_arg = ends[0]
            reading.content = tuple(name for name in reading.content if name != ends[0])
    if reading.verb in ("update", "delete", "act") and not (reading.id_arg or reading.id_list or reading.items_arg):
        reading.verb = "create" if reading.word in ("schedule",) else "call"


def _foreign(reading: Reading) -> bool:
    """Whether the id of a plural is that of something else: the files of a pull request are many, by its number."""
    stem = words(reading.id_arg)
    return len(stem) > 1 and words(reading.kind)[-1] not in [singular(word) for word in stem]


def _again(reading: Reading) -> None:
    """Required plain filters of what turned out to be a list are its scope."""
    moved = tuple(
        name for name in reading.filters
        if name in reading.required and "enum" not in reading.properties[name] and set(types_of(reading.properties[name])) & {"string", "integer"}
    )  # fmt: skip
    reading.scope = (*reading.scope, *moved)
    reading.filters = tuple(name for name in reading.filters if name not in moved)
