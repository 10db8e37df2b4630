"""Nothing that was said is lost on its way to memory: whoever fails, what waits is counted, and every part is done once."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from catmem.capture.spool import drain, spool
from catmem.distil.model.record import Record
from catmem.domain.message import Message
from catmem.domain.session import SessionRef
from catmem.llm.misbehaving import WRONG, nothing
from catmem.llm.scripted import Answer, Asked, ScriptedModel
from catmem.sessions.locks import session_lock
from catmem.sessions.names import place
from catmem.sessions.records import message_record
from catmem.settings.paths import Paths
from catmem.wiring import Catmem
from tests.cli.shell import Shell
from tests.llm.fake_server import Reply, serving
from tests.story.machine import Machine

SESSIONS, EACH = 100, 10
# In these ways a model fails now and then; one that is refused for good is told in the test after it.
WAYS = ("prose", "empty", "half-json", "fenced", "wrong-type", "cut-off", "refusal", "429", "500", "stream-died")


def _events(number: int) -> list[Message]:
    lines = (
        "we keep the logs of job {} for thirty days",
        "Noted.",
        "第 {} 号任务的端口是 {}。",
        "好的。",
        "show me the log",
    )
    return [
        Message(
            "assistant" if n % 2 else "user", lines[n % 5].format(number, 9000 + number),
            f"2026-06-{number % 28 + 1:02}T10:00:{n:02}.000Z", f"e{number}-{n}",
        )
        for n in range(EACH)
    ]  # fmt: skip


@pytest.mark.slow
def test_of_a_thousand_events_each_is_distilled_or_waits_and_is_counted(shell: Shell) -> None:
    dice = random.Random(11)

    def answer(asked: Asked) -> Answer:
        return WRONG[dice.choice(WAYS)](nothing)(asked) if dice.random() < 0.3 else nothing(asked)

    catmem = Catmem(shell.data)
    for number in range(SESSIONS):
        catmem.history.append(SessionRef("shop", f"chat:{number}"), _events(number))
    vars(catmem)["working_model"] = ScriptedModel(answer)
    left = SESSIONS
    while left:
        done = catmem.distiller.run(everything=True, stop=_after(dice.randrange(5, 30)))
        assert done.failed == 0
        spans, pending = _spans(catmem), {job.ref.key for job in catmem.distiller.pending()}
        assert all(whole == [(1, EACH)] for whole in spans.values())
        assert len(spans) * EACH + len(pending) * EACH == SESSIONS * EACH and not pending & set(spans)
        status = shell.json("status")
        assert (status["pending"], status["parked"], status["messages"]) == (len(pending), 0, SESSIONS * EACH)
        assert status["distilling"]["missed"] == len(Record(catmem.paths).missed())
        assert len(pending) < left
        left = len(pending)
    assert "0 sessions" in shell.ok("status")
    faults = Record(catmem.paths).counts()
    assert len(faults) >= 4 and sum(faults.values()) >= SESSIONS * 0.15, "each kind is counted"
    # It is well again, and asked once more about what it missed.
    assert Record(catmem.paths).missed()
    vars(catmem)["working_model"] = ScriptedModel(nothing)
    del catmem.distiller
    catmem.distiller.again_where_missed()
    assert Record(catmem.paths).missed() == set() and shell.json("status")["distilling"]["missed"] == 0
    texts = [memory.now.text for memory in catmem.store.live()]
    assert len(texts) == len(set(texts))
    catmem.close()


def _after(count: int) -> Callable[[], bool]:
    """Stops a worker after so many sessions."""
    left = iter([False] * count)
    return lambda: next(left, True)


def _spans(catmem: Catmem) -> dict[str, list[tuple[int, int]]]:
    """The ranges of each session that were distilled, from the ledger."""
    found: dict[str, list[tuple[int, int]]] = {}
    for path in catmem.ledger.files():
        for line in catmem.ledger.read(path):
            if line.change and line.change.op == "distilled" and (job := line.change.job):
                found.setdefault(job.session, []).append((job.first_id, job.last_id))
    for ranges in found.values():
        assert all(before[1] + 1 == after[0] for before, after in pairwise(ranges))
    return found


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_refused_key_stops_no_capture_and_is_told_with_the_remedy(
    shell_in: Callable[[str], Shell], language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell = shell_in(language)
    start = {"session_id": "a", "cwd": str(shell.folder), "source": "startup", "transcript_path": ""}
    with serving(Reply(status=401, body='{"error": {"message": "token expired"}}')) as server:
        row = {"api": "openai", "base_url": f"{server.url}/v1", "model": "m", "api_key_env": "SHOP_KEY"}
        shell.ok("config", "set", "models", json.dumps([row]))
        shell.environment["SHOP_KEY"] = "sk-expired"
        for number in range(5):
            prompt = f"Remember: the lid of pot {number} is of clay. 记住：{number} 号壶盖是陶土做的。"
            asked = {**start, "session_id": f"s{number}", "prompt": prompt}
            shell.ok("hook", "claude-code", "UserPromptSubmit", typed=json.dumps(asked))
        shell.ok("work")
        assert 1 <= len(server.requests) <= 2, "it is not asked again and again"
    status = shell.json("status")
    assert (status["messages"], status["pending"]) == (5, 0) and status["distilling"]["faults"]["401"] >= 1
    assert status["memories"], "the rules alone distil"
    told = json.loads(shell.ok("hook", "claude-code", "SessionStart", typed=json.dumps(start)))["systemMessage"]
    (line,) = [line for line in told.splitlines() if "SHOP_KEY" in line]
    assert ("until then the rules alone distil" if language == "en" else "在此之前只凭规则提炼") in line
    done = shell.mem("doctor")
    assert done.code == 1 and "SHOP_KEY" in done.out and "sk-expired" not in done.out + told


@pytest.mark.slow
@pytest.mark.parametrize("ended", [True, False])
def test_what_a_closed_terminal_leaves_is_distilled_by_the_next_worker(tmp_path: Path, ended: bool) -> None:
    """The worker is killed with the terminal; after a reboot nothing of the host runs."""
    machine = Machine(tmp_path)
    shop = tmp_path / "shop"
    shop.mkdir()
    for number in range(10):
        prompt = (
            f"We keep the logs of job {number} for {number + 20} days. 第 {number} 号任务的端口是 {9000 + number}。"
        )
        machine.hook("UserPromptSubmit", shop, prompt=prompt, prompt_id=f"p{number}")
    if ended:
        machine.hook("SessionEnd", shop, reason="other")
    _kill_workers(machine)
    assert len(machine.said()) == 10, "raw it is there"
    while machine.start("work", "--json").wait(120):
        time.sleep(0.1)
    status = machine.json("status")
    assert (status["pending"], status["failing"], status["messages"]) == (0, 0, 10)
    ledger = [json.loads(line) for path in (machine.root / "ledger").glob("*.jsonl") for line in path.open()]
    spans = sorted(
        (line["job"]["first_id"], line["job"]["last_id"]) for line in ledger if line.get("op") == "distilled"
    )
    assert spans[0][0] == 1 and spans[-1][1] == 10 and all(a[1] + 1 == b[0] for a, b in pairwise(spans))
    assert len(machine.exported()["memories"]) >= 10


def _kill_workers(machine: Machine) -> None:
    """Those of this home only."""
    for folder in Path("/proc").iterdir():
        try:
            environment = (folder / "environ").read_bytes().split(b"\0")
            command = (folder / "cmdline").read_bytes()
        except (OSError, NotADirectoryError):
            continue
        if f"HOME={machine.home}".encode() in environment and b"work" in command:
            os.kill(int(folder.name), signal.SIGKILL)


def test_a_damaged_entry_of_the_spool_holds_nobody_up(shell: Shell) -> None:
    """A prompt whose session was locked waits in a file; one that cannot be read is set aside, and the next is taken."""
    waiting = Paths(shell.data).run / "spool"
    shell.talk("one", "the lid is of clay", ("assistant", "OK."))
    shell.ok("import", "one.jsonl")
    waiting.mkdir(parents=True, exist_ok=True)
    (waiting / "1-1.json").write_bytes(b"\x00\xff garbage")
    (waiting / "2-1.json").write_text('{"project": "shop"}')
    shell.ok("work")
    assert shell.json("status")["pending"] == 0 and list(waiting.glob("*.json")) == []
    assert len(list((shell.data / "quarantine").rglob("*"))) >= 2


def test_a_session_that_is_locked_holds_no_other_up_and_keeps_its_order(tmp_path: Path) -> None:
    for number, key in enumerate(("chat:1", "chat:1", "聊天:2"), 1):
        record = message_record("user", f"turn 第 {number} 次", f"2026-03-01T10:00:0{number}.000Z", uid=f"u{number}")
        spool(str(tmp_path), {"project": "shop", "key": key, "records": [record], "listing": {"project": "shop"}})
    with session_lock(place(str(tmp_path), "shop", "chat:1").lock):
        assert drain(str(tmp_path), "none", wait=0.05) == 1
    assert drain(str(tmp_path), "none") == 2 and drain(str(tmp_path), "none") == 0
    history = Catmem(tmp_path).history
    assert [m.uid for m in history.messages(SessionRef("shop", "chat:1"))] == ["u1", "u2"]
    assert [m.uid for m in history.messages(SessionRef("shop", "聊天:2"))] == ["u3"]


@pytest.mark.slow
def test_after_three_hundred_failures_a_prompt_still_passes_and_is_kept(shell: Shell) -> None:
    shell.talk("one", "Remember: the lid is of clay. 记住：部署前先跑测试。")
    shell.ok("import", "one.jsonl")
    shell.ok("work")
    for path in (shell.data / "search").rglob("*"):
        if path.is_file():
            path.write_bytes(b"\x00\xff not an index")
    (shell.data / "config.yaml").write_text("language: [zh\nbrief_token_limit: much\n")
    notices = 0
    for number in range(300):
        asked = {
            "session_id": f"s{number % 5}", "transcript_path": "", "cwd": str(shell.folder), "prompt_id": f"p{number}",
            "prompt": f"第 {number} 次 of what is the lid?",
        }  # fmt: skip
        done = shell.mem("hook", "claude-code", "UserPromptSubmit", typed=json.dumps(asked))
        assert (done.code, done.err) == (0, "")
        reply = json.loads(done.out) if done.out else {}
        assert not {"decision", "continue", "stopReason"} & set(reply)
        notices += "systemMessage" in reply
    assert notices <= 1
    (shell.data / "config.yaml").unlink()
    told = [finding for finding in shell.json("status")["findings"] if "hook" in finding["name"]]
    assert len(told) == 1, "one line, however often"
    assert (
        shell.json("status")["messages"] == 301
        and (shell.data / "run" / "hook-failures.jsonl").stat().st_size < 200_000
    )
