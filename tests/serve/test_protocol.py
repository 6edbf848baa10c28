"""The protocol beside plain calls, with the official client in both eras, against the server of the conformance suite."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import httpx2
import mcp_types as types
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from mcp_world import World, load_one, parse
from mcp_world.serve.impersonation import Impersonation
from mcp_world.serve.run import Addresses, http_servers
from mcp_world.spec.model import ServerSpec
from mcp_world.world.worlds import Worlds

pytestmark = pytest.mark.anyio
EVERYTHING = Path(__file__).parent.parent / "conformance" / "everything.yaml"
MODES = pytest.mark.parametrize("mode", ["legacy", "auto"])
TASKS = "io.modelcontextprotocol/tasks"


@pytest.fixture
def spec() -> ServerSpec:
    return load_one(str(EVERYTHING))


@pytest.fixture
async def served(spec: ServerSpec) -> AsyncIterator[Addresses]:
    async with http_servers(Worlds([spec]), control_token="control") as at:
        yield at


class Answers:
    """A client's user, model and roots; what they were asked is kept."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.logged: list[Any] = []

    async def elicit(self, ctx: Any, params: Any) -> types.ElicitResult:
        self.asked.append(params.message)
        wanted = params.requested_schema.get("properties", {})
        texts = {"name": "Ada", "username": "ada", "email": "a@b.c", "color": "red", "context": "tea"}
        return types.ElicitResult(
            action="accept", content={key: texts.get(key, True) for key in wanted if key in texts or key == "ok"}
        )

    async def sample(self, ctx: Any, params: Any) -> types.CreateMessageResult:
        self.asked.append("sampling")
        return types.CreateMessageResult(
            role="assistant", model="m", content=types.TextContent(type="text", text="Paris")
        )

    async def roots(self, ctx: Any) -> types.ListRootsResult:
        self.asked.append("roots")
        return types.ListRootsResult(roots=[types.Root(uri="file:///a", name="a")])

    async def log(self, params: Any) -> None:
        self.logged.append(params.data)

    @asynccontextmanager
    async def client(self, target: Any, mode: str, **options: Any) -> AsyncIterator[Client]:
        async with Client(
            target, mode=mode, elicitation_callback=self.elicit, sampling_callback=self.sample, list_roots_callback=self.roots,
            logging_callback=self.log, **options,
        ) as client:  # fmt: skip
            yield client


def text(result: Any) -> str:
    return "".join(block.text for block in result.content if block.type == "text")


