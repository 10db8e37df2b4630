from __future__ import annotations

import json
from typing import Any

from catmem.sessions.door import admitted, admitted_title
from tests.sessions.support import at, record


def redact(text: str, source: str) -> str:
    return text.replace("hunter2", f"[{source}]")


def passed(text: str, role: str = "user", **fields: Any) -> Any:
    return admitted({**record(1, text), "role": role, **fields}, redact)


def test_secrets_are_redacted_by_who_speaks() -> None:
    assert passed("密码是 hunter2")["content"] == "密码是 [said]"
    assert passed("hunter2", "assistant")["content"] == "[said]"
    assert passed("hunter2", "tool")["content"] == passed("hunter2", "system")["content"] == "[tool]"


def test_private_parts_are_taken_out_of_every_role() -> None:
    for role in ("user", "assistant", "tool", "system"):
        assert passed("a <PRIVATE>别记 b</PRIVATE> c <private>d", role)["content"] == "a  c "


def test_our_own_brief_is_not_what_anybody_said() -> None:
    text = '你好 <catmem-memory kind="brief">old memory</catmem-memory>!'
    assert passed(text)["content"] == passed(text, "system")["content"] == "你好 !"
    assert passed(text, "tool")["content"] == text


def test_tool_arguments_pass_the_door_too() -> None:
    sent = '{"command": "export P=hunter2", "note": "a <private>b</private> <private> c"}'
    calls = [{"id": "c", "name": "Bash", "arguments": sent}]
    arguments = passed("x", "assistant", toolCalls=calls)["toolCalls"][0]["arguments"]
    assert json.loads(arguments) == {"command": "export P=[tool]", "note": "a  "}
    plain = '{ "a":1, "b": "a private matter" }'
    calls = [{"id": "c", "name": "Bash", "arguments": plain}]
    assert passed("x", "assistant", toolCalls=calls)["toolCalls"][0]["arguments"] == plain
    calls = [{"id": "c", "name": "Bash", "arguments": "no json <private>x</private>"}]
    assert passed("x", "assistant", toolCalls=calls)["toolCalls"][0]["arguments"] == "no json "


def test_titles_pass_the_door_as_an_argument_or_a_mark() -> None:
    assert admitted_title("修复\n hunter2 <private>x</private>", redact) == "修复 [said]"
    assert admitted({"mark": "title", "value": "hunter2"}, redact)["value"] == "[said]"
    listing = {
        "mark": "listing",
        "timestamp": at(1),
        "header": {"title": "hunter2", "preview": "hunter2", "metadata": {}},
    }
    assert admitted(listing, redact)["header"] == {"title": "[said]", "preview": "[said]", "metadata": {}}
    assert admitted({"mark": "leaf", "uid": "hunter2"}, redact)["uid"] == "hunter2"


def test_the_record_handed_in_is_not_changed() -> None:
    given = {**record(1, "hunter2"), "toolCalls": [{"id": "c", "name": "B", "arguments": "hunter2"}]}
    before = json.dumps(given)
    admitted(given, redact)
    assert json.dumps(given) == before
