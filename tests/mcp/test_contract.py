"""The official SDK's client against our server: what it makes of our answers is what every client built on it does."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError

from tests.mcp.client import environment_of
from tests.mcp.world import KEY, World


def in_session(world: World, talk: Callable[[ClientSession], Awaitable[Any]]) -> Any:
    """Runs a talk of the SDK's client with a server of its own."""

    async def run() -> Any:
        async with _session(world) as session:
            return await talk(session)

    return anyio.run(run)


@asynccontextmanager
async def _session(world: World) -> AsyncIterator[ClientSession]:
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "catmem", "mcp"],
        env=environment_of(world.folder, str(world.data), world.environment),
        cwd=str(world.folder),
    )
    async with stdio_client(parameters) as (reading, writing), ClientSession(reading, writing) as session:
        await session.initialize()
        yield session


def _text(result: Any) -> str:
    assert result.structured_content is None, "the model is shown the text, not JSON"
    (content,) = result.content
    return str(content.text)


def test_it_introduces_itself_and_lists_its_tools(world: World) -> None:
    async def talk(session: ClientSession) -> tuple[str, list[str]]:
        await session.send_ping()
        assert session.initialize_result
        listed = await session.list_tools()
        assert all(tool.output_schema is None for tool in listed.tools)
        return session.initialize_result.protocol_version, [tool.name for tool in listed.tools]

    version, names = in_session(world, talk)
    assert version == "2025-11-25"
    assert names == ["recall", "remember", "forget", "list_sessions", "read_session", "explain"]


@pytest.mark.parametrize("text", ["We deploy on Fridays, never on Mondays.", "记住：部署之前先跑 make smoketest 🚀"])
def test_what_is_remembered_is_recalled(world: World, text: str) -> None:
    world.said(text)

    async def talk(session: ClientSession) -> tuple[Any, Any]:
        kept = await session.call_tool("remember", {"text": text})
        return kept, await session.call_tool("recall", {"query": text})

    kept, found = in_session(world, talk)
    assert kept.is_error is False and found.is_error is False
    assert text in _text(kept) and text in _text(found)


def test_a_big_answer_arrives_whole(world: World) -> None:
    world.said(*(f"number {n} " + "字" * 2000 for n in range(8)))

    async def talk(session: ClientSession) -> list[str]:
        return [_text(await session.call_tool("read_session", {"session": KEY, "first": n})) for n in (1, 3, 5, 7)]

    pages = in_session(world, talk)
    assert all(len(page.encode()) > 10_000 for page in pages[:3]) and "number 7" in pages[3]


def test_what_goes_wrong_is_an_error_that_the_model_sees(world: World) -> None:
    async def talk(session: ClientSession) -> list[Any]:
        return [await session.call_tool("recall", {}), await session.call_tool("explain", {"id": "m00000000"})]

    for result in in_session(world, talk):
        assert result.is_error is True and _text(result)


def test_a_tool_that_is_none_is_an_error_of_the_protocol(world: World) -> None:
    async def talk(session: ClientSession) -> int:
        with pytest.raises(MCPError) as caught:
            await session.call_tool("delete_everything", {})
        return int(caught.value.error.code)

    assert in_session(world, talk) == -32602


def test_a_call_that_the_client_gives_up_leaves_the_server_well(world: World) -> None:
    async def talk(session: ClientSession) -> str:
        with anyio.move_on_after(0.001):
            await session.call_tool("recall", {"query": "port"})
        return _text(await session.call_tool("list_sessions", {}))

    assert "sessions in all" in in_session(world, talk)


def test_many_calls_at_once_are_each_answered(world: World) -> None:
    ids = [world.saved(f"the port of service{n} is {5000 + n}") for n in range(5)]

    async def talk(session: ClientSession) -> list[str]:
        answers = [""] * len(ids)

        async def ask(n: int) -> None:
            answers[n] = _text(await session.call_tool("explain", {"id": ids[n]}))

        async with anyio.create_task_group() as group:
            for n in range(len(ids)):
                group.start_soon(ask, n)
        return answers

    assert all(f"is {5000 + n}" in answer for n, answer in enumerate(in_session(world, talk)))


def test_a_client_that_first_asks_what_there_is_falls_back_to_our_protocol(world: World) -> None:
    """`Client` begins with a request of a newer protocol, which we refuse as clients expect it."""
    from mcp.client.client import Client

    async def run() -> str:
        parameters = StdioServerParameters(
            command=sys.executable,
            args=["-m", "catmem", "mcp"],
            env=environment_of(world.folder, str(world.data)),
            cwd=str(world.folder),
        )
        async with Client(stdio_client(parameters)) as client:
            return _text(await client.call_tool("list_sessions", {}))

    assert "sessions in all" in anyio.run(run)


def test_the_server_lists_its_tools_long_before_one_of_the_sdk_could(tmp_path: Path) -> None:
    """The measurement that decided for a server of our own (docs/decisions), as a ratio within one run."""
    import subprocess
    import time

    def seconds(*command: str) -> float:
        began = time.perf_counter()
        listed = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}\n'
        subprocess.run(
            command, input=listed, cwd=tmp_path, env=environment_of(tmp_path), check=True, capture_output=True
        )
        return time.perf_counter() - began

    ours = min(seconds(sys.executable, "-m", "catmem", "mcp") for _ in range(3))
    theirs = min(seconds(sys.executable, "-c", "import mcp.server.mcpserver") for _ in range(2))
    assert ours < theirs / 2, f"{ours * 1000:.0f} ms, and {theirs * 1000:.0f} ms to import the SDK alone"
