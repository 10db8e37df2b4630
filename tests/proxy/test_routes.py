"""Where a request goes, by its path and its headers; who may come in; and which program it is of."""

from __future__ import annotations

import json
from typing import Any

import pytest

from catmem.proxy.callers import caller_of, folder_of, session_of
from catmem.proxy.http1 import Head
from catmem.proxy.routes import Refused, Routes, Upstream
from catmem.proxy.wires.port import Asked, Spoken

UPSTREAMS = {
    "anthropic": Upstream.at("https://a.example/relay/"),
    "openai": Upstream.at("http://o.example:8000/api/v1"),
    "gemini": Upstream.at("https://g.example"),
    "mine": Upstream.at("http://[::1]:9/x"),
}
ROUTES = Routes(UPSTREAMS)


def head(method: str, target: str, **headers: str) -> Head:
    told = {"Host": "localhost:1", **{name.replace("_", "-"): value for name, value in headers.items()}}
    return Head(
        method, target.encode(), "1.1", tuple((k.encode(), v.encode()) for k, v in told.items()), "upgrade" in told
    )


@pytest.mark.parametrize(
    ("method", "target", "headers", "host", "path", "wire"),
    [
        ("POST", "/v1/messages?beta=true", {}, "a.example", "/relay/v1/messages?beta=true", "anthropic"),
        ("POST", "/v1/messages/count_tokens", {}, "a.example", "/relay/v1/messages/count_tokens", ""),
        ("POST", "/v1/messages/batches", {}, "a.example", "/relay/v1/messages/batches", ""),
        ("GET", "/v1/models", {"anthropic-version": "1"}, "a.example", "/relay/v1/models", ""),
        ("GET", "/v1/models", {"authorization": "Bearer x"}, "o.example", "/api/v1/models", ""),
        ("GET", "/v1/models", {}, "o.example", "/api/v1/models", ""),
        ("POST", "/v1/chat/completions", {}, "o.example", "/api/v1/chat/completions", "chat"),
        ("POST", "/chat/completions", {}, "o.example", "/api/v1/chat/completions", "chat"),
        ("POST", "/v1/responses", {}, "o.example", "/api/v1/responses", "responses"),
        ("POST", "/v1/responses/compact", {}, "o.example", "/api/v1/responses/compact", ""),
        ("GET", "/v1/responses/resp_1", {}, "o.example", "/api/v1/responses/resp_1", ""),
        ("POST", "/v1beta/models/g:generateContent", {}, "g.example", "/v1beta/models/g:generateContent", "gemini"),
        ("POST", "/v1/models/g:streamGenerateContent?alt=sse", {}, "g.example", "/v1/models/g:streamGenerateContent?alt=sse", "gemini"),
        ("POST", "/v1beta/models/g:countTokens", {}, "g.example", "/v1beta/models/g:countTokens", ""),
        ("DELETE", "/v1/a%2Fb/../%E8%8C%B6?q=%20#f", {}, "o.example", "/api/v1/a%2Fb/../%E8%8C%B6?q=%20#f", ""),
        ("OPTIONS", "/v1/messages", {}, "a.example", "/relay/v1/messages", ""),
        ("POST", "/to/mine/v1/messages", {}, "::1", "/x/v1/messages", "anthropic"),
        ("POST", "/p/a/to/openai/v1/embeddings", {}, "o.example", "/api/v1/embeddings", ""),
        ("GET", "/v1/realtime", {"upgrade": "websocket"}, "o.example", "/api/v1/realtime", ""),
    ],
)  # fmt: skip
def test_a_request_goes_where_it_would_go_without_us(
    method: str, target: str, headers: dict[str, str], host: str, path: str, wire: str
) -> None:
    route = ROUTES.of(head(method, target, **headers))
    assert (route.origin.host, route.target.decode(), route.wire) == (host, path, wire)


@pytest.mark.parametrize(
    ("target", "project", "pure"),
    [
        ("/v1/messages", "", False),
        ("/p/tea%20room%2F1/v1/messages", "tea room/1", False),
        ("/p/%E8%8C%B6/v1/messages", "茶", False),
        ("/pure/v1/messages", "", True),
        ("/pure/p/x/v1/messages", "x", True),
        ("/p/x/pure/v1/messages", "x", True),
        ("/p/x/purely/messages", "x", False),
        ("/p/pure/v1/messages", "pure", False),
    ],
)
def test_what_stands_before_the_path(target: str, project: str, pure: bool) -> None:
    route = ROUTES.of(head("POST", target))
    assert (route.project, route.pure) == (project, pure)


