"""Values that fit their names: an `email` looks like one, a `sha` has forty digits, a `price` has two decimals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from uuid import UUID

from faker import Faker

from mcp_world.core.clock import iso
from mcp_world.core.errors import BadInput
from mcp_world.core.seed import Rng
from mcp_world.spec.names import plural, singular, spoken, words

_ALNUM = "abcdefghijklmnopqrstuvwxyz0123456789"
_HEX = "0123456789abcdef"
_BASE62 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

_SUBJECTS = ("checkout", "search", "billing", "login", "export", "sync", "upload", "webhook", "dashboard", "cache", "invoice",
             "calendar", "report", "notification", "settings", "import", "session", "payment", "profile", "backup")  # fmt: skip
_TROUBLES = ("times out under load", "returns stale data", "fails on empty input", "ignores the time zone", "loses its filters",
             "shows the wrong total", "breaks on mobile", "needs a retry", "should be documented", "is slow after the upgrade",
             "drops the last page", "rejects valid addresses")  # fmt: skip
_DOINGS = ("Fix", "Review", "Plan", "Update", "Document", "Test", "Simplify", "Measure", "Replace", "Prepare")
_ADJECTIVES = ("amber", "brisk", "calm", "delta", "eager", "forest", "granite", "harbor", "iron", "jade", "kite", "lunar", "maple",
               "north", "ocean", "pine", "quartz", "river", "silver", "tidal")  # fmt: skip
_THINGS = ("api", "app", "atlas", "beacon", "bridge", "core", "deck", "engine", "field", "gate", "hub", "kit", "lab", "mill",
           "portal", "relay", "stack", "tower", "vault", "works")  # fmt: skip
_TAGS = (
    "bug",
    "backend",
    "frontend",
    "urgent",
    "docs",
    "infra",
    "design",
    "security",
    "performance",
    "customer",
)
_STATES = ("open", "active", "pending", "closed", "completed")
_CITIES = (
    "Lisbon",
    "Oslo",
    "Kyoto",
    "Montreal",
    "Nairobi",
    "Vienna",
    "Austin",
    "Melbourne",
    "Gdansk",
    "Valparaiso",
    "Leeds",
    "Busan",
)
_CURRENCIES = ("USD", "EUR", "GBP", "PLN", "JPY")
_LANGUAGES = ("Python", "TypeScript", "Go", "Rust", "Java", "Ruby", "C++")
_EXTENSIONS = ("md", "txt", "py", "json", "csv", "pdf", "png")
_PATHS = ("src", "docs", "lib", "config", "data", "tests", "assets")
_PRODUCTS = ("Desk lamp", "Trail backpack", "Steel kettle", "Wool blanket", "Field notebook", "Ceramic mug", "Travel adapter",
             "Standing desk", "Rain jacket", "Bike light")  # fmt: skip
_WEATHER = ("Clear sky", "Light rain", "Partly cloudy", "Overcast", "Scattered showers", "Fog", "Light snow")
_EMOJI = ("thumbsup", "tada", "eyes", "heart", "rocket")
_MIMES = ("text/plain", "application/json", "text/markdown", "image/png", "application/pdf")


@dataclass(frozen=True, slots=True)
class Hint:
    """What a value is for.

    Args:
        name: The property's name.
        kind: The kind of entity that it belongs to, or the tool's subject; may be empty.
        now: The world's time.
    """

    name: str
    kind: str
    now: datetime


class Values:
    """Makers of values, in one locale.

    Args:
        locale: A Faker locale such as `en_US`, `de_DE`, `pl_PL`.

    Raises:
        BadInput: Faker has no such locale.
    """

    def __init__(self, locale: str = "en_US") -> None:
        try:
            self._faker = _faker(locale)
        except (AttributeError, ModuleNotFoundError):
            raise BadInput(
                f"there is no locale {locale!r}",
                where="--locale",
                do="Use one of Faker's, such as en_US or de_DE.",
            ) from None

    def faker(self, rng: Rng) -> Faker:
        """Faker, seeded from `rng`; use it at once."""
        self._faker.seed_instance(rng.bits())
        return self._faker

    # strings

    def string(self, hint: Hint, rng: Rng) -> str:
        """A string for a property that says no more than its name."""
        parts = words(hint.name)
        last = parts[-1] if parts else ""
        maker = _STRINGS.get("_".join(parts[-2:])) or _STRINGS.get(last) or _STRINGS.get(singular(last))
        if maker is not None:
            return maker(self, hint, rng)
        if (last in ("at", "on", "date", "time", "timestamp", "until", "since") and len(parts) > 1) or last in _TIMES:
            return self.time(hint, rng)
        if last.endswith("id") and last not in ("paid", "void", "valid", "grid", "bid", "android", "invalid"):
            return self.identifier(hint.kind if last == "id" and len(parts) == 1 else last, rng)
        subject = spoken(hint.kind) or "item"
        return f"{rng.pick(_ADJECTIVES).capitalize()} {spoken('_'.join(parts)) or subject}"

    def format(self, format: str, hint: Hint, rng: Rng) -> str | None:
        """A string of a JSON Schema format (2020-12 validation, section 7.3), or None for a format we do not know."""
        maker = _FORMATS.get(format)
        return None if maker is None else maker(self, hint, rng)

    def time(self, hint: Hint, rng: Rng) -> str:
        """An RFC 3339 time that fits the name: ends, dues and expiries lie ahead, the rest behind."""
        return iso(self.moment(hint, rng))

    def moment(self, hint: Hint, rng: Rng) -> datetime:
        """The time behind `time`."""
        parts = set(words(hint.name))
        if parts & _PRESENT:
            return hint.now.replace(microsecond=0)
        minutes = rng.below(60 * 24 * 60)
        if parts & {
            "due",
            "expires",
            "expiry",
            "expire",
            "expiration",
            "end",
            "ends",
            "until",
            "deadline",
            "next",
            "renews",
            "reset",
        }:
            ahead = 60 + minutes // 2 if not parts & {"end", "ends"} else 60 + minutes % 2880
            return (hint.now + timedelta(minutes=ahead)).replace(microsecond=0)
        if parts & {"start", "starts", "scheduled"}:
            return (hint.now + timedelta(minutes=minutes // 60 - 300)).replace(microsecond=0)
        if parts & {"updated", "modified", "last", "changed", "pushed", "seen", "edited", "activity"}:
            return (hint.now - timedelta(minutes=1 + minutes // 20)).replace(microsecond=0)
        if parts & {"birth", "birthday", "dob", "born"}:
            return (hint.now - timedelta(days=20 * 365 + rng.below(40 * 365))).replace(microsecond=0)
        return (hint.now - timedelta(minutes=4 * 24 * 60 + minutes * 5)).replace(microsecond=0)

    def identifier(self, kind: str, rng: Rng) -> str:
        """An opaque id with the kind's prefix, such as `tx_4f7a…`."""
        stem = words(kind)
        prefix = "".join(part[0] for part in stem) if len(stem) > 1 else (stem[0][:4] if stem else "id")
        return f"{prefix}_{rng.string(_ALNUM, 12)}"

    def person(self, rng: Rng) -> str:
        """A full name."""
        return str(self.faker(rng).name())

    def handle(self, rng: Rng) -> str:
        """A login name."""
        return str(self.faker(rng).user_name())

    def slug(self, rng: Rng) -> str:
        """A short name as repositories, channels and projects have it."""
        return f"{rng.pick(_ADJECTIVES)}-{rng.pick(_THINGS)}"

    def title(self, hint: Hint, rng: Rng) -> str:
        """A title that suits the kind."""
        kind = words(hint.kind)[-1] if words(hint.kind) else ""
        if kind in ("issue", "bug", "ticket", "request", "incident", "alert"):
            return f"{rng.pick(_SUBJECTS).capitalize()} {rng.pick(_TROUBLES)}"
        if kind in ("product", "item", "price", "sku"):
            return rng.pick(_PRODUCTS)
        if kind in (
            "user",
            "member",
            "contact",
            "customer",
            "person",
            "attendee",
            "profile",
            "guest",
            "author",
            "lead",
            "employee",
        ):
            return self.person(rng)
        if kind in ("company", "organization", "organisation", "account", "vendor", "supplier", "merchant"):
            return str(self.faker(rng).company())
        if kind in ("repository", "repo", "project", "channel", "service", "database", "table", "cluster", "namespace", "bucket",
                    "pod", "deployment", "branch", "app", "workspace", "server", "node", "domain", "index"):  # fmt: skip
            return self.slug(rng)
        if kind in ("label", "tag", "category"):
            return rng.pick(_TAGS)
        if kind in ("file", "document", "attachment"):
            return f"{rng.pick(_SUBJECTS)}-{rng.pick(_THINGS)}.{rng.pick(_EXTENSIONS)}"
        if kind in ("event", "meeting"):
            return f"{rng.pick(_SUBJECTS).capitalize()} {rng.pick(('review', 'planning', 'sync', 'workshop', 'retro'))}"
        return f"{rng.pick(_DOINGS)} the {rng.pick(_SUBJECTS)} {rng.pick(_THINGS)}"

    def sentence(self, rng: Rng) -> str:
        """One sentence of plain work talk."""
        return f"The {rng.pick(_SUBJECTS)} {rng.pick(_THINGS)} {rng.pick(_TROUBLES)}."

    def paragraph(self, rng: Rng) -> str:
        """Two to three sentences."""
        return " ".join(self.sentence(rng) for _ in range(2 + rng.below(2)))

    # numbers

    def number(self, hint: Hint, rng: Rng, *, whole: bool) -> float | int:
        """A number for a property that says no more than its name."""
        parts = words(hint.name)
        for part in (*reversed(parts),):
            band = _NUMBERS.get(part) or _NUMBERS.get(singular(part))
            if band is not None:
                low, high, places = band
                if whole or places == 0:
                    return rng.between(round(low), round(high))
                return round(low + rng.unit() * (high - low), places)
        if parts and parts[-1] in ("at", "time", "timestamp", "ts", "date", "on", "created", "updated"):
            seconds = int(self.moment(hint, rng).timestamp())
            return seconds if whole else float(seconds)
        return rng.between(1, 100) if whole else round(rng.unit() * 100, 2)

    def boolean(self, hint: Hint, rng: Rng) -> bool:
        """True for what usually holds (success, active), else mostly false."""
        parts = set(words(hint.name))
        if parts & {
            "success",
            "ok",
            "active",
            "enabled",
            "valid",
            "available",
            "verified",
            "ready",
            "healthy",
            "succeeded",
            "done",
        }:
            return True
        if parts & {"deleted", "archived", "error", "failed", "truncated", "locked", "draft", "disabled", "private", "cancelled",
                    "incomplete", "more", "bot", "fork", "muted", "hidden", "expired", "trashed"}:  # fmt: skip
            return False
        return rng.chance(0.4)


