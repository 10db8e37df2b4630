"""What of a long talk is sent again: the newest exchanges that fit."""

from __future__ import annotations

from collections.abc import Sequence

from catmem.llm.port import Turn
from catmem.text.cut import estimate_tokens


def recent_turns(turns: Sequence[Turn], tokens: int) -> tuple[Turn, ...]:
    """The end of a talk within so many estimated tokens; it begins with the user, and the sides take turns.

    A user's words and the answer to them stay together. The last exchange is kept whatever its length.
    """
    exchanges = _exchanges(turns)
    kept = exchanges[-1:]
    left = tokens - _cost(exchanges[-1]) if exchanges else 0
    for exchange in reversed(exchanges[:-1]):
        left -= _cost(exchange)
        if left < 0:
            break
        kept.insert(0, exchange)
    return tuple(turn for exchange in kept for turn in exchange)


def _exchanges(turns: Sequence[Turn]) -> list[list[Turn]]:
    """Words of one side in a row become one turn: chat templates of local models refuse two. An answer before the first
    question has nothing that it answers and is left out."""
    exchanges: list[list[Turn]] = []
    for turn in turns:
        if not exchanges and turn.role == "assistant":
            continue
        if exchanges and exchanges[-1][-1].role == turn.role:
            last = exchanges[-1].pop()
            exchanges[-1].append(Turn(turn.role, f"{last.text}\n\n{turn.text}"))
        elif turn.role == "user":
            exchanges.append([turn])
        else:
            exchanges[-1].append(turn)
    return exchanges


def _cost(exchange: Sequence[Turn]) -> int:
    return sum(estimate_tokens(turn.text) for turn in exchange)