@pytest.mark.parametrize(
    ("method", "target", "headers", "status"),
    [
        ("HEAD", "/", {}, 200),
        ("HEAD", "/p/x", {}, 200),
        ("HEAD", "/p/x/", {}, 200),
        ("GET", "/p/x", {}, 404),
        ("GET", "/to/nobody/v1/models", {}, 404),
        ("GET", "/p/x/v1/responses", {"upgrade": "websocket"}, 426),
        ("GET", "/v1/models", {"Host": "evil.example"}, 403),
        ("GET", "/v1/models", {"Host": "localhost.evil.example"}, 403),
        ("GET", "/v1/models", {"Host": "127.0.0.1.evil.example:80"}, 403),
        ("GET", "/v1/models", {"Host": "192.168.1.5"}, 403),
        ("POST", "/v1/messages", {"Origin": "https://evil.example"}, 403),
        ("POST", "/v1/messages", {"Origin": "http://localhost.evil.example:80"}, 403),
        ("POST", "/v1/messages", {"Origin": "null"}, 403),
    ],
)
def test_what_goes_nowhere(method: str, target: str, headers: dict[str, str], status: int) -> None:
    with pytest.raises(Refused) as refused:
        ROUTES.of(head(method, target, **headers))
    assert refused.value.status == status


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:80", "127.0.0.1:1", "127.9.9.9", "[::1]:1", "[::1]", ""])
def test_names_of_this_machine(host: str) -> None:
    assert ROUTES.of(head("GET", "/v1/models", Host=host)).origin.host == "o.example"


@pytest.mark.parametrize(
    "origin", ["http://localhost:3000", "https://127.0.0.1", "http://[::1]:9", "app://desktop", ""]
)
def test_pages_and_programs_of_this_machine(origin: str) -> None:
    assert ROUTES.of(head("POST", "/v1/messages", Origin=origin)).wire == "anthropic"


def test_what_is_ours_does_not_go_on() -> None:
    asked = head("POST", "/v1/messages", x_catmem_project="p", X_Catmem_Helper="1", x_catmem_token="t", x_other="o")
    route = ROUTES.of(asked)
    assert [name for name, _ in route.outgoing(asked).headers] == [b"Host", b"x-other"]
    assert (route.wire, route.project) == ("", "p")


@pytest.mark.parametrize(
    ("headers", "client", "key"),
    [
        ({"User-Agent": "claude-cli/2.1.197 (external, cli)", "X-Claude-Code-Session-Id": "7"}, "claude-code", "claude-code:7"),
        ({"User-Agent": "codex_exec/0.171.0 (Debian)", "session-id": "7"}, "codex", "codex:7"),
        ({"x-codex-turn-metadata": json.dumps({"session_id": "8"}), "session-id": "7"}, "codex", "codex:8"),
        ({"User-Agent": "opencode/1.18.33 ai-sdk", "x-session-id": "ses_7"}, "opencode", "opencode:ses_7"),
        ({"User-Agent": "GeminiCLI/0.61.0/gemini (linux)"}, "gemini", ""),
        ({"User-Agent": "OpenAI/Python 3.57", "x-session-id": "7"}, "proxy", ""),
        ({}, "proxy", ""),
    ],
)  # fmt: skip
def test_programs_and_their_sessions(headers: dict[str, str], client: str, key: str) -> None:
    asked = head("POST", "/v1/messages", **headers)
    caller = caller_of(asked)
    assert (caller.client, session_of(caller, asked)) == (client, key)


@pytest.mark.parametrize(
    ("system", "said", "folder"),
    [
        (("You help.\nPrimary working directory: /home/a/tea shop\nx",), (), "/home/a/tea shop"),
        (("Working directory: C:\\work\\tea",), (), "C:\\work\\tea"),
        ((), ("<environment_context>\n  <cwd>/srv/tea</cwd>",), "/srv/tea"),
        (("working directory: is where one works",), (), ""),
        ((), (), ""),
    ],
)
def test_the_folder_that_a_program_names(system: tuple[str, ...], said: tuple[str, ...], folder: str) -> None:
    spoken: Any = [Spoken("user", (text,)) for text in said]
    assert folder_of(Asked(tuple(spoken), system)) == folder
