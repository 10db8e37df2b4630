"""Which talk a request belongs to, where the program names no session: known by what was answered in it.

A program resends the whole talk with every request, some of them altered. What it cannot alter without harm is what
the model said last, so that is what a talk is found by.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from catmem.domain.clock import Clock, stamp, system_clock
from catmem.domain.hashing import short_hash
from catmem.domain.message import ToolCall

# Talks that are remembered; older ones are looked for in the sessions on disk.
_MOST = 20_000
# An answer of this length stands for itself; a shorter one ("Done.") is known only together with what it answers.
_TELLING = 40


@dataclass(frozen=True, slots=True)
class Opening:
    """What of a request tells its talk.

    said      the newest words of the user
    before    the user's words and the answer before them, "" at the beginning
    calls     the calls that the present turn has made so far, as `names_of` has them
    previous  an answer that the server keeps, by its id
    whole     a name of the request itself
    """

    project: str
    client: str
    said: str
    before: tuple[str, str] = ("", "")
    calls: tuple[str, ...] = ()
    previous: str = ""
    whole: str = ""


class Conversations:
    """Safe for several threads.

    search   finds a talk on disk by (project, last answer)
    listen   returns when every answer that has ended was heard: a program that saw one goes on at once
    """

    def __init__(
        self,
        search: Callable[[str, str], str] = lambda project, answer: "",
        listen: Callable[[], None] = lambda: None,
        clock: Clock = system_clock,
    ) -> None:
        self._search = search
        self._listen = listen
        self._clock = clock
        self._lock = threading.Lock()
        self._known: OrderedDict[str, str] = OrderedDict()
        self._failed: OrderedDict[str, str] = OrderedDict()
        self._count = 0

    def key_of(self, opening: Opening) -> str:
        """The key of the talk; a new one for a talk that begins."""
        marks = list(_marks(opening.project, opening.client, *opening.before, (), opening.previous))
        # A turn under way is known by its calls.
        marks = [*_marks(opening.project, opening.client, opening.said, "", opening.calls, ""), *marks]
        found = self._heard(marks)
        if not found:
            self._listen()
            found = self._heard(marks) or self._again(opening)
        answer = opening.before[1]
        if not found and answer.strip():
            found = self._search(opening.project, answer)
        return found or self._new(opening)

    def _heard(self, marks: Sequence[str]) -> str:
        with self._lock:
            return next((self._known[mark] for mark in marks if mark in self._known), "")

    def _again(self, opening: Opening) -> str:
        with self._lock:
            return self._failed.pop(opening.whole, "")

    def answered(self, key: str, opening: Opening, text: str, calls: Sequence[ToolCall], id: str) -> None:
        """Remembers a completed answer as what the talk goes on from."""
        made = names_of(calls)
        with self._lock:
            for mark in _marks(opening.project, opening.client, opening.said, text, made, id):
                _keep(self._known, mark, key)

    def failed(self, key: str, opening: Opening) -> None:
        """A request without an answer comes again, and is the same talk then."""
        with self._lock:
            _keep(self._failed, opening.whole, key)

    def _new(self, opening: Opening) -> str:
        with self._lock:
            self._count += 1
            begin = f"{opening.project}\n{opening.client}\n{opening.said}\n{stamp(self._clock())}\n{self._count}"
        return f"proxy:{short_hash(begin, 10)}"


def names_of(calls: Sequence[ToolCall]) -> tuple[str, ...]:
    """What calls are known by: their ids, and, since some programs make those up anew, what is called."""
    return tuple(call.id for call in calls if call.id) + tuple(f"{call.name} {call.arguments}" for call in calls)


def _keep(table: OrderedDict[str, str], name: str, key: str) -> None:
    table[name] = key
    table.move_to_end(name)
    while len(table) > _MOST:
        table.popitem(last=False)


def _marks(project: str, client: str, said: str, answer: str, calls: Sequence[str], id: str) -> list[str]:
    """The names under which a talk is known, the surest first."""
    where = f"{project}\n{client}"
    answer = " ".join(answer.split())
    marks = [f"id\n{where}\n{id}"] if id else []
    marks += [f"call\n{where}\n{said}\n{call}" for call in calls]
    if answer:
        marks.append(f"pair\n{where}\n{said}\n{answer}")
    if len(answer) >= _TELLING:
        marks.append(f"answer\n{where}\n{answer}")
    return [short_hash(mark, 16) for mark in marks]
