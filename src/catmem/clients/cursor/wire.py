"""What Cursor writes: bubbles of its database, lines of its agent transcripts, and what it puts around a prompt."""

from __future__ import annotations

import re
from collections.abc import Iterator

from catmem.clients.draft import Record, record_of, records_in, text_of
from catmem.clients.uris import folder_of

_QUERY = re.compile(r"<user_query>[ \t]*\n?(.*?)\n?[ \t]*</user_query>", re.DOTALL)
# Blocks that the program adds to a prompt.
_ADDED = re.compile(
    r"<(system_reminder|user_info|attached_files|open_and_recently_viewed_files|git_status|project_layout|rules"
    r"|agent_transcripts|additional_data|manually_attached_skills|external_links|system_notification)\b[^>]*>"
    r".*?</\1>\s*",
    re.DOTALL,
)
_SPEAKERS = {"user:": "user", "assistant:": "assistant"}
USER, ASSISTANT = 1, 2


def typed(text: str) -> tuple[str, str]:
    """What the person typed of a prompt, and what the program put around it."""
    queries = _QUERY.findall(text)
    if queries:
        return "\n".join(queries), _QUERY.sub("", text).strip()
    said = _ADDED.sub("", text)
    return (text, "") if said == text else (said.strip(), "\n".join(m[0].strip() for m in _ADDED.finditer(text)))


def bubble_text(bubble: Record) -> str:
    fields = (bubble.get(name) for name in ("text", "rawText", "content", "message"))
    return next((field for field in fields if isinstance(field, str) and field.strip()), "")


def bubble_time(bubble: Record) -> object:
    timing = record_of(bubble.get("timingInfo"))
    times = (bubble.get("timestamp"), bubble.get("createdAt"), timing.get("clientStartTime"))
    return next((time for time in times if time), None)


def bubble_folder(bubble: Record) -> str:
    named = text_of(bubble.get("workspaceProjectDir"))
    uris = bubble.get("workspaceUris")
    first = next((uri for uri in uris if isinstance(uri, str)), "") if isinstance(uris, list) else ""
    return folder_of(named or first)


def spoken(text: str) -> Iterator[tuple[str, str, int]]:
    """The parts of a transcript that is plain text: speaker, words, the line that the part begins on.

    A marker stands alone on its line. Within a prompt that is still open, such a line is the person's.
    """
    speaker, begun, words = "", 0, list[str]()
    opened = False
    for number, line in enumerate(text.split("\n"), start=1):
        marker = _SPEAKERS.get(line.strip())
        if marker and not opened:
            if speaker:
                yield speaker, "\n".join(words).strip("\n"), begun
            speaker, begun, words = marker, number, []
            continue
        if speaker == "user":
            opened = (opened or "<user_query>" in line) and "</user_query>" not in line
        words.append(line)
    if speaker:
        yield speaker, "\n".join(words).strip("\n"), begun


def blocks_of(message: Record) -> list[Record]:
    content = message.get("content")
    return [{"type": "text", "text": content}] if isinstance(content, str) else records_in(content)


def result_text(block: Record) -> str:
    content = block.get("content")
    return content if isinstance(content, str) else "\n".join(text_of(b.get("text")) for b in records_in(content))
