"""Messages, streamed: Anthropic and what is compatible with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from catmem.llm.endpoint import Endpoint, Heard, ServerSaid, tokens
from catmem.llm.forms import as_words
from catmem.llm.port import MOST_TOKENS, Completion, Failure, Finish, Row, Schema, Turn

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
# https://docs.anthropic.com/en/api/handling-stop-reasons
_FINISHES: Mapping[str, Finish] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}
# How an answer of a form is asked for: held to the schema by the server; begun for the model with a brace; in words.
# Older models and compatible servers do not know the first, models since Claude 4.6 refuse the second.
_MANNERS = ("schema", "begun", "words")


def make(row: Row, environment: Mapping[str, str]) -> Messages:
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
        self._manners: tuple[str, ...] = _MANNERS

    def stream(self, system: Sequence[str], turns: Sequence[Turn]) -> Iterator[str]:
        # The interface demands a bound for the answer; every model since Claude 3 allows this one.
        return self._endpoint.answer(self._asked(system, turns, MOST_TOKENS), _read)

    def complete(
        self, system: Sequence[str], turns: Sequence[Turn], schema: Schema, *, max_tokens: int = MOST_TOKENS
    ) -> Completion:
        for place, manner in enumerate(self._manners):
            body = self._asked(system if manner == "schema" else (*system, as_words(schema)), turns, max_tokens)
            if manner == "schema":
                body["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
            elif manner == "begun":
                body["messages"].append({"role": "assistant", "content": "{"})
            try:
                said = self._endpoint.whole(body, _read)
            except Failure as failure:
                if failure.kind != "400" or manner == self._manners[-1]:
                    raise
                continue
            # What it does not take it need not be asked again.
            self._manners = self._manners[place:]
            if manner == "begun" and not said.text.lstrip().startswith("{"):
                said = replace(said, text="{" + said.text)
            return said
        raise AssertionError("the last manner returns or raises")

    def _asked(self, system: Sequence[str], turns: Sequence[Turn], max_tokens: int) -> dict[str, Any]:
        return {
            "model": self._model,
            "max_tokens": max_tokens,
            "system": _blocks(system),
            "messages": [{"role": turn.role, "content": turn.text} for turn in turns],
            "stream": True,
        }


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
        text = "".join(part["text"] for part in event["content"] if part["type"] == "text")
        return Heard(text, True, _finish(event), *_counted(event))
    if kind == "message_start":
        # Its count of the answer is of what was begun; the delta at the end says how long it became.
        return Heard("", input_tokens=_counted(event["message"])[0])
    if kind == "message_delta":
        return Heard("", bool(event["delta"].get("stop_reason")), _finish(event["delta"]), *_counted(event))
    return Heard("", complete=kind == "message_stop")


def _finish(said: Any) -> Finish:
    return _FINISHES.get(str(said.get("stop_reason")), "stop")


def _counted(said: Any) -> tuple[int, int]:
    """(what was asked, what was answered) in tokens; what came from the provider's cache was asked, too."""
    usage = said.get("usage") or {}
    asked = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return sum(map(tokens, map(usage.get, asked))), tokens(usage.get("output_tokens"))
