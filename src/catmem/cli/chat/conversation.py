"""The talk of `mem start`: what the user says is on disk before anybody answers, and an answer before the next line."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterator

import click

from catmem.capture.chat import OUR_WORDS
from catmem.cli.chat.answers import ModelAnswerer
from catmem.cli.chat.commands import ENDING, ChatCommands, is_command
from catmem.cli.chat.keyboard import Keyboard
from catmem.cli.chat.signals import undisturbed
from catmem.cli.chat.talk import Talk
from catmem.cli.output import Session
from catmem.cli.work import only_worker, run_work
from catmem.domain.errors import CatmemError, LockBusy, ModelFailed
from catmem.domain.message import Message
from catmem.domain.triggers import is_strong
from catmem.llm.port import Turn
from catmem.text.encoding import printable

# A strong sentence is distilled at once, but the next prompt does not wait longer for it.
REMEMBER_SECONDS = 10.0


class Conversation:
    """`answerer` is None if no model is configured: then the memory answers."""

    def __init__(self, session: Session, talk: Talk, answerer: ModelAnswerer | None, keyboard: Keyboard) -> None:
        self._session = session
        self._talk = talk
        self._answerer = answerer
        self._keyboard = keyboard
        self._commands = ChatCommands(session, talk, keyboard)

    def run(self) -> str:
        """Talks until the user ends it; returns how: `exit`, `end of input` or `interrupt`."""
        while True:
            try:
                text = self._keyboard.message()
            except KeyboardInterrupt:
                self._keyboard.new_line()
                return "interrupt"
            if text is None:
                return "end of input"
            if text.strip() in ENDING:
                return "exit"
            try:
                self._heed(text)
            except KeyboardInterrupt:
                # Whatever was being done is stopped; what was said is kept.
                self._session.say(" (stopped)", "（已停止）")
            except CatmemError as error:
                self._session.note(f"! {error.en}", f"! {error.zh}")

    def _heed(self, text: str) -> None:
        if is_command(text):
            self._commands.run(text)
        elif text.strip():
            self._turn(text.strip())

    def _turn(self, text: str) -> None:
        talk = self._talk
        said = talk.log.say("user", text)
        if said is None:
            self._session.say("(private: neither kept nor sent to a model)", "（私密内容：既不保存，也不发给模型）")
            self._speak(talk.memory.answer(text))
            return
        strong = is_strong(text) and not talk.is_pure
        if self._answerer is None and strong and self._remember_now():
            return
        self._answer(said)
        if self._answerer is not None and strong:
            self._remember_now()

    def _answer(self, said: Message) -> None:
        """A model's answer; where no model gives one, the memory's."""
        talk = self._talk
        talk.turns.append(Turn("user", said.content))
        if self._answerer is not None:
            try:
                self._speak(self._answerer.answer(talk.turns, talk.memory), by_model=True)
                return
            except ModelFailed as failure:
                if talk.turns[-1].role == "assistant":
                    # It broke off; what came stands.
                    self._session.note(f"! {failure.en}", f"! {failure.zh}")
                    return
                if talk.is_pure:
                    raise
                self._session.note(f"! {failure.en} (so from memory alone)", f"! {failure.zh}（以下仅凭记忆）")
        self._speak(talk.memory.answer(said.content), kept=not talk.is_pure)

    def _speak(self, pieces: Iterator[str], *, by_model: bool = False, kept: bool = False) -> None:
        """Shows an answer as it comes and keeps it as far as it came, whatever ends it."""
        spoken: list[str] = []
        try:
            with contextlib.closing(self._awaited(pieces)) as awaited:
                for piece in awaited:
                    spoken.append(piece)
                    click.echo(printable(piece.replace("\r\n", "\n")), nl=False, err=self._session.as_json)
        finally:
            text = "".join(spoken)
            if text.strip():
                with undisturbed():
                    self._keep(text, by_model, kept)
                click.echo(err=self._session.as_json)

    def _keep(self, text: str, by_model: bool, kept: bool) -> None:
        if by_model:
            stored = self._talk.log.say("assistant", text)
            if stored is not None:
                self._talk.turns.append(Turn("assistant", stored.content))
        elif kept:
            self._talk.log.say("system", text, kind=OUR_WORDS)

    def _awaited(self, pieces: Iterator[str]) -> Generator[str, None, None]:
        """The pieces, with a sign in the terminal until the first one comes."""
        self._keyboard.wait()
        try:
            for piece in pieces:
                self._keyboard.wait_no_more()
                yield piece
        finally:
            self._keyboard.wait_no_more()

    def _remember_now(self) -> bool:
        """A strong sentence is distilled at once, and the user sees what became of it. False if nothing did."""
        catmem, ref = self._session.catmem, self._talk.ref
        if ref is None:
            return False
        before = {(memory.id, memory.version) for memory in catmem.store.live(self._talk.project)}
        with contextlib.suppress(LockBusy), only_worker(catmem, wait=1.0):
            run_work(catmem, everything=False, named=(ref,), seconds=REMEMBER_SECONDS, awaited=True)
        live = catmem.store.live(self._talk.project)
        new = [memory for memory in live if (memory.id, memory.version) not in before]
        for memory in new:
            self._session.say(f"remembered: {memory.now.text}", f"已记住：{memory.now.text}")
        return bool(new)
