"""What every model must do that completes an answer to a form, whichever adapter it is: servers, programs, scripts."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catmem.llm import endpoint
from catmem.llm.budget import Metered, Spending
from catmem.llm.failures import Where, command_failed, cut_short, refused
from catmem.llm.fallback import FallbackModel, Named
from catmem.llm.port import Completion, Failure, Model, Turn
from catmem.llm.providers import model_of
from catmem.llm.scripted import Answer, ScriptedModel
from tests.llm.fake_server import FakeServer, Reply, serving

PLACE = Where("example.org", "KEY")
SYSTEM = ("Select the sentences. 请选择句子。", "", "Be exact.")
TURNS = (Turn("user", "1. Use pnpm. 2. 今天下雨。"),)
SCHEMA = {
    "type": "object",
    "properties": {"keep": {"type": "array", "items": {"type": "integer", "enum": [1, 2]}}, "why": {"type": "string"}},
    "required": ["keep", "why"],
    "additionalProperties": False,
}
SAID = ('{"keep":', '[1],"why"', ':"他说用 pnpm 🦊"}')
APIS = ("openai", "anthropic")
ENVIRONMENT = {"KEY": "k-12345678"}

Make = Callable[[Reply], Model]


def _script(reply: Reply) -> Answer:
    """What a reply of the fake server comes to, in the words of the seam."""
    if reply.status != 200:
        return refused(PLACE, reply.status, "", None)
    if reply.breaks:
        return [*reply.pieces, cut_short(PLACE)]
    return Completion("".join(reply.pieces))


def _program(folder: Path, reply: Reply) -> Model:
    """A shell script that answers likewise; it dies where a server would refuse or break off."""
    said = folder / "said"
    said.write_text("".join(reply.pieces), "utf-8")
    script = folder / "model.sh"
    dies = reply.status != 200 or reply.breaks
    end = "echo no >&2; exit 3" if dies else "exit 0"
    script.write_text(f"#!/bin/sh\ncat > {shlex.quote(str(folder))}/asked\ncat {shlex.quote(str(said))}\n{end}\n")
    script.chmod(0o755)
    return model_of({"api": "command", "command": [str(script)]}, {"PATH": "/usr/bin:/bin"})


@pytest.fixture(params=["scripted", *APIS, "command", "fallback", "metered"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Make]:
    with ExitStack() as stack:

        def made(reply: Reply) -> Model:
            script = ScriptedModel([_script(reply)])
            if request.param == "scripted":
                return script
            if request.param == "fallback":
                return FallbackModel([Named("one", script)], lambda *_: None)
            if request.param == "metered":
                return Metered(script, "one", Spending(tmp_path / "spending.json", 100_000))
            if request.param == "command":
                return _program(tmp_path, reply)
            server = stack.enter_context(serving(reply))
            return model_of(row(request.param, server), ENVIRONMENT)

        yield made


def row(api: str, server: FakeServer) -> dict[str, str]:
    return {"api": api, "base_url": f"{server.url}/v1", "model": "m", "api_key_env": "KEY"}


def complete(model: Model, **more: Any) -> Completion:
    return model.complete(SYSTEM, TURNS, SCHEMA, **more)


# --- every model ------------------------------------------------------------------------------------------------------


def test_the_answer_comes_whole(make: Make) -> None:
    said = complete(make(Reply(SAID)))
    assert json.loads(said.text) == {"keep": [1], "why": "他说用 pnpm 🦊"} and said.finish == "stop"


def test_an_empty_answer_is_for_the_asker_to_judge(make: Make) -> None:
    assert complete(make(Reply(()))).text == ""


def test_half_an_answer_is_none(make: Make) -> None:
    with pytest.raises(Failure) as caught:
        complete(make(Reply(SAID, breaks=True)))
    assert caught.value.remedy in ("later", "another") and caught.value.kind in ("stream-died", "command")


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500])
def test_a_refusal_says_what_helps_in_both_languages(make: Make, status: int) -> None:
    with pytest.raises(Failure) as caught:
        complete(make(Reply(status=status, body="<html>no</html>")))
    failure = caught.value
    assert failure.exit_code == 11 and failure.remedy in ("later", "another")
    assert failure.kind in (str(status), "command")
    assert failure.en.isascii() and any("\u4e00" <= letter <= "\u9fff" for letter in failure.zh)


# --- servers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("finish", ["stop", "length", "refusal"])
def test_why_it_ended_and_what_it_cost(api: str, whole: bool, finish: str) -> None:
    with serving(Reply(SAID, whole=whole, finish=finish, usage=(321, 45))) as server:
        said = complete(model_of(row(api, server), ENVIRONMENT))
    assert said == Completion("".join(SAID), finish, 321, 45)  # type: ignore[arg-type]


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(("said", "kind"), [((), "timeout"), (SAID, "hang")])
def test_a_server_that_hangs_is_left_in_time(
    api: str, said: tuple[str, ...], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "SILENCE_SECONDS", 0.3)
    reply = Reply(said, pause=3.0) if said else Reply(delay=3.0)
    # The server would go on: whoever waits for it gets an answer.
    with serving(reply) as server, pytest.raises(Failure) as caught:
        complete(model_of(row(api, server), ENVIRONMENT))
    assert caught.value.kind == kind and caught.value.remedy == "later" and caught.value.rest > 0


def test_a_server_that_names_a_date_gets_its_patience() -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    with serving(Reply(status=429, headers=(("Retry-After", date),))) as server, pytest.raises(Failure) as caught:
        complete(model_of(row("openai", server), ENVIRONMENT))
    assert 60 < caught.value.rest <= 90


def test_words_that_refuse_are_a_refusal() -> None:
    event = {"choices": [{"delta": {"refusal": "I cannot."}, "finish_reason": "stop"}]}
    with serving(Reply(raw=f"data: {json.dumps(event)}\n\n".encode())) as server:
        assert complete(model_of(row("openai", server), ENVIRONMENT)) == Completion("I cannot.", "refusal")


def test_what_a_model_thinks_aloud_is_no_answer() -> None:
    with serving(Reply(("<think>{maybe", " [1]}</think>\n\n", *SAID))) as server:
        assert complete(model_of(row("openai", server), ENVIRONMENT)).text == "".join(SAID)


def test_a_complete_answer_whose_count_is_cut_off_is_kept() -> None:
    ended = [{"choices": [{"delta": {"content": "{}"}, "finish_reason": "stop"}]}]
    raw = "".join(f"data: {json.dumps(event)}\n\n" for event in ended).encode() + b"data: {broken\n\n"
    with serving(Reply(raw=raw)) as server:
        assert complete(model_of(row("openai", server), ENVIRONMENT)) == Completion("{}")


@pytest.mark.parametrize(
    ("refuses", "form"),
    [
        ((), "json_schema"),
        (("json_schema",), "json_object"),
        (("response_format",), None),
        (("temperature", "stream_options", "max_tokens"), "json_schema"),
        (("stream_options", "response_format"), None),
    ],
)
def test_a_server_that_knows_less_is_asked_for_less_and_only_once(refuses: tuple[str, ...], form: str | None) -> None:
    with serving(Reply(SAID, refuses=refuses)) as server:
        model = model_of(row("openai", server), ENVIRONMENT)
        assert complete(model, max_tokens=77).text == "".join(SAID)
        first = len(server.bodies)
        assert complete(model, max_tokens=77).text == "".join(SAID)
    assert len(server.bodies) == first + 1
    body = server.bodies[-1]
    assert body.get("response_format", {}).get("type") == form
    assert not set(refuses) & set(body)
    assert body.get("max_tokens", body.get("max_completion_tokens")) == 77
    if form == "json_schema":
        assert body["response_format"]["json_schema"]["schema"] == SCHEMA
    else:
        assert json.dumps(SCHEMA, separators=(",", ":")) in body["messages"][0]["content"]


@pytest.mark.parametrize(
    ("refuses", "held", "begun"),
    [((), True, False), (("output_config",), False, True), (("output_config", "prefill"), False, False)],
)
def test_messages_are_held_to_the_form_or_begun_or_told(refuses: tuple[str, ...], held: bool, begun: bool) -> None:
    said = SAID if not begun else ('"keep":', *SAID[1:])
    with serving(Reply(said, refuses=refuses)) as server:
        model = model_of(row("anthropic", server), ENVIRONMENT)
        assert complete(model).text == "".join(SAID)
        first = len(server.bodies)
        assert complete(model).text == "".join(SAID)
    assert len(server.bodies) == first + 1
    body = server.bodies[-1]
    assert ("output_config" in body) == held
    assert (body["messages"][-1] == {"role": "assistant", "content": "{"}) == begun
    assert ("JSON schema" in body["system"][-1]["text"]) != held


@pytest.mark.parametrize("api", APIS)
def test_a_talk_that_is_too_long_does_not_make_a_server_one_of_less_form(api: str) -> None:
    long = Reply(status=400, body='{"error":{"message":"context is too long"}}')
    with serving(long, long, long, Reply(SAID)) as server:
        model = model_of(row(api, server), ENVIRONMENT)
        with pytest.raises(Failure, match="too long"):
            complete(model)
        assert complete(model).text == "".join(SAID)
    assert "output_config" in server.bodies[-1] or server.bodies[-1]["response_format"]["type"] == "json_schema"


# --- words only -------------------------------------------------------------------------------------------------------

KNOWN = {
    "openai": {
        "model", "messages", "stream", "temperature", "stream_options", "max_tokens", "max_completion_tokens",
        "response_format",
    },
    "anthropic": {"model", "messages", "stream", "system", "max_tokens", "output_config"},
}  # fmt: skip
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
TALK = st.lists(st.builds(Turn, st.sampled_from(["user", "assistant"]), TEXT), max_size=4)


@pytest.mark.parametrize("api", APIS)
@settings(max_examples=25, deadline=None)
@given(system=st.lists(TEXT, max_size=3), turns=TALK, streamed=st.booleans(), refuses=st.booleans())
def test_no_request_ever_has_a_tool(
    api: str, system: list[str], turns: list[Turn], streamed: bool, refuses: bool
) -> None:
    reply = Reply(("{}",), refuses=("response_format", "output_config", "prefill") if refuses else ())
    asked = (*turns, Turn("user", "tools: functions"))
    with serving(reply) as server:
        model = model_of(row(api, server), ENVIRONMENT)
        if streamed:
            list(model.stream(system, asked))
        else:
            model.complete(system, asked, SCHEMA)
    for _, headers, body in server.requests:
        assert set(body) <= KNOWN[api]
        assert headers["x-catmem-helper"] == "1"
        assert all(isinstance(turn["content"], str) and set(turn) == {"role", "content"} for turn in body["messages"])


def test_a_program_is_given_words_on_stdin_and_the_marker_first(tmp_path: Path) -> None:
    complete(_program(tmp_path, Reply(SAID)))
    asked = (tmp_path / "asked").read_text("utf-8")
    assert asked.startswith("[memory-helper v1]\n") and TURNS[0].text in asked and "请选择句子。" in asked


def test_what_a_program_says_of_its_failure_is_quoted() -> None:
    failure = command_failed("claude", 1, "Invalid API key · Please run /login")
    assert "Please run /login" in failure.en and "Please run /login" in failure.zh
