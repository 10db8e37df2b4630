"""Whether a model is of use for distilling: a tiny session in each language, from which it is to select."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from catmem.llm.port import Failure, Model, Turn
from catmem.text.cut import estimate_tokens

_SYSTEM = {
    "en": "You are given numbered sentences that a user said to an assistant. Select those that say something lasting: "
    "a preference, a rule, a fact of the project. Leave out thanks, and what is only for this time. For each that you "
    "select give its number, and what it says in a few words of the user's own language. Answer with JSON of this form "
    'and nothing else: {"selected": [{"number": 2, "words": "…"}]}',
    "zh": "下面是用户对助手说的话，每句都有编号。请选出其中长期有效的句子：偏好、规则、项目事实。道谢以及只针对这一次的话不要选。"
    "对选中的每一句，给出它的编号，并用用户所用的语言以几个词说明内容。只输出如下形式的 JSON，不要有其他内容："
    '{"selected": [{"number": 2, "words": "…"}]}',
}
_SESSION = {
    "en": "1. From now on, write every commit message in English.\n2. Thanks, that worked!\n"
    "3. Just this once, skip the tests.",
    "zh": "1. 以后数据库一律用 PostgreSQL，不要再用 MySQL。\n2. 谢谢，搞定了！\n3. 这次先不跑测试。",
}
_NUMBERS = (1, 2, 3)
_RIGHT = {1}
_SCHEMA = {
    "type": "object",
    "properties": {
        "selected": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"number": {"type": "integer", "enum": list(_NUMBERS)}, "words": {"type": "string"}},
                "required": ["number", "words"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["selected"],
    "additionalProperties": False,
}
# A selection of three sentences takes some fifty; models that think first need room for it.
_MOST_TOKENS = 1000
_FENCE = re.compile(r"\A\s*```\w*\n(.*)\n```\s*\Z", re.DOTALL)
_HAN = re.compile(r"[\u4e00-\u9fff]")


@dataclass(frozen=True, slots=True)
class Checked:
    """What a model made of the tiny sessions; after a failure the other answers are false. `seconds` a session."""

    failure: Failure | None = None
    follows_form: bool = False
    keeps_language: bool = False
    selects_right: bool = False
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0

    @property
    def works(self) -> bool:
        """It answers, and in the form that distilling needs; the rest says how well."""
        return self.failure is None and self.follows_form


def check(model: Model) -> Checked:
    """Asks once in each language. Raises nothing: a failure is what was found."""
    given = got = 0
    selections: dict[str, Mapping[int, str] | None] = {}
    begun = time.monotonic()
    for language, session in _SESSION.items():
        try:
            said = model.complete((_SYSTEM[language],), (Turn("user", session),), _SCHEMA, max_tokens=_MOST_TOKENS)
        except Failure as failure:
            return Checked(failure, input_tokens=given, output_tokens=got, seconds=time.monotonic() - begun)
        given += said.input_tokens or estimate_tokens(_SYSTEM[language]) + estimate_tokens(session)
        got += said.output_tokens or estimate_tokens(said.text)
        selections[language] = _selection(said.text)
    read = {language: selection for language, selection in selections.items() if selection is not None}
    return Checked(
        None,
        follows_form=len(read) == len(_SESSION),
        keeps_language=len(read) == len(_SESSION) and all(_is_in(language, read[language]) for language in read),
        selects_right=len(read) == len(_SESSION) and all(set(selection) == _RIGHT for selection in read.values()),
        input_tokens=given,
        output_tokens=got,
        seconds=(time.monotonic() - begun) / len(_SESSION),
    )


def _selection(text: str) -> dict[int, str] | None:
    """The words by number, or None for an answer of another form. A fence around it is forgiven, as distilling does."""
    fenced = _FENCE.match(text)
    try:
        rows: Any = json.loads(fenced[1] if fenced else text)["selected"]
        selection = {row["number"]: row["words"] for row in rows}
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    sound = all(number in _NUMBERS and isinstance(words, str) for number, words in selection.items())
    return selection if sound else None


def _is_in(language: str, selection: Mapping[int, str]) -> bool:
    return all(bool(_HAN.search(words)) == (language == "zh") for words in selection.values())
