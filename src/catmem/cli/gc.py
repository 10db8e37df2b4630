"""`mem gc`"""

from __future__ import annotations

import click

from catmem.cli.output import Session, counted, mem_command, two
from catmem.cli.rubbish import Rubbish, rubbish_of
from catmem.cli.stats import readable_size, size_of
from catmem.cli.work import FOREGROUND_WAIT_SECONDS, only_worker
from catmem.domain.errors import NotConfirmed

_NAMES = {
    "briefs": ("old brief", "old briefs", "份旧简报"),
    "temporaries": ("file left by a killed write", "files left by killed writes", "个中断写入留下的临时文件"),
    "locks": ("lock of a session that is gone", "locks of sessions that are gone", "个已删除会话的锁"),
    "quarantine": ("file in quarantine", "files in quarantine", "个隔离文件"),
    "database": ("memories.db, made compact", "", "memories.db 压缩整理"),
}


@mem_command(
    "gc",
    "Give back the space that nothing needs; no conversation and no memory is touched.",
    "释放无用空间；不会触及任何对话和记忆。",
)
@click.option(
    "--quarantine",
    "quarantine_days",
    type=click.IntRange(min=0),
    metavar="DAYS",
    help=two(
        "Also remove what was set aside as unreadable more than DAYS days ago; asks first.",
        "同时删除 DAYS 天之前因无法读取而隔离的内容；会先询问。",
    ),
)
@click.option("--dry-run", is_flag=True, help=two("Only show what would go.", "只显示将清理什么。"))
@click.option("--yes", is_flag=True, help=two("Do not ask.", "不再询问。"))
def command(session: Session, quarantine_days: int | None, dry_run: bool, yes: bool) -> None:
    catmem = session.catmem
    if not catmem.paths.root.is_dir():
        _report(session, [], [], dry_run)
        return
    # No worker at the same time: it writes where we clean.
    with only_worker(catmem, wait=FOREGROUND_WAIT_SECONDS):
        found = rubbish_of(catmem, quarantine_days)
        if dry_run:
            _report(session, found, [rubbish.bytes for rubbish in found], dry_run)
            return
        _confirm(session, found, yes)
        _report(session, found, [rubbish.remove() for rubbish in found], dry_run)


def _confirm(session: Session, found: list[Rubbish], yes: bool) -> None:
    """Only the quarantine holds what cannot be had again."""
    aside = next((rubbish for rubbish in found if rubbish.what == "quarantine"), None)
    if aside is None or yes:
        return
    size = readable_size(aside.bytes)
    if not session.confirm(
        f"Remove {counted(aside.count, 'file')} ({size}) of the quarantine for good?",
        f"彻底删除隔离区的 {aside.count} 个文件（{size}）？",
    ):
        raise NotConfirmed(
            "nothing was removed; add --yes to skip the question", "没有删除任何内容；加 --yes 可跳过询问"
        )


def _report(session: Session, found: list[Rubbish], freed: list[int], dry_run: bool) -> None:
    items = [
        {"what": rubbish.what, "count": rubbish.count, "bytes": size}
        for rubbish, size in zip(found, freed, strict=True)
    ]
    root = session.catmem.paths.root
    left = size_of(root) if root.is_dir() else 0
    session.result({"dry_run": dry_run, "freed": sum(freed), "bytes": left, "items": items})
    if session.as_json:
        return
    for rubbish, size in zip(found, freed, strict=True):
        one, many, zh = _NAMES[rubbish.what]
        en = one if not many else counted(rubbish.count, one, many)
        session.say(
            f"{en}: {readable_size(size)}",
            f"{zh if not many else f'{rubbish.count} {zh}'}：{readable_size(size)}",
        )
    total, whole = readable_size(sum(freed)), readable_size(left)
    if dry_run:
        session.say(
            f"{total} of {whole} would come back; nothing was changed", f"可释放 {total}，共占用 {whole}；未作任何改动"
        )
    else:
        session.say(f"{total} came back; {whole} in use", f"已释放 {total}；现占用 {whole}")
