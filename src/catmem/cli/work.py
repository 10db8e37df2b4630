"""`mem work`: everything that waits, done once: transcripts read to their end, sessions distilled, memories promoted,
the search index, the vectors and the listing brought up to date. One worker at a time; whatever is cut short is found again."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import click
from filelock import FileLock, Timeout

from catmem.cli.output import Session, counted, mem_command, two
from catmem.domain.errors import DataDamaged, LockBusy, StorageFailed
from catmem.domain.session import SessionRef
from catmem.inject.wanted import is_wanted, take
from catmem.inject.worker import spawn_worker
from catmem.settings.paths import FILE_MODE
from catmem.wiring import Catmem

# A background worker leaves after this long; the next start of a session goes on where it stopped.
BACKGROUND_SECONDS = 120.0
# The vectors of a history of years take a core for hours. A person who types `mem work` waits so long for them; the rest
# is left to the background and to the next time.
VECTOR_SECONDS = 60.0
# A person who types `mem work` waits this long for a worker that is already at it.
FOREGROUND_WAIT_SECONDS = 60.0
# What a session was told is kept this long, so that it knows it when it is resumed, and so is what else hooks note of it.
NOTED_DAYS = 30


@dataclass(frozen=True, slots=True)
class Worked:
    """What a run did, as `mem work --json` prints it."""

    distilled: int = 0
    dreamed: int = 0
    compacted: int = 0
    failed: int = 0
    pending: int = 0


@mem_command("work", "Do all pending background work now.", "立即完成所有待办的后台工作。")
@click.option("--retry", is_flag=True, help=two("Also what was given up after failures.", "也重试多次失败后搁置的。"))
@click.option("--background", is_flag=True, hidden=True)
def command(session: Session, retry: bool, background: bool) -> None:
    catmem = session.catmem
    if background:
        os.nice(10)
    heard = 0
    try:
        with only_worker(catmem, wait=0.0 if background else FOREGROUND_WAIT_SECONDS):
            if retry:
                catmem.store.catch_up()
                catmem.queue.retry_all()
                catmem.compactor.retry_all()
                heard = catmem.distiller.again_where_missed()
            in_use = tuple(SessionRef(project, key) for project, key in take(catmem.paths))
            worked = run_work(
                catmem, everything=not background, named=in_use, seconds=BACKGROUND_SECONDS if background else None
            )
    except LockBusy:
        if background:
            return  # Whoever is at it starts the next.
        raise
    session.result(vars_of(worked))
    if not session.as_json:
        session.say(
            f"{counted(worked.distilled, 'session')} distilled, "
            f"{counted(worked.dreamed, 'memory', 'memories')} promoted or retired, "
            f"{worked.failed} failed, {worked.pending} pending",
            f"提炼了 {worked.distilled} 个会话，晋升或退役 {worked.dreamed} 条记忆，"
            f"失败 {worked.failed} 个，待办 {worked.pending} 个",
        )
        if heard:
            session.say(
                f"{counted(heard, 'session')} distilled again, with the model that had failed",
                f"{heard} 个此前模型失败的会话已重新提炼",
            )
        _tell_vectors(session)
        if worked.compacted:
            session.say(
                f"{counted(worked.compacted, 'session')} compacted; every command still reads all of it",
                f"压缩归档了 {worked.compacted} 个会话；所有命令仍可读取其全部内容",
            )


def _tell_vectors(session: Session) -> None:
    """How far meaning has come, where it is not all."""
    catmem = session.catmem
    if catmem.embedder is None:
        return
    known = catmem.vectors.coverage(catmem.embedder)
    if known.done < known.wanted and not known.trouble:
        session.say(
            f"found by meaning: {known.done} of {known.wanted} so far; the rest follows in the background, or with "
            "the next `mem work`",
            f"可按语义找到：目前 {known.done} / {known.wanted}；其余由后台继续，或再次运行 `mem work`",
        )


def vars_of(worked: Worked) -> dict[str, int]:
    return {name: getattr(worked, name) for name in Worked.__slots__}


@contextlib.contextmanager
def only_worker(catmem: Catmem, wait: float) -> Iterator[None]:
    """The right to be the worker; who wanted one meanwhile gets it afterwards. Raises LockBusy if another one is at it for longer than `wait` seconds."""
    catmem.paths.make(catmem.paths.locks)
    lock = FileLock(catmem.paths.work_lock, mode=FILE_MODE, timeout=wait)
    try:
        lock.acquire()
    except Timeout as error:
        raise LockBusy(
            "a background worker is busy with this data; try again in a minute",
            "后台工作进程正在处理这份数据；请一分钟后再试",
        ) from error
    except OSError as error:
        raise StorageFailed(
            f"cannot write in {catmem.paths.root}: {error.strerror}; free space or mend its permissions",
            f"无法写入 {catmem.paths.root}：{error.strerror}；请检查磁盘空间和权限",
        ) from error
    can_go_on = True
    try:
        yield
    except (DataDamaged, LockBusy, StorageFailed):
        can_go_on = False  # The next one would meet the same.
        raise
    finally:
        lock.release()
        if can_go_on and is_wanted(catmem.paths):
            _start_next(catmem)


def _start_next(catmem: Catmem) -> None:
    """A worker for what was wanted meanwhile. A chat goes on for hours, so it is waited for: it is no zombie."""
    worker = spawn_worker(catmem.paths)
    if worker:
        threading.Thread(target=_see_off, args=(worker,), daemon=True).start()


def _see_off(worker: int) -> None:
    with contextlib.suppress(ChildProcessError):
        os.waitpid(worker, 0)


def run_work(
    catmem: Catmem,
    *,
    everything: bool,
    named: tuple[SessionRef, ...] = (),
    seconds: float | None = None,
    awaited: bool = False,
) -> Worked:
    """One pass over all kinds of work, within `seconds` if given. Call it under `only_worker()`.

    `awaited` leaves out what may ask a model, which takes as long as it takes: a person sits before the screen.
    """
    from catmem.capture.identity import learn_projects
    from catmem.capture.spool import drain
    from catmem.capture.transcript import catch_up_transcripts
    from catmem.dream.expire import expire
    from catmem.dream.promote import promote
    from catmem.dream.unanswered import answer_calls

    stop = _stopper(seconds)
    drain(str(catmem.paths.root), catmem.settings.durability)
    catch_up_transcripts(catmem.history, catmem.clock, stop=stop)
    catmem.pages.merge()  # What the user wrote by hand is there before anything is concluded.
    learn_projects(catmem.projects, catmem.history.headers(), catmem.settings.project_roots, stop=stop)
    catmem.store.catch_up()
    news = [job.ref for job in catmem.distiller.pending()]
    answer_calls(catmem.history, catmem.paths, news, clock=catmem.clock, stop=stop)
    done = catmem.distiller.run(everything=everything, named=named, stop=stop)
    if not awaited and not catmem.spending.rests():
        catmem.distiller.again_where_spent(stop)  # Yesterday's, after what is new.
    settings = catmem.settings
    dreamed = promote(catmem.store, settings.preference_confirm_threshold)
    dreamed += expire(catmem.store, settings.auto_forget_after_days, catmem.clock)
    if not awaited and catmem.dreamer is not None:
        dreamed += sum(len(one.done) for one in catmem.dreamer.run(catmem.store.projects(), stop=stop))
    compacted = None if awaited else catmem.compactor.run(rounds=0 if everything else 1, active=named, stop=stop)
    catmem.pages.write()
    catmem.index.catch_up(catmem.store, catmem.history)
    if not awaited and catmem.embedder is not None:
        enough = stop if seconds else _stopper(VECTOR_SECONDS)
        # What was said a moment ago comes first; the vectors go on where they stopped.
        catmem.vectors.build(catmem.embedder, lambda: enough() or is_wanted(catmem.paths))
    catmem.history.write_index()
    _drop_old_notes(catmem)
    if compacted is None:
        return Worked(done.distilled, dreamed, 0, done.failed, done.pending)
    return Worked(done.distilled, dreamed, compacted.compacted, done.failed + compacted.failed, done.pending)


def _stopper(seconds: float | None) -> Callable[[], bool]:
    if seconds is None:
        return lambda: False
    end = time.monotonic() + seconds
    return lambda: time.monotonic() >= end


def _drop_old_notes(catmem: Catmem) -> None:
    limit = catmem.clock() - NOTED_DAYS * 86400
    for path in (*catmem.paths.told.glob("*.jsonl"), *catmem.paths.changes.glob("*")):
        with contextlib.suppress(OSError):
            if path.stat().st_mtime < limit:
                path.unlink()
