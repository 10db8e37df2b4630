from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from catmem.capture.chat import end_abandoned_chats, new_chat
from catmem.domain.clock import system_clock
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
log.say("user", "hello")
os.kill(os.getpid(), 9)
"""
    assert subprocess.run([sys.executable, "-c", script]).returncode == -9
    paths, place = Paths(tmp_path), history(tmp_path)
    (ref,) = end_abandoned_chats(place, paths, system_clock)
    assert [message.content for message in place.messages(ref)] == ["hello"]
    assert [mark["reason"] for mark in place.marks(ref, "end")] == ["abandoned"]
    assert end_abandoned_chats(place, paths, system_clock) == []


def test_a_chat_in_which_nobody_spoke_leaves_nothing(tmp_path: Path) -> None:
    paths, place = Paths(tmp_path), history(tmp_path)
    log = new_chat(place, paths, PROJECT, "/w", system_clock)
    assert not log.end("exit")
    assert not place.exists(log.ref) and list((paths.run / "chats").iterdir()) == []
