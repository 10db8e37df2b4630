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
# Tools that change files, under the names that assistants give them: Edit, MultiEdit, write_file, apply_patch,
# search_replace, str_replace_editor, create_file, delete_file … A list of things to do is none.
_CHANGING = ("edit", "write", "patch", "replace", "create_file", "delete_file")
_NOT_FILES = ("todo", "memory")


def is_strong(text: str) -> bool:
    """True if a sentence of the user's asks, in so many words, to be kept."""
    folded = text.lower()
    return any(word in folded for word in _STRONG)


def changes_files(tool: str) -> bool:
    """True for the name of a tool by which an assistant changes files."""
    folded = tool.lower()
    return any(word in folded for word in _CHANGING) and not any(word in folded for word in _NOT_FILES)


def crosses_count(before: int, after: int) -> bool:
    """True if a session has grown past another MESSAGES_BETWEEN messages."""
    return after // MESSAGES_BETWEEN > before // MESSAGES_BETWEEN
