"""What every API says, in one shape: what was asked, what is answered. Each of the others is one file here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from catmem.domain.message import ToolCall


@dataclass(frozen=True, slots=True)
class Spoken:
    """One message of a request, without pictures and thoughts. `call_id` names the call that a tool answers."""

    role: Literal["user", "assistant", "tool"]
    texts: tuple[str, ...]
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""

    @property
    def text(self) -> str:
        return "\n".join(text for text in self.texts if text.strip())


@dataclass(frozen=True, slots=True)
class Asked:
    """A request.

    system      the texts of the system's elements, in order
    structured  whether the answer must have the form of a schema
    session     what the body itself says of the session, "" for most
    previous    the answer that the server keeps and this request goes on from
    """

    spoken: tuple[Spoken, ...]
    system: tuple[str, ...] = ()
    tools: bool = False
    structured: bool = False
    session: str = ""
    previous: str = ""


@dataclass(slots=True)
class Answer:
    """What the model said so far. Only a complete one is kept."""

    text: str = ""
    calls: list[ToolCall] = field(default_factory=list)
    usage: dict[str, int] = field(default_factory=dict)
    complete: bool = False
    id: str = ""


class Reply(Protocol):
    """Gathers an answer from the events of a stream, or from a whole one."""

    answer: Answer

    def event(self, data: Mapping[str, Any]) -> None: ...

    def whole(self, data: Mapping[str, Any]) -> None: ...


class Wire(Protocol):
    """One API."""

    Reply: type[Reply]

    def read(self, body: Mapping[str, Any]) -> Asked: ...

    def insert(self, text: str, brief: str) -> str: ...


def text_of(value: object) -> str:
    return value if isinstance(value, str) else ""


def dicts(value: object) -> list[dict[str, Any]]:
    """The objects of a list; what else stands there is not for us."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def object_of(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def texts_of(content: object, kinds: Sequence[str] = ("text",)) -> tuple[str, ...]:
    """The texts of a content that is one string or a list of parts."""
    if isinstance(content, str):
        return (content,)
    return tuple(text_of(part.get("text")) for part in dicts(content) if part.get("type", kinds[0]) in kinds)


def counts(usage: object, names: Mapping[str, str]) -> dict[str, int]:
    """The token counts of a usage object under our names."""
    found = object_of(usage)
    return {ours: found[theirs] for theirs, ours in names.items() if type(found.get(theirs)) is int}
