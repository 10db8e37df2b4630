"""Is a question about the past (hot path)? Then what was superseded answers it, marked as what it is."""

from __future__ import annotations

import functools
import re

from catmem.text.simplified import simplified

# One of these is in every such question; without any nothing is compiled, which costs a hook a millisecond.
_HINTS = (
    "used to", "before", "previous", "former", "original", "in the past", "historic", "earlier", "did we", "did i",
    "did they", "back then", "前", "原", "过去", "曾经", "当初", "早先", "当时", "为什么",
    "为啥", "换",
)  # fmt: skip
# 提交之前 is a time to come: 之前 is the past at the beginning of a clause or after who it is about.
_CLAUSE = r"(?:(?<![^\s,.;:!?，。；：！？、])|(?<=[们我你他她咱司队组]))"
_ENGLISH = (
    r"(?<!\bis )(?<!\bare )(?<!\bbe )(?<!\bwas )(?<!\bwere )(?<!\bget )(?<!\bgot )(?<!\bbeen )(?<!'re )(?<!'m )\bused to\b",
    r"\bdid\b[^.?!\n]*\buse to\b",
    r"\bpreviously\b|\bformerly\b|\boriginally\b|\bin the past\b|\bhistorically\b|\bback then\b",
    r"\b(?:did|was|were|had|have|used)\b[^.?!\n]*\bbefore\s*(?:[?.!,;]|$|that\b|switching\b|moving\b)",
    r"\b(?:what|which|where|how|who|why)\b[^.?!\n]*\b(?:did|was|were)\b[^.?!\n]*\b(?:before|earlier)\b",
    r"\b(?:was|were|did)\b[^.?!\n]*\b(?:previous|former|original|earlier)\b",
    r"\b(?:why|when) did (?:we|i|they)\b[^.?!\n]*\b(?:stop|drop|switch|move|abandon|leave|migrate|replace|change|give up)\b",
)
_CHINESE = (
    r"(?:以前|原来|过去)(?:都|一直)?(?:用|是|的|选|叫|走|放|设|定|怎么|为什么)",
    r"之前(?:都|一直)?(?:用|是|选|叫|走|放|设|定|怎么|为什么)",
    rf"{_CLAUSE}之前的",
    rf"{_CLAUSE}(?:之前|以前|过去|原来|当时)[^。？！?!\n]{{0,16}}(?:什么|啥|哪|多少|几|怎么|谁)",
    r"原先|曾经|当初|早先",
    r"(?:为什么|为啥|什么时候)[^。？！?!\n]{0,8}(?:换掉|换成|换了|弃用|放弃|停用|不再用|不用了|改成|改用)",
)

_TOLD = (r"\b(?:did|was|were|had)\b", r"用的|用过|是什么|是哪|是多少|当时|那时")


def is_about_the_past(query: str) -> bool:
    """ "What did we use before?", 之前用的是什么; not "what to run before a commit", 提交之前要做什么."""
    folded = simplified(query).casefold()
    hints = [hint for hint in _HINTS if hint in folded]
    return bool(
        (any(hint.isascii() for hint in hints) and _compiled(_ENGLISH).search(folded))
        or (not all(hint.isascii() for hint in hints) and _compiled(_CHINESE).search(folded))
    )


def is_told_as_past(query: str) -> bool:
    """ "Which port was it", 当时用的是哪个: with a time that it names, a question about what held then."""
    return bool(_compiled(_TOLD).search(simplified(query).casefold()))


@functools.cache
def _compiled(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(patterns))
