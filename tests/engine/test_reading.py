"""What a tool means is read from its name, annotations, description and arguments, in every style of the field."""

from __future__ import annotations

import pytest

from mcp_world import parse
from mcp_world.engines.procedural.engine import ProceduralEngine
from mcp_world.spec.load import load_one
from mcp_world.spec.names import kind_of, singular, words
from mcp_world.spec.reading import Reading, read
from tests.conftest import real_spec, tool

S, N = {"type": "string"}, {"type": "integer"}


def reading_of(entry: dict[str, object]) -> Reading:
    return read(parse([entry], name="t").tools[0])


@pytest.mark.parametrize(
    ("name", "verb", "kind"),
    [
        ("list_issues", "list", "issue"), ("getUser", "get", "user"), ("search-repositories", "search", "repository"), ("issues_list", "list", "issue"),
        ("create_pull_request", "create", "pull_request"), ("repos.delete", "delete", "repository"), ("slack_post_message", "create", "message"),
        ("close_ticket", "act", "ticket"), ("create_or_update_file", "upsert", "file"), ("add_comment_to_card", "create", "comment"),
        ("get_cards_by_list_id", "list", "card"), ("create_refund", "create", "refund"), ("list_drafts", "list", "draft"), ("convert_currency", "call", None),
        ("translate", "call", None), ("countUsers", "count", "user"), ("deleteProjectById", "delete", "project"), ("query", "call", None),
    ],
)  # fmt: skip
def test_verb_and_noun_are_read_from_the_name(name: str, verb: str, kind: str | None) -> None:
    arguments = (
        {"id": S, "body": S} if verb in ("delete", "act", "upsert") else {"user_id": S} if name == "getUser" else {}
    )
    reading = reading_of(tool(name, arguments))
    if verb != "call":
        assert (reading.verb, reading.kind) == (verb, kind)
    else:
        assert not reading.writes or reading.verb == "call"


def test_each_argument_has_its_role() -> None:
    reading = reading_of(
        tool(
            "list_issues",
            {
                "owner": S,
                "repo": S,
                "state": {"enum": ["open", "closed"]},
                "query": S,
                "sort_by": S,
                "order": {"enum": ["asc", "desc"]},
                "page": N,
                "per_page": N,
            },
            required=["owner", "repo"],
        )
    )
    assert reading.scope == ("owner", "repo")
    assert (reading.query, reading.sort, reading.order, reading.page, reading.limit) == (
        "query",
        "sort_by",
        "order",
        "page",
        "per_page",
    )
    assert reading.filters == ("state",)


@pytest.mark.parametrize(
    ("name", "arguments", "id_arg"),
    [
        ("get_issue", ["owner", "repo", "issue_number"], "issue_number"), ("get_user", ["userId"], "userId"), ("delete_file", ["path", "message"], "path"),
        ("update_repository", ["owner", "repo", "description"], "repo"), ("get_page", ["url"], "url"), ("close_pr", ["pr_number"], "pr_number"),
        ("describe_table", ["table_name"], "table_name"), ("get_message", ["channel_id", "ts"], "ts"),
    ],
)  # fmt: skip
def test_the_argument_that_names_the_thing_is_found(name: str, arguments: list[str], id_arg: str) -> None:
    assert reading_of(tool(name, dict.fromkeys(arguments, S))).id_arg == id_arg


@pytest.mark.parametrize(
    ("name", "properties", "role"),
    [
        ("delete_files", {"paths": {"type": "array", "items": S}}, "id_list"),
        ("get_users", {"ids": {"type": "array", "items": S}}, "id_list"),
        (
            "create_contacts",
            {"contacts": {"type": "array", "items": {"type": "object", "properties": {"name": S}}}},
            "items_arg",
        ),
    ],
)
def test_batches_are_seen(name: str, properties: dict[str, object], role: str) -> None:
    assert getattr(reading_of(tool(name, properties)), role) == next(iter(properties))


def test_a_read_only_tool_never_writes() -> None:
    assert not reading_of(tool("update_view", {"id": S}, annotations={"readOnlyHint": True})).writes


def test_pagination_by_offset_and_by_cursor_is_told_apart() -> None:
    assert reading_of(tool("list_a", {"offset": N, "limit": N}, required=[])).offset == "offset"
    assert reading_of(tool("list_a", {"page_token": S, "page_size": N}, required=[])).cursor == "page_token"
    assert reading_of(tool("list_a", {"after": {"type": "string", "format": "date-time"}}, required=[])).cursor == ""


@pytest.mark.parametrize(
    ("many", "one"),
    [
        ("repositories", "repository"),
        ("branches", "branch"),
        ("statuses", "status"),
        ("people", "person"),
        ("news", "news"),
        ("boxes", "box"),
    ],
)
def test_plurals_have_their_singular(many: str, one: str) -> None:
    assert singular(many) == one


def test_names_are_words_in_every_style() -> None:
    assert words("getHTTPStatus") == words("get_http_status") == words("GET-HTTP-STATUS") == ("get", "http", "status")
    assert kind_of("pullRequests") == "pull_request"


@pytest.mark.parametrize(
    ("server", "name", "verb", "kind"),
    [
        ("github", "create_or_update_file", "upsert", "file"), ("github", "search_repositories", "search", "repository"), ("slack", "slack_get_users", "list", "user"),
        ("trello", "archive_card", "act", "card"), ("memory", "create_entities", "create", "entity"), ("aws-iam", "delete_access_key", "delete", "access_key"),
        ("shortcut", "stories-get-by-id", "get", "story"), ("kubernetes-containers", "namespaces_list", "list", "namespace"),
        ("slack", "slack_get_channel_history", "list", "channel_history"),
        ("sqlite", "read_query", "call", "query"),
        ("google-calendar", "respond-to-event", "act", "event"), ("pinecone", "describe-index", "get", "index"),
    ],
)  # fmt: skip
def test_tools_of_real_servers_are_understood(server: str, name: str, verb: str, kind: str) -> None:
    plan = ProceduralEngine(load_one(str(real_spec(server)))).model.plans[name]
    assert (plan.reading.verb, plan.kind.name) == (verb, kind)
