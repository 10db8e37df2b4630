"""Transcripts of our own making, in the shape that Claude Code writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SESSION = "0f0e0d0c-0000-4000-8000-00000000abcd"
FOLDER = "/home/kim/teapot"


class Talk:
    """Collects lines; each hangs from the one before unless told otherwise."""

    def __init__(self, session: str = SESSION, folder: str = FOLDER, day: int = 1) -> None:
        self.session, self.folder, self.day = session, folder, day
        self.lines: list[dict[str, Any] | str] = []
        self.last: str | None = None
        self.minute = 0

    def line(self, kind: str, uuid: str, /, parent: object = "last", minute: int | None = None, **fields: Any) -> Talk:
        self.minute += 1
        at = self.minute if minute is None else minute
        self.lines.append(
            {
                "parentUuid": self.last if parent == "last" else parent,
                "isSidechain": False,
                "type": kind,
                "uuid": uuid,
                "cwd": self.folder,
                "sessionId": self.session,
                "timestamp": f"2026-03-{self.day:02d}T{10 + at // 60:02d}:{at % 60:02d}:00.000Z",
                "version": "2.1.200",
                **fields,
            }
        )
        self.last = uuid
        return self

    def user(self, uuid: str, content: Any, **fields: Any) -> Talk:
        return self.line("user", uuid, message={"role": "user", "content": content}, **fields)

    def says(self, uuid: str, content: Any, reply: str = "", **fields: Any) -> Talk:
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        usage = {"input_tokens": 7, "output_tokens": 3, "service_tier": "standard"}
        message = {"id": reply or f"msg_{uuid}", "role": "assistant", "model": "m", "content": blocks, "usage": usage}
        return self.line("assistant", uuid, message=message, **fields)

    def calls(self, uuid: str, call: str, name: str = "Bash", reply: str = "", **arguments: Any) -> Talk:
        return self.says(uuid, [{"type": "tool_use", "id": call, "name": name, "input": arguments}], reply)

    def result(self, uuid: str, call: str, content: Any, **fields: Any) -> Talk:
        return self.user(uuid, [{"type": "tool_result", "tool_use_id": call, "content": content}], **fields)

    def note(self, kind: str, **fields: Any) -> Talk:
        """A line without a uuid."""
        self.lines.append({"type": kind, "sessionId": self.session, **fields})
        return self

    def queue(self, operation: str, minute: int, content: str | None = None) -> Talk:
        fields = {"operation": operation, "timestamp": f"2026-03-{self.day:02d}T10:{minute:02d}:00.000Z"}
        return self.note("queue-operation", **fields, **({"content": content} if content is not None else {}))

    def raw(self, text: str) -> Talk:
        self.lines.append(text)
        return self

    def data(self) -> bytes:
        spelled = [line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in self.lines]
        return "".join(line + "\n" for line in spelled).encode("utf-8", "surrogatepass")

    def write(self, folder: Path, name: str = "") -> Path:
        path = folder / (name or f"{self.session}.jsonl")
        path.write_bytes(self.data())
        return path
