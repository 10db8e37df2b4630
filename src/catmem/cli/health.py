"""What can be wrong with a data directory, each with the way out: for `mem status`, `mem doctor` and its repair."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from catmem.cli import derived
from catmem.cli.finding import Finding
from catmem.cli.output import counted, local_minute
from catmem.distil.model.record import Record
from catmem.domain.errors import CatmemError, ModelFailed, SchemaTooNew, SettingsInvalid, StorageFailed
from catmem.domain.session import SessionHeader
from catmem.index.layout import index_folder
from catmem.index.vectors.layout import folder_of as vectors_folder
from catmem.inject.failures import recent_failures
from catmem.settings.paths import in_the_way
from catmem.wiring import Catmem


def findings_of(catmem: Catmem, *, deep: bool) -> list[Finding]:
    """All findings; `deep` also reads every session whole and checks what is derived against its source."""
    found = [*_settings(catmem), *_folders(catmem), *_hooks(catmem)]
    if any(finding.name in ("config", "folder") for finding in found):
        return found
    found += derived.database_findings(catmem)
    found += _ledger(catmem)
    found += _compaction(catmem)
    found += [*_models(catmem), *_dreaming(catmem), *derived.meaning_findings(catmem, deep)]
    for look in (_sessions, *derived.COMPARED) if deep else ():
        try:
            found += look(catmem)
        except SchemaTooNew:
            continue  # That is a finding already, of the ledger's.
    return found


def _settings(catmem: Catmem) -> Iterator[Finding]:
    try:
        _ = catmem.settings
    except (SettingsInvalid, StorageFailed) as error:
        yield Finding("config", error.en, error.zh)
    root = catmem.paths.root
    if root.exists() and root.stat().st_mode & 0o077:
        yield Finding(
            "permissions",
            f"{root} can be read by other users",
            f"其他用户可以读取 {root}",
            lambda: root.chmod(0o700),
        )


def _folders(catmem: Catmem) -> Iterator[Finding]:
    search = catmem.paths.search
    for folder in (*catmem.paths.folders(), Path(index_folder(str(search))), vectors_folder(search)):
        if os.path.lexists(folder) and not folder.is_dir():
            error = in_the_way(folder)
            yield Finding("folder", error.en, error.zh)


def _hooks(catmem: Catmem) -> Iterator[Finding]:
    failures = recent_failures(catmem.paths)
    if failures:
        last = failures[-1]
        when = local_minute(last["at"]) if "at" in last else "?"
        event, what = last.get("event"), f"{last.get('error')}, {last.get('where')}"
        yield Finding(
            "hooks",
            f"{counted(len(failures), 'hook call')} failed, the last in {event} at {when} ({what}); "
            "the assistant was not disturbed",
            f"有 {len(failures)} 次钩子调用失败，最近一次是 {when} 的 {event}（{what}）；助手未受影响",
            lambda: _drop(str(catmem.paths.hook_failures)),
        )


def _drop(path: str) -> None:
    for name in (path, path + ".old"):
        if os.path.exists(name):
            os.unlink(name)


def _ledger(catmem: Catmem) -> Iterator[Finding]:
    try:
        problems = catmem.store.problems()
    except CatmemError as error:
        yield Finding("database", error.en, error.zh)
        return
    for device, start, reason in problems:
        yield Finding(
            "ledger",
            f"ledger/{device}.jsonl cannot be read at byte {start} ({reason}); the rest is used",
            f"ledger/{device}.jsonl 在第 {start} 字节处无法读取（{reason}）；其余部分照常使用",
            (lambda: _rescue(catmem)) if device in {path.stem for path in catmem.ledger.unreadable()} else None,
        )


def _rescue(catmem: Catmem) -> None:
    catmem.store.rescue_ledgers()


def _compaction(catmem: Catmem) -> Iterator[Finding]:
    for ref, trouble in catmem.compactor.troubled().items():
        when = local_minute(trouble.not_before) if trouble.not_before else "?"
        yield Finding(
            "compaction",
            f"{ref.key} could not be compacted {counted(trouble.attempts, 'time')} ({trouble.error}); nothing was removed; "
            f"the next attempt is at {when}, or now with `mem work --retry`",
            f"{ref.key} 压缩归档失败 {trouble.attempts} 次（{trouble.error}）；没有删去任何内容；"
            f"下次尝试在 {when}，也可用 `mem work --retry` 立即重试",
        )


def _models(catmem: Catmem) -> Iterator[Finding]:
    try:
        _ = catmem.working_model
    except ModelFailed as error:
        yield Finding("models", f"{error.en}; until then the rules alone distil", f"{error.zh}；在此之前只凭规则提炼")
        return
    trouble = Record(catmem.paths).last_trouble() if catmem.settings.models else {}
    if trouble and trouble["kind"] != "spent":  # A spent budget is no fault: work goes on tomorrow.
        since = local_minute(trouble["at"])
        yield Finding(
            "models",
            f"{trouble['en']}; since {since} the rules alone distil",
            f"{trouble['zh']}；自 {since} 起只凭规则提炼",
        )


def _dreaming(catmem: Catmem) -> Iterator[Finding]:
    en, zh = catmem.dreamer.trouble() if catmem.dreamer else ("", "")
    if en:
        yield Finding(
            "dream",
            f"the last dream failed ({en}); nothing was changed; it is tried again, or now with `mem dream`",
            f"上次整理失败（{zh}）；未作任何改动；稍后会重试，也可用 `mem dream` 立即重试",
        )


def _sessions(catmem: Catmem) -> Iterator[Finding]:
    for header in catmem.history.headers():
        yield from _session(catmem, header)
    for archive in catmem.history.lost():
        yield Finding(
            "archive",
            f"{archive} has no session file beside it",
            f"{archive} 缺少对应的会话文件",
            lambda archive=archive: catmem.history.restore(archive),  # type: ignore[misc]
        )
    for path in catmem.history.strays():
        yield Finding(
            "stray",
            f"{path} is no session of this directory; move it away or import it",
            f"{path} 不是本目录的会话；请移走或导入",
        )


def _session(catmem: Catmem, header: SessionHeader) -> Iterator[Finding]:
    try:
        wrong = catmem.history.check(header.ref)
    except CatmemError as error:
        yield Finding("session", f"{header.key}: {error.en}", f"{header.key}：{error.zh}")
        return
    for finding in wrong:
        place = f"{finding.file} [{finding.offset}+{finding.length}]"
        yield Finding(
            "session",
            f"{place}: {finding.problem}, {finding.detail}",
            f"{place}：{finding.problem}，{finding.detail}",
            lambda: _repair_session(catmem, header),
        )


def _repair_session(catmem: Catmem, header: SessionHeader) -> None:
    catmem.history.repair(header.ref)
