"""`mem doctor`: looks at everything; `--repair` puts right what can be put right."""

from __future__ import annotations

import click

from catmem.cli.health import findings_of
from catmem.cli.output import Session, mem_command, two


@mem_command("doctor", "Check the data; --repair mends it.", "检查数据；--repair 修复。")
@click.option("--repair", is_flag=True, help=two("Mend what can be mended.", "修复可以修复的问题。"))
def command(session: Session, repair: bool) -> None:
    found = findings_of(session.catmem, deep=True)
    repaired = []
    if repair:
        for finding in found:
            if finding.repair is not None:
                finding.repair()
                repaired.append(finding)
        if all(finding.repair is not None for finding in found):
            _derive_again(session)
    left = [finding for finding in found if finding not in repaired]
    session.result(
        {"findings": [finding.record() for finding in left], "repaired": [finding.record() for finding in repaired]}
    )
    if not session.as_json:
        for finding in repaired:
            session.say(f"mended: {finding.en}", f"已修复：{finding.zh}")
        for finding in left:
            session.say(f"! {finding.en}", f"! {finding.zh}")
        if not found:
            session.say("everything is in order", "一切正常")
        elif not repair and any(finding.repair for finding in left):
            session.say("`mem doctor --repair` mends what it can", "`mem doctor --repair` 可以修复其中一部分")
    if left:
        raise click.exceptions.Exit(1)


def _derive_again(session: Session) -> None:
    """Whatever is missing of what can be derived is made: database, search index, vectors, listing."""
    catmem = session.catmem
    catmem.store.catch_up()
    catmem.index.catch_up(catmem.store, catmem.history)
    if catmem.embedder is not None:
        catmem.vectors.build(catmem.embedder)
    catmem.history.write_index()