@lru_cache(maxsize=32)
def _faker(locale: str) -> Faker:
    return Faker(locale, use_weighting=False)


_PRESENT = frozenset({
    "observed", "fetched", "queried", "generated", "checked", "logged", "executed", "now", "current", "retrieved",
})  # fmt: skip
_TIMES = frozenset(
    {
        "timestamp",
        "created",
        "updated",
        "modified",
        "date",
        "datetime",
        "start",
        "end",
        "deadline",
        "published",
    }
)

Maker = Callable[[Values, Hint, Rng], str]


def _of(items: tuple[str, ...]) -> Maker:
    return lambda values, hint, rng: rng.pick(items)


def _domain(values: Values, hint: Hint, rng: Rng) -> str:
    return f"{rng.pick(_ADJECTIVES)}{rng.pick(_THINGS)}.example"


def _email(values: Values, hint: Hint, rng: Rng) -> str:
    return f"{rng.pick(_FIRST)}.{rng.pick(_LAST)}@example.com"


def _url(values: Values, hint: Hint, rng: Rng) -> str:
    return f"https://{_domain(values, hint, rng)}/{plural(words(hint.kind)[-1]) if words(hint.kind) else 'items'}/{rng.string(_ALNUM, 8)}"


def _path(values: Values, hint: Hint, rng: Rng) -> str:
    return f"{rng.pick(_PATHS)}/{rng.pick(_SUBJECTS)}_{rng.pick(_THINGS)}.{rng.pick(_EXTENSIONS)}"


