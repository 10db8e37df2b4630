"""The HTTP side: where it goes, what it sends, what it makes of servers that misbehave."""

from __future__ import annotations

import json
import socket
import sys
import threading
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catmem.llm import endpoint, failures
from catmem.llm.events import event_data
from catmem.llm.port import Failure, Turn
from catmem.llm.providers import model_of, models_of, place_of
from tests.llm.fake_server import Reply, serving

KEY = "sk-secret-0123456789abcdef"
TURNS = (Turn("user", "hello"), Turn("assistant", "hi"), Turn("user", "你好"))
APIS = ("openai", "anthropic")


def row(api: str, url: str, **more: str) -> dict[str, str]:
    return {"api": api, "base_url": url, "model": "m-1", "api_key_env": "MODEL_KEY", **more}


def ask(row: dict[str, str], environment: dict[str, str] | None = None) -> str:
    given = {"MODEL_KEY": KEY} if environment is None else environment
    return "".join(model_of(row, given).stream(("INSTRUCTION", "BRIEF"), TURNS))


def failure_of(row: dict[str, str], environment: dict[str, str] | None = None) -> Failure:
    with pytest.raises(Failure) as caught:
        ask(row, environment)
    return caught.value


@pytest.mark.parametrize(
    ("api", "base", "path"),
    [
        ("openai", "", "/v1/chat/completions"),
        ("openai", "/", "/v1/chat/completions"),
        ("openai", "/v1", "/v1/chat/completions"),
        ("openai", "/v1/", "/v1/chat/completions"),
        ("openai", "/openai/deployments/x?api-version=1", "/openai/deployments/x/chat/completions?api-version=1"),
        ("openai", "/v1/chat/completions", "/v1/chat/completions"),
        ("anthropic", "", "/v1/messages"),
        ("anthropic", "/v1", "/v1/messages"),
        ("anthropic", "/anthropic/", "/anthropic/v1/messages"),
        ("anthropic", "/v1/messages", "/v1/messages"),
    ],
)
def test_base_url_is_understood_as_people_write_it(api: str, base: str, path: str) -> None:
    with serving(Reply(("ok",))) as server:
        assert ask(row(api, server.url + base)) == "ok"
    assert [asked for asked, _, _ in server.requests] == [path]


def test_requests_carry_words_only() -> None:
    with serving(Reply(("ok",))) as server:
        ask(row("openai", server.url))
        ask(row("anthropic", server.url))
    (_, first, openai), (_, second, anthropic) = server.requests
    said = [{"role": turn.role, "content": turn.text} for turn in TURNS]
    assert openai == {
        "model": "m-1",
        "messages": [{"role": "system", "content": "INSTRUCTION\n\nBRIEF"}, *said],
        "stream": True,
    }
    assert anthropic.keys() == {"model", "max_tokens", "system", "messages", "stream"}
    assert anthropic["messages"] == said
    assert anthropic["system"] == [
        {"type": "text", "text": "INSTRUCTION"},
        {"type": "text", "text": "BRIEF", "cache_control": {"type": "ephemeral"}},
    ]
    assert first["authorization"] == f"Bearer {KEY}" and "x-api-key" not in first
    assert second["x-api-key"] == KEY and "authorization" not in second
    # A proxy of ours on the way is told that nobody said this to an assistant.
    assert first["x-catmem-helper"] == second["x-catmem-helper"] == "1"


