"""An answer of a model read strictly: every block there, every number one that was shown, nothing else believed.

What is wrong with an answer has a name, by which `mem status` counts it; `reasons` are shown to the model once.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from catmem.distil.model.checks import progress_of, sound_words, topics_of
from catmem.distil.model.schema import BLOCKS, FACT_KINDS, SCOPES, most_selected
from catmem.distil.model.selection import Pick, Selection, Unheeded
from catmem.distil.model.trust import NOTHING_SHOWN, Showing
from catmem.distil.model.windows import Window
from catmem.domain.memory import Kind
from catmem.llm.port import Completion

Fault = Literal[
    "prose", "empty", "half-json", "fenced", "wrong-type", "wrong-language", "cut-off", "repetition", "refusal",
    "invented", "guessing",
]  # fmt: skip
"""`fenced` and `wrong-language` cost an answer its fence or its words, `guessing` its weight; with each other one it is
refused."""


class BadAnswer(Exception):
    """Never leaves this package: an answer that cannot be used, by its fault, and why; `raw` is the answer."""

    def __init__(self, fault: Fault, *reasons: str) -> None:
        super().__init__(*reasons)
        self.fault = fault
        self.reasons = reasons
        self.raw = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """A usable answer, the faults that it has all the same, and what it shows of the model."""

    selection: Selection
    faults: tuple[Fault, ...] = ()
    showing: Showing = NOTHING_SHOWN


def read_answer(completion: Completion, window: Window) -> Answer:
    """Raises BadAnswer."""
    text, fenced = _unfenced(completion.text)
    faults: list[Fault] = ["fenced"] if fenced else []
    entries = list(_entries(_parsed(text, completion), window))
    picks, unheeded = _picks(entries, window)
    showing = _showing(picks, window)
    reason = _guessed(picks, window)
    if reason:
        unheeded += [Unheeded(pick.number, reason) for pick in picks.values()]
        return Answer(Selection({}, tuple(unheeded)), (*faults, "guessing"), showing)
    digest = json.loads(text)["digest"]
    progress, foreign = progress_of(digest["progress"], window)
    if foreign:
        faults.append("wrong-language")
    return Answer(
        Selection(picks, tuple(unheeded), progress, topics_of(digest["topics"], window)),
        tuple(faults),
        showing,
    )


# --- form ---

_FENCE = re.compile(r"```[a-zA-Z]*[ \t]*\n(.*?)\n?[ \t]*```", re.DOTALL)
_SORRY = re.compile(
    r"\b(?:i can(?:'|no)t|i can not|i(?:'m| am) (?:sorry|unable|not able)|as an ai)\b|抱歉|对不起|无法(?:提供|完成|协助|处理)|不能(?:提供|协助)",
    re.IGNORECASE,
)
# A loop says the same run of letters over and over at its end.
_LOOP = re.compile(r"(.{4,80}?)\1{5,}\s*\S{0,80}$", re.DOTALL)


def _unfenced(text: str) -> tuple[str, bool]:
    """The text, or what stands in its only fence, whatever is said around that."""
    blocks = _FENCE.findall(text)
    return (blocks[0], True) if len(blocks) == 1 else (text.strip().lstrip("\ufeff"), False)


def _parsed(text: str, completion: Completion) -> Mapping[str, Any]:
    if not text.strip():
        raise BadAnswer("empty", "it is empty")
    if completion.finish == "refusal":
        raise BadAnswer("refusal", "it refuses; the task is only to point at numbers")
    if completion.finish == "length":
        looped = _LOOP.search(text[-2_000:])
        raise BadAnswer("repetition", "it repeats itself") if looped else BadAnswer("cut-off", "it is too long")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise BadAnswer(*_unparsed(text)) from None
    if not isinstance(value, dict):
        raise BadAnswer("wrong-type", f"it is a {type(value).__name__}, not an object")
    return value


def _unparsed(text: str) -> tuple[Fault, str]:
    if _LOOP.search(text[-2_000:]):
        return "repetition", "it repeats itself"
    if text.lstrip().startswith(("{", "[")):
        return "half-json", "its JSON does not end"
    return ("refusal", "it refuses") if _SORRY.search(text[:300]) else ("prose", "it is no JSON")


def _entries(value: Mapping[str, Any], window: Window) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """(block, entry), each entry of the right types; the digest is checked on the way."""
    missing = [name for name in (*BLOCKS, "digest") if name not in value]
    if missing:
        raise BadAnswer("wrong-type", f"it has no {', '.join(missing)}")
    digest = value["digest"]
    if not isinstance(digest, dict) or not isinstance(digest.get("progress"), str):
        raise BadAnswer("wrong-type", "digest is no object with progress and topics")
    if not isinstance(digest.get("topics"), list) or not all(isinstance(t, dict) for t in digest["topics"]):
        raise BadAnswer("wrong-type", "topics is no list of objects")
    for block in BLOCKS:
        if not isinstance(value[block], list):
            raise BadAnswer("wrong-type", f"{block} is no list")
        for entry in value[block]:
            yield block, _checked(block, entry, len(window.sentences))


def _checked(block: str, entry: Any, sentences: int) -> Mapping[str, Any]:
    if not isinstance(entry, dict) or type(entry.get("n")) is not int:
        raise BadAnswer("wrong-type", f"an entry of {block} has no number n")
    if not 1 <= entry["n"] <= sentences:
        raise BadAnswer("invented", f"there is no sentence {entry['n']}")
    if not isinstance(entry.get("words", ""), str) or not isinstance(entry.get("sure", False), bool):
        raise BadAnswer("wrong-type", f"an entry of {block} has words or sure of a wrong type")
    if block == "facts" and (entry.get("kind") not in FACT_KINDS or entry.get("scope") not in SCOPES):
        raise BadAnswer("wrong-type", "an entry of facts has an unknown kind or scope")
    return entry


# --- sense ---

# A slip is one number twice; three times is a loop.
_MOST_TIMES = 2
# Of what is selected at most so much may be hopeless. One who guesses selects hopeless sentences as often as they
# occur, and that is four in five.
_MOST_HOPELESS = 1 / 3


def _picks(entries: Sequence[tuple[str, Mapping[str, Any]]], window: Window) -> tuple[dict[int, Pick], list[Unheeded]]:
    times = Counter(entry["n"] for _, entry in entries)
    if any(count > _MOST_TIMES for count in times.values()):
        raise BadAnswer("repetition", "it selects one number again and again")
    picks: dict[int, Pick] = {}
    unheeded: list[Unheeded] = []
    for block, entry in entries:
        sentence = window.sentences[entry["n"] - 1]
        if sentence.number in picks:
            continue
        words, why = sound_words(entry.get("words", ""), sentence.text)
        if why:
            unheeded.append(Unheeded(sentence.number, f"its words were not taken: {why}"))
        kind: Kind = entry["kind"] if block == "facts" else "decision" if block == "decisions" else "question"
        scope = entry.get("scope", "project")
        picks[sentence.number] = Pick(
            sentence.number, kind, "global" if scope == "user" else "project", entry.get("sure", False), words
        )
    return picks, unheeded


def _showing(picks: Mapping[int, Pick], window: Window) -> Showing:
    kept, hopeless = ({window.sentences[n - 1].number for n in numbers} for numbers in (window.kept, window.hopeless))
    return Showing(len(kept), len(kept & picks.keys()), len(hopeless), len(hopeless & picks.keys()))


def _guessed(picks: Mapping[int, Pick], window: Window) -> str:
    """Why an answer cannot be told from chance, or ""."""
    if not picks:
        return ""
    if len(picks) > most_selected(len(window.sentences)):
        return "selects nearly everything"
    hopeless = {window.sentences[n - 1].number for n in window.hopeless}
    if len(hopeless & picks.keys()) > _MOST_HOPELESS * len(picks):
        return "selects mostly what nothing speaks for"
    return ""