def _name(values: Values, hint: Hint, rng: Rng) -> str:
    parts = words(hint.name)
    owner = parts[-2] if len(parts) > 1 and parts[-1] == "name" else ""
    if owner in ("first", "given"):
        return str(values.faker(rng).first_name())
    if owner in ("last", "family", "sur"):
        return str(values.faker(rng).last_name())
    if owner in ("user", "login"):
        return values.handle(rng)
    if owner in (
        "full",
        "display",
        "customer",
        "author",
        "sender",
        "from",
        "contact",
        "owner",
        "assignee",
        "real",
        "cardholder",
    ):
        return values.person(rng)
    if owner in ("file",):
        return f"{rng.pick(_SUBJECTS)}-{rng.pick(_THINGS)}.{rng.pick(_EXTENSIONS)}"
    if owner in ("company", "merchant", "organization"):
        return str(values.faker(rng).company())
    if owner in ("city", "location", "place"):
        return rng.pick(_CITIES)
    if owner in ("host",):
        return _domain(values, hint, rng)
    return values.title(Hint("title", owner or hint.kind, hint.now), rng)


_FIRST = (
    "ana",
    "ben",
    "chi",
    "dora",
    "emil",
    "farah",
    "goran",
    "hana",
    "ivan",
    "jun",
    "kaia",
    "luis",
    "mira",
    "noor",
    "otto",
    "pia",
)
_LAST = (
    "adler",
    "bright",
    "costa",
    "duarte",
    "evans",
    "fischer",
    "gray",
    "horvat",
    "ito",
    "jansen",
    "kowal",
    "lund",
    "moreau",
    "novak",
)

