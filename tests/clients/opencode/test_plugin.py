"""Our plugin in node, with a host that calls it as opencode does and a program that notes what it is told."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from catmem.clients.installing import Program
from catmem.clients.opencode.history import READER
from catmem.clients.opencode.install import plugin_text

pytestmark = pytest.mark.real("node")

# Notes its arguments and input; answers as our hooks do.
PROGRAM = """
import json, sys
event, payload = sys.argv[3], json.load(sys.stdin)
with open({notes!r}, "a", encoding="utf-8") as file:
    file.write(json.dumps([sys.argv[1:], payload]) + "\\n")
print(json.dumps({{"system.transform": {{"system": "BRIEF 简报"}}, "chat.message": {{"beside": "RECALLED 回忆"}}}}.get(event, {{}})))
"""

# What opencode does in a session of one turn; the last line is what the model would read.
HOST = """
import { Catmem } from "./catmem.mjs"
const hooks = await Catmem({ directory: "/home/u/shop" })
const event = (type, properties) => hooks.event({ event: { type, properties } })
const sessionID = "ses_1"
await event("session.created", { info: { id: sessionID, directory: "/home/u/shop", title: "New session - x" } })
await event("session.created", { info: { id: "ses_2", parentID: sessionID, directory: "/home/u/shop" } })
const user = { id: "msg_1", role: "user", sessionID, time: { created: 1796040683430 } }
const part = { id: "prt_1", type: "text", text: "which port? 端口？", messageID: "msg_1", sessionID }
const asked = { message: user, parts: [part] }
await hooks["chat.message"]({ sessionID }, asked)
await hooks["chat.message"]({ sessionID: "ses_2" }, { message: { ...user, sessionID: "ses_2" }, parts: [part] })
const title = { system: ["You are a title generator. x"] }
await hooks["experimental.chat.system.transform"]({ sessionID }, title)
const system = []
for (const step of [1, 2]) {
  const output = { system: ["You are opencode"] }
  await hooks["experimental.chat.system.transform"]({ sessionID }, output)
  system.push(output.system)
}
const child = { system: ["You are opencode"] }
await hooks["experimental.chat.system.transform"]({ sessionID: "ses_2" }, child)
const messages = [{ info: user, parts: [{ ...part }] }]
await hooks["experimental.chat.messages.transform"]({}, { messages })
await hooks["experimental.chat.messages.transform"]({}, { messages })
const reply = { id: "msg_2", role: "assistant", sessionID, time: { created: 1796040686024, completed: 1796040687000 } }
await event("message.updated", { info: reply })
await event("message.part.updated", { part: { id: "prt_2", type: "text", text: "54", messageID: "msg_2", sessionID } })
await event("message.part.updated", { part: { id: "prt_2", type: "text", text: "5433", messageID: "msg_2", sessionID } })
await event("session.idle", { sessionID: "ses_2" })
await event("session.idle", { sessionID })
console.log(JSON.stringify({ asked, title, system, child, messages }))
%s
"""


def run(folder: Path, program: Program, ending: str = "") -> dict[str, Any]:
    (folder / "catmem.mjs").write_bytes(plugin_text(program))
    (folder / "host.mjs").write_text(HOST % ending)
    done = subprocess.run(["node", "host.mjs"], cwd=folder, capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr == ""
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def program(folder: Path) -> Program:
    (folder / "program.py").write_text(PROGRAM.format(notes=str(folder / "notes.jsonl")))
    return Program((sys.executable, str(folder / "program.py")), ("--dir", "/data/记忆"))


@pytest.mark.parametrize("ending", ["", "process.exit(0)"], ids=["it ends by itself", "it is ended at once"])
def test_a_session_is_told_its_memory_and_its_turn_is_kept(tmp_path: Path, ending: str) -> None:
    seen = run(tmp_path, program(tmp_path), ending)
    assert seen["system"] == [["You are opencode", "BRIEF 简报"]] * 2
    assert seen["title"] == {"system": ["You are a title generator. x"]}
    assert seen["child"] == {"system": ["You are opencode"]}
    assert [part["text"] for part in seen["asked"]["parts"]] == ["which port? 端口？"], "the host keeps what was typed"
    (message,) = seen["messages"]
    assert [part["text"] for part in message["parts"]] == ["which port? 端口？", "RECALLED 回忆"]
    assert message["parts"][1]["synthetic"] is True and message["parts"][1]["id"] > "prt_1"

    notes = [json.loads(line) for line in (tmp_path / "notes.jsonl").read_text("utf-8").splitlines()]
    assert [words[2] for words, _ in notes] == ["system.transform", "chat.message", "session.idle"]
    assert all(words == ["hook", "opencode", words[2], "--dir", "/data/记忆"] for words, _ in notes)
    turn = READER.turn(notes[2][1])
    assert [(m.role, m.content, m.uid) for m in turn.messages] == [
        ("user", "which port? 端口？", "msg_1"),
        ("assistant", "5433", "msg_2"),
    ]
    assert (turn.session, turn.cwd, turn.prompts) == ("opencode:ses_1", "/home/u/shop", {"msg_1": "msg_1"})


@pytest.mark.parametrize(
    "start", [("/nowhere/mem",), ("/bin/false",), ("/bin/echo", "no json"), ("/bin/cat", "/dev/null")]
)
def test_without_our_program_the_host_goes_on(tmp_path: Path, start: tuple[str, ...]) -> None:
    seen = run(tmp_path, Program(start), "process.exit(0)")
    assert seen["system"] == [["You are opencode"]] * 2
    assert [part["text"] for part in seen["messages"][0]["parts"]] == ["which port? 端口？"]
