"""Messages of opencode and their parts, alike in its database, its files and its exports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from catmem.clients.draft import Draft, record_of, text_of, tool_call, usage_of
from catmem.clients.own_tools import RECALLED, is_own_tool
from catmem.domain.clock import Clock, parse_instant, seconds_of, system_clock
from catmem.domain.message import Role

Record = Mapping[str, Any]

CLIENT = "opencode"
_USAGE = {"input": "input_tokens", "output": "output_tokens"}
# A reply that is being written now comes with a later import; one that was never completed stays open for ever.
_WORKING_SECONDS = 600.0
# The program's names for what nobody has named.
_UNNAMED = ("New session - ", "Child session - ")


def session_key(session_id: str) -> str:
    """The key under which a session of opencode is kept."""
    return f"{CLIENT}:{session_id}"


class Talk:
    """Puts one session into a draft. The talk of a child session, which an agent began, is nobody's words."""

    def __init__(self, draft: Draft, session: Record, folder: str = "") -> None:
        """`session` as the program describes it; `folder` of its project, where it names none itself."""
        self.draft = draft
        directory = text_of(session.get("directory")) or folder
        draft.cwd = directory if directory != "/" else ""
        title = text_of(session.get("title"))
        draft.title = "" if title.startswith(_UNNAMED) else title
        self._agent = bool(session.get("parentID") or session.get("parent_id"))
        self._last = ""

    def message(self, info: Record, parts: Sequence[Record], at: object = None) -> int:
        """Adds one message; returns about how long it is."""
        uid = text_of(info.get("id"))
        at = record_of(info.get("time")).get("created") or at
        folder = text_of(record_of(info.get("path")).get("cwd"))
        self.draft.cwd = self.draft.cwd or folder
        if info.get("role") == "user":
            self._typed(uid, parts, at)
        elif info.get("role") == "assistant" and not _is_being_written(info):
            self._replied(uid, info, parts, at)
        return sum(len(str(part.get("text") or part.get("state") or "")) for part in parts)

    def _typed(self, uid: str, parts: Sequence[Record], at: object) -> None:
        said = [text_of(part.get("text")) for part in parts if part.get("type") == "text" and _is_typed(part)]
        said += [f"[file: {_name(part)}]" for part in parts if part.get("type") == "file" and not part.get("synthetic")]
        self._say("user", "\n".join(text for text in said if text.strip()), at, uid=uid)
        for part in parts:
            if part.get("type") == "subtask":
                prompt = text_of(part.get("prompt"))
                self._say("system", prompt, at, uid=text_of(part.get("id")), kind="command")

    def _replied(self, uid: str, info: Record, parts: Sequence[Record], at: object) -> None:
        """Text and calls in their order: the first text is the message, the rest goes by the names of the parts."""
        role: Role = "system" if info.get("summary") is True else "assistant"
        kind = "summary" if role == "system" else ""
        usage = usage_of(info.get("tokens"), _USAGE)
        texts: list[str] = []
        name = uid
        for part in [*parts, {"type": "end"}]:
            if part["type"] == "text":
                name = name or text_of(part.get("id"))
                texts.append(text_of(part.get("text")) if _is_typed(part) else "")
            elif part["type"] in ("tool", "end"):
                text = "\n\n".join(text for text in texts if text.strip())
                if text:
                    self._say(role, text, at, uid=name, kind=kind, usage=usage)
                    name, usage = "", None
                texts = []
            if part["type"] == "tool":
                self._called(part, at, usage)
                usage = None

    def _called(self, part: Record, at: object, usage: dict[str, int] | None) -> None:
        tool, state = text_of(part.get("tool")), record_of(part.get("state"))
        uid = text_of(part.get("id"))
        call_id = text_of(part.get("callID")) or uid
        times = record_of(state.get("time"))
        made = [tool_call(call_id, tool, state.get("input"))]
        self._say("assistant", "", times.get("start") or at, uid=uid, calls=made, usage=usage)
        if state.get("status") not in ("completed", "error"):
            return
        output = text_of(state.get("output")) or text_of(state.get("error"))
        text = RECALLED if is_own_tool(tool) else output if output.strip() else "[no output]"
        self._say("tool", text, times.get("end") or at, uid=uid and f"{uid}:result", call_id=call_id)

    def _say(self, role: Role, text: str, at: object, *, kind: str = "", **more: Any) -> None:
        if self._agent:
            role, kind = ("tool" if role == "tool" else "system"), "agent"
        self._last = self.draft.say(role, text, at, parent=self._last, kind=kind, **more) or self._last


def _is_being_written(info: Record, clock: Clock = system_clock) -> bool:
    times = record_of(info.get("time"))
    began = parse_instant(times.get("created"))
    if began is None or times.get("completed") or info.get("error"):
        return False
    return 0 <= clock() - seconds_of(began[0]) < _WORKING_SECONDS


def _is_typed(part: Record) -> bool:
    return part.get("synthetic") is not True and part.get("ignored") is not True


def _name(part: Record) -> str:
    return text_of(part.get("filename")) or text_of(part.get("mime")) or "?"
