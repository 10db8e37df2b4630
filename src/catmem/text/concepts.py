"""From a word to the other words for the same thing, in either language (hot path), by the table of `concept_words`."""

from __future__ import annotations

import functools

from catmem.text.tokens import stopwords, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

NAME = "~"
"""Marks a word of the table that is the name of one such thing."""
# The longest words of the table: so many tokens in English, so many characters in Chinese.
_MOST_TOKENS, _MOST_CHARACTERS = 3, 8
# A longer prompt has words enough of its own.
_FIRST = 80
# A pasted page is about everything; a question is about a few things.
_MOST_CONCEPTS = 12


class Bridge:
    """`said` are the tokens of a text that a concept stands for, the first at `start`; `name` is the same for all words
    of it; `others` its other words, each with its tokens."""

    __slots__ = ("name", "others", "said", "start")

    def __init__(self, start: int, said: tuple[str, ...], name: str, others: list[tuple[str, tuple[str, ...]]]) -> None:
        self.start, self.said, self.name, self.others = start, said, name, others


def bridges(said: Sequence[str]) -> list[Bridge]:
    """The concepts in a row of tokens, as `query_tokens` gives them; of two that overlap, the longer word wins."""
    found: list[Bridge] = []
    taken: set[int] = set()
    for start, end, word in sorted(words_in(said[:_FIRST]), key=lambda place: (-len(place[2]), place[0])):
        if not taken.isdisjoint(range(start, end)) or not (lines := _lines_with(word)):
            continue
        taken.update(range(start, end))
        own = tuple(said[start:end])
        others = dict.fromkeys(other for line in lines for other in _others(line.split("|"), word))
        # What a word mostly means is the line that has it sooner.
        line = min((line.split("|") for line in lines), key=lambda line: _place(line, word))
        name = word if f"{NAME}{word}" in line else line[0]
        found.append(
            Bridge(start, own, name, [(other, written) for other in others if (written := _written(other)) != own])
        )
        if len(found) == _MOST_CONCEPTS:
            break
    return found


def _place(line: list[str], word: str) -> int:
    return line.index(word if word in line else NAME + word)


def _others(words: list[str], word: str) -> Iterator[str]:
    """The other words of a line; one thing by its name does not stand for another by its."""
    for other in words:
        if other.lstrip(NAME) != word and not (other.startswith(NAME) and NAME + word in words):
            yield other.lstrip(NAME)


def words_in(said: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """What may be a word of a table: where it begins and ends, and the word. Pairs that overlap make a run."""
    ignored = stopwords()
    for start, token in enumerate(said):
        if token in ignored:
            continue
        if token.isascii():
            for end in range(start + 1, min(start + _MOST_TOKENS, len(said)) + 1):
                yield start, end, " ".join(said[start:end])
            continue
        run = token
        yield start, start + 1, run
        for end in range(start + 1, min(start + _MOST_CHARACTERS - 1, len(said))):
            if len(said[end]) != 2 or said[end][0] != run[-1]:
                break
            run += said[end][1]
            yield start, end + 1, run


@functools.lru_cache(maxsize=256)
def _written(word: str) -> tuple[str, ...]:
    """The tokens that a text with the word has: of Chinese its pairs alone."""
    return tuple(token for token in tokens(word) if token.isascii() or len(token) > 1 or len(word) == 1)


@functools.lru_cache(maxsize=4096)
def _lines_with(word: str) -> list[str]:
    """The lines of the table that have a word. Searched as a text: a text asks for thirty words of a thousand."""
    table = _table()
    lines = []
    for written in (f"|{word}|", f"|{NAME}{word}|"):
        place = table.find(written)
        while place >= 0:
            end = table.index("\n", place)
            lines.append(table[table.rindex("\n", 0, place + 1) + 2 : end - 1])
            place = table.find(written, end)
    return lines


@functools.cache
def _table() -> str:
    """The lines, each word of them between two bars."""
    from catmem.text.concept_words import CONCEPTS

    return CONCEPTS.replace("\n", "|\n|")
