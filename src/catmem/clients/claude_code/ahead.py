"""Words typed while the model works: Claude Code notes them as they are queued, sent, folded in or taken back.

enqueue            the words wait
dequeue            they are sent: the user line that follows is the message
remove             they were folded into the running turn: often they stand nowhere else
popAll             the person took them back into the input line: nothing was said
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from catmem.clients.claude_code.typed import is_bare_command, separate

PROVISIONAL = "queued:"
"""Begins the uid of words that have no line of their own yet; the same words may be met again with one."""


@dataclass(frozen=True, slots=True)
class Ahead:
    """Words that were typed ahead: where their line begins, what and when."""

    offset: int
    text: str
    timestamp: str

    @property
    def uid(self) -> str:
        digest = hashlib.blake2b(f"{self.timestamp}\n{self.text}".encode(), digest_size=12)
        return PROVISIONAL + digest.hexdigest()

    @property
    def words(self) -> str:
        """What of it was said: no bare command, no note of the program."""
        said = separate(self.text)[0]
        return "" if is_bare_command(said) else said


def same_words(text: str) -> str:
    """The form in which two spellings of one input agree."""
    return " ".join(text.split())


class Queue:
    """The state of the words typed ahead, as its operations are read."""

    def __init__(self) -> None:
        self.waiting: list[Ahead] = []
        self.sent: list[Ahead] = []

    def apply(self, operation: str, ahead: Ahead) -> Ahead | None:
        """Takes one operation in; returns words that are said by it and have no line of their own."""
        if operation == "enqueue":
            self.waiting.append(ahead)
        elif operation == "dequeue" and self.waiting:
            self.sent.append(self.waiting.pop(0))
        elif operation == "popAll":
            self.waiting.clear()
        elif operation == "remove":
            return self._removed(ahead)
        return None

    def _removed(self, ahead: Ahead) -> Ahead | None:
        same = [w for w in self.waiting if same_words(w.text) == same_words(ahead.text)] if ahead.text else []
        waited = same[0] if same else (self.waiting[0] if self.waiting and not ahead.text else None)
        if waited:
            self.waiting.remove(waited)
        return waited or (ahead if ahead.text else None)

    def met(self, text: str) -> None:
        """A typed line came: it is what was sent last."""
        if self.sent:
            same = [s for s in self.sent if same_words(s.text) == same_words(text)]
            self.sent.remove(same[0] if same else self.sent[0])

    def unsent(self) -> list[Ahead]:
        """What nobody is going to send any more, the session being over."""
        return sorted(self.sent + self.waiting, key=lambda ahead: ahead.offset)
