"""What a person typed, apart from what Codex put into the user's mouth."""

from __future__ import annotations

import re

# Tag -> what becomes of its block: "" is context of the program and not kept.
_TAGS = {
    "environment_context": "",
    "user_instructions": "",
    "instructions": "",
    "recommended_plugins": "",
    "turn_aborted": "",
    "user_action": "",
    "realtime_conversation": "",
    "hook_prompt": "",
    "skill": "",
    "permissions instructions": "",
    "collaboration_mode": "",
    "personality_spec": "",
    "model_switch": "",
    "apps_instructions": "",
    "skills_instructions": "",
    "plugins_instructions": "",
    "user_shell_command": "command",
    "subagent_notification": "notice",
}
_TAG = re.compile(r"\s*<([a-z_]+(?: instructions)?)(?:\s[^<>\n]*)?>", re.IGNORECASE)
# Stands before and behind a picture.
_PICTURE = re.compile(r"\s*</?image\b[^<>\n]*>\s*\Z")
# A folder's instructions; newer versions name the folder.
_AGENTS_FILE = re.compile(r"\s*# AGENTS\.md instructions\b[^\n]*\n\s*(?=<INSTRUCTIONS>)")
_SUMMARIES = (
    "Another language model started to solve this problem and produced a summary",
    "You were originally given instructions from a user over one or more turns.",
)
# An editor puts what it shows before the request.
_IDE_HEADS = ("# Context from my IDE setup:", "# Files mentioned by the user:", "## My request for Codex:")
_REQUEST = re.compile(r"^## My request for Codex:[ \t]*\n?", re.MULTILINE)


def separate(text: str) -> tuple[str, str, str]:
    """Splits a text in the user's role into (what the person said, the kind of the rest, the rest).

    A block of the program stands at the beginning; a tag within a sentence is the person's own text. A block that is
    cut off reaches to the end.
    """
    if text.lstrip().startswith(_SUMMARIES):
        return "", "summary", text
    if _PICTURE.match(text):
        return "", "", ""
    kind, notes, begun = "", [], text
    while True:
        agents = _AGENTS_FILE.match(text)
        opening = _TAG.match(text, agents.end() if agents else 0)
        name = opening[1].lower() if opening else ""
        if opening is None or name not in _TAGS:
            break
        closing = re.compile(re.escape(f"</{name}>"), re.IGNORECASE).search(text, opening.end())
        if _TAGS[name]:
            kind = kind or _TAGS[name]
            notes.append(text[opening.end() : closing.start() if closing else len(text)].strip())
        text = text[closing.end() :] if closing else ""
    said = request_of(text if text == begun else text.strip())
    return said if said.strip() else "", kind, "\n".join(note for note in notes if note)


def request_of(text: str) -> str:
    """A prompt without what an editor put before it."""
    if not text.lstrip().startswith(_IDE_HEADS):
        return text
    marker = _REQUEST.search(text)
    return text[marker.end() :].strip() if marker else text