@MODES
async def test_progress_comes_with_the_calls_own_token(served: Addresses, mode: str) -> None:
    seen: list[tuple[Any, Any, Any]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        seen.append((progress, total, message))

    async with Client(served.agents + "/mcp", mode=mode) as client:
        await client.call_tool("test_tool_with_progress", {}, progress_callback=note)
    assert seen == [(n, 100, f"Completed step {n} of 100") for n in (0, 50, 100)]


async def test_log_messages_come_before_the_answer_and_not_below_the_level_that_is_set(served: Addresses) -> None:
    user = Answers()
    async with user.client(served.agents + "/mcp", "legacy") as client:
        await client.call_tool("test_tool_with_logging", {})
        assert user.logged == ["Tool execution started", "Tool processing data", "Tool execution completed"]
        await client.session.set_logging_level("error")
        await client.call_tool("test_tool_with_logging", {})
        assert len(user.logged) == 3


@MODES
@pytest.mark.parametrize(
    ("tool", "arguments", "asked", "answer"),
    [
        ("test_elicitation", {"message": "Who is there?"}, ["Who is there?"], 'User response: action=accept, content={"username":"ada","email":"a@b.c"}'),
        ("test_sampling", {"prompt": "Capital?"}, ["sampling"], "LLM response: Paris"),
        ("test_input_required_result_list_roots", {}, ["roots"], 'The client has 1 roots: [{"uri":"file:///a","name":"a"}]'),
        ("test_input_required_result_multi_round", {}, ["Step 1: What is your name?", "Step 2: What is your favorite color?"], "Ada likes red."),
    ],
)  # fmt: skip
async def test_a_question_reaches_the_client_and_its_answer_the_result(
    served: Addresses, mode: str, tool: str, arguments: dict[str, Any], asked: list[str], answer: str
) -> None:
    user = Answers()
    async with user.client(served.agents + "/mcp", mode) as client:
        result = await client.call_tool(tool, arguments)
    assert user.asked == asked and text(result) == answer


async def test_three_questions_at_once_in_the_new_era_are_one_round(served: Addresses) -> None:
    user = Answers()
    async with user.client(served.agents + "/mcp", "auto") as client:
        assert text(await client.call_tool("test_input_required_result_multiple_inputs", {})) == "Paris Ada: 1 roots"
    assert sorted(user.asked) == ["What is your name?", "roots", "sampling"]


@MODES
async def test_a_prompt_may_ask_too(served: Addresses, mode: str) -> None:
    user = Answers()
    async with user.client(served.agents + "/mcp", mode) as client:
        result = await client.get_prompt("test_input_required_result_prompt")
    assert result.messages[0].content.text == "Use this context: tea"


@MODES
async def test_the_client_of_a_server_in_memory_is_asked_as_well(spec: ServerSpec, mode: str) -> None:
    user = Answers()
    async with user.client(Impersonation(World(spec, pace=0)).server(), mode) as client:
        assert text(await client.call_tool("test_input_required_result_elicitation", {})) == "Hello, Ada!"


async def test_an_answer_that_is_none_ends_the_call_rather_than_asking_for_ever(served: Addresses) -> None:
    async def nonsense(ctx: Any, params: Any) -> types.ElicitResult:
        return types.ElicitResult(action="accept", content={"unasked": "x"})

    async with Client(served.agents + "/mcp", mode="legacy", elicitation_callback=nonsense) as client:
        with pytest.raises(MCPError, match="Invalid answer"):
            await client.call_tool("test_elicitation", {"message": "?"})


@MODES
async def test_contents_of_every_kind_arrive(served: Addresses, mode: str) -> None:
    async with Client(served.agents + "/mcp", mode=mode) as client:
        kinds = [b.type for b in (await client.call_tool("test_multiple_content_types", {})).content]
        assert kinds == ["text", "image", "resource"]
        assert (await client.call_tool("test_audio_content", {})).content[0].mime_type == "audio/wav"
        read = await client.read_resource("test://static-binary")
        assert read.contents[0].blob.startswith("iVBOR")
        templated = await client.read_resource("test://template/42/data")
        assert json.loads(templated.contents[0].text) == {"id": "42", "templateTest": True, "data": "Data for ID: 42"}
        prompt = await client.get_prompt("test_prompt_with_arguments", {"arg1": "a", "arg2": "b"})
        assert prompt.messages[0].content.text == "Prompt with arguments: arg1='a', arg2='b'"


@MODES
@pytest.mark.parametrize(
    "ask",
    [
        lambda client: client.read_resource("test://nowhere"),
        lambda client: client.get_prompt("nothing"),
        lambda client: client.get_prompt("test_prompt_with_arguments", {"arg1": "a"}),
    ],
)
async def test_what_is_not_there_or_not_given_is_an_error(
    served: Addresses, mode: str, ask: Callable[[Client], Any]
) -> None:
    async with Client(served.agents + "/mcp", mode=mode) as client:
        with pytest.raises(MCPError):
            await ask(client)


@MODES
async def test_completions_begin_with_what_was_typed(served: Addresses, mode: str) -> None:
    ref = types.PromptReference(type="ref/prompt", name="test_prompt_with_arguments")
    async with Client(served.agents + "/mcp", mode=mode) as client:
        found = await client.complete(ref, {"name": "arg1", "value": "Pa"})
        assert found.completion.values == ["paris", "park", "party"]
        assert (await client.complete(ref, {"name": "arg1", "value": "par"})).completion.total == 3
        assert (await client.complete(ref, {"name": "arg9", "value": ""})).completion.values == []


async def test_an_old_client_hears_of_lists_and_of_resources_that_it_subscribed_to() -> None:
    spec = parse(
        {
            "capabilities": {"tools": {"listChanged": True}, "resources": {"subscribe": True}},
            "tools": [{"name": "touch", "inputSchema": {"type": "object"}}],
            "resources": [{"uri": "x://a", "name": "a"}],
            "script": {
                "tools": {"touch": [{"change": {"resource": "x://a"}}, {"change": {"list": "tools"}}, {"reply": "ok"}]}
            },
        },
        name="s",
    )
    heard: list[str] = []

    async def note(message: Any) -> None:
        if isinstance(message, types.ResourceUpdatedNotification | types.ToolListChangedNotification):
            heard.append(message.method)

    async with Client(Impersonation(World(spec)).server(), mode="legacy", message_handler=note) as client:
        await client.call_tool("touch", {})
        await client.session.subscribe_resource("x://a")
        await client.call_tool("touch", {})
        await client.session.unsubscribe_resource("x://a")
        await client.call_tool("touch", {})
        await anyio.sleep(0.1)
    assert sorted(heard) == ["notifications/resources/updated"] + ["notifications/tools/list_changed"] * 3


class Modern:
    """Requests of 2026-07-28, by hand."""

    def __init__(self, url: str, capabilities: dict[str, Any]) -> None:
        self.url, self.capabilities, self.number = url, capabilities, 0

    async def __call__(
        self, method: str, _name: str = "", _headers: dict[str, str] | None = None, **params: Any
    ) -> dict[str, Any]:
        self.number += 1
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": self.capabilities,
            "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        }
        name = _name or params.get("name") or params.get("taskId") or params.get("uri") or ""
        headers = {
            "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method,
            **({"Mcp-Name": name} if name else {}), **(_headers or {}),
        }  # fmt: skip
        body = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": {**params, "_meta": meta}}
        async with httpx2.AsyncClient() as http:
            answer = await http.post(self.url, json=body, headers=headers)
        return json.loads(answer.text.rpartition("data: ")[2] if "data: " in answer.text else answer.text)


async def test_a_state_that_was_changed_or_made_for_another_call_is_refused(served: Addresses) -> None:
    call = Modern(served.agents + "/mcp", {"elicitation": {}})
    tool = "test_input_required_result_multi_round"
    first = (await call("tools/call", name=tool, arguments={}))["result"]
    given = {"step1": {"action": "accept", "content": {"name": "Ada"}}}
    state = first["requestState"]
    again = (await call("tools/call", name=tool, arguments={}, inputResponses=given, requestState=state))["result"]
    assert set(again["inputRequests"]) == {"step2"}
    for bad in ("x" + state, state[:-1] + ("0" if state[-1] != "0" else "1"), "", state.replace(".", "")):
        refused = await call("tools/call", name=tool, arguments={}, inputResponses=given, requestState=bad)
        assert refused["error"] == {"code": -32602, "message": "Invalid requestState"}
    other = await call("tools/call", name="test_input_required_result_tampered_state", arguments={}, requestState=state)
    assert other["error"]["code"] == -32602


async def test_a_task_is_created_polled_answered_and_done(served: Addresses) -> None:
    call = Modern(served.agents + "/mcp", {"elicitation": {}, "extensions": {TASKS: {}}})
    made = (await call("tools/call", name="multi_input", arguments={}))["result"]
    id = made["taskId"]
    assert made["resultType"] == "task" and made["status"] == "working" and len(id) == 32
    await anyio.sleep(0.05)
    waiting = (await call("tasks/get", taskId=id))["result"]
    assert waiting["status"] == "input_required" and set(waiting["inputRequests"]) == {"first", "second"}
    answer = {"action": "accept", "content": {"n": 1}}
    assert (await call("tasks/update", taskId=id, inputResponses={"first": answer}))["result"][
        "resultType"
    ] == "complete"
    assert set((await call("tasks/get", taskId=id))["result"]["inputRequests"]) == {"second"}
    await call("tasks/update", taskId=id, inputResponses={"second": answer})
    await anyio.sleep(0.05)
    done = (await call("tasks/get", taskId=id))["result"]
    assert done["status"] == "completed" and done["result"]["content"][0]["text"] == 'First {"n":1}, then {"n":1}'


async def test_a_cancelled_task_stays_cancelled(served: Addresses) -> None:
    call = Modern(served.agents + "/mcp", {"extensions": {TASKS: {}}})
    id = (await call("tools/call", name="slow_compute", arguments={"seconds": 60}))["result"]["taskId"]
    await call("tasks/cancel", taskId=id)
    assert (await call("tasks/get", taskId=id))["result"]["status"] == "cancelled"
    assert (await call("tasks/get", taskId="none"))["error"]["code"] == -32602
    assert (await call("tasks/get", _name="other", taskId=id))["error"]["code"] == -32020


async def test_a_client_without_tasks_waits_or_is_told_what_it_lacks(served: Addresses) -> None:
    call = Modern(served.agents + "/mcp", {})
    assert (await call("tools/call", name="slow_compute", arguments={"seconds": 0}))["result"][
        "resultType"
    ] == "complete"
    assert (await call("tools/call", name="failing_job", arguments={}))["error"]["code"] == -32021
    assert (await call("tasks/get", taskId="x"))["error"]["code"] == -32021


async def test_a_server_with_a_running_task_stops_at_once(spec: ServerSpec) -> None:
    with anyio.fail_after(10):
        async with http_servers(Worlds([spec]), control_token="control") as at:
            call = Modern(at.agents + "/mcp", {"extensions": {TASKS: {}}})
            await call("tools/call", name="slow_compute", arguments={"seconds": 600})


async def test_a_cancelled_call_ends_and_the_world_goes_on(served: Addresses) -> None:
    async with Client(served.agents + "/mcp", mode="legacy") as client:
        with anyio.move_on_after(0.3) as scope:
            await client.call_tool("slow_compute", {"seconds": 60})
        assert scope.cancelled_caught
        assert text(await client.call_tool("greet", {"name": "you"})) == "Hello, you!"


async def test_lists_come_in_pages_where_the_spec_says_so(spec: ServerSpec) -> None:
    paged = replace(spec, script=replace(spec.script, page_size=10))
    async with Client(Impersonation(World(paged)).server(), mode="legacy") as client:
        names: list[str] = []
        cursor: str | None = None
        sizes = []
        while True:
            page = await client.list_tools(cursor=cursor)
            names += [tool.name for tool in page.tools]
            sizes.append(len(page.tools))
            cursor = page.next_cursor
            if cursor is None:
                break
        assert names == [tool.name for tool in spec.tools] and sizes == [10, 10, 10, len(names) - 30]
        for bad in ("x", "0", "999", "-1"):
            with pytest.raises(MCPError, match="Invalid cursor"):
                await client.list_tools(cursor=bad)


async def test_cache_hints_are_those_of_the_spec_and_only_in_the_new_era(served: Addresses) -> None:
    result = (await Modern(served.agents + "/mcp", {})("tools/list"))["result"]
    assert (result["ttlMs"], result["cacheScope"]) == (300000, "public")
    async with Client(served.agents + "/mcp", mode="legacy") as client:
        assert "ttlMs" not in (await client.list_tools()).model_dump(by_alias=True, exclude_unset=True)


async def test_pauses_follow_the_pace(spec: ServerSpec) -> None:
    async with Client(Impersonation(World(spec, pace=0)).server()) as client:
        with anyio.fail_after(5):
            await client.call_tool("slow_compute", {"seconds": 3600})


async def test_the_journal_knows_the_question_and_the_answer_apart(spec: ServerSpec) -> None:
    world, user = World(spec), Answers()
    async with user.client(Impersonation(world).server(), "legacy") as client:
        await client.call_tool("test_input_required_result_elicitation", {})
    asked, answered = world.steps
    assert set(asked.questions) == {"user_name"} and asked.engine == "script"
    assert answered.committed.text == "Hello, Ada!"


async def test_resources_that_nothing_scripts_are_made_of_what_the_list_says() -> None:
    spec = parse(
        {
            "tools": [{"name": "t", "inputSchema": {"type": "object"}}],
            "capabilities": {"resources": {}},
            "resources": [{"uri": "x://j", "name": "j", "description": "A thing", "mimeType": "application/json"}, {"uri": "ui://app", "name": "app", "mimeType": "text/html;profile=mcp-app", "_meta": {"ui": {"csp": {}}}}],
            "resourceTemplates": [{"uriTemplate": "x://t/{id}", "name": "t"}],
        },
        name="s",
    )  # fmt: skip
    async with Client(Impersonation(World(spec)).server()) as client:
        read = (await client.read_resource("x://j")).contents[0]
        assert json.loads(read.text) == {"uri": "x://j", "name": "j", "description": "A thing"}
        app = (await client.read_resource("ui://app")).contents[0]
        assert app.mime_type == "text/html;profile=mcp-app" and app.meta == {"ui": {"csp": {}}}
        assert (await client.read_resource("x://t/7")).contents[0].text == "t\n\nid: 7"
