"""`mem proxy`: the door for every program that lets one choose the address of its API."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import threading
from collections.abc import Iterator

import click

from catmem.cli.output import Session, mem_command, two
from catmem.domain.errors import BadInput
from catmem.proxy.programs import upstreams_of
from catmem.proxy.reading import Manner
from catmem.proxy.routes import USUAL_UPSTREAMS
from catmem.proxy.server import ProxyThread, is_loopback
from catmem.sessions.pure import is_pure_environment
from catmem.settings.config import create_config

_TOKEN = "CATMEM_PROXY_TOKEN"
# One that is shorter can be guessed over a network.
_SHORTEST_TOKEN = 16


@mem_command(
    "proxy",
    "Stand between assistants and their models: record the turns, add the brief.\n\nFor one program, "
    "`mem start -- PROGRAM` does all of it. Ctrl-C ends the proxy.",
    "位于助手与模型之间：记录每一轮对话，并加入简报。\n\n只为一个程序时，用 `mem start -- 程序` 即可。按 Ctrl-C 结束。",
)
@click.option(
    "--host",
    default="127.0.0.1",
    metavar="H",
    help=two("The address to listen on; any but this machine's own needs a token.", "监听地址；非本机地址需要令牌。"),
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    metavar="N",
    help=two("The port; 0, the default, is a free one.", "端口；默认 0，自动选择空闲端口。"),
)
@click.option(
    "--project",
    metavar="P",
    help=two(
        "The project of requests that name none (default: that of this folder).",
        "未指明项目的请求所属的项目（默认为当前文件夹的项目）。",
    ),
)
@click.option(
    "--upstream",
    "named",
    multiple=True,
    metavar="NAME=URL",
    help=two(
        "Where to pass requests on: anthropic, openai or gemini, or a name for /to/NAME.",
        "转发目标：anthropic、openai、gemini，或供 /to/NAME 使用的名称。",
    ),
)
@click.option("--no-inject", is_flag=True, help=two("Record, but add no brief.", "只记录，不加入简报。"))
@click.option(
    "--pure", is_flag=True, help=two("Pass everything on, record and add nothing.", "只转发，不记录也不加入。")
)
def command(
    session: Session, host: str, port: int, project: str | None, named: tuple[str, ...], no_inject: bool, pure: bool
) -> None:
    catmem = session.catmem
    create_config(catmem.paths)
    pure = pure or is_pure_environment(os.environ)
    token = "" if is_loopback(host) else _token()
    home = project if project is not None else catmem.project_of(os.getcwd()).key
    proxy, recorder = catmem.proxy(
        {**upstreams_of(os.environ), **dict(_upstream(text) for text in named)},
        Manner(inject=not no_inject, project=home),
        pure=pure,
        token=token,
        environment=os.environ,
    )
    with _until_told() as told, ProxyThread(proxy, host, port):
        recorder.start(work=not pure)
        try:
            _greet(session, host, proxy.port, token)
            session.result({"url": _address(host, proxy.port), "port": proxy.port, "project": home, "token": token})
            told.wait()
        finally:
            recorder.stop()


def _greet(session: Session, host: str, port: int, token: str) -> None:
    base = _address(host, port) + (f"/key/{token}" if token else "")
    session.say(f"catmem proxy on {base} (Ctrl-C ends it)", f"catmem 代理：{base}（按 Ctrl-C 结束）")
    session.say(
        "Set one of these for a program; /p/PROJECT after the port names a project:",
        "为程序设置以下变量之一；在端口后加 /p/项目 可指明项目：",
    )
    for line in (f"ANTHROPIC_BASE_URL={base}", f"OPENAI_BASE_URL={base}/v1", f"GOOGLE_GEMINI_BASE_URL={base}"):
        session.say(f"  {line}", f"  {line}")


def _address(host: str, port: int) -> str:
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{shown}:{port}"


def _token() -> str:
    given = os.environ.get(_TOKEN, "")
    if given and len(given) < _SHORTEST_TOKEN:
        raise BadInput(
            f"{_TOKEN} has fewer than {_SHORTEST_TOKEN} characters; unset it to have one made",
            f"{_TOKEN} 少于 {_SHORTEST_TOKEN} 个字符；取消设置即可自动生成",
        )
    return given or secrets.token_urlsafe(24)


def _upstream(text: str) -> tuple[str, str]:
    name, _, address = text.partition("=")
    if not name or not address.startswith(("http://", "https://")):
        some = ", ".join(USUAL_UPSTREAMS)
        raise BadInput(
            f"--upstream takes NAME=URL, as openai=http://localhost:11434/v1; the usual names are {some}",
            f"--upstream 的格式是 NAME=URL，例如 openai=http://localhost:11434/v1；常用名称有 {some}",
        )
    return name, address


@contextlib.contextmanager
def _until_told() -> Iterator[threading.Event]:
    """An event that Ctrl-C, a closed terminal and a polite kill set."""
    told = threading.Event()
    names = [name for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {name: signal.signal(getattr(signal, name), lambda *_: told.set()) for name in names}
    try:
        yield told
    finally:
        for name, handler in before.items():
            signal.signal(getattr(signal, name), handler)
