"""Takes secrets out of what is recorded, and keeps the list of what was taken."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from mcp_world.core.errors import BadInput
from mcp_world.core.types import Json

_PATTERNS = {
    "github-token": r"\b(?:gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_[A-Za-z0-9_]{20,255})",
    "api-key": r"\b(?:sk|pk|rk)[-_](?:[A-Za-z0-9]+[-_]){0,3}[A-Za-z0-9]{20,255}",
    "aws-key": r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    "google-key": r"\bAIza[0-9A-Za-z_-]{35}",
    "slack-token": r"\bxox[abeoprs]-[A-Za-z0-9-]{10,255}",
    "jwt": r"\beyJ[A-Za-z0-9_-]{8,4096}\.[A-Za-z0-9_-]{8,4096}\.[A-Za-z0-9_-]{8,4096}",
    "bearer-token": r"\b[Bb]earer\s+[A-Za-z0-9._~+/-]{16,4096}=*",
    "private-key": r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[^-]{1,16384}-----END [A-Z ]{0,40}PRIVATE KEY-----",
    "url-password": r"(?<=://)[^/\s:@]{1,256}:[^/\s:@]{1,256}(?=@)",
}
_EMAIL = r"\b[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,8}\b"
_KEYS = frozenset({
    "password", "passwd", "passphrase", "secret", "clientsecret", "token", "accesstoken", "refreshtoken", "idtoken",
    "apikey", "apitoken", "authtoken", "authorization", "privatekey", "accesskey", "secretkey", "secretaccesskey",
    "sessiontoken", "bearertoken", "xapikey",
})  # fmt: skip
_SECRET_NAME = re.compile(r"(?i)token|secret|passw|api_?key|access_?key|private_?key|credential|auth")
_SHORTEST = 6


@dataclass
class Finding:
    """One kind of secret that was taken out.

    Args:
        what: Its kind, or where it came from.
        count: How often.
        first: Where it was first seen: a JSON pointer into the message.
    """

    what: str
    count: int
    first: str


class Scrubber:
    """Replaces secrets in JSON values by `[scrubbed:KIND]`.

    Args:
        environment: Variables that the server was given; values of those with a secret's name are taken out wherever
            they show up.
        headers: Headers that were sent to the server; all their values are taken out.
        emails: Take e-mail addresses out as well.
        redact: Further regular expressions.

    Raises:
        BadInput: One of `redact` is no regular expression.
    """

    def __init__(
        self,
        environment: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        emails: bool = False,
        redact: Iterable[str] = (),
    ) -> None:
        self.findings: dict[str, Finding] = {}
        values = {
            value: f"env-{name}"
            for name, value in (environment or {}).items()
            if _SECRET_NAME.search(name) and len(value) >= _SHORTEST
        }
        for name, value in (headers or {}).items():
            for part in {value, value.rpartition(" ")[2]}:
                if len(part) >= _SHORTEST:
                    values[part] = f"header-{name}"
        self._values = sorted(values.items(), key=lambda pair: -len(pair[0]))
        patterns = dict(_PATTERNS) if not emails else {**_PATTERNS, "email": _EMAIL}
        self._patterns = [(kind, re.compile(text)) for kind, text in patterns.items()]
        for number, text in enumerate(redact, 1):
            try:
                self._patterns.append((f"redact-{number}", re.compile(text)))
            except re.error as error:
                raise BadInput(f"{text!r} is no regular expression: {error}", where="--redact") from None

    def scrub(self, value: Json, path: str = "") -> Json:
        """A value without its secrets."""
        if isinstance(value, str):
            return self._text(value, path)
        if isinstance(value, list):
            return [self.scrub(inner, f"{path}/{index}") for index, inner in enumerate(value)]
        if not isinstance(value, dict):
            return value
        out: dict[str, Json] = {}
        for key, inner in value.items():
            plain = key.replace("_", "").replace("-", "").lower()
            if plain in _KEYS and isinstance(inner, str) and inner:
                out[key] = self._found(plain, f"{path}/{key}")
            else:
                out[key] = self.scrub(inner, f"{path}/{key}")
        return out

    def report(self) -> list[dict[str, Json]]:
        """What was taken out, the most frequent first."""
        found = sorted(self.findings.values(), key=lambda finding: (-finding.count, finding.what))
        return [{"what": f.what, "count": f.count, "first": f.first} for f in found]

    def _text(self, text: str, path: str) -> str:
        for value, kind in self._values:
            if value in text:
                text = text.replace(value, self._found(kind, path))
        for kind, pattern in self._patterns:
            if pattern.search(text):
                text = pattern.sub(partial(self._replaced, kind, path), text)
        return text

    def _replaced(self, kind: str, path: str, found: re.Match[str]) -> str:
        return self._found(kind, path) if found.group() else ""

    def _found(self, kind: str, path: str) -> str:
        finding = self.findings.setdefault(kind, Finding(kind, 0, path))
        finding.count += 1
        return f"[scrubbed:{kind}]"
