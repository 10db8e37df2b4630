"""Why a hit ranked where it did, in a sentence of the user's language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from catmem.index.documents import Record
from catmem.recall.fuse import ALIKE
from catmem.recall.query import as_typed

_SHOWN_WORDS = 6
# Below this the age of a hit has cost it rank, and it is said.
_AGED = 0.75


def why(hit: Record, query: str, language: str) -> str:
    """Such as `matches deploy, staging; said in 3 sessions; pinned`."""
    return "；".join(_parts(hit, query, _ZH)) if language == "zh" else "; ".join(_parts(hit, query, _EN))


def _parts(hit: Record, query: str, words: dict[str, str]) -> Sequence[str]:
    matched = as_typed(hit["matched"], query)
    shown = words["comma"].join(matched[:_SHOWN_WORDS]) + (words["more"] if len(matched) > _SHOWN_WORDS else "")
    parts = [words["matches"].format(shown)] if matched else []
    if "alike" in hit and (hit["alike"] >= ALIKE or not matched):
        parts.append(words["alike"])
    elif not matched:
        parts.append(words["then"])
    if hit.get("status") == "superseded":
        parts.append(words["superseded"])
    if hit["type"] == "passage":
        parts.append(words[f"said by {hit['kind']}"])
    elif hit["confirmations"] > 1:
        parts.append(words["confirmed"].format(hit["confirmations"]))
    if hit.get("pinned"):
        parts.append(words["pinned"])
    if hit["recency"] < _AGED:
        parts.append(words["aged"])
    if hit.get("folded"):
        parts.append(words["folded"].format(hit["folded"]))
    if hit.get("same_turn"):
        parts.append(words["same_turn"].format(len(hit["same_turn"])))
    return parts


def explained(numbers: Mapping[str, float], language: str) -> str:
    """The numbers that ranked a hit, for a person; those that made no difference are left out."""
    words, said = (_NUMBERS_ZH, "；") if language == "zh" else (_NUMBERS_EN, "; ")
    known = [
        words[name].format(number) for name, number in numbers.items() if name in words and number not in _NEUTRAL[name]
    ]
    return said.join([*known, *(f"{name} {number:g}" for name, number in numbers.items() if name not in words)])


# What each number is where it changes nothing. That a hit is pinned or was said in several sessions, `why` tells.
_NEUTRAL: dict[str, tuple[float, ...]] = {
    "relevance": (), "bm25": (), "akin": (0,), "alike": (0,), "recency": (1,), "timely": (1,), "confirmations": (0, 1),
    "pinned": (0,), "folded": (0,),
}  # fmt: skip
_NUMBERS_EN = {
    "relevance": "relevant to the query: {:.0%}",
    "bm25": "weight of its words (BM25): {:.2f}",
    "akin": "of the query in other words for the same thing: {:.0%}",
    "alike": "alike in meaning: {:.2f}",
    "recency": "freshness: {:.0%}",
    "timely": "for the time named: x {:.2f}",
    "confirmations": "sessions that said it: {:.0f}",
    "pinned": "for being pinned: a little more",
    "folded": "folded beneath it: {:.0f}",
}
_NUMBERS_ZH = {
    "relevance": "与查询的相关度 {:.0%}",
    "bm25": "词的分量（BM25）{:.2f}",
    "akin": "其中换一种说法或另一种语言的占 {:.0%}",
    "alike": "意思的相近程度 {:.2f}",
    "recency": "新鲜度 {:.0%}",
    "timely": "符合所说的时间 × {:.2f}",
    "confirmations": "说过它的会话数 {:.0f}",
    "pinned": "已固定，略加分",
    "folded": "折叠在其下 {:.0f} 条",
}
_EN = {
    "comma": ", ",
    "more": ", …",
    "matches": "matches {}",
    "then": "said in that time",
    "alike": "close in meaning",
    "superseded": "superseded since",
    "said by user": "said by the user",
    "said by assistant": "said by the assistant",
    "said by title": "what a conversation is called",
    "confirmed": "said in {} sessions",
    "pinned": "pinned",
    "aged": "older",
    "folded": "{} more say the same",
    "same_turn": "{} more of the same turn",
}
_ZH = {
    "comma": "、",
    "more": "等",
    "matches": "匹配：{}",
    "then": "那段时间说的",
    "alike": "意思相近",
    "superseded": "已被取代",
    "said by user": "用户说的",
    "said by assistant": "助手说的",
    "said by title": "会话的标题",
    "confirmed": "在 {} 个会话中说过",
    "pinned": "已固定",
    "aged": "时间较早",
    "folded": "另有 {} 条内容相同",
    "same_turn": "同一轮对话中另有 {} 条",
}
