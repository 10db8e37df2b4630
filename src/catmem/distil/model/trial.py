"""Whether a model is of use for distilling: a tiny session in each language, asked and read as a real one is."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from catmem.distil.distiller import judged, read
from catmem.distil.model.answer import BadAnswer, read_answer
from catmem.distil.model.instructions import Language, instruction
from catmem.distil.model.schema import most_tokens, schema_of
from catmem.distil.model.windows import Window, windows_of
from catmem.domain.message import Message
from catmem.llm.port import Completion, Failure, Model, Turn
from catmem.text.cut import estimate_tokens

# What is said in it; what lasts of it is marked.
_SESSIONS: Mapping[Language, tuple[tuple[str, bool], ...]] = {
    "en": (
        ("the build is red again, can you look at the log?", False),
        ("from now on, write every commit message in English", True),
        ("open the parser and tell me what line 30 does", False),
        ("let us go with Postgres instead of MySQL, the JSON support is better", True),
        ("just this once, skip the tests", False),
        ("run it again please and show me the output", False),
    ),
    "zh": (
        ("构建又红了，你看一下日志？", False),
        ("以后提交信息一律用英文写", True),
        ("打开解析器，告诉我第 30 行在做什么", False),
        ("数据库定用 PostgreSQL，不用 MySQL 了", True),
        ("就这一次，先不跑测试", False),
        ("再跑一遍，把输出给我看看", False),
    ),
}
_AT = "2026-01-01T00:00:00.000Z"


@dataclass(frozen=True, slots=True)
class Trial:
    """What a model made of the tiny sessions.

    failure         why it did not answer; then nothing else is known
    fault           what is wrong with an answer that cannot be used, as `mem status` counts it, or ""
    keeps_language  what it says of the work is in the language of the talk
    selects_right   it selected something that lasts, and nothing else
    calls, tokens   what it cost: by the server's count, else by our estimate
    seconds         a session
    """

    failure: Failure | None = None
    fault: str = ""
    keeps_language: bool = False
    selects_right: bool = False
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0

    @property
    def works(self) -> bool:
        """It answers in a form that can be used; the rest says how well."""
        return self.failure is None and not self.fault


def try_model(model: Model) -> Trial:
    """Asks once in each language, until something fails. Raises nothing of the model's: that is what is found."""
    begun = time.monotonic()
    completions: list[Completion] = []
    failure, fault, keeps, right = None, "", True, True
    for language in _SESSIONS:
        window = window_of(language)
        try:
            completions.append(_asked(model, window))
            answer = read_answer(completions[-1], window)
        except Failure as error:
            failure = error
            break
        except BadAnswer as bad:
            fault = bad.fault
            break
        picked = {sentence.text for sentence in window.sentences if sentence.number in answer.selection.picks}
        lasting = {text for text, lasts in _SESSIONS[language] if lasts}
        keeps = keeps and "wrong-language" not in answer.faults
        right = right and "guessing" not in answer.faults and bool(picked) and picked <= lasting
    usable = failure is None and not fault
    return Trial(
        failure,
        fault,
        keeps_language=usable and keeps,
        selects_right=usable and right,
        calls=len(completions),
        input_tokens=sum(completion.input_tokens for completion in completions),
        output_tokens=sum(completion.output_tokens for completion in completions),
        seconds=(time.monotonic() - begun) / max(1, len(completions)),
    )


def window_of(language: Language) -> Window:
    """The tiny session as the model sees it."""
    sentences = read(list(_messages(language)))
    [window] = windows_of(sentences, judged(sentences), 1)
    return window


def _messages(language: Language) -> Iterator[Message]:
    for id, (text, _) in enumerate(_SESSIONS[language], 1):
        yield Message("user", text, _AT, f"trial-{id}", id)


def _asked(model: Model, window: Window) -> Completion:
    """The answer, with its tokens estimated where the server does not count."""
    system, sentences = instruction("end", window.language), len(window.sentences)
    schema = schema_of(sentences)
    said = model.complete([system], [Turn("user", window.text)], schema, max_tokens=most_tokens(sentences))
    asked = estimate_tokens(system) + estimate_tokens(window.text) + estimate_tokens(json.dumps(schema))
    return Completion(
        said.text,
        said.finish,
        said.input_tokens or asked,
        said.output_tokens or estimate_tokens(said.text),
    )
