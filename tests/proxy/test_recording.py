"""What is recorded of what passes: turns, each once, in the session that they belong to."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from catmem.capture.hook import capture_prompt
from catmem.inject.told import BRIEF, tell, told
from catmem.sessions.pure import is_pure
from tests.proxy.talks import PATHS, answer_events, answer_whole
from tests.proxy.test_passing import post, waited
from tests.proxy.upstream import Script, Upstream, streamed, whole
from tests.proxy.world import KNOWN, PROJECT, World, serving

DICE = random.Random(4)
CLAUDE = {"User-Agent": "claude-cli/2.1.197 (external, cli)", "X-Claude-Code-Session-Id": "7f1c"}
KEY = "claude-code:7f1c"


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    with Upstream([whole(answer_whole("anthropic", "on the shelf"))]) as server:
        yield server


@pytest.fixture
def world(tmp_path: Path, upstream: Upstream) -> Iterator[World]:
    with serving(tmp_path, upstream.url) as made:
        yield made


def messages(*turns: str) -> list[dict[str, Any]]:
    """User and assistant in turn."""
    return [{"role": ("user", "assistant")[place % 2], "content": text} for place, text in enumerate(turns)]


def asked(*turns: str, **more: Any) -> dict[str, Any]:
    return {"model": "claude-9", "max_tokens": 9, "messages": messages(*turns), **more}


def say(world: World, upstream: Upstream, answer: str, *turns: str, headers: dict[str, str] | None = None) -> None:
    upstream.scripts = [whole(answer_whole("anthropic", answer))]
    assert world.ask("/v1/messages", asked(*turns), headers)[0] == 200
    world.settled()


BODIES: dict[str, Any] = {
    "anthropic": {"messages": messages("where is 茶壶?"), "stream": True},
    "chat": {"messages": messages("where is 茶壶?"), "stream": True},
    "responses": {"input": "where is 茶壶?", "stream": True},
    "gemini": {"contents": [{"role": "user", "parts": [{"text": "where is 茶壶?"}]}]},
}


@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
@pytest.mark.parametrize("wire", PATHS)
def test_a_turn_of_every_api(world: World, upstream: Upstream, wire: str, stream: bool) -> None:
    answer = "在第三层。On the \U0001f375 shelf."
    events = streamed(answer_events(wire, answer, DICE))
    upstream.scripts = [events if stream else whole(answer_whole(wire, answer))]
    assert world.ask(PATHS[wire], BODIES[wire])[0] == 200
    world.settled()
    said, answered = world.messages()
    assert (said.role, said.content) == ("user", "where is 茶壶?")
    assert (answered.role, answered.content) == ("assistant", answer)
    assert answered.usage == {"input_tokens": 12, "output_tokens": 9}


def test_a_talk_that_grows_is_one_session(world: World, upstream: Upstream) -> None:
    say(world, upstream, "hello", "hi")
    say(world, upstream, "on the shelf", "hi", "hello", "where is it?")
    say(world, upstream, "yes", "hi", "hello", "where is it?", "on the shelf", "sure?")
    assert [text for _, text in world.said()] == ["hi", "hello", "where is it?", "on the shelf", "sure?", "yes"]


def test_a_new_talk_with_the_same_first_words_is_another_session(world: World, upstream: Upstream) -> None:
    say(world, upstream, "hello", "hi")
    say(world, upstream, "hello", "hi")
    assert len(world.keys) == 2
    say(world, upstream, "on the shelf", "hi", "hello", "where is it?")
    assert sorted(len(world.messages(key)) for key in world.keys) == [2, 4]


def test_a_talk_goes_on_in_its_session_after_a_restart(tmp_path: Path, upstream: Upstream) -> None:
    with serving(tmp_path, upstream.url) as world:
        say(world, upstream, "hello", "hi")
    with serving(tmp_path, upstream.url) as world:
        say(world, upstream, "on the shelf", "hi", "hello", "where is it?")
        assert [text for _, text in world.said()] == ["hi", "hello", "where is it?", "on the shelf"]


def test_words_said_twice_in_a_talk_are_two_turns(world: World, upstream: Upstream) -> None:
    said = ["go on"]
    for _ in range(3):
        say(world, upstream, "done", *said, headers=CLAUDE)
        said += ["done", "go on"]
    assert world.said(KEY) == [("user", "go on"), ("assistant", "done")] * 3


@pytest.mark.parametrize("wire", ["anthropic", "chat", "responses", "gemini"])
def test_a_program_that_leaves_at_the_end_of_the_words_has_had_its_turn(
    world: World, upstream: Upstream, wire: str
) -> None:
    """The last words of a stream are not the end of its framing, and few programs wait for that."""
    script = streamed(answer_events(wire, "on the shelf", DICE))
    upstream.scripts = [Script(script.pieces[:-1], closes=True)]
    with world.connect() as client:
        client.socket.sendall(post(PATHS[wire], json.dumps(BODIES[wire]).encode()))
        while client.socket.recv(65536):
            pass
    assert waited(lambda: world.settled() or world.keys)
    assert world.said() == [("user", "where is 茶壶?"), ("assistant", "on the shelf")]


def test_a_retry_is_no_second_turn(world: World, upstream: Upstream) -> None:
    cut = streamed(answer_events("anthropic", "on the shelf", DICE)).pieces[:-3]
    good = whole(answer_whole("anthropic", "on the shelf"))
    refused = whole(b"{}", "429 Too Many Requests", "retry-after: 1")
    for headers in (CLAUDE, {}):
        upstream.scripts = [refused, Script(cut, closes=True), good, good]
        for _ in range(3 if not headers else 4):
            world.ask("/v1/messages", asked("where?"), headers)
            world.settled()
    assert [len(world.messages(key)) for key in world.keys] == [2, 2]


@pytest.mark.parametrize(
    "script",
    [
        whole(b'{"error":{}}', "500 Internal Server Error"),
        whole(b'{"type":"error","error":{}}'),
        whole(b"not json"),
        streamed(answer_events("anthropic", "on the shelf", DICE)[:-1]),
        streamed([*answer_events("anthropic", "on", DICE)[:-2], b'event: error\ndata: {"type":"error"}\n\n']),
    ],
)
def test_what_is_no_completed_answer_is_no_turn(world: World, upstream: Upstream, script: Any) -> None:
    upstream.scripts = [script]
    world.ask("/v1/messages", asked("where?"), CLAUDE)
    world.settled()
    assert world.keys == []


def test_steps_with_tools_are_one_turn(world: World, upstream: Upstream) -> None:
    call = {"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {"path": "shelf.md"}}
    step = {"type": "message", "content": [{"type": "text", "text": "I look."}, call], "usage": {"output_tokens": 3}}
    upstream.scripts = [whole(json.dumps(step).encode())]
    world.ask("/v1/messages", asked("where?"))
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": "teapot: 3"}]}
    grown = [
        *messages("where?"),
        {"role": "assistant", "content": step["content"]},
        {"role": "user", "content": [result]},
    ]
    upstream.scripts = [whole(answer_whole("anthropic", "on the third"))]
    world.ask("/v1/messages", {"model": "m", "messages": grown})
    world.settled()
    said, looked, found, answered = world.messages()
    assert [m.role for m in (said, looked, found, answered)] == ["user", "assistant", "tool", "assistant"]
    assert (looked.content, looked.tool_calls[0].name) == ("I look.", "Read")
    assert json.loads(looked.tool_calls[0].arguments) == {"path": "shelf.md"}
    assert (found.content, found.tool_call_id) == ("teapot: 3", "toolu_1")
    assert answered.content == "on the third"


def test_what_our_own_tool_returned_is_not_learned_again(world: World, upstream: Upstream) -> None:
    call = {"type": "tool_use", "id": "t1", "name": "mcp__catmem__recall", "input": {"query": "teapot"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "the teapot is blue"}
    grown = [*messages("where?"), {"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    world.ask("/v1/messages", {"model": "m", "messages": grown})
    world.settled()
    assert "blue" not in "".join(text for _, text in world.said())


SIDE = [
    pytest.param("/v1/messages/count_tokens", asked("where?"), CLAUDE, id="token count"),
    pytest.param("/v1/messages", asked("where?"), {**CLAUDE, "x-claude-code-agent-id": "a1"}, id="subagent"),
    pytest.param(
        "/v1/messages",
        asked("where?", system=[{"type": "text", "text": "x-billing: cc_is_subagent=true;"}]),
        CLAUDE,
        id="subagent by its system",
    ),
    pytest.param(
        "/v1/messages",
        asked("where?", tools=[], output_config={"format": {"type": "json_schema", "schema": {}}}),
        CLAUDE,
        id="title",
    ),
    pytest.param(
        "/v1/messages",
        asked("hi", "hello", "CRITICAL: Respond with TEXT ONLY. Sum up.", tools=[{"name": "Read"}]),
        CLAUDE,
        id="compaction",
    ),
    pytest.param(
        "/v1/responses",
        {"input": "sum up", "tools": [{"type": "function", "name": "shell"}]},
        {"x-codex-turn-metadata": json.dumps({"session_id": "s", "request_kind": "compaction"})},
        id="compaction of codex",
    ),
    pytest.param(
        "/v1/responses",
        {"input": "look around", "tools": [{"type": "function", "name": "shell"}]},
        {"x-codex-turn-metadata": json.dumps({"session_id": "s", "request_kind": "turn", "agent_name": "/root/a"})},
        id="subagent of codex",
    ),
    pytest.param(
        "/v1/chat/completions", {"messages": messages("where?")}, {"User-Agent": "opencode/1.18", "x-session-id": "ses_1"},
        id="title of opencode",
    ),
    pytest.param(
        "/v1beta/models/flash-lite:generateContent",
        {"contents": [{"parts": [{"text": "where?"}]}], "generationConfig": {"responseJsonSchema": {}}},
        {"User-Agent": "GeminiCLI/0.61.0/flash (linux; x64)"},
        id="router of gemini",
    ),
    pytest.param(
        "/v1/chat/completions",
        {"messages": [{"role": "system", "content": "You make concise, one-line Git commit messages"}, *messages("# Diffs")]},
        {},
        id="commit message of aider",
    ),
    pytest.param("/v1/messages", asked("what do you keep of this?"), {"x-catmem-helper": "1"}, id="our own call"),
    pytest.param("/v1/messages", asked("[memory-helper v1] sum up"), {}, id="our own prompt"),
    pytest.param("/v1/embeddings", {"input": "where?"}, {}, id="another path"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "body", "headers"), SIDE)
def test_side_requests_pass_unrecorded_and_without_a_brief(
    world: World, upstream: Upstream, path: str, body: dict[str, Any], headers: dict[str, str]
) -> None:
    world.knows()
    upstream.scripts = [whole(answer_whole("anthropic", "a title"))]
    assert world.ask(path, body, headers)[0] == 200
    world.settled()
    assert world.keys == []
    assert json.loads(upstream.sent[-1].body) == body
    assert b"catmem" not in upstream.sent[-1].head.lower()


def test_what_a_program_puts_into_the_user_s_mouth_is_not_the_user_s(world: World, upstream: Upstream) -> None:
    reminder = {"type": "text", "text": "<system-reminder>\nheed the files\n</system-reminder>"}
    ours = {"type": "text", "text": "<system-reminder>\n<catmem-memory>\nblue\n</catmem-memory>\n</system-reminder>"}
    typed = {"type": "text", "text": "where is it? 在哪里？"}
    late = {"role": "system", "content": "agents are listed here"}
    body = {"model": "m", "messages": [{"role": "user", "content": [reminder, ours, typed]}, late]}
    world.ask("/v1/messages", body, CLAUDE)
    world.settled()
    assert world.said(KEY) == [("user", "where is it? 在哪里？"), ("assistant", "on the shelf")]


def test_what_aider_puts_behind_a_prompt_is_not_the_user_s(world: World, upstream: Upstream) -> None:
    """Recorded traffic of aider 0.86 in its shape: examples, files and `Ok.` before, a reminder behind the prompt."""
    system = {"role": "system", "content": "Act as an expert software developer. Answer with SEARCH/REPLACE blocks."}
    before = messages(
        "Change the greeting", "Ok, changed.", "I switched to a new code base.", "Ok.", "Here are the files", "Ok."
    )
    prompt = "add a handle to the teapot\n\n# *SEARCH/REPLACE block* Rules:\n\nEvery block must use this format.\n"
    upstream.scripts = [streamed(answer_events("chat", "a handle it is", DICE))]
    body = {"model": "m", "messages": [system, *before, {"role": "user", "content": prompt}], "stream": True}
    world.ask("/v1/chat/completions", body)
    world.settled()
    assert world.said() == [("user", "add a handle to the teapot"), ("assistant", "a handle it is")]


def test_the_folder_that_a_program_names_tells_the_project(world: World, upstream: Upstream, tmp_path: Path) -> None:
    workspace = tmp_path / "kitchen"
    (workspace / ".git").mkdir(parents=True)
    system = f"You help.\nPrimary working directory: {workspace}\nPlatform: linux"
    world.ask("/v1/messages", asked("where?", system=system), CLAUDE)
    world.settled()
    (header,) = world.catmem.history.headers()
    assert header.ref.project.startswith("kitchen-")
    assert header.metadata["cwd"] == str(workspace)
    assert header.metadata["client"] == "claude-code"


def test_the_path_names_the_project(world: World, upstream: Upstream) -> None:
    world.ask("/p/tea%20room/v1/messages", asked("where?"))
    world.ask("/v1/messages", asked("where?"), {"x-catmem-project": "pantry"})
    world.ask("/v1/messages", asked("where?"))
    world.settled()
    assert {header.ref.project for header in world.catmem.history.headers()} == {"pantry", PROJECT, "tea room"}
    assert upstream.sent[0].line == b"POST /v1/messages HTTP/1.1"


def test_a_secret_is_never_kept(world: World, upstream: Upstream) -> None:
    secret, key = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5", "sk-ant-api03-" + "x7Kp" * 12
    say(world, upstream, f"keep {secret} safe", f"my token is {secret}", headers={"x-api-key": key, **CLAUDE})
    assert len(world.said(KEY)) == 2
    world.stop()
    for path in world.root.rglob("*"):
        if path.is_file():
            kept = path.read_bytes()
            assert secret.encode() not in kept and key.encode() not in kept, path


# The same turn by two doors


def test_a_prompt_that_a_hook_has_is_the_hook_s(world: World, upstream: Upstream) -> None:
    event = {
        "session": KEY,
        "prompt": "where is it?",
        "prompt_id": "p1",
        "transcript": "",
        "cwd": "",
        "client": "claude-code",
    }
    capture_prompt(
        event, root=str(world.root), project=PROJECT, redact=lambda t, s: t, at="2026-03-01T10:00:00.000Z", seconds=1.0
    )  # fmt: skip
    say(world, upstream, "on the shelf", "where is it?", headers=CLAUDE)
    assert world.said(KEY) == [("user", "where is it?")], "the answer comes with the transcript"
    say(world, upstream, "yes", "where is it?", "on the shelf", "sure?", headers=CLAUDE)
    assert world.said(KEY)[1:] == [("user", "sure?"), ("assistant", "yes")], "a prompt that no hook told of"


def test_a_session_that_a_hook_briefed_gets_no_second_brief(world: World, upstream: Upstream) -> None:
    world.knows()
    tell(
        world.catmem.paths,
        KEY,
        door="hook",
        event=BRIEF,
        project=PROJECT,
        at="",
        text="<catmem-memory>x</catmem-memory>",
    )
    say(world, upstream, "on the shelf", "where is it?", headers=CLAUDE)
    assert b"catmem-memory" not in upstream.sent[-1].body


# The brief


def test_every_request_of_a_session_has_the_same_brief(world: World, upstream: Upstream) -> None:
    world.knows()
    briefs = []
    said: list[str] = ["where is it?"]
    for answer in ("here", "there"):
        say(world, upstream, answer, *said, headers=CLAUDE)
        briefs.append(json.loads(upstream.sent[-1].body)["system"])
        world.knows("the kettle is red, and that was learned meanwhile")
        said += [answer, "sure?"]
    assert briefs[0] == briefs[1]
    (block,) = briefs[0]
    assert KNOWN in block["text"]
    record = told(world.catmem.paths, KEY)
    assert record is not None and record["text"] == block["text"] and record["door"] == "proxy"
    say(world, upstream, "x", "a new talk", headers={**CLAUDE, "X-Claude-Code-Session-Id": "8"})
    assert "kettle" in json.loads(upstream.sent[-1].body)["system"][0]["text"]


def test_a_talk_without_an_id_has_one_brief_too(world: World, upstream: Upstream) -> None:
    world.knows()
    say(world, upstream, "here", "where?")
    first = json.loads(upstream.sent[-1].body)["system"]
    world.knows("the kettle is red")
    say(world, upstream, "yes", "where?", "here", "sure?")
    assert json.loads(upstream.sent[-1].body)["system"] == first


def test_no_memory_no_brief_in_the_whole_session(world: World, upstream: Upstream) -> None:
    say(world, upstream, "here", "where?", headers=CLAUDE)
    world.knows()
    say(world, upstream, "yes", "where?", "here", "sure?", headers=CLAUDE)
    assert all(b"catmem-memory" not in sent.body for sent in upstream.sent)


# Pure mode


@pytest.mark.parametrize("path", ["/pure/v1/messages", "/p/x/pure/v1/messages", "/pure/p/x/v1/messages"])
def test_pure_is_nothing_in_and_nothing_out(world: World, upstream: Upstream, path: str) -> None:
    world.knows(project="x")
    body = json.dumps(asked("where?")).encode()
    assert world.ask(path, body, CLAUDE)[0] == 200
    world.settled()
    assert upstream.sent[-1].body == body
    assert world.keys == []
    assert is_pure(str(world.root), KEY), "and no import will take it in"
    world.ask("/v1/messages", body, CLAUDE)
    world.settled()
    assert (world.keys, upstream.sent[-1].body) == ([], body), "by no other address either"


def test_what_is_held_of_a_pure_session_is_kept_only_on_request(tmp_path: Path, upstream: Upstream) -> None:
    for kept in (False, True):
        with serving(tmp_path, upstream.url, pure=True, hold=True, inject=False) as world:
            say(world, upstream, "here", "where?", headers=CLAUDE)
            assert world.keys == []
            if kept:
                world.recorder.release()
            world.stop()
            assert world.keys == ([KEY] if kept else [])
