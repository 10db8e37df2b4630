"""Why a hit ranked where it did, in a sentence of the user's language."""

from __future__ import annotations

from collections.abc import Sequence

from catmem.index.documents import Record
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
    parts = [words["matches"].format(shown) if matched else words["then"]]
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
        parts.append(words["same_turn"].format(hit["same_turn"]))
    return parts


_EN = {
    "comma": ", ",
    "more": ", …",
    "matches": "matches {}",
    "then": "said in that time",
    "superseded": "superseded since",
    "said by user": "said by the user",
    "said by assistant": "said by the assistant",
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
    "superseded": "已被取代",
    "said by user": "用户说的",
    "said by assistant": "助手说的",
    "confirmed": "在 {} 个会话中说过",
    "pinned": "已固定",
    "aged": "时间较早",
    "folded": "另有 {} 条内容相同",
    "same_turn": "同一轮对话中另有 {} 条",
}
