"""Secrets do not get into a cassette, and what was taken out is listed."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_world.core.errors import BadInput
from mcp_world.spec.scrub import Scrubber


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("use ghp_0123456789abcdefghij0123456789abcdef now", "github-token"),
        ("github_pat_11ABCDEFG0123456789_abcdefghij", "github-token"),
        ("key sk-proj-abcdefghijklmnopqrstuvwx", "api-key"),
        ("AKIAIOSFODNN7EXAMPLE", "aws-key"),
        ("AIzaSyA-1234567890abcdefghijklmnopqrstu", "google-key"),
        ("xoxb-123456789012-abcdefghijkl", "slack-token"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijklmnop", "jwt"),
        ("Authorization: Bearer abcdefghijklmnop1234", "bearer-token"),
        ("postgres://app:hunter22@db/x", "url-password"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", "private-key"),
    ],
)
def test_tokens_are_known_by_their_form(text: str, kind: str) -> None:
    scrubber = Scrubber()
    assert f"[scrubbed:{kind}]" in scrubber.scrub({"a": [text]})["a"][0]
    assert scrubber.report() == [{"what": kind, "count": 1, "first": "/a/0"}]


@pytest.mark.parametrize(
    "key", ["password", "api_key", "apiKey", "X-API-Key", "client_secret", "Authorization", "accessToken"]
)
def test_members_of_a_secrets_name_are_taken_out(key: str) -> None:
    assert "hunter2" not in str(Scrubber().scrub({key: "hunter2"}))


@pytest.mark.parametrize(
    "value",
    [
        {"progressToken": "abc"},
        {"nextPageToken": "p2"},
        {"tokens": 12},
        {"password": {"type": "string"}},
        {"token": ""},
        {"text": "the secret garden"},
    ],
)
def test_what_only_looks_like_a_secret_stays(value: dict[str, Any]) -> None:
    scrubber = Scrubber()
    assert scrubber.scrub(value) == value and scrubber.report() == []


def test_secrets_of_the_environment_and_of_headers_are_taken_out_wherever_they_show_up() -> None:
    scrubber = Scrubber({"MY_API_KEY": "zebra-stripes", "HOME": "/home/zebra"}, {"X-Custom": "Basic q1w2e3r4"})
    assert (
        scrubber.scrub("zebra-stripes at /home/zebra, q1w2e3r4")
        == "[scrubbed:env-MY_API_KEY] at /home/zebra, [scrubbed:header-X-Custom]"
    )


def test_emails_and_rules_of_ones_own_are_taken_out_on_request() -> None:
    assert Scrubber().scrub("ada@example.com") == "ada@example.com"
    assert Scrubber(emails=True).scrub("to ada@example.com!") == "to [scrubbed:email]!"
    assert Scrubber(redact=[r"ACME-\d+"]).scrub("ACME-12 and ACME-13") == "[scrubbed:redact-1] and [scrubbed:redact-1]"
    with pytest.raises(BadInput, match="--redact"):
        Scrubber(redact=["("])
