"""The protocol on stdio, spoken line by line: also what no library would send."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from catmem.mcp.wire import LONGEST_LINE
from tests.mcp.client import HELLO, Client
from tests.mcp.world import SESSION


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "shop").mkdir()
    return tmp_path


@pytest.fixture
def client(home: Path) -> Iterator[Client]:
    with Client(home, home / "shop", environment={"CLAUDE_CODE_SESSION_ID": SESSION}) as client:
        yield client


@pytest.mark.parametrize(
    ("wanted", "given"),
    [("2025-11-25", "2025-11-25"), ("2025-06-18", "2025-06-18"), ("2024-11-05", "2025-11-25"), (None, "2025-11-25")],
)
def test_it_speaks_the_protocol_that_is_asked_for_if_it_knows_it(
    client: Client, wanted: str | None, given: str
) -> None:
    introduction = client.ask("initialize", **{**HELLO, "protocolVersion": wanted})
    assert introduction["protocolVersion"] == given
    assert introduction["serverInfo"]["name"] == "catmem" and introduction["capabilities"] == {
        "tools": {"listChanged": False}
    }
    # A host puts them into every request of every session.
    assert len(introduction["instructions"]) < 300


def test_the_tools_are_listed_without_an_output_schema(client: Client) -> None:
    """With one, some clients show the model the JSON in place of the text."""
    client.hello()
    tools = client.ask("tools/list")["tools"]
    assert [tool["name"] for tool in tools] == [
        "recall", "remember", "forget", "list_sessions", "read_session", "explain",
    ]  # fmt: skip
    assert all("outputSchema" not in tool and tool["inputSchema"]["type"] == "object" for tool in tools)
    destructive = [tool["name"] for tool in tools if tool["annotations"]["destructiveHint"]]
    reading = [tool["name"] for tool in tools if tool["annotations"]["readOnlyHint"]]
    assert destructive == ["forget"] and reading == ["recall", "list_sessions", "read_session", "explain"]


def test_the_tools_are_described_in_the_users_language(home: Path) -> None:
    with Client(home, home / "shop", environment={"LANG": "zh_CN.UTF-8"}) as client:
        tools = client.ask("tools/list")["tools"]
        assert tools[0]["title"] == "检索记忆" and "原话" in client.hello()["instructions"]


def test_an_answer_is_plain_text(client: Client) -> None:
    client.hello()
    result = client.ask("tools/call", name="list_sessions", arguments={})
    assert result == {"content": [{"type": "text", "text": "0 sessions in all; none here."}], "isError": False}


def test_chinese_goes_in_and_out_as_it_is(client: Client) -> None:
    client.hello()
    client.call("remember", text="部署之前先跑 smoketest 🚀")
    assert "部署之前先跑 smoketest 🚀" in client.call("recall", query="部署 smoketest")


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"not json\n", -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping"\n', -32700),
        (b"\xff\xfe\x00\n", -32700),
        (b"[" * 100_000 + b"\n", -32700),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]\n', -32600),
        (b'{"id":1,"method":"ping"}\n', -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}\n', -32600),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}\n', -32600),
        (b'{"jsonrpc":"2.0","id":1}\n', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}\n', -32602),
        (b'{"jsonrpc":"2.0","id":1,"method":"resources/list"}\n', -32601),
        (b'{"jsonrpc":"2.0","id":1,"method":"server/discover"}\n', -32601),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"delete_everything"}}\n', -32602),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"recall","arguments":"x"}}\n', -32602),
        (b"x" * (LONGEST_LINE + 70_000) + b"\n", -32700),
    ],
    ids=lambda value: value[:40].decode("latin-1").strip() if isinstance(value, bytes) else str(value),
)
def test_what_is_no_request_is_refused_and_the_next_one_answered(client: Client, line: bytes, code: int) -> None:
    client.send(line)
    assert client.receive()["error"]["code"] == code
    assert client.ask("ping") == {}


def test_what_needs_no_answer_gets_none(client: Client) -> None:
    client.send(b"\n\r\n")
    client.send({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"})
    client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 77}})
    client.send({"jsonrpc": "2.0", "id": 5, "result": {}})
    assert client.ask("ping") == {}


def test_lines_may_come_in_pieces_and_with_a_carriage_return(client: Client) -> None:
    whole = json.dumps({"jsonrpc": "2.0", "id": "a-字", "method": "ping"}, ensure_ascii=False).encode() + b"\r\n"
    for start in range(0, len(whole), 7):
        client.send(whole[start : start + 7])
        time.sleep(0.002)
    assert client.receive() == {"jsonrpc": "2.0", "id": "a-字", "result": {}}


def test_a_ping_is_answered_and_a_call_can_be_cancelled_while_another_works(client: Client) -> None:
    """Many calls are sent at once; the cancelled ones, among them one that a tool may be at, are never answered."""
    client.hello()
    calls = [
        {
            "jsonrpc": "2.0",
            "id": f"call{n}",
            "method": "tools/call",
            "params": {"name": "recall", "arguments": {"query": "x"}},
        }
        for n in range(20)
    ]
    cancelled = [
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": f"call{n}"}}
        for n in range(5, 20)
    ]
    ping = {"jsonrpc": "2.0", "id": "ping", "method": "ping"}
    client.send("".join(json.dumps(message) + "\n" for message in [*calls, *cancelled, ping]).encode())
    answered = []
    while len(answered) < 6:
        answered.append(client.receive()["id"])
    assert answered.index("ping") < 5, "not behind the tools"
    assert sorted(answered) == sorted(["ping", *(f"call{n}" for n in range(5))])
    assert client.ask("ping") == {}, "and nothing else follows"


def test_what_was_asked_before_stdin_closed_is_answered(home: Path) -> None:
    """`printf … | mem mcp` shows a newcomer what it does."""
    with Client(home, home / "shop") as client:
        client.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_sessions"}})
        assert client.close() == 0
        assert "0 sessions" in client.receive()["result"]["content"][0]["text"]


def test_stdout_carries_nothing_but_the_protocol(client: Client) -> None:
    client.hello()
    for tool in ("recall", "list_sessions", "forget"):
        client.ask("tools/call", name=tool, arguments={"query": "x"} if tool == "recall" else {})
    assert client.close() == 0 and client.process.stderr
    assert client.process.stderr.read() == b""


def test_the_plain_call_needs_no_command_line_library(home: Path) -> None:
    """Nor the index, the database or YAML before a tool is called: the client's first request does not wait."""
    from tests.mcp.loaded import modules_of

    loaded = modules_of(home, [{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}])
    slow = {"click", "rich", "ruamel", "sqlite3", "tantivy", "msgspec", "asyncio", "pydantic", "mcp", "httpx2", "email"}
    assert "catmem.mcp.server" in loaded and sorted(slow & loaded) == []


@pytest.mark.parametrize("options", [("--dir", "elsewhere"), ("--dir=elsewhere",)])
def test_the_data_directory_may_be_named(home: Path, options: tuple[str, ...]) -> None:
    with Client(home, home / "shop", *options) as client:
        client.hello()
        client.call("remember", text="the port is 5433")
    assert (home / "shop" / "elsewhere" / "ledger").is_dir() and not (home / ".catmem").exists()


@pytest.mark.parametrize(("options", "code"), [(("--help",), 0), (("--colour",), 2), (("--dir",), 2), (("stdio",), 2)])
def test_whatever_else_is_asked_the_command_line_explains(home: Path, options: tuple[str, ...], code: int) -> None:
    with Client(home, home / "shop", *options) as client:
        assert client.process.wait(60) == code
        assert client.process.stdout and client.process.stderr
        said = client.process.stderr.read().decode()
        assert "Traceback" not in said and (code == 0 or said.startswith("mem: "))