@pytest.mark.parametrize("api", APIS)
def test_no_key_is_sent_where_none_is_named(api: str) -> None:
    with serving(Reply(("ok",))) as server:
        wanted = row(api, server.url)
        del wanted["api_key_env"]
        assert ask(wanted, {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY, "MODEL_KEY": KEY}) == "ok"
    assert KEY not in json.dumps(server.requests)


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("held", ["", "  \n", "schlüssel", "a\nb"])
def test_a_variable_without_a_usable_key_is_named_and_nothing_is_sent(api: str, held: str) -> None:
    with serving(Reply(("ok",))) as server:
        failure = failure_of(row(api, server.url), {"MODEL_KEY": held})
    assert server.requests == [] and "MODEL_KEY" in failure.en and "MODEL_KEY" in failure.zh
    assert not held.strip() or held not in failure.en + failure.zh


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500])
def test_a_key_that_the_server_repeats_is_not_shown(api: str, status: int) -> None:
    body = json.dumps({"error": {"message": f"bad key {KEY}, also {KEY[:8]}***{KEY[-4:]}"}})
    with serving(Reply(status=status, body=body)) as server:
        failure = failure_of(row(api, server.url))
    for text in (failure.en, failure.zh, repr(failure), str(failure.__cause__), str(failure.__context__)):
        assert KEY[:8] not in text and KEY[-4:] not in text


def test_the_servers_reason_is_quoted_shortened_on_one_line() -> None:
    body = json.dumps({"error": {"message": "context\nis too long " + "x" * 1000}})
    with serving(Reply(status=400, body=body)) as server:
        failure = failure_of(row("openai", server.url))
    assert "context is too long" in failure.en and len(failure.en) < 400 and "\n" not in failure.en


@pytest.mark.parametrize("api", APIS)
def test_a_redirect_is_not_followed(api: str) -> None:
    with serving(Reply(("stolen",))) as elsewhere:
        there = (("Location", f"{elsewhere.url}/v1/chat/completions"),)
        with serving(Reply(status=307, headers=there)) as server:
            failure = failure_of(row(api, server.url))
        assert elsewhere.requests == [] and "base_url" in failure.en


def test_a_proxy_of_the_environment_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(Reply(("stolen",))) as proxy, serving(Reply(("ok",))) as server:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        assert ask(row("openai", server.url)) == "ok"
        assert proxy.requests == []


def test_a_server_that_asks_for_patience_gets_it_within_bounds() -> None:
    for told, rest in (("7", 7.0), ("0", 1.0), ("999999", 3600.0), ("tomorrow", 30.0), ("²", 30.0)):
        with serving(Reply(status=429, headers=(("Retry-After", told.encode("utf-8").decode("latin-1")),))) as server:
            assert failure_of(row("openai", server.url)).rest == rest


def test_nobody_at_the_address() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        failure = failure_of(row("openai", f"http://user:pass@127.0.0.1:{port}/v1"))
    assert failure.remedy == "later" and f"127.0.0.1:{port}" in failure.en and "pass" not in failure.en + failure.zh


def test_a_name_that_nobody_answers_for_is_not_waited_for_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "CONNECT_SECONDS", 0.2)
    never = threading.Event()
    monkeypatch.setattr(endpoint.socket, "getaddrinfo", lambda *_, **__: never.wait(30))
    failure = failure_of(row("openai", "http://model.example/v1"))
    never.set()
    assert failure.remedy == "later" and "model.example cannot be reached" in failure.en


@pytest.mark.parametrize("api", APIS)
def test_who_listens_no_more_ends_the_request(api: str) -> None:
    with serving(Reply(("word ",) * 400, pause=0.05)) as server:
        stream = model_of(row(api, server.url), {"MODEL_KEY": KEY}).stream(("S",), TURNS)
        assert next(stream) == "word "
        stream.close()  # type: ignore[attr-defined]
        assert server.left.wait(10)


def test_a_silent_server_is_not_waited_for_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "SILENCE_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        failure = failure_of(row("anthropic", f"http://127.0.0.1:{mute.getsockname()[1]}"))
    assert failure.remedy == "later" and "silent" in failure.en


def test_a_server_that_drips_for_ever_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "ANSWER_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as dripping:
        thread = threading.Thread(target=_drip, args=(dripping,), daemon=True)
        thread.start()
        failure = failure_of(row("openai", f"http://127.0.0.1:{dripping.getsockname()[1]}"))
    thread.join(5)
    assert "no end" in failure.en


def _drip(listener: socket.socket) -> None:
    connection, _ = listener.accept()
    with connection:
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        try:
            while True:
                connection.sendall(b": still thinking\n" * 10)
        except OSError:
            return


