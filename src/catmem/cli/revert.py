"""`mem revert`: an earlier state of a memory comes into force again, as the user's word that no job undoes.

With `--json`: {"restored": [{"id", "text", "kind", "scope", "project"}], "retired": [{"id", "text"}]}; both are empty
where the memory says so already.
"""

from __future__ import annotations

import click

from catmem.cli.output import Session, mem_command, two
from catmem.cli.words import word
from catmem.domain.clock import now
from catmem.domain.errors import BadInput, NotConfirmed
from catmem.domain.memory import Memory, Revision
from catmem.domain.restoring import Restoring, restoring


@mem_command(
    "revert",
    "Bring an earlier state of a memory back, after showing what changes; no background work undoes it.",
    "先展示再让一条记忆回到从前的说法；后台工作不会再改动它。",
)
@click.argument("id", metavar=two("ID", "编号"))
@click.argument("revision", required=False, metavar=two("[REVISION]", "[版本]"))
@click.option(
    "--beside",
    is_flag=True,
    help=two("Leave what replaced it in force, too.", "取代它的记忆也继续有效。"),
)
@click.option("--dry-run", is_flag=True, help=two("Only show what would change.", "只显示将改动什么。"))
@click.option("--yes", is_flag=True, help=two("Do not ask.", "不再询问。"))
def command(session: Session, id: str, revision: str | None, beside: bool, dry_run: bool, yes: bool) -> None:
    catmem, version = session.catmem, _version(revision)
    catmem.pages.write()  # What was edited by hand is what may be taken back; the page must not say it once more.
    store = catmem.store
    memory = store.require(id)
    way = restoring(
        memory, store.history(memory.id), store.forgotten_statements(), store.get, version=version, beside=beside
    )
    if way is None:
        session.result({"restored": [], "retired": []})
        if not session.as_json:
            session.say(
                f"{memory.id} says so already; nothing was changed", f"{memory.id} 已经是这个说法；未作任何改动"
            )
        return
    if not session.as_json or not (yes or dry_run):
        _show(session, way)
    if not dry_run:
        if not yes and not session.confirm("Bring it back?", "恢复吗？"):
            raise NotConfirmed(
                "nothing was changed; add --yes to skip the question", "未作任何改动；加 --yes 可跳过询问"
            )
        store.commit([way.change(now(catmem.clock))], way.versions)
        catmem.pages.write()
        catmem.index.catch_up(store, catmem.history)
    session.result(
        {
            "restored": [
                {"id": m.id, "text": said.text, "kind": said.kind, "scope": said.scope, "project": m.project}
                for m, said in way.back
            ],
            "retired": [{"id": m.id, "text": m.now.text} for m in way.out],
        }
    )
    if not session.as_json and dry_run:
        session.say("nothing was changed", "未作任何改动")
    elif not session.as_json:
        session.say(
            "restored; it stands as your own word from now on", "已恢复；今后以你的话为准，后台工作不会再改动它"
        )


def _version(revision: str | None) -> int:
    """`3` or `v3`, as `mem show` writes it; 0 where none is named."""
    if revision is None:
        return 0
    digits = revision.lower().removeprefix("v")
    if not (digits.isascii() and digits.isdigit() and int(digits)):
        raise BadInput(
            f"{revision!r} is no revision; write it as `mem show` does: v2", f"{revision!r} 不是版本；请写成 v2"
        )
    return int(digits)


def _show(session: Session, way: Restoring) -> None:
    for memory, said in way.back:
        place_en, place_zh = _place(memory, said, "en"), _place(memory, said, "zh")
        now = memory.now
        if now.status == "live" and now.text != said.text:
            session.say(f"  - {memory.id}  {now.text}", f"  - {memory.id}  {now.text}")
        elif now.status == "live":
            session.say(
                f"  - {memory.id}  {_place(memory, now, 'en')}", f"  - {memory.id}  {_place(memory, now, 'zh')}"
            )
        session.say(f"  + {memory.id}  {place_en}  {said.text}", f"  + {memory.id}  {place_zh}  {said.text}")
    for memory in way.out:
        session.say(f"  - {memory.id}  {memory.now.text}", f"  - {memory.id}  {memory.now.text}")


def _place(memory: Memory, revision: Revision, language: str) -> str:
    profile = "个人档案" if language == "zh" else "profile"
    return f"[{word(revision.kind, language)} · {profile if revision.scope == 'global' else memory.project}]"
