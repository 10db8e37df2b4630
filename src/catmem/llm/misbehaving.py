"""How models and their servers go wrong, as data, for tests of whatever asks a model: no answer of them may do harm."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from catmem.llm import failures
from catmem.llm.port import Completion, Failure, Schema
from catmem.llm.scripted import Answer, Answerer, Asked, ScriptedModel

_PLACE = failures.Where("model.example", "MODEL_KEY")
_INVENTED = "Node.js 14.17.0 runs on Kubernetes 9.9 at mars-7; 用 Docker 部署到火星"


def bad_model(kind: str, good: Answerer | None = None) -> ScriptedModel:
    """A model that is wrong in a way of `WRONG`. `good` answers what is then spoiled; a selection of all by default."""
    return ScriptedModel(WRONG[kind](good or everything))


def everything(asked: Asked) -> Answer:
    """An answer of the form that selects each number that it may."""
    return _form(asked, lambda numbers: numbers)


def nothing(asked: Asked) -> Answer:
    """An answer of the form whose lists are empty."""
    return _form(asked, lambda numbers: [])


def _wrong_numbers(asked: Asked) -> Answer:
    return _form(asked, lambda numbers: [0, -1, max(numbers, default=0) + 1, 10**6])


def _inventions(asked: Asked) -> Answer:
    return _form(asked, lambda numbers: numbers, words=_INVENTED)


def _wrong_language(asked: Asked) -> Answer:
    words = "The user prefers to work in this way from now on." if _is_chinese(asked) else "用户以后都喜欢这样做。"
    return _form(asked, lambda numbers: numbers, words=words)


def _prose(asked: Asked) -> Answer:
    if _is_chinese(asked):
        return "好的！我看完了这段对话，用户大概有一些偏好，其中第 1 句看起来很重要。还需要我做什么吗？"
    return (
        "Sure! I read the conversation: the user has some preferences, and sentence 1 looks important. Anything else?"
    )


def _failing(failure: Failure) -> Callable[[Answerer], Answerer]:
    return lambda good: lambda asked: failure


def _instead(answerer: Answerer) -> Callable[[Answerer], Answerer]:
    return lambda good: answerer


def _spoilt(spoil: Callable[[str], Answer]) -> Callable[[Answerer], Answerer]:
    return lambda good: lambda asked: spoil(_text(good(asked)))


def _dict_for_list(text: str) -> str:
    def turned(value: Any) -> Any:
        if isinstance(value, list):
            return {str(place): turned(item) for place, item in enumerate(value)}
        return {name: turned(part) for name, part in value.items()} if isinstance(value, dict) else value

    return json.dumps(turned(json.loads(text)), ensure_ascii=False)


WRONG: Mapping[str, Callable[[Answerer], Answerer]] = {
    "prose": _instead(_prose),
    "empty": _instead(lambda asked: ""),
    "half-json": _spoilt(lambda text: text[: len(text) // 2]),
    "fenced": _spoilt(lambda text: f"Here it is:\n```json\n{text}\n```\n"),
    "wrong-type": _spoilt(_dict_for_list),
    "wrong-language": _instead(_wrong_language),
    "cut-off": _spoilt(lambda text: Completion(text[: len(text) * 2 // 3], "length")),
    "repetition": _spoilt(lambda text: Completion(text[: len(text) // 2] + " and again, 又一次" * 400, "length")),
    "refusal": _instead(lambda asked: Completion("I'm sorry, but I can't help with that.", "refusal")),
    "401": _failing(failures.refused(_PLACE, 401, "", None)),
    "429": _failing(failures.refused(_PLACE, 429, "", 7.0)),
    "500": _failing(failures.refused(_PLACE, 500, "", None)),
    "timeout": _failing(failures.too_slow(_PLACE, 120)),
    "hang": _failing(failures.too_slow(_PLACE, 120, begun=True)),
    "stream-died": _failing(failures.cut_short(_PLACE)),
    # Of the right form, and wrong.
    "everything": _instead(everything),
    "nothing": _instead(nothing),
    "wrong-numbers": _instead(_wrong_numbers),
    "inventions": _instead(_inventions),
}
"""By the name under which such an answer is counted, what spoils a good one."""


def _form(asked: Asked, choose: Callable[[list[int]], list[int]], words: str = "") -> str:
    return json.dumps(_filled(asked.schema or {}, choose, words, None), ensure_ascii=False)


def _filled(schema: Schema, choose: Callable[[list[int]], list[int]], words: str, number: int | None) -> Any:
    """A value of a schema: lists have an item for each number that is chosen of those that their items enumerate."""
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return _filled(schema[several][0], choose, words, number)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        of_numbers = all(isinstance(choice, int) for choice in schema["enum"])
        return number if of_numbers and number is not None else schema["enum"][0]
    kind = schema.get("type", "object")
    if kind == "object":
        return {name: _filled(part, choose, words, number) for name, part in schema.get("properties", {}).items()}
    if kind == "array":
        return [_filled(schema["items"], choose, words, chosen) for chosen in choose(_numbers(schema["items"]))]
    single = {"string": words, "integer": number or 1, "number": 0.99, "boolean": True}
    return single.get(kind if isinstance(kind, str) else kind[0])


def _numbers(schema: Any) -> list[int]:
    """The first numbers that a schema enumerates; [1] for a list of something else."""
    found = _enumerated(schema)
    return found if found is not None else [1]


def _enumerated(schema: Any) -> list[int] | None:
    if isinstance(schema, Mapping):
        choices = schema.get("enum")
        if isinstance(choices, Sequence) and all(isinstance(choice, int) for choice in choices):
            return list(choices)
        return next(filter(None, map(_enumerated, schema.values())), None)
    return None


def _is_chinese(asked: Asked) -> bool:
    return any("\u4e00" <= letter <= "\u9fff" for turn in asked.turns for letter in turn.text)


def _text(answer: Answer) -> str:
    if isinstance(answer, Failure):
        raise answer
    return answer.text if isinstance(answer, Completion) else "".join(map(str, answer))
