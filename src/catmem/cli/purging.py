"""`mem forget WORDS --purge` where no memory fits: the sentences themselves go out of the conversations.

So it is after a forget without --purge, which left the words nowhere but there, and for what no memory was made of.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from catmem.cli.output import Session, counted
from catmem.distil.units import units_of
from catmem.domain.clock import local_day
from catmem.domain.errors import NotConfirmed
from catmem.domain.message import Message
from catmem.domain.session import SessionRef
from catmem.inject.forget import forget_sentences
from catmem.text.tokens import query_tokens, tokens
from catmem.wiring import Catmem

# Sentences shown to a person before the question; `--json` lists them all.
_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a conversation, and where it stands."""

    ref: SessionRef
    message_id: int
    at: str
    text: str

    @property
    def place(self) -> str:
        return f"{self.ref.key}#{self.message_id}"

    def record(self) -> dict[str, object]:
        return {"session": self.ref.key, "message_id": self.message_id, "text": self.text}


def sentences_with(catmem: Catmem, words: str, project: str | None, before: str | None) -> list[Sentence]:
    """The sentences of the conversations in which every word stands; `before` is a stamp."""
    wanted = set(query_tokens(words))
    return list(_sentences(catmem, wanted, project, before)) if wanted else []


def purge_sentences(session: Session, found: Sequence[Sentence], *, dry_run: bool, yes: bool) -> None:
    """Shows the sentences, asks, and takes them out of everything that we keep. Raises NotConfirmed."""
    if not session.as_json or not (yes or dry_run):
        _preview(session, found)
    shown = [sentence.record() for sentence in found]
    purged = 0
    if not dry_run:
        if not yes and not session.confirm(
            f"Take {counted(len(found), 'sentence')} out of the conversations for good?",
            f"从会话中彻底删去这 {len(found)} 句话？",
        ):
            raise NotConfirmed(
                "nothing was removed; add --yes to skip the question", "没有删去任何内容；加 --yes 可跳过询问"
            )
        purged = forget_sentences(session.catmem, found)
    session.result({"forgotten": [], "would_forget": [], "purged": purged, "sentences": shown})
    if session.as_json:
        return
    if dry_run:
        session.say(
            f"{counted(len(found), 'sentence')} would be taken out of the conversations; nothing was changed",
            f"将从会话中删去 {len(found)} 句话；未作任何改动",
        )
    else:
        session.say(f"taken out of {counted(purged, 'message')}", f"已从 {purged} 条消息中删去原句")


def _sentences(catmem: Catmem, wanted: set[str], project: str | None, before: str | None) -> Iterator[Sentence]:
    for header in catmem.history.headers(project):
        for message in catmem.history.walk(header.ref):
            if not isinstance(message, Message):
                continue
            if (before and message.timestamp >= before) or not wanted <= set(tokens(message.content)):
                continue
            for unit in units_of(message.content):
                if wanted <= set(tokens(unit.text)):
                    yield Sentence(header.ref, message.id, message.timestamp, unit.text)


def _preview(session: Session, found: Sequence[Sentence]) -> None:
    session.say("no memory fits; these sentences of the conversations do:", "没有符合的记忆；会话中符合的原句：")
    for sentence in found[:_SHOWN]:
        place, day = f"{sentence.ref.key} #{sentence.message_id}", local_day(sentence.at)
        session.say(f"    {place}, {day}: {sentence.text}", f"    {place}（{day}）：{sentence.text}")
    if len(found) > _SHOWN:
        more = len(found) - _SHOWN
        session.say(f"    and {more} more (--json lists all)", f"    另有 {more} 句（--json 可列出全部）")
