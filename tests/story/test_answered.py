"""An assistant that knows nothing but what it is told answers from memory: from the brief, beside the prompt, or by asking.

The assistant is scripted: it repeats whatever stands before it that has the wanted word. So a question is answered only
if our doors put the answer there, and what they put there must be on record.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.mcp.client import Client
from tests.story.machine import Machine, talk_file

EARLIER = (
    ("We always deploy on Tuesdays.", "Noted."),
    ("记住：提交信息一律用中文。", "好的。"),
    ("Why did the kettle stop in March?", "The thermostat E42 had melted; I ordered a spare from Brno."),
    ("以后回答都用简短的句子。", "好。"),
    *((f"What is {n} times {n}?", f"It is {n * n}.") for n in range(3, 40)),
)
# What only memory knows, by how the scripted assistant may come to know it.
QUESTIONS = (
    ("On which day of the week do we deploy?", "Tuesdays"),
    ("提交信息用什么语言写？", "中文"),
    ("commit message language?", "中文"),
    ("what did you find out about the thermostat of the kettle, and where is the spare from?", "Brno"),
    ("E42 是什么问题？", "thermostat"),
)
UNKNOWN = ("Which colour has the roof of the station?", "谢谢，继续", "thanks", "月球的质量是多少？")


class Scripted:
    """A session of an assistant; `context` is all that it was told by the hooks, `asked` what it was by a tool."""

    def __init__(self, machine: Machine, workspace: Path, session: str) -> None:
        self._machine, self._workspace, self._session = machine, workspace, session
        self.begun = self._hook("SessionStart", source="startup")

    def _hook(self, event: str, **payload: object) -> str:
        said = self._machine.hook(event, self._workspace, session_id=self._session, **payload)
        return str(json.loads(said)["hookSpecificOutput"]["additionalContext"]) if said.strip() else ""

    def told_beside(self, prompt: str) -> str:
        return self._hook("UserPromptSubmit", prompt=prompt)

    def recalls(self, query: str) -> str:
        environment = {"CLAUDE_CODE_SESSION_ID": self._session}
        with Client(self._machine.home, self._workspace, environment=environment) as client:
            client.hello()
            return client.call("recall", query=query)

    def on_record(self) -> list[dict[str, object]]:
        told = self._machine.json("why", f"claude-code:{self._session}")["told"]
        return list(told)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "teapot"
    folder.mkdir()
    return folder


@pytest.fixture
def knowing(workspace: Path, tmp_path: Path) -> Machine:
    machine = Machine(tmp_path)
    said = [(role, text) for turn in EARLIER for role, text in zip(("user", "assistant"), turn, strict=True)]
    machine.run(
        "import", talk_file(tmp_path / "theirs", "0f0e0d0c-0000-4000-8000-0000000000aa", *said[:20], cwd=str(workspace))
    )
    machine.run(
        "import", talk_file(tmp_path / "theirs", "0f0e0d0c-0000-4000-8000-0000000000bb", *said[20:], cwd=str(workspace))
    )
    machine.run("work")
    return machine


@pytest.mark.slow
def test_what_only_memory_knows_is_answered_and_what_was_told_is_on_record(knowing: Machine, workspace: Path) -> None:
    for number, (question, wanted) in enumerate(QUESTIONS):
        talk = Scripted(knowing, workspace, f"0f0e0d0c-1111-4000-8000-{number:012}")
        ways = {"brief": talk.begun, "prompt": talk.told_beside(question)}
        if not any(wanted in text for text in ways.values()):
            ways["recall"] = talk.recalls(question)
        assert any(wanted in text for text in ways.values()), (question, ways)
        events = {record["event"]: record for record in talk.on_record()}
        assert set(events) == {way for way, text in ways.items() if text}
        for way, text in ways.items():
            if text and way != "recall":
                assert events[way]["text"] in text and events[way]["items"], "word for word, with the ids"


def test_what_memory_does_not_know_is_not_made_up(knowing: Machine, workspace: Path) -> None:
    talk = Scripted(knowing, workspace, "0f0e0d0c-2222-4000-8000-000000000000")
    for prompt in UNKNOWN:
        assert talk.told_beside(prompt) == "", prompt
    assert [record["event"] for record in talk.on_record()] == ["brief"]