_STRINGS: dict[str, Maker] = {
    "email": _email, "mail": _email, "recipient": _email, "to": _email, "from": _email, "sender": _email, "cc": _email,
    "organizer": _email, "attendee": _email,
    "name": _name,
    "title": lambda v, h, r: v.title(h, r),
    "subject": lambda v, h, r: v.title(Hint("title", "issue", h.now), r),
    "summary": lambda v, h, r: v.title(h, r) if words(h.kind)[-1:] in (("event",), ("issue",)) else v.sentence(r),
    "description": lambda v, h, r: v.sentence(r),
    "body": lambda v, h, r: v.paragraph(r), "content": lambda v, h, r: v.paragraph(r), "text": lambda v, h, r: v.sentence(r),
    "message": lambda v, h, r: v.sentence(r), "comment": lambda v, h, r: v.sentence(r), "note": lambda v, h, r: v.sentence(r),
    "notes": lambda v, h, r: v.sentence(r), "snippet": lambda v, h, r: v.sentence(r), "reason": lambda v, h, r: v.sentence(r),
    "preview": lambda v, h, r: v.sentence(r), "excerpt": lambda v, h, r: v.sentence(r), "details": lambda v, h, r: v.sentence(r),
    "topic": lambda v, h, r: f"{r.pick(_SUBJECTS)} {r.pick(_THINGS)}", "purpose": lambda v, h, r: v.sentence(r),
    "login": lambda v, h, r: v.handle(r), "username": lambda v, h, r: v.handle(r), "user": lambda v, h, r: v.handle(r),
    "author": lambda v, h, r: v.handle(r), "owner": lambda v, h, r: v.handle(r), "assignee": lambda v, h, r: v.handle(r),
    "reporter": lambda v, h, r: v.handle(r), "handle": lambda v, h, r: v.handle(r), "creator": lambda v, h, r: v.handle(r),
    "person": lambda v, h, r: v.person(r), "customer": lambda v, h, r: v.person(r), "contact": lambda v, h, r: v.person(r),
    "company": lambda v, h, r: str(v.faker(r).company()), "organization": lambda v, h, r: str(v.faker(r).company()),
    "merchant": lambda v, h, r: str(v.faker(r).company()), "employer": lambda v, h, r: str(v.faker(r).company()),
    "phone": lambda v, h, r: str(v.faker(r).phone_number()), "mobile": lambda v, h, r: str(v.faker(r).phone_number()),
    "address": lambda v, h, r: str(v.faker(r).street_address()), "street": lambda v, h, r: str(v.faker(r).street_address()),
    "city": _of(_CITIES), "location": _of(_CITIES), "place": _of(_CITIES), "town": _of(_CITIES),
    "country": lambda v, h, r: str(v.faker(r).country()), "country_code": lambda v, h, r: str(v.faker(r).country_code()),
    "postcode": lambda v, h, r: str(v.faker(r).postcode()), "zip": lambda v, h, r: str(v.faker(r).postcode()),
    "postal_code": lambda v, h, r: str(v.faker(r).postcode()), "region": _of(("eu-west-1", "us-east-1", "ap-south-1")),
    "timezone": _of(("UTC", "Europe/Vienna", "America/New_York", "Asia/Tokyo")), "job": lambda v, h, r: str(v.faker(r).job()),
    "time_zone": _of(("UTC", "Europe/Vienna", "America/New_York", "Asia/Tokyo")), "role": _of(("admin", "member", "viewer")),
    "url": _url, "uri": _url, "link": _url, "href": _url, "website": _url, "homepage": _url, "avatar": _url,
    "domain": _domain, "host": _domain, "hostname": _domain, "site": _domain,
    "ip": lambda v, h, r: f"203.0.113.{r.between(1, 254)}", "ip_address": lambda v, h, r: f"203.0.113.{r.between(1, 254)}",
    "sha": lambda v, h, r: r.string(_HEX, 40), "commit": lambda v, h, r: r.string(_HEX, 40), "md5": lambda v, h, r: r.string(_HEX, 32),
    "sha256": lambda v, h, r: r.string(_HEX, 64), "hash": lambda v, h, r: r.string(_HEX, 40), "etag": lambda v, h, r: r.string(_HEX, 32),
    "digest": lambda v, h, r: "sha256:" + r.string(_HEX, 64), "checksum": lambda v, h, r: r.string(_HEX, 64),
    "token": lambda v, h, r: r.string(_BASE62, 32), "secret": lambda v, h, r: r.string(_BASE62, 32), "key": lambda v, h, r: v.slug(r),
    "api_key": lambda v, h, r: r.string(_BASE62, 32), "cursor": lambda v, h, r: r.string(_BASE62, 16),
    "uuid": lambda v, h, r: _uuid(r), "guid": lambda v, h, r: _uuid(r),
    "path": _path, "file": _path, "filename": lambda v, h, r: _path(v, h, r).split("/")[-1], "directory": _of(_PATHS), "folder": _of(_PATHS),
    "slug": lambda v, h, r: v.slug(r), "branch": lambda v, h, r: f"{r.pick(('feature', 'fix'))}/{v.slug(r)}", "ref": _of(("main", "develop")),
    "default_branch": _of(("main",)), "base": _of(("main",)), "head": lambda v, h, r: f"{r.pick(('feature', 'fix'))}/{v.slug(r)}", "milestone": lambda v, h, r: f"v{r.below(4)}.{r.below(12)}",
    "repo": lambda v, h, r: v.slug(r), "repository": lambda v, h, r: v.slug(r), "project": lambda v, h, r: v.slug(r),
    "channel": lambda v, h, r: v.slug(r), "namespace": lambda v, h, r: v.slug(r), "cluster": lambda v, h, r: v.slug(r),
    "database": lambda v, h, r: v.slug(r), "table": lambda v, h, r: r.pick(_SUBJECTS), "node": lambda v, h, r: v.slug(r),
    "language": _of(_LANGUAGES), "currency": _of(_CURRENCIES), "color": lambda v, h, r: "#" + r.string(_HEX, 6),
    "status": _of(_STATES), "state": _of(_STATES), "priority": _of(("low", "medium", "high")), "severity": _of(("low", "medium", "high")),
    "type": lambda v, h, r: r.pick(("standard", "default", "basic")), "category": _of(_TAGS), "tag": _of(_TAGS), "label": _of(_TAGS),
    "version": lambda v, h, r: f"{r.below(4)}.{r.below(20)}.{r.below(10)}", "mime_type": _of(_MIMES), "content_type": _of(_MIMES),
    "mimetype": _of(_MIMES), "encoding": _of(("utf-8",)), "emoji": _of(_EMOJI), "reaction": _of(_EMOJI), "product": _of(_PRODUCTS),
    "sku": lambda v, h, r: f"{r.string('ABCDEFGH', 3)}-{r.between(1000, 9999)}", "condition": _of(_WEATHER), "conditions": _of(_WEATHER),
    "weather": _of(_WEATHER), "unit": _of(("celsius",)), "units": _of(("metric",)), "direction": _of(("N", "NE", "E", "SE", "S", "SW", "W", "NW")),
    "image": lambda v, h, r: f"registry.example/{v.slug(r)}:{r.below(4)}.{r.below(20)}", "license": _of(("MIT", "Apache-2.0", "BSD-3-Clause")),
    "last4": lambda v, h, r: r.string("0123456789", 4), "brand": _of(("visa", "mastercard")), "query": lambda v, h, r: r.pick(_SUBJECTS),
    "port": lambda v, h, r: str(r.between(1024, 9999)), "duration": lambda v, h, r: f"PT{r.between(5, 90)}M", "age": lambda v, h, r: f"{r.between(1, 90)}d",
    "error": lambda v, h, r: v.sentence(r), "warning": lambda v, h, r: v.sentence(r), "locale": _of(("en-US",)), "plan": _of(("free", "team", "business")),
    "id": lambda v, h, r: v.identifier("_".join(words(h.name)[:-1]) or h.kind, r), "thread_ts": lambda v, h, r: _ts(v, h, r), "ts": lambda v, h, r: _ts(v, h, r),
    "output": lambda v, h, r: v.sentence(r), "result": lambda v, h, r: v.sentence(r), "answer": lambda v, h, r: v.paragraph(r), "logs": lambda v, h, r: v.paragraph(r),
}  # fmt: skip


