"""The thread that writes: in batches, through trouble with the disk, and without children left behind."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from catmem.capture.spool import drain
from catmem.domain.errors import LockBusy
from catmem.domain.session import SessionRef
from catmem.sessions.history import History
from catmem.sessions.locks import session_lock
from catmem.wiring import Catmem
from tests.proxy.talks import answer_whole
from tests.proxy.test_recording import CLAUDE, KEY, say
from tests.proxy.upstream import Upstream, whole
from tests.proxy.world import PROJECT, World, serving


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    with Upstream([whole(answer_whole("anthropic", "on the shelf"))]) as server:
        yield server


@pytest.fixture
def world(tmp_path: Path, upstream: Upstream) -> Iterator[World]:
    with serving(tmp_path, upstream.url) as made:
        yield made


def appends(monkeypatch: pytest.MonkeyPatch, gate: threading.Event) -> list[int]:
    """How many messages each append brings; none goes through before the gate is open."""
    sizes: list[int] = []
    original = History.append

    def counted(self: History, ref: SessionRef, messages: list[object], **more: object) -> object:
        if messages:
            sizes.append(len(messages))
            gate.wait(60)
        return original(self, ref, messages, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(History, "append", counted)
    return sizes


@pytest.mark.parametrize("batch", [2, 200])
def test_what_comes_while_the_disk_is_busy_is_written_together_up_to_the_batch_size(
    tmp_path: Path, upstream: Upstream, monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    """Of `archive_batch_size`: the messages that are held at most."""
    (tmp_path / "config.yaml").write_text(f"archive_batch_size: {batch}\n")
    with serving(tmp_path, upstream.url) as world, world.connect() as client:
        gate = threading.Event()
        sizes = appends(monkeypatch, gate)
        said: list[str] = []
        for number in range(8):
            said.append(f"question {number}")
            upstream.scripts = [whole(answer_whole("anthropic", f"answer {number}"))]
            client.ask("/v1/messages", {"messages": _messages(said)}, CLAUDE)
            said.append(f"answer {number}")
        gate.set()
        world.settled()
        assert sum(sizes) == 16
        assert (max(sizes) > 2) == (batch > 2), sizes
        assert [text for _, text in world.said(KEY)] == said


def _messages(said: list[str]) -> list[dict[str, str]]:
    return [{"role": ("user", "assistant")[place % 2], "content": text} for place, text in enumerate(said)]


def test_a_session_that_others_hold_is_tried_again(
    world: World, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    original, refused = History.append, []

    def busy(self: History, *arguments: object, **more: object) -> object:
        if len(refused) < 2:
            refused.append(1)
            raise LockBusy("busy")
        return original(self, *arguments, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(History, "append", busy)
    say(world, upstream, "here", "where?", headers=CLAUDE)
    until = time.monotonic() + 20
    while not world.keys and time.monotonic() < until:
        time.sleep(0.05)
    assert [text for _, text in world.said(KEY)] == ["where?", "here"]
    assert [fault.split()[0] for fault in world.faults] == ["LockBusy"]


def test_what_cannot_be_written_until_the_end_waits_for_the_worker(world: World, upstream: Upstream) -> None:
    say(world, upstream, "hello", "hi", headers=CLAUDE)
    lock = world.catmem.history.place(SessionRef(PROJECT, KEY)).lock
    with session_lock(lock, wait=5):
        say_without_waiting(world, upstream)
        world.stop()
    assert len(world.said(KEY)) == 2
    assert drain(str(world.root)) == 1
    assert [text for _, text in world.said(KEY)] == ["hi", "hello", "where?", "here"]


def say_without_waiting(world: World, upstream: Upstream) -> None:
    upstream.scripts = [whole(answer_whole("anthropic", "here"))]
    assert world.ask("/v1/messages", {"messages": _messages(["hi", "hello", "where?"])}, CLAUDE)[0] == 200


def test_a_program_that_leaves_ends_its_sessions_and_is_distilled(tmp_path: Path, upstream: Upstream) -> None:
    with serving(tmp_path, upstream.url, distil=True) as world:
        with world.connect() as one, world.connect() as other:
            for client in (one, other):
                client.ask(
                    "/v1/messages", {"messages": _messages(["Remember: I prefer green tea over coffee."])}, CLAUDE
                )
            other.socket.close()
            world.settled()
            (header,) = world.catmem.history.headers()
            assert not header.metadata.get("ended"), "one connection of it is still there"
        assert _soon(lambda: bool(next(iter(world.catmem.history.headers())).metadata.get("ended")))
        world.recorder.settle(60)
        world.catmem.store.catch_up()
        assert ["green tea" in memory.now.text for memory in world.catmem.store.all()] == [True]
        children = subprocess.run(
            ["ps", "--ppid", str(os.getpid()), "-o", "stat="], capture_output=True, text=True, check=False
        )
        assert "Z" not in children.stdout


@pytest.mark.parametrize(
    "said", ["We deploy with Helm 3.14, not with raw manifests.", "我们用 Helm 部署，不要直接用清单文件。"]
)
def test_a_turn_that_changes_files_is_distilled_while_the_program_goes_on(
    tmp_path: Path, upstream: Upstream, said: str
) -> None:
    asked: list[dict[str, object]] = [
        {"role": "user", "content": said},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "Edit", "input": {"path": "a"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "updated"}]},
    ]
    with serving(tmp_path, upstream.url, distil=True) as world, world.connect() as program:
        program.ask("/v1/messages", {"messages": asked[:1]}, CLAUDE)
        world.settled()
        stamps = Path(world.catmem.paths.changes)
        assert not stamps.exists(), "so far nothing was changed"
        program.ask("/v1/messages", {"messages": asked}, CLAUDE)
        world.settled()
        assert len(list(stamps.iterdir())) == 1
        world.recorder.settle(60)
        world.catmem.store.catch_up()
        assert any("Helm" in memory.now.text for memory in world.catmem.store.all())
        (header,) = world.catmem.history.headers()
        assert not header.metadata.get("ended")


def _soon(condition: object) -> bool:
    assert callable(condition)
    until = time.monotonic() + 30
    while time.monotonic() < until:
        with contextlib.suppress(StopIteration):
            if condition():
                return True
        time.sleep(0.05)
    return False


def test_a_killed_proxy_loses_no_turn_that_was_answered_a_second_before(tmp_path: Path, upstream: Upstream) -> None:
    mem = str(Path(sys.executable).with_name("mem"))
    command = [
        mem,
        "proxy",
        "--json",
        "--dir",
        str(tmp_path),
        "--upstream",
        f"anthropic={upstream.url}",
        "--project",
        "p",
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    url = json.loads(process.stdout.readline())["url"]
    data = json.dumps({"messages": _messages(["where?"])}).encode()
    request = urllib.request.Request(f"{url}/v1/messages", data, {"Content-Type": "application/json"})
    urllib.request.urlopen(request, timeout=60).read()
    time.sleep(1.0)
    process.kill()
    process.wait(60)
    process.stdout.close()
    history = Catmem(tmp_path).history
    (header,) = history.headers()
    assert [message.content for message in history.messages(header.ref)] == ["where?", "on the shelf"]
