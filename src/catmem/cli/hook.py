"""`mem hook CLIENT EVENT`, for who comes the long way: `mem --dir D hook …`. See __main__ for the short one."""

from __future__ import annotations

import click

from catmem.cli.output import Session, mem_command


@mem_command("hook", "Called by an assistant, not by people.", "由助手调用，不需手动运行。")
@click.argument("client")
@click.argument("event")
def command(session: Session, client: str, event: str) -> None:
    from catmem.inject.hook import run

    run([client, event, "--dir", str(session.catmem.paths.root)])
