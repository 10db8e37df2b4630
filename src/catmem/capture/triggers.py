"""What makes distilling start before a session ends (hot path: plain substrings, no patterns)."""

from __future__ import annotations

# Words with which people say that a thing is meant to last. A miss costs nothing but time: the end of the session
# distils everything. A false alarm costs one short process.
_STRONG = (
    "remember",
    "from now on",
    "always ",
    "never ",
    "i usually",
    "i prefer",
    "going forward",
    "in the future",
    "记住",
    "记一下",
    "以后",
    "今后",
    "从现在起",
    "我通常",
    "我一般",
    "我习惯",
    "一律",
    "統一",
    "统一",
    "記住",
    "以後",
)
# A long session is distilled on the way, so that another window learns of it.
MESSAGES_BETWEEN = 40


def is_strong(text: str) -> bool:
    """True if a sentence of the user's asks, in so many words, to be kept."""
    folded = text.lower()
    return any(word in folded for word in _STRONG)


def crosses_count(before: int, after: int) -> bool:
    """True if a session has grown past another MESSAGES_BETWEEN messages."""
    return after // MESSAGES_BETWEEN > before // MESSAGES_BETWEEN
