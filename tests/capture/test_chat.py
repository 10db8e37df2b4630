from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from catmem.capture.chat import PureLog, earlier_chat, end_abandoned_chats, new_chat
from catmem.domain.clock import system_clock
from catmem.domain.errors import LockBusy
from catmem.sessions.history import History
from catmem.settings.paths import Paths

PROJECT = "teapot-1234abcd"


def history(root: Path) -> History:
    return History(Paths(root), durability="turn", redact=lambda text, source: text)


def test_a_chat_in_use_is_not_ended_by_another(tmp_path: Path) -> None:
    paths, place = Paths(tmp_path), history(tmp_path)
    log = new_chat(place, paths, PROJECT, "/w", system_clock)
    log.say("user", "你好")
    assert end_abandoned_chats(place, paths, system_clock) == []
    assert log.end("exit") and [mark["reason"] for mark in place.marks(log.ref, "end")] == ["exit"]
    assert end_abandoned_chats(place, paths, system_clock) == []
    assert list((paths.run / "chats").iterdir()) == []


def test_a_chat_whose_process_died_is_ended_once(tmp_path: Path) -> None:
    script = f"""
import os, sys
sys.path.insert(0, {str(Path(__file__).parents[2])!r})
from tests.capture.test_chat import *
log = new_chat(history(Path({str(tmp_path)!r})), Paths(Path({str(tmp_path)!r})), PROJECT, "/w", system_clock)
silent = new_chat(log.history, Paths(Path({str(tmp_path)!r})), PROJECT, "/w", system_clock)
log.say("user", "hello")
os.kill(os.getpid(), 9)
"""
    assert subprocess.run([sys.executable, "-c", script]).returncode == -9
    paths, place = Paths(tmp_path), history(tmp_path)
    (ref,) = end_abandoned_chats(place, paths, system_clock)
    assert [message.content for message in place.messages(ref)] == ["hello"]
    assert [mark["reason"] for mark in place.marks(ref, "end")] == ["abandoned"]
    assert end_abandoned_chats(place, paths, system_clock) == []
    assert list((paths.run / "chats").iterdir()) == []


def test_a_chat_is_gone_on_with_by_one_process_at_a_time(tmp_path: Path) -> None:
    paths, place = Paths(tmp_path), history(tmp_path)
    log = new_chat(place, paths, PROJECT, "/w", system_clock)
    log.say("user", "hello")
    with pytest.raises(LockBusy) as caught:
        earlier_chat(place, paths, log.ref, "/w", system_clock)
    assert "another terminal" in caught.value.en and "另一个终端" in caught.value.zh
    assert end_abandoned_chats(place, paths, system_clock) == []
    log.end("exit")
    again = earlier_chat(place, paths, log.ref, "/w", system_clock)
    # Looked into only: nothing is written, and it is no more alive than before.
    assert not again.end("exit") and len(place.marks(log.ref, "end")) == 1
    again = earlier_chat(place, paths, log.ref, "/w", system_clock)
    again.say("user", "more")
    assert not next(place.headers()).metadata.get("ended")
    assert again.end("exit") and next(place.headers()).metadata["ended"]
    assert [message.content for message in place.messages(log.ref)] == ["hello", "more"]


def test_what_is_said_in_pure_mode_waits_as_a_session_would_have_it(tmp_path: Path) -> None:
    log = PureLog(lambda text, source: text.replace("k-123", f"[secret:{source}]"), system_clock)
    assert log.say("user", "my key is k-123, <private>and</private> 你好").content == "my key is [secret:said],  你好"  # type: ignore[union-attr]
    assert log.say("user", "<private>all of it</private>") is None
    log.say("assistant", "fine")
    assert [message.role for message in log.waiting] == ["user", "assistant"]
    assert list(tmp_path.iterdir()) == []
    kept = new_chat(history(tmp_path), Paths(tmp_path), PROJECT, "/w", system_clock)
    kept.append(log.waiting)
    assert [message.content for message in kept.history.messages(kept.ref)] == [
        "my key is [secret:said],  你好",
        "fine",
    ]
    kept.end("exit")


def test_a_chat_in_which_nobody_spoke_leaves_nothing(tmp_path: Path) -> None:
    paths, place = Paths(tmp_path), history(tmp_path)
    log = new_chat(place, paths, PROJECT, "/w", system_clock)
    assert not log.end("exit")
    assert not place.exists(log.ref) and list((paths.run / "chats").iterdir()) == []
