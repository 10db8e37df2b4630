"""What a model puts into words is held against what was said: nothing that the source does not have gets through."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from catmem.distil.model.schema import LONGEST_TOPIC, LONGEST_WORDS, MOST_TOPICS
from catmem.distil.model.selection import Topic
from catmem.distil.model.windows import Window
from catmem.domain.likeness import terms, values
from catmem.domain.memory import normal

# So much of what a sentence says must be in its shortened form: what leads into it may go, what limits it may not.
_LEAST_KEPT = 0.7
# Words that turn or limit a statement; a shortened one has exactly those of the sentence.
_TURNING = re.compile(
    r"\b(?:no|not|never|none|neither|nor|without|except|unless|only|if|when|until|before|after|instead|rather|than|but|"
    r"can(?:no|')t|won't|\w+n't|avoid|stop)\b|不|别|勿|没|無|无|非|除|只|仅|如果|当|直到|之前|之后|而是|但|停|禁",
    re.IGNORECASE,
)
_HAN = re.compile(r"[\u3400-\u9fff]")
_LETTER = re.compile(r"[A-Za-z]")
# A line on where the work stands may join words of its own to those of the talk; names and numbers must be the talk's.
_NAME = re.compile(r"[\w.@/+-]*[\d_@/][\w.@/+-]*|\b[A-Z][\w+#-]+|\b[a-z]+[A-Z]\w*")
_LEAST_OF_TALK = 0.5


def sound_words(words: str, sentence: str) -> tuple[str, str]:
    """(the model's wording, "") or ("", why it is not taken); both empty where it gave none or changed nothing."""
    short = " ".join(words.split())
    if not short or normal(short) == normal(sentence):
        return "", ""
    if len(short) > min(len(sentence), LONGEST_WORDS):
        return "", "they are longer than the sentence"
    said, mine = terms(sentence), terms(short)
    if not mine.keys() <= said.keys():
        return "", "they are not the sentence's"
    if sorted(_turns(short)) != sorted(_turns(sentence)) or values(short) != values(sentence):
        return "", "they leave out what limits it"
    if sum(mine.values()) < _LEAST_KEPT * sum(said.values()):
        return "", "they leave out too much"
    return short, ""


def progress_of(progress: str, window: Window) -> tuple[str, bool]:
    """The line on the progress, or "" where it is not the talk's; True if it is in another language."""
    line = " ".join(progress.split())[:LONGEST_WORDS]
    if not line:
        return "", False
    if bool(_HAN.search(line)) != (window.language == "zh"):
        return "", True
    said, mine = terms(window.text), terms(line)
    # The first letter of a line is a capital in any language that has them.
    names = {name.lower() for name in _NAME.findall(line[:1].lower() + line[1:])}
    if not all(name in window.text.lower() for name in names) or not mine:
        return "", False
    of_talk = sum(weight for term, weight in mine.items() if term in said)
    return (line if of_talk >= _LEAST_OF_TALK * sum(mine.values()) else ""), False


def topics_of(topics: Sequence[Any], window: Window) -> tuple[Topic, ...]:
    """Those whose word stands in the talk; the translation is kept where it is a word of the other language."""
    said = window.text.lower()
    sound = []
    for topic in topics[:MOST_TOPICS]:
        word, also = topic.get("word"), topic.get("also")
        if not isinstance(word, str) or not 1 < len(word.strip()) <= LONGEST_TOPIC or word.strip().lower() not in said:
            continue
        sound.append(Topic(word.strip(), also.strip() if isinstance(also, str) and _translates(also, word) else ""))
    return tuple(sound)


def _translates(also: str, word: str) -> bool:
    """A translation has letters of the other script and none of a number, an address or code."""
    if not 1 < len(also.strip()) <= LONGEST_TOPIC or re.search(r"[\d/\\@:{}<>\[\]]", also):
        return False
    other = _LETTER if _HAN.search(word) else _HAN
    return bool(other.search(also)) and not (_HAN.search(word) and _HAN.search(also))


def _turns(text: str) -> list[str]:
    return [found.lower() for found in _TURNING.findall(text)]
