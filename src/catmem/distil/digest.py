"""The digest of a session: what it was about, in the user's own words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from catmem.distil.facts import SAME, Fact
from catmem.distil.model.selection import NOTHING, Selection
from catmem.distil.transcript import Sentence
from catmem.distil.wording import worded
from catmem.domain.likeness import likeness, terms

# The text joins the beginning of the talk and what was settled in it.
TEXT_LIMIT = 300
_TOPICS, _PROGRESS = 8, 3
_LEAST_WIDTH = 12


def digest_of(
    sentences: Sequence[Sentence], facts: Sequence[Fact], selection: Selection = NOTHING
) -> Mapping[str, Any]:
    """{"text": at most 300 characters, "topics": […], "progress": […]}; empty where the user said nothing.

    With a model also "keywords": its topics in the other language.
    """
    own = [s for s in sentences if s.by_user and s.unit.own and not s.has("refuse-chat", "retract")]
    topics = dict.fromkeys((*_topics(own), *(topic.word.lower() for topic in selection.topics)))
    progress = [f.text for f in facts if f.kind in ("progress", "question")]
    if selection.progress and all(likeness(selection.progress, line) < SAME for line in progress):
        progress.append(selection.progress)
    digest: dict[str, Any] = {"text": _text(own, facts), "topics": list(topics), "progress": progress[-_PROGRESS:]}
    keywords = [topic.also for topic in selection.topics if topic.also]
    return {**digest, "keywords": keywords} if keywords else digest


def _text(own: Sequence[Sentence], facts: Sequence[Fact]) -> str:
    """The first thing asked, then what was decided and how it stands, as long as there is room."""
    asked = [worded(s.text, whole=True)[0] for s in own if _width(s.text) >= _LEAST_WIDTH][:1]
    settled = [f.text for f in facts if f.kind in ("decision", "progress", "question")]
    others = [f.text for f in facts if f.kind not in ("decision", "progress", "question")]
    text = ""
    for piece in dict.fromkeys((*asked, *settled, *others)):
        longer = f"{text} · {piece}" if text else piece[:TEXT_LIMIT]
        if len(longer) <= TEXT_LIMIT:
            text = longer
    return text


def _topics(own: Sequence[Sentence]) -> list[str]:
    """What is named most often, names before words; Chinese bigrams only where they recur."""
    counted: Counter[str] = Counter()
    weights: dict[str, float] = {}
    for sentence in own:
        for term, weight in terms(sentence.text).items():
            counted[term] += 1
            weights[term] = weight
    good = [t for t, n in counted.items() if n > 1 or weights[t] > 1 or (weights[t] == 1 and len(t) > 3)]
    return sorted(good, key=lambda t: (-counted[t] * weights[t], t))[:_TOPICS]


def _width(text: str) -> int:
    return sum(1 if c.isascii() else 2 for c in text)
