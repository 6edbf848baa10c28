"""Names in schemas as words: `createdAt`, `created_at` and `CREATED-AT` are the same two."""

from __future__ import annotations

import re
from functools import lru_cache

_SPLIT = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

_IRREGULAR = {
    "people": "person", "children": "child", "indices": "index", "statuses": "status", "addresses": "address",
    "aliases": "alias", "branches": "branch", "searches": "search", "matches": "match", "batches": "batch",
    "classes": "class", "processes": "process", "boxes": "box", "taxes": "tax", "inboxes": "inbox", "series": "series",
    "news": "news", "data": "data", "media": "media", "status": "status", "address": "address", "access": "access",
    "analysis": "analysis", "kubernetes": "kubernetes", "dns": "dns", "ingress": "ingress", "ingresses": "ingress",
    "alias": "alias", "canvas": "canvas", "sms": "sms", "buses": "bus", "bus": "bus", "class": "class",
    "process": "process", "metadata": "metadata", "criteria": "criterion", "databases": "database",
    "releases": "release", "purchases": "purchase", "expenses": "expense", "invoices": "invoice", "leases": "lease",
    "bonus": "bonus", "campus": "campus", "progress": "progress", "business": "business", "businesses": "business",
    "gas": "gas", "diagnosis": "diagnosis", "https": "https", "aws": "aws", "ios": "ios", "https_": "https",
    "movies": "movie", "cookies": "cookie", "lies": "lie", "pies": "pie", "ties": "tie", "caches": "cache",
    "headaches": "headache", "axes": "axis", "phases": "phase", "cases": "case", "bases": "base", "uses": "use",
    "licenses": "license", "responses": "response", "expressions": "expression", "courses": "course",
    "warehouses": "warehouse", "houses": "house", "nurses": "nurse", "clauses": "clause", "causes": "cause",
    "sizes": "size", "prizes": "prize", "mazes": "maze", "mailboxes": "mailbox", "sandboxes": "sandbox",
}  # fmt: skip


@lru_cache(maxsize=65536)
def words(name: str) -> tuple[str, ...]:
    """The lower-case words of a name: `getHTTPStatus2` gives get, http, status, 2."""
    return tuple(part.lower() for part in _SPLIT.findall(name))


@lru_cache(maxsize=65536)
def singular(word: str) -> str:
    """The singular of an English noun; a word that is none comes back unchanged."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


@lru_cache(maxsize=65536)
def plural(word: str) -> str:
    """The plural of an English noun in the singular."""
    for many, one in _IRREGULAR.items():
        if one == word:
            return many
    if word.endswith("y") and len(word) > 1 and word[-2] not in "aeiou":
        return word[:-1] + "ies"
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return word + "es"
    return word + "s"


@lru_cache(maxsize=65536)
def kind_of(name: str) -> str:
    """A name as the kind of an entity: its words, the last in the singular, joined by `_`."""
    parts = words(name)
    if not parts:
        return ""
    return "_".join((*parts[:-1], singular(parts[-1])))


def spoken(kind: str) -> str:
    """A kind as prose has it: `pull_request` gives "pull request"."""
    return kind.replace("_", " ")


@lru_cache(maxsize=65536)
def same(a: str, b: str) -> bool:
    """Whether two names are one, whatever their style."""
    return words(a) == words(b)
