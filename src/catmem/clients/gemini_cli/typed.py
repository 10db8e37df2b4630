"""What a person typed, apart from what Gemini CLI put into the user's mouth."""

from __future__ import annotations

import re
from collections.abc import Sequence

# What a hook added stands before the prompt, behind it, or as a part of its own; our own brief is among it.
_HOOK = re.compile(r"(?:\A|\n)[ \t]*<hook_context>.*?(?:</hook_context>[ \t]*\n*|\Z)", re.DOTALL)
_CONTEXT = re.compile(r"\A\s*<session_context>.*?(?:</session_context>\s*|\Z)", re.DOTALL)
_FORMER_CONTEXT = "This is the Gemini CLI. We are setting up the context for our chat."
# The program goes on by itself where the model stopped too soon.
_NUDGES = ("System: Please continue.",)
_SUMMARY = "<state_snapshot>"
# Files named with @ are unfolded into further parts.
_FILES_BEGIN, _FILES_END = "--- Content from referenced files ---", "--- End of content ---"


def separate(texts: Sequence[str]) -> tuple[str, str]:
    """Splits the parts of a message in the user's role into (what the person said, the summary of a compression)."""
    said: list[str] = []
    summary = ""
    unfolded = False
    for text in texts:
        words = without_hooks(_CONTEXT.sub("", text))
        if unfolded or words.strip().startswith(_FILES_BEGIN):
            unfolded = _FILES_END not in words
        elif words.lstrip().startswith(_SUMMARY):
            summary = words
        elif words.strip() and not words.startswith(_FORMER_CONTEXT) and words.strip() not in _NUDGES:
            said.append(_without_files(words))
    return "\n".join(said), summary


def without_hooks(text: str) -> str:
    """A text without what hooks added to it."""
    return _HOOK.sub("", text).strip("\n") if "<hook_context>" in text else text


def _without_files(text: str) -> str:
    begin = text.find(f"\n{_FILES_BEGIN}\n")
    end = text.find(_FILES_END, begin)
    return text if begin < 0 else (text[:begin] + (text[end + len(_FILES_END) :] if end >= 0 else "")).rstrip()