def _ts(values: Values, hint: Hint, rng: Rng) -> str:
    return (
        f"{int(values.moment(Hint('created_at', hint.kind, hint.now), rng).timestamp())}.{rng.string('0123456789', 6)}"
    )


def _uuid(rng: Rng) -> str:
    return str(UUID(int=(rng.bits() << 64) | rng.bits(), version=4))


_FORMATS: dict[str, Maker] = {
    "date-time": lambda v, h, r: v.time(h, r),
    "date": lambda v, h, r: v.time(h, r)[:10],
    "time": lambda v, h, r: v.time(h, r)[11:],
    "duration": lambda v, h, r: f"PT{r.between(5, 90)}M",
    "email": _email, "idn-email": _email,
    "hostname": _domain, "idn-hostname": _domain,
    "ipv4": lambda v, h, r: f"203.0.113.{r.between(1, 254)}",
    "ipv6": lambda v, h, r: f"2001:db8::{r.between(1, 65535):x}",
    "uri": _url, "url": _url, "uri-reference": _url, "iri": _url, "iri-reference": _url,
    "uri-template": lambda v, h, r: _url(v, h, r) + "/{id}",
    "uuid": lambda v, h, r: _uuid(r),
    "json-pointer": lambda v, h, r: f"/{r.pick(_SUBJECTS)}/{r.below(9)}",
    "relative-json-pointer": lambda v, h, r: f"{r.below(3)}/{r.pick(_SUBJECTS)}",
    "regex": lambda v, h, r: "^[a-z]+$",
    "byte": lambda v, h, r: "aGVsbG8=", "binary": lambda v, h, r: "hello",
    "cidrv4": lambda v, h, r: f"203.0.113.{16 * r.below(16)}/28",
}  # fmt: skip

