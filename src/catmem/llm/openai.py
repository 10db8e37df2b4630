"""Chat Completions, streamed: OpenAI and everything that speaks its interface."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from catmem.llm.endpoint import Endpoint, Heard, ServerSaid
from catmem.llm.port import Turn


def make(row: Mapping[str, str], environment: Mapping[str, str]) -> ChatCompletions:
    """The model of a row of the setting `models`; `base_url` ends with the version: http://localhost:11434/v1."""
    endpoint = Endpoint(row, "/chat/completions", environment, header=("Authorization", "Bearer "))
    return ChatCompletions(endpoint, row["model"])


class ChatCompletions:
    def __init__(self, endpoint: Endpoint, model: str) -> None:
        self._endpoint = endpoint
        self._model = model

    def stream(self, system: Sequence[str], turns: Sequence[Turn]) -> Iterator[str]:
        said = [{"role": turn.role, "content": turn.text} for turn in turns]
        # One message: chat templates of local models refuse a second of the system's.
        messages = [{"role": "system", "content": "\n\n".join(filter(None, system))}, *said]
        return self._endpoint.answer({"model": self._model, "messages": messages, "stream": True}, _read)


def _read(event: Any) -> Heard:
    """A chunk, or the whole completion of a server that does not stream."""
    if event.get("error"):
        raise ServerSaid(_status(event["error"]), event)
    if not event["choices"]:
        # The last chunk of some servers only counts tokens.
        return Heard("")
    choice = event["choices"][0]
    whole = choice.get("message")
    spoken = whole if whole is not None else choice.get("delta") or {}
    return Heard(spoken.get("content") or "", complete=whole is not None or bool(choice.get("finish_reason")))


def _status(error: Any) -> int:
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) and 400 <= code < 600 else 500
