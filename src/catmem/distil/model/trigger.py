"""What made a session due, as far as it can be seen from what is new in it."""

from __future__ import annotations

from collections.abc import Sequence

from catmem.distil.model.instructions import Trigger
from catmem.distil.transcript import Sentence
from catmem.domain.message import Message, is_said
from catmem.domain.triggers import MESSAGES_BETWEEN, changes_files

# What the rules call a strong sentence.
_STRONG = ("remember", "lasting", "ordered")


def trigger_of(over: bool, messages: Sequence[Message], sentences: Sequence[Sentence], first_id: int) -> Trigger:
    """`over`: the session has ended or gone idle. `messages` are those of the sentences, and those that only call tools.

    New is what came from the message `first_id` on.
    """
    if over:
        return "end"
    if any(s.by_user and s.message.id >= first_id and s.has(*_STRONG) for s in sentences):
        return "strong"
    fresh = [message for message in messages if message.id >= first_id]
    if sum(map(is_said, fresh)) < MESSAGES_BETWEEN and any(map(changed_files, fresh)):
        return "changes"
    return "count"


def changed_files(message: Message) -> bool:
    return any(changes_files(call.name) for call in message.tool_calls)
