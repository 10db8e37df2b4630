"""Messages, streamed: Anthropic and what is compatible with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from catmem.llm.endpoint import Endpoint, Heard, ServerSaid
from catmem.llm.port import Turn

# The interface demands a bound for the answer; every model since Claude 3 allows this one.
MOST_TOKENS = 4096
VERSION = "2023-06-01"

# https://docs.anthropic.com/en/api/errors
_STATUS = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "rate_limit_error": 429,
    "api_error": 500,
    "overloaded_error": 529,
}


def make(row: Mapping[str, str], environment: Mapping[str, str]) -> Messages:
    """The model of a row of the setting `models`; `base_url` is written with or without its `/v1`."""
    # Their own clients are configured without the version, others' with it.
    base = row["base_url"].rstrip("/")
    path = "/messages" if base.endswith(("/v1", "/messages")) else "/v1/messages"
    endpoint = Endpoint(
        {**row, "base_url": base},
        path,
        environment,
        header=("x-api-key", ""),
        extra={"anthropic-version": VERSION},
    )
    return Messages(endpoint, row["model"])


class Messages:
    def __init__(self, endpoint: Endpoint, model: str) -> None:
        self._endpoint = endpoint
        self._model = model

    def stream(self, system: Sequence[str], turns: Sequence[Turn]) -> Iterator[str]:
        body = {
            "model": self._model,
            "max_tokens": MOST_TOKENS,
            "system": _blocks(system),
            "messages": [{"role": turn.role, "content": turn.text} for turn in turns],
            "stream": True,
        }
        return self._endpoint.answer(body, _read)


def _blocks(system: Sequence[str]) -> list[dict[str, Any]]:
    """The same in every request of a chat, so all of it is worth the provider's cache."""
    blocks: list[dict[str, Any]] = [{"type": "text", "text": text} for text in system if text]
    if blocks:
        blocks[-1]["cache_control"] = {"type": "ephemeral"}
    return blocks


def _read(event: Any) -> Heard:
    """An event, or the whole message of a server that does not stream."""
    kind = event["type"]
    if kind == "error":
        raise ServerSaid(_STATUS.get(event["error"]["type"], 500), event)
    if kind == "content_block_delta" and event["delta"]["type"] == "text_delta":
        return Heard(event["delta"]["text"])
    if kind == "message":
        return Heard("".join(part["text"] for part in event["content"] if part["type"] == "text"), complete=True)
    return Heard("", complete=kind == "message_stop")