def test_an_answer_without_end_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "ANSWER_BYTES", 50_000)
    with serving(Reply(raw=b"data: " + b"x" * 100_000)) as server:
        assert "no end" in failure_of(row("openai", server.url)).en


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(
    "raw",
    [
        b"<html>welcome</html>",
        b"data: {broken\n\n",
        b"data: null\n\n",
        b'data: {"choices": 5, "type": 7, "delta": []}\n\n',
        b'data: {"type":"content_block_delta","choices":[{"delta":{"content":{"a":1}}}]}\n\n',
        b"data: " + b"[" * 100_000 + b"\n\n",
        b"\xff\xfe\x00data\n\n",
        b"",
    ],
)
def test_garbage_is_a_failure_of_ours(api: str, raw: bytes) -> None:
    with serving(Reply(raw=raw)) as server:
        assert failure_of(row(api, server.url)).remedy in ("another", "later")


@settings(max_examples=40, deadline=None)
@given(raw=st.one_of(st.binary(max_size=200), st.text(max_size=80).map(lambda text: f"data: {text}\n\n".encode())))
def test_any_bytes_give_an_answer_or_a_failure(raw: bytes) -> None:
    with serving(Reply(raw=raw)) as server:
        try:
            assert ask(row("openai", server.url))
        except Failure as failure:
            assert failure.en and failure.zh


@pytest.mark.parametrize("api", APIS)
def test_a_server_that_does_not_stream_is_understood(api: str) -> None:
    with serving(Reply(("one ", "两"), whole=True)) as server:
        assert ask(row(api, server.url)) == "one 两"


@pytest.mark.parametrize(
    ("api", "event", "remedy"),
    [
        ("openai", {"error": {"message": "engine fell over", "code": 503}}, "later"),
        ("openai", {"error": "engine fell over"}, "later"),
        ("anthropic", {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "later"),
        ("anthropic", {"type": "error", "error": {"type": "invalid_request_error", "message": "no"}}, "another"),
    ],
)
def test_an_error_within_a_stream_is_told(api: str, event: object, remedy: str) -> None:
    with serving(Reply(raw=f"data: {json.dumps(event)}\n\n".encode())) as server:
        assert failure_of(row(api, server.url)).remedy == remedy


@pytest.mark.parametrize("base", ["http://", "http://[bad", "http://host:port/v1", "https:///v1"])
def test_what_is_no_address_fails_in_its_turn(base: str) -> None:
    with serving(Reply(("ok",))) as server:
        told: list[str] = []
        rows = [row("openai", base, name="wrong"), row("openai", server.url, name="right")]
        models = models_of(rows, lambda name, to, why: told.append(f"{name}>{to}: {why.en}"), {"MODEL_KEY": KEY})
        assert "".join(models.stream((), TURNS)) == "ok"
    assert len(told) == 1 and told[0].startswith("wrong>right: ") and "base_url" in told[0]
    assert place_of(rows[0])


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx2", None)
    rows = [row("openai", "http://127.0.0.1:1"), {"api": "command", "command": ["echo", "hi"]}]
    with pytest.raises(Failure) as caught:
        models_of(rows[:1], lambda *_: None)
    assert "pip install 'catmem[llm]'" in caught.value.en and "pip install 'catmem[llm]'" in caught.value.zh
    assert str(caught.value) == str(failures.missing_library())
    # A program needs none.
    assert "".join(models_of(rows, lambda *_: None).stream((), TURNS)) == "hi\n"


@given(st.lists(st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]))), st.data())
def test_events_do_not_depend_on_how_the_bytes_are_cut(lines: list[str], data: st.DataObject) -> None:
    raw = "".join(f"data: {line}\r\n\r\n" for line in lines).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=6)))
    assert list(event_data(_cut(raw, cuts))) == lines


def _cut(raw: bytes, cuts: list[int]) -> Iterator[bytes]:
    for start, end in zip([0, *cuts], [*cuts, len(raw)], strict=True):
        yield raw[start:end]
