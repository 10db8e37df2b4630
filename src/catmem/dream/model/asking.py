"""How a dream asks a model: the instruction, the numbered memories, and the form of the answer, in both languages."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from catmem.domain.errors import ModelFailed
from catmem.dream.model.material import Material, shown
from catmem.llm.port import Turn

# The answer is a handful of numbers; more is a model that has lost its way.
ANSWER_TOKENS = 600


class Answer(Protocol):
    """What a model returns (see llm/port)."""

    @property
    def text(self) -> str: ...
    @property
    def finish(self) -> str: ...


class Completes(Protocol):
    def complete(
        self, system: Sequence[str], turns: Sequence[Turn], schema: Mapping[str, Any], *, max_tokens: int
    ) -> Answer: ...


class Unusable(ModelFailed):
    """A model answered, and not what was asked for."""


_TEXTS = {
    "en": {
        "instruction": """\
You tidy the long-term memory of an assistant. Below are its statements, each with a number, and digests of the newest
sessions. Point at numbers only; invent nothing. Use empty lists where there is nothing to do, which is the usual case.
- merge: statements that say the same thing about the same subject, in other words or another language.
- replace: an old statement and the newer one that contradicts it.
- retire: an open question or a progress note, and the newer statement by which it is settled or done.
- promote: a preference about the user that is not tied to one project.
Statements that differ in a number, a name, a version or a not are never the same. Answer with one JSON object.""",
        "memories": "STATEMENTS",
        "digests": "NEW SESSIONS",
        "again": "That answer cannot be used: {}. Answer again with one JSON object of the form asked for, nothing else.",
    },
    "zh": {
        "instruction": """\
你负责整理一个助手的长期记忆。下面是带编号的陈述，以及最近会话的摘要。只能指出编号，不得编造任何内容；没有可做的就用空列表，这很常见。
- merge：对同一件事说了同样内容的陈述（措辞或语言可以不同）。
- replace：旧的陈述，以及与之矛盾的较新陈述。
- retire：待定问题或进展记录，以及使其了结的较新陈述。
- promote：关于用户、不限于某个项目的偏好。
数字、名称、版本或否定不同的陈述绝不相同。只回答一个 JSON 对象。""",
        "memories": "陈述",
        "digests": "最近的会话",
        "again": "这个回答无法使用：{}。请重新回答，只给出一个符合要求的 JSON 对象，不要其他内容。",
    },
}


def ask(model: Completes, material: Material, language: str) -> Mapping[str, Any]:
    """The model's answer as an object of `schema_of`. A second chance, which shows it what was wrong, is the last.

    Raises Unusable after that, and what the model raises.
    """
    words = _TEXTS[language]
    system, question = [words["instruction"]], _question(material, words)
    turns = [Turn("user", question)]
    schema = schema_of(len(material.memories))
    answer = model.complete(system, turns, schema, max_tokens=ANSWER_TOKENS)
    found, why = _read(answer)
    if found is not None:
        return found
    turns += [Turn("assistant", answer.text[:2000] or "…"), Turn("user", words["again"].format(why))]
    found, why = _read(model.complete(system, turns, schema, max_tokens=ANSWER_TOKENS))
    if found is None:
        zh = why.replace("without ", "缺少 ") if why.startswith("without ") else _WHY_CHINESE.get(why, why)
        raise Unusable(f"the model's answer to a dream was {why}", f"模型对整理请求的回答不可用：{zh}")
    return found


_WHY_CHINESE = {"cut off": "被截断", "empty": "为空", "not JSON": "不是 JSON", "not an object": "不是 JSON 对象"}


def schema_of(count: int) -> Mapping[str, Any]:
    """The form of an answer about so many memories: it can name no number that is not there."""
    number = {"type": "integer", "enum": list(range(1, count + 1))}

    def rows(**fields: Any) -> Mapping[str, Any]:
        row = {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}
        return {"type": "array", "items": row}

    properties = {
        "merge": rows(same={"type": "array", "items": number}),
        "replace": rows(old=number, new=number),
        "retire": rows(old=number, because=number),
        "promote": rows(memory=number),
    }
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def language_of_material(material: Material) -> str:
    """The language that most of it is in."""
    return language_of_text("".join([*(m.now.text for m in material.memories), *(d.text for d in material.digests)]))


def language_of_text(text: str) -> str:
    """`zh` or `en`: the language that a model is asked in about a text."""
    chinese = sum(1 for character in text if "\u3400" <= character <= "\u9fff")
    return "zh" if chinese * 4 > len(text) else "en"


def _question(material: Material, words: Mapping[str, str]) -> str:
    lines = [words["memories"]]
    lines += [f"{number}. {shown(memory)}" for number, memory in enumerate(material.memories, 1)]
    if material.digests:
        lines += ["", words["digests"], *(f"- {digest.at[:10]} {digest.text}" for digest in material.digests)]
    return "\n".join(lines)


def _read(answer: Answer) -> tuple[Mapping[str, Any] | None, str]:
    """(the object, "") or (None, what is wrong with it)."""
    if answer.finish == "length":
        return None, "cut off"
    text = answer.text.strip()
    if text.startswith("```"):
        text = text.strip("`").removeprefix("json").strip()
    if not text:
        return None, "empty"
    try:
        found = json.loads(text)
    except ValueError:
        return None, "not JSON"
    except RecursionError:
        return None, "not JSON"
    if not isinstance(found, dict):
        return None, "not an object"
    parts = ("merge", "replace", "retire", "promote")
    if not all(isinstance(found.get(part), list) for part in parts):
        return None, "without " + ", ".join(part for part in parts if not isinstance(found.get(part), list))
    return {part: [_pointing(row) for row in found[part]] for part in parts}, ""


def _pointing(row: Any) -> Mapping[str, Any]:
    """The numbers of a row: what else a model writes there is nobody's, and is not kept until the commit."""
    found: dict[str, Any] = {}
    for name in ("same", "old", "new", "because", "memory"):
        value = row.get(name) if isinstance(row, dict) else None
        if isinstance(value, list):
            found[name] = [number for number in value if isinstance(number, int)]
        elif isinstance(value, int):
            found[name] = value
    return found
