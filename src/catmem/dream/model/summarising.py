"""A summary of an archived part of a session by a model, and what makes one of them unusable."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from catmem.domain.errors import ModelFailed
from catmem.domain.likeness import terms
from catmem.domain.message import Message, is_said
from catmem.domain.session import SessionRef
from catmem.dream.compact import Summary
from catmem.dream.model.asking import Completes, language_of_text
from catmem.llm.port import Turn
from catmem.text.cut import cut_tokens, estimate_tokens

# What a model reads of a part. Most of it from the end: what was corrected later is what holds.
SOURCE_TOKENS = 6000
_END_SHARE = 0.75
# Of one message: what is longer is a paste.
_MESSAGE_TOKENS = 400
ANSWER_TOKENS = 400

_SCHEMA = {
    "type": "object",
    "properties": {"summary": {"type": "string"}},
    "required": ["summary"],
    "additionalProperties": False,
}
_INSTRUCTIONS = {
    "en": """\
Summarise this part of a conversation between a user and an assistant for whoever goes on with it: what was asked, what
was decided and why, how far it came, what is open. Where something was corrected later, only the correction holds.
Use names, numbers and commands exactly as they stand there, and nothing that does not stand there. No passwords, keys or
private matters. At most 120 words, in English. Answer with one JSON object: {"summary": "…"}""",
    "zh": """\
为接着做下去的人概括这段用户与助手的对话：提出了什么，决定了什么、为什么，进展到哪里，还有什么未定。后来更正过的，只以更正为准。
名称、数字、命令要与原文完全一致，不得写原文没有的内容；不写密码、密钥和隐私。不超过 200 字，用中文。只回答一个 JSON 对象：{"summary": "…"}""",
}


class ModelSummariser:
    """Makes the summary that AutoCompact asks for; `redact` is the door that every written text passes."""

    def __init__(self, model: Completes, redact: Callable[[str, str], str]) -> None:
        self._model = model
        self._redact = redact

    def __call__(self, session: SessionRef, messages: Sequence[Message]) -> Summary:
        """Raises ModelFailed: the model's own failure, or a summary that names what was not said."""
        source = source_of(messages)
        answer = self._model.complete(
            [_INSTRUCTIONS[language_of_text(source)]], [Turn("user", source)], _SCHEMA, max_tokens=ANSWER_TOKENS
        )
        content = self._redact(_content(answer.text), "said")
        invented = names_not_in(content, messages)
        if invented:
            shown = ", ".join(sorted(invented)[:3])
            raise ModelFailed(f"the summary names what was not said: {shown}", f"摘要里有原文没有的内容：{shown}")
        return Summary(content, complete=answer.finish == "stop")


def source_of(messages: Sequence[Message]) -> str:
    """What a model reads: who said what, the beginning and the end of it where it is long."""
    lines = [f"{m.role}: {cut_tokens(' '.join(m.content.split()), _MESSAGE_TOKENS)}" for m in messages if is_said(m)]
    costs = [estimate_tokens(line) for line in lines]
    if sum(costs) <= SOURCE_TOKENS:
        return "\n".join(lines)
    end = _fitting(list(reversed(costs)), int(SOURCE_TOKENS * _END_SHARE))
    begin = _fitting(costs[: len(costs) - end], SOURCE_TOKENS - sum(costs[len(costs) - end :]))
    return "\n".join([*lines[:begin], "[…]", *lines[len(lines) - end :]])


def names_not_in(content: str, messages: Sequence[Message]) -> frozenset[str]:
    """The numbers and identifiers of a text that its source does not have: another session's, or nobody's."""
    named = {term for term in terms(content) if any(c.isdigit() or c in "_./:@#+" for c in term)}
    if not named:
        return frozenset()
    source = "\n".join(message.content for message in messages).casefold()
    return frozenset(name for name in named if name not in source)


def _fitting(costs: Sequence[int], room: int) -> int:
    """How many of them have room; one at least."""
    used = count = 0
    for cost in costs:
        used += cost
        if used > room and count:
            break
        count += 1
    return count


def _content(text: str) -> str:
    """The summary of an answer; an answer in plain words is its own."""
    bare = text.strip().strip("`").removeprefix("json").strip()
    try:
        found = json.loads(bare)
    except (ValueError, RecursionError):
        # Half an object is none; prose is a summary.
        return "" if bare.startswith("{") else bare
    return found["summary"].strip() if isinstance(found, dict) and isinstance(found.get("summary"), str) else ""
