"""The libraries that most programs ask through: plain, streamed and with tools, and simonw/llm on top of one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest

from tests.proxy.talks import answer_events, answer_whole
from tests.proxy.test_passing import waited
from tests.proxy.test_recording import DICE
from tests.proxy.upstream import Upstream, streamed, whole
from tests.proxy.world import KNOWN, World, serving

pytestmark = pytest.mark.slow
ASKED, TOLD = "where is the teapot? 茶壶呢？", "On the third shelf. 在第三层。"
TOOL = {"type": "object", "properties": {"shelf": {"type": "integer"}}}


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    with Upstream([whole(b"{}")]) as server:
        yield server


@pytest.fixture
def world(tmp_path: Path, upstream: Upstream) -> Iterator[World]:
    with serving(tmp_path, upstream.url) as made:
        made.knows()
        yield made


@pytest.fixture
def claude(world: World) -> anthropic.Anthropic:
    return anthropic.Anthropic(base_url=world.url, api_key="sk-test-dummy", max_retries=2)


@pytest.fixture
def gpt(world: World) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{world.url}/v1", api_key="sk-test-dummy", max_retries=2)


def one_turn_was_kept(world: World, upstream: Upstream) -> None:
    assert waited(lambda: world.settled() or world.keys), "a program goes on at the end of the words"
    assert world.said() == [("user", ASKED), ("assistant", TOLD)]
    body = upstream.sent[-1].body.decode()
    assert body.count("<catmem-memory>") == 1
    assert KNOWN in json.loads(f'"{body.split("<catmem-memory>")[1].split("</catmem-memory>")[0]}"')


# anthropic


def test_anthropic_plain(claude: anthropic.Anthropic, world: World, upstream: Upstream) -> None:
    upstream.scripts = [whole(b'{"error":{}}', "529 "), whole(answer_whole("anthropic", TOLD))]
    message = claude.messages.create(model="m", max_tokens=9, messages=[{"role": "user", "content": ASKED}])
    assert message.content[0].text == TOLD  # type: ignore[union-attr]
    assert len(upstream.sent) == 2, "the library asked again by itself"
    one_turn_was_kept(world, upstream)


def test_anthropic_stream(claude: anthropic.Anthropic, world: World, upstream: Upstream) -> None:
    upstream.scripts = [streamed(answer_events("anthropic", TOLD, DICE))]
    asked: Any = [{"role": "user", "content": ASKED}]
    with claude.messages.stream(model="m", max_tokens=9, system="You help.", messages=asked) as stream:
        assert "".join(stream.text_stream) == TOLD
    one_turn_was_kept(world, upstream)


def test_anthropic_tools(claude: anthropic.Anthropic, world: World, upstream: Upstream) -> None:
    call = {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"shelf": 3}}
    first = {**json.loads(answer_whole("anthropic", "I look.")), "stop_reason": "tool_use"}
    first["content"].append(call)
    upstream.scripts = [whole(json.dumps(first).encode()), whole(answer_whole("anthropic", TOLD))]
    messages: list[Any] = [{"role": "user", "content": ASKED}]
    tools: Any = [{"name": "look", "description": "Looks.", "input_schema": TOOL}]
    step = claude.messages.create(model="m", max_tokens=9, messages=messages, tools=tools)
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "a teapot"}
    messages += [{"role": "assistant", "content": step.content}, {"role": "user", "content": [result]}]
    claude.messages.create(model="m", max_tokens=9, messages=messages, tools=tools)
    world.settled()
    assert world.said() == [("user", ASKED), ("assistant", "I look."), ("tool", "a teapot"), ("assistant", TOLD)]
    assert json.loads(upstream.sent[0].body)["system"] == json.loads(upstream.sent[1].body)["system"]


def test_anthropic_counts_and_lists(claude: anthropic.Anthropic, world: World, upstream: Upstream) -> None:
    upstream.scripts = [whole(b'{"input_tokens": 7}'), whole(b'{"data": [], "has_more": false}')]
    counted = claude.messages.count_tokens(model="m", messages=[{"role": "user", "content": ASKED}])
    assert counted.input_tokens == 7
    assert claude.models.list().data == []
    assert b"catmem" not in upstream.sent[0].body
    world.settled()
    assert world.keys == []


# openai


def test_chat_plain(gpt: openai.OpenAI, world: World, upstream: Upstream) -> None:
    upstream.scripts = [whole(answer_whole("chat", TOLD))]
    made = gpt.chat.completions.create(model="m", messages=[{"role": "user", "content": ASKED}])
    assert made.choices[0].message.content == TOLD
    one_turn_was_kept(world, upstream)


def test_chat_stream(gpt: openai.OpenAI, world: World, upstream: Upstream) -> None:
    upstream.scripts = [streamed(answer_events("chat", TOLD, DICE))]
    asked: Any = [{"role": "system", "content": "You help."}, {"role": "user", "content": ASKED}]
    chunks = list(gpt.chat.completions.create(model="m", messages=asked, stream=True))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == TOLD
    one_turn_was_kept(world, upstream)


def test_chat_tools(gpt: openai.OpenAI, world: World, upstream: Upstream) -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": '{"shelf":3}'}}
    first = json.loads(answer_whole("chat", ""))
    first["choices"][0] = {
        "index": 0,
        "message": {"role": "assistant", "content": None, "tool_calls": [call]},
        "finish_reason": "tool_calls",
    }
    upstream.scripts = [whole(json.dumps(first).encode()), whole(answer_whole("chat", TOLD))]
    messages: list[Any] = [{"role": "user", "content": ASKED}]
    tools: Any = [{"type": "function", "function": {"name": "look", "parameters": TOOL}}]
    step = gpt.chat.completions.create(model="m", messages=messages, tools=tools)
    messages += [step.choices[0].message, {"role": "tool", "tool_call_id": "call_1", "content": "a teapot"}]
    gpt.chat.completions.create(model="m", messages=messages, tools=tools)
    world.settled()
    roles = [(message.role, message.content) for message in world.messages()]
    assert roles == [("user", ASKED), ("assistant", ""), ("tool", "a teapot"), ("assistant", TOLD)]
    assert world.messages()[1].tool_calls[0].name == "look"


def test_responses_plain(gpt: openai.OpenAI, world: World, upstream: Upstream) -> None:
    upstream.scripts = [whole(answer_whole("responses", TOLD))]
    assert gpt.responses.create(model="m", input=ASKED).output_text == TOLD
    one_turn_was_kept(world, upstream)


def test_responses_stream(gpt: openai.OpenAI, world: World, upstream: Upstream) -> None:
    upstream.scripts = [streamed(answer_events("responses", TOLD, DICE))]
    events = gpt.responses.create(model="m", input=ASKED, instructions="You help.", stream=True)
    assert "".join(event.delta for event in events if event.type == "response.output_text.delta") == TOLD
    one_turn_was_kept(world, upstream)


def test_responses_that_the_server_keeps(gpt: openai.OpenAI, world: World, upstream: Upstream) -> None:
    """Only the newest words are sent; the answer's id says what they follow, and nothing may be left with the server."""
    upstream.scripts = [whole(answer_whole("responses", TOLD))]
    first = gpt.responses.create(model="m", input=ASKED)
    gpt.responses.create(model="m", input=[{"role": "user", "content": "sure?"}], previous_response_id=first.id)
    world.settled()
    assert [text for _, text in world.said()] == [ASKED, TOLD, "sure?", TOLD]
    bodies = [json.loads(sent.body) for sent in upstream.sent]
    assert bodies[0]["instructions"] == bodies[1]["instructions"]
    assert bodies[1]["input"] == [{"role": "user", "content": "sure?"}]


