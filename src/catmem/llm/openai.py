"""Chat Completions, streamed, and embeddings: OpenAI and everything that speaks its interface."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from catmem.llm.endpoint import Endpoint, Heard, ServerSaid, tokens
from catmem.llm.forms import as_words, is_strict, without_thoughts
from catmem.llm.port import MOST_TOKENS, Completion, Failure, Finish, Purpose, Row, Schema, Turn
from catmem.llm.prefixes import prefixed

# What servers take in one request of embeddings at the least.
_TEXTS_AT_ONCE = 64

_FINISHES: Mapping[str, Finish] = {"length": "length", "content_filter": "refusal"}


def make(row: Row, environment: Mapping[str, str]) -> ChatCompletions:
    """The model of a row of the setting `models`; `base_url` ends with the version: http://localhost:11434/v1."""
    endpoint = Endpoint(row, "/chat/completions", environment, header=("Authorization", "Bearer "))
    return ChatCompletions(endpoint, row["model"])


def make_embedder(row: Row, environment: Mapping[str, str]) -> Embeddings:
    """The same for a model of embeddings."""
    endpoint = Endpoint(row, "/embeddings", environment, header=("Authorization", "Bearer "))
    return Embeddings(endpoint, row["model"])


class ChatCompletions:
    def __init__(self, endpoint: Endpoint, model: str) -> None:
        self._endpoint = endpoint
        self._model = model
        # How this server is to be asked for a form, as far as it is known, and what of our wishes it does not take.
        self._manner = 0
        self._unwanted: set[str] = set()

    def stream(self, system: Sequence[str], turns: Sequence[Turn]) -> Iterator[str]:
        return self._endpoint.answer(self._asked(system, turns), _read)

    def complete(
        self, system: Sequence[str], turns: Sequence[Turn], schema: Schema, *, max_tokens: int = MOST_TOKENS
    ) -> Completion:
        while True:
            try:
                said = self._endpoint.whole(self._wished(system, turns, schema, max_tokens), _read)
            except Failure as failure:
                if failure.kind != "400" or not self._can_wish_less(failure):
                    raise
            else:
                return without_thoughts(said)

    def _asked(self, system: Sequence[str], turns: Sequence[Turn]) -> dict[str, Any]:
        said = [{"role": turn.role, "content": turn.text} for turn in turns]
        # One message: chat templates of local models refuse a second of the system's.
        messages = [{"role": "system", "content": "\n\n".join(filter(None, system))}, *said]
        return {"model": self._model, "messages": messages, "stream": True}

    def _wished(self, system: Sequence[str], turns: Sequence[Turn], schema: Schema, max_tokens: int) -> dict[str, Any]:
        """The request of a form: as a schema, as any JSON object, in words alone; older servers do not take the first."""
        strict = {"name": "answer", "schema": schema, "strict": is_strict(schema)}
        form = (
            {"response_format": {"type": "json_schema", "json_schema": strict}},
            {"response_format": {"type": "json_object"}},
            {},
        )[self._manner]
        elements = system if self._manner == 0 else (*system, as_words(schema))
        wishes = {
            # The likeliest answer, so that the same talk is answered alike.
            "temperature": 0,
            "stream_options": {"include_usage": True},
            "max_tokens": max_tokens,
        }
        if "max_tokens" in self._unwanted:
            # Newer models of OpenAI count their thoughts, too, and so have another word for it.
            wishes["max_completion_tokens"] = max_tokens
        taken = {name: wish for name, wish in wishes.items() if name not in self._unwanted}
        return {**self._asked(elements, turns), **taken, **form}

    def _can_wish_less(self, failure: Failure) -> bool:
        """Leaves out what the server says that it does not take, else lowers the form; False if nothing is left."""
        for name in ("max_tokens", "temperature", "stream_options"):
            if name in failure.en and name not in self._unwanted:
                self._unwanted.add(name)
                return True
        self._manner += 1
        if self._manner < 3:
            return True
        # It was not the form: a talk that is too long is no reason to ask for less form the next time.
        self._manner = 0
        return False


class Embeddings:
    def __init__(self, endpoint: Endpoint, model: str) -> None:
        self._endpoint = endpoint
        self._model = model

    @property
    def model(self) -> str:
        return f"openai:{self._model}"

    def embed(self, texts: Sequence[str], purpose: Purpose) -> list[list[float]]:
        vectors: list[list[float]] = []
        asked = prefixed(self._model, texts, purpose)
        for start in range(0, len(asked), _TEXTS_AT_ONCE):
            vectors += self._embedded(asked[start : start + _TEXTS_AT_ONCE])
        if len({len(vector) for vector in vectors}) > 1:
            raise self._endpoint.misread()
        return vectors

    def _embedded(self, texts: Sequence[str]) -> list[list[float]]:
        answer = self._endpoint.ask({"model": self._model, "input": list(texts)})
        try:
            rows = sorted(answer["data"], key=lambda row: row["index"])
            places = [row["index"] for row in rows]
            vectors = [[float(number) for number in row["embedding"]] for row in rows]
        except (TypeError, KeyError, ValueError, AttributeError):
            raise self._endpoint.misread() from None
        sound = all(vector and all(map(math.isfinite, vector)) for vector in vectors)
        if places != list(range(len(texts))) or not sound:
            raise self._endpoint.misread()
        return vectors


def _read(event: Any) -> Heard:
    """A chunk, or the whole completion of a server that does not stream."""
    if event.get("error"):
        raise ServerSaid(_status(event["error"]), event)
    usage = event.get("usage") or {}
    counted = tokens(usage.get("prompt_tokens")), tokens(usage.get("completion_tokens"))
    if not event["choices"]:
        # The last chunk of some servers only counts tokens.
        return Heard("", False, "stop", *counted)
    choice = event["choices"][0]
    whole = choice.get("message")
    spoken = whole if whole is not None else choice.get("delta") or {}
    reason = choice.get("finish_reason")
    finish: Finish = "refusal" if spoken.get("refusal") else _FINISHES.get(str(reason), "stop")
    complete = whole is not None or bool(reason) or finish == "refusal"
    return Heard(spoken.get("content") or spoken.get("refusal") or "", complete, finish, *counted)


def _status(error: Any) -> int:
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) and 400 <= code < 600 else 500
