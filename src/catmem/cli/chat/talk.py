"""The state of a chat: its session, its memory, what was said; and how it changes into pure mode or another session."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence

from catmem.capture.chat import ChatLog, Log, PureLog, earlier_chat, new_chat
from catmem.cli.chat.earlier import turns_of
from catmem.cli.chat.keyboard import Keyboard
from catmem.cli.chat.memory import Memory, MemoryOfChat, NoMemory
from catmem.cli.chat.signals import hear_no_more
from catmem.cli.output import Session, counted
from catmem.domain.errors import BadInput, StorageFailed
from catmem.domain.message import Message
from catmem.domain.session import SessionRef
from catmem.inject.worker import spawn_worker
from catmem.llm.port import Turn


class Talk:
    """One chat.

    turns     what was said, as a model is told it
    recorded  the memory of the session; None for a chat that is pure from its start, and so has no session
    """

    def __init__(self, session: Session, keyboard: Keyboard, project: str) -> None:
        self._session = session
        self._keyboard = keyboard
        self._project = project
        self._cwd = os.getcwd()
        self._file: ChatLog | None = None
        self._pure: PureLog | None = None
        self.turns: list[Turn] = []
        self.recorded: MemoryOfChat | None = None
        self._noted: dict[str, Turn] = {}

    def begin(self, ref: SessionRef | None = None) -> list[Message]:
        """Begins a new session, or opens the earlier one `ref`; returns what was said in it. Raises NotFound, LockBusy."""
        catmem = self._session.catmem
        if ref is None:
            opened = new_chat(catmem.history, catmem.paths, self._project, self._cwd, catmem.clock)
        else:
            opened = earlier_chat(catmem.history, catmem.paths, ref, self._cwd, catmem.clock)
        # Read when nobody else can add to it any more.
        messages = catmem.history.messages(ref) if ref is not None else []
        self._end_file("resumed another")
        self._file = opened
        self.recorded = MemoryOfChat(catmem, opened.ref)
        self.turns = turns_of(messages)
        self._noted = {}
        return messages

    @property
    def ref(self) -> SessionRef | None:
        """The session, if it has one: a chat that is pure from its start has none."""
        return self._file.ref if self._file is not None else None

    @property
    def project(self) -> str:
        """The one whose memory this is, whatever it was merged into since an earlier session began."""
        return self.recorded.project if self.recorded is not None else self._project

    @property
    def is_pure(self) -> bool:
        return self._pure is not None

    @property
    def loaded(self) -> int:
        """How many memories the one who answers is told at the start."""
        return self.recorded.loaded if self.recorded is not None and not self.is_pure else 0

    @property
    def log(self) -> Log:
        log = self._pure or self._file
        assert log is not None
        return log

    @property
    def memory(self) -> Memory:
        """What the one who answers may be told."""
        if self.recorded is None or self.is_pure:
            return NoMemory(self._session.language == "zh")
        return self.recorded

    # -- what the user does beside talking

    def go_pure(self) -> None:
        """From here on nothing comes in and nothing goes out. The brief that stood before is told no more, either."""
        if self.is_pure:
            raise BadInput("this chat is pure already", "本次对话已是纯净模式")
        self._pure = PureLog(self._session.catmem.redact, self._session.catmem.clock)

    def note(self, id: str, text: str) -> None:
        """What the user had remembered. A model hears of it amid the talk once its brief stays as it was told."""
        if self.recorded is not None and not self.recorded.refresh():
            return
        turn = Turn("user", f"(/remember {text})")
        self.turns.append(turn)
        self._noted[id] = turn

    def forget(self, ids: Sequence[str]) -> None:
        """What was forgotten is told no more."""
        for id in ids:
            turn = self._noted.pop(id, None)
            if turn is not None:
                self.turns = [other for other in self.turns if other is not turn]
        if self.recorded is not None:
            self.recorded.refresh()

    def resume(self, ref: SessionRef) -> list[Message]:
        """Ends this session and goes on with an earlier one."""
        if self.is_pure:
            raise BadInput(
                "this chat is pure; end it first, then `mem start --resume`",
                "本次对话是纯净模式；请先结束，再用 `mem start --resume`",
            )
        return self.begin(ref)

    # -- the end

    def close(self, reason: str, *, ask: bool) -> None:
        """Ends the session; what was said in pure mode is kept only if the user, asked now, wants it."""
        waiting = self._pure.waiting if self._pure is not None else []
        keep = bool(waiting) and ask and self._keyboard.is_terminal and self._wants(len(waiting))
        hear_no_more()
        if keep:
            if self._file is None:
                catmem = self._session.catmem
                self._file = new_chat(catmem.history, catmem.paths, self._project, self._cwd, catmem.clock)
            self._file.append(waiting)
        kept = self._file.ref.key if self._end_file(reason) and self._file is not None else ""
        # A terminal that was closed can be told nothing.
        with contextlib.suppress(OSError, StorageFailed):
            self._tell_the_end(kept, not_kept=bool(waiting) and not keep)

    def _tell_the_end(self, kept: str, *, not_kept: bool) -> None:
        if not_kept:
            self._session.note("What was said in pure mode is gone.", "纯净模式下所说的话没有保存。")
        if kept:
            self._session.note(
                f"Kept as {kept}; `mem sessions show {kept}` shows it.",
                f"本次对话已保存；用 `mem sessions show {kept}` 查看。",
            )
        elif not not_kept:
            self._session.note("Nothing was said, so nothing was kept.", "没有说任何话，因此没有保存。")

    def _wants(self, count: int) -> bool:
        question = f"Keep the {counted(count, 'message')} of pure mode?"
        if self._session.language == "zh":
            question = f"保留纯净模式下的 {count} 条消息？"
        return self._keyboard.says_yes(question)

    def _end_file(self, reason: str) -> bool:
        if self._file is None or not self._file.end(reason):
            return False
        spawn_worker(self._session.catmem.paths)
        return True