def test_responses_tools(gpt: openai.OpenAI, world: World, upstream: Upstream) -> None:
    call = {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "call_1",
        "name": "look",
        "arguments": '{"shelf":3}',
        "status": "completed",
    }
    first = {**json.loads(answer_whole("responses", "")), "output": [call]}
    upstream.scripts = [whole(json.dumps(first).encode()), whole(answer_whole("responses", TOLD))]
    given: list[Any] = [{"role": "user", "content": ASKED}]
    tools: Any = [{"type": "function", "name": "look", "parameters": TOOL, "strict": False}]
    step = gpt.responses.create(model="m", input=given, tools=tools)
    given += [*step.output, {"type": "function_call_output", "call_id": "call_1", "output": "a teapot"}]
    gpt.responses.create(model="m", input=given, tools=tools)
    world.settled()
    assert world.said() == [("user", ASKED), ("assistant", ""), ("tool", "a teapot"), ("assistant", TOLD)]


# simonw/llm


def test_llm_asks_and_goes_on(world: World, upstream: Upstream, tmp_path: Path) -> None:
    upstream.scripts = [streamed(answer_events("chat", TOLD, DICE))]
    folder = tmp_path / "llm"
    folder.mkdir()
    model = f"- model_id: fake\n  model_name: fake-model\n  api_base: {world.url}/p/kitchen/v1\n"
    (folder / "extra-openai-models.yaml").write_text(model)

    def llm(*words: str) -> str:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "LLM_USER_PATH": str(folder),
            "LANG": "C.UTF-8",
        }
        command = [str(Path(sys.executable).with_name("llm")), "-m", "fake", *words]
        done = subprocess.run(
            command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=True
        )
        return done.stdout.decode().strip()

    assert llm(ASKED) == TOLD
    assert llm("-c", "sure?") == TOLD
    world.settled()
    assert [text for _, text in world.said()] == [ASKED, TOLD, "sure?", TOLD]
    assert [header.ref.project for header in world.catmem.history.headers()] == ["kitchen"]