_NUMBERS: dict[str, tuple[float, float, int]] = {
    "price": (4, 240, 2), "amount": (5, 900, 2), "total": (5, 900, 2), "subtotal": (5, 900, 2), "cost": (4, 240, 2), "balance": (0, 9000, 2),
    "fee": (0, 9, 2), "tax": (0, 90, 2), "salary": (30_000, 120_000, 0), "revenue": (1_000, 90_000, 2), "budget": (1_000, 90_000, 2),
    "quantity": (1, 9, 0), "qty": (1, 9, 0), "stock": (0, 250, 0), "count": (0, 40, 0), "size": (200, 90_000, 0), "bytes": (200, 90_000, 0),
    "length": (1, 400, 0), "width": (100, 1920, 0), "height": (100, 1080, 0), "lat": (-60, 70, 4), "latitude": (-60, 70, 4),
    "lng": (-170, 170, 4), "lon": (-170, 170, 4), "longitude": (-170, 170, 4), "temperature": (-5, 32, 1), "temp": (-5, 32, 1),
    "humidity": (25, 95, 0), "pressure": (985, 1035, 0), "wind": (0, 40, 1), "speed": (0, 40, 1), "percent": (0, 100, 1),
    "percentage": (0, 100, 1), "rate": (0, 1, 2), "ratio": (0, 1, 2), "score": (0, 1, 3), "confidence": (0.5, 1, 3), "probability": (0, 1, 2),
    "rating": (3, 5, 1), "age": (18, 80, 0), "year": (2015, 2025, 0), "month": (1, 12, 0), "day": (1, 28, 0), "hour": (0, 23, 0),
    "minute": (0, 59, 0), "duration": (1, 3600, 0), "seconds": (1, 3600, 0), "ms": (1, 900, 0), "elapsed": (1, 900, 0), "latency": (1, 900, 0),
    "page": (1, 1, 0), "port": (1024, 9999, 0), "priority": (1, 5, 0), "index": (0, 20, 0), "position": (0, 20, 0), "offset": (0, 0, 0),
    "stars": (0, 2500, 0), "star": (0, 2500, 0), "fork": (0, 300, 0), "watcher": (0, 300, 0), "follower": (0, 900, 0), "like": (0, 200, 0), "view": (0, 9000, 0),
    "replica": (1, 5, 0), "restart": (0, 3, 0), "cpu": (0.1, 4, 2), "memory": (64, 4096, 0), "version": (1, 9, 0), "line": (1, 300, 0),
    "addition": (1, 300, 0), "deletion": (0, 120, 0), "number": (1, 400, 0), "precipitation": (0, 12, 1), "visibility": (2, 10, 1), "uv": (0, 9, 0),
    "degree": (0, 359, 0), "distance": (1, 900, 1), "attempt": (1, 3, 0), "member": (2, 60, 0), "milestone": (1, 9, 0), "exit": (0, 0, 0), "discount": (0, 30, 0),
}  # fmt: skip
