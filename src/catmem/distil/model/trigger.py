"""What made a session due, as far as it can be seen from what is new in it."""

from __future__ import annotations

from collections.abc import Sequence

from catmem.distil.model.instructions import Trigger
from catmem.distil.transcript import Sentence
from catmem.domain.message import Message

# After so many new messages a long session is distilled on the way; the same number starts the worker.
MANY_MESSAGES = 40
_STRONG = ("remember", "lasting", "ordered")
# Tools that change files, under the names that assistants give them: Edit, MultiEdit, write_file, apply_patch, str_replace …
_CHANGING = ("edit", "write", "patch", "replace", "create_file")


def trigger_of(over: bool, sentences: Sequence[Sentence], first_id: int) -> Trigger:
    """`over`: the session has ended or gone idle. New is what was said from the message `first_id` on."""
    if over:
        return "end"
    fresh = [sentence for sentence in sentences if sentence.message.id >= first_id]
    if any(sentence.by_user and sentence.has(*_STRONG) for sentence in fresh):
        return "strong"
    messages = {sentence.message.id: sentence.message for sentence in fresh}
    if len(messages) < MANY_MESSAGES and any(map(_changes_files, messages.values())):
        return "changes"
    return "count"


def _changes_files(message: Message) -> bool:
    return any(word in call.name.lower() for call in message.tool_calls for word in _CHANGING)
