"""The engine `openai` against a server that misbehaves on purpose."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from mcp_world.core.errors import BadInput
from mcp_world.engines.language.grammar import Grammar
from mcp_world.engines.language.model import Message, ModelError, Sampling
from mcp_world.engines.language.openai import ChatModel
from tests.language.stub_server import Stub, serving

pytestmark = pytest.mark.anyio

ASKED = [Message("system", "s"), Message("user", "u")]
SAMPLING = Sampling(100, 0.6, 5)
GRAMMAR = Grammar({"type": "object", "properties": {"a": {"type": "string", "pattern": "^x$"}}})
SECRET = "sk-very-secret"


@asynccontextmanager
async def chat(stub: Stub, **options: Any) -> AsyncIterator[ChatModel]:
    """An open model at a stub."""
    async with serving(stub):
        model = ChatModel("", stub.url, **options)
        await model.open(lambda _: None)
        try:
            yield model
        finally:
            await model.close()


async def test_the_model_its_context_and_what_it_counts_are_the_servers() -> None:
    async with chat(Stub(["hello there"], tokenizes=True)) as model:
        assert (model.model, model.context) == ("tiny", 4_096)
        assert await model.count("one two three") == 3
        reply = await model.reply(ASKED, SAMPLING, None)
    assert (reply.text, reply.finish, reply.prompt_tokens, reply.tokens) == ("hello there", "stop", 11, 7)


async def test_where_there_is_no_tokenizer_a_token_is_three_bytes() -> None:
    async with chat(Stub(["a"])) as model:
        assert await model.count("x" * 31) == 11


async def test_what_is_sent() -> None:
    stub = Stub(["a"])
    async with chat(stub) as model:
        await model.reply(ASKED, SAMPLING, GRAMMAR)
    (body,) = stub.asked
    assert body["messages"] == [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]
    assert (body["model"], body["temperature"], body["seed"], body["max_tokens"]) == ("tiny", 0.6, 5, 100)
    assert body["response_format"]["json_schema"]["schema"]["anyOf"][0] == GRAMMAR.schema


async def test_servers_that_know_structural_tags_are_sent_one() -> None:
    stub = Stub(["a"], owner="vllm")
    async with chat(stub) as model:
        await model.reply(ASKED, SAMPLING, GRAMMAR)
    assert stub.asked[0]["response_format"]["type"] == "structural_tag"


async def test_a_grammar_that_is_refused_is_made_looser_once_and_for_all() -> None:
    stub = Stub(["a"], owner="vllm", refuses=('pattern": "^x$',))
    stub.refuses = ("^x$",)
    async with chat(stub) as model:
        for _ in range(2):
            await model.reply(ASKED, SAMPLING, GRAMMAR)
    kinds = [body["response_format"]["type"] for body in stub.asked]
    assert kinds == ["structural_tag", "structural_tag", "structural_tag"]
    assert "pattern" not in str(stub.asked[1]["response_format"]["format"]["elements"][1]["elements"][0])


async def test_a_server_that_has_no_response_format_is_asked_without() -> None:
    stub = Stub(["a"], refuses=("response_format",))
    async with chat(stub) as model:
        assert (await model.reply(ASKED, SAMPLING, GRAMMAR)).text == "a"
    assert [("response_format" in body) for body in stub.asked] == [True, True, False]


@pytest.mark.parametrize("name", ["seed", "temperature", "stream_options"])
async def test_a_parameter_that_a_server_does_not_know_is_left_out(name: str) -> None:
    stub = Stub(["a"], refuses=(name,))
    async with chat(stub) as model:
        await model.reply(ASKED, SAMPLING, None)
    assert name in stub.asked[0]
    assert name not in stub.asked[1]


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_passing_failure_is_tried_again(status: int) -> None:
    stub = Stub([status, status, "a"])
    async with chat(stub) as model:
        assert (await model.reply(ASKED, SAMPLING, None)).text == "a"
    assert len(stub.asked) == 3


async def test_a_reply_that_breaks_off_is_asked_for_again() -> None:
    stub = Stub(["break", "a"])
    async with chat(stub) as model:
        assert (await model.reply(ASKED, SAMPLING, None)).text == "a"


async def test_a_failure_that_stays_is_a_model_error() -> None:
    stub = Stub([503])
    async with chat(stub, retries=1) as model:
        with pytest.raises(ModelError):
            await model.reply(ASKED, SAMPLING, None)
    assert len(stub.asked) == 2


async def test_a_reply_that_takes_too_long_is_a_model_error() -> None:
    async with chat(Stub([" ".join(map(str, range(100_000)))]), timeout=0.2) as model:
        with pytest.raises(ModelError, match=r"longer than 0\.2 s"):
            await model.reply(ASKED, SAMPLING, None)


async def test_a_loop_is_cut_early() -> None:
    stub = Stub(['{"a": "' + "ha " * 20_000])
    async with chat(stub) as model:
        reply = await model.reply(ASKED, SAMPLING, None)
    assert reply.finish == "looping"
    assert len(reply.text) < 2_000


async def test_no_more_requests_are_under_way_than_allowed() -> None:
    stub = Stub(["some text " * 20])
    async with chat(stub, concurrency=3) as model, anyio.create_task_group() as tg:
        for _ in range(12):
            tg.start_soon(model.reply, ASKED, SAMPLING, None)
    assert len(stub.asked) == 12
    assert stub.most == 3


async def test_the_key_is_sent_and_never_shown(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    caplog.set_level(logging.DEBUG)
    async with chat(Stub([401], key=SECRET)) as model:
        with pytest.raises(ModelError) as refused:
            await model.reply(ASKED, SAMPLING, None)
    assert "[OPENAI_API_KEY]" in str(refused.value)
    assert SECRET not in str(refused.value) + repr(refused.value) + caplog.text


async def test_a_wrong_key_is_refused_before_anything_is_served(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    async with serving(Stub(["a"], key="another")) as stub:
        with pytest.raises(BadInput, match="Set OPENAI_API_KEY") as refused:
            await ChatModel("", stub.url).open(lambda _: None)
    assert SECRET not in str(refused.value)


async def test_where_nothing_answers_it_says_so_without_the_password() -> None:
    model = ChatModel("", "http://me:hunter2@127.0.0.1:9/v1", retries=0)
    with pytest.raises(BadInput, match="nothing answers there") as refused:
        await model.open(lambda _: None)
    assert "hunter2" not in str(refused.value)


async def test_a_model_that_the_server_does_not_have_is_refused_with_those_it_has() -> None:
    async with serving(Stub(["a"])) as stub:
        with pytest.raises(BadInput, match="Use one of: tiny"):
            await ChatModel("huge", stub.url).open(lambda _: None)
