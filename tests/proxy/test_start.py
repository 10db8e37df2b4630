"""`mem start -- PROGRAM` and `mem proxy` as processes: terminal, signals, exit codes, and who may come in."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from catmem.cli.under_proxy import _passed_on
from catmem.wiring import Catmem
from tests.proxy.talks import answer_whole
from tests.proxy.upstream import Upstream, whole

MEM = str(Path(sys.executable).with_name("mem"))
ASK = (
    "import json,os,urllib.request as u;"
    "r=u.Request(os.environ['ANTHROPIC_BASE_URL']+'/v1/messages',"
    "json.dumps({'model':'m','messages':[{'role':'user','content':'where?'}]}).encode(),"
    "{'content-type':'application/json'});"
    "print(json.load(u.urlopen(r))['content'][0]['text'])"
)


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    with Upstream([whole(answer_whole("anthropic", "on the shelf"))]) as server:
        yield server


def environment(root: Path, upstream: Upstream | None = None) -> dict[str, str]:
    base = {"PATH": os.environ["PATH"], "HOME": str(root), "LANG": "C.UTF-8", "CATMEM_DIR": str(root / "data")}
    return {**base, "ANTHROPIC_BASE_URL": upstream.url} if upstream else base


def start(
    root: Path, *command: str, options: tuple[str, ...] = (), upstream: Upstream | None = None, **more: Any
) -> Any:
    words = [MEM, "start", *options, "--", *command]
    return subprocess.run(
        words,
        env=environment(root, upstream),
        cwd=root,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        **more,
    )


def kept(root: Path) -> list[tuple[str, str]]:
    history = Catmem(root / "data").history
    return [(m.role, m.content) for header in history.headers() for m in history.messages(header.ref)]


def test_what_a_program_asks_is_recorded_and_its_output_is_its_own(tmp_path: Path, upstream: Upstream) -> None:
    done = start(tmp_path, sys.executable, "-c", ASK, upstream=upstream)
    assert (done.returncode, done.stdout, done.stderr) == (0, "on the shelf\n", "")
    assert kept(tmp_path) == [("user", "where?"), ("assistant", "on the shelf")]


def test_options_and_input_reach_the_program_untouched(tmp_path: Path) -> None:
    code = "import sys; print(sys.argv[1:], sys.stdin.read())"
    done = start(tmp_path, sys.executable, "-c", code, "--json", "--dir", "-x", "--", "a b", input="said")
    assert done.stdout == "['--json', '--dir', '-x', '--', 'a b'] said\n"


@pytest.mark.parametrize(
    ("script", "code"),
    [("exit 0", 0), ("exit 7", 7), ("exit 255", 255), ("kill -9 $$", 137), ("kill -15 $$", 143), ("kill -2 $$", 130)],
)
def test_the_exit_code_is_the_program_s(tmp_path: Path, script: str, code: int) -> None:
    assert start(tmp_path, "sh", "-c", script).returncode == code


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    done = start(tmp_path, "no-such-teapot")
    assert done.returncode == 127
    assert "no-such-teapot" in done.stderr
    (tmp_path / "file").write_text("x")
    assert start(tmp_path, "./file").returncode == 126


def test_a_memory_that_cannot_be_used_keeps_nobody_from_working(tmp_path: Path, upstream: Upstream) -> None:
    (tmp_path / "data").write_text("a file, not a folder")
    done = start(tmp_path, sys.executable, "-c", ASK, upstream=upstream)
    assert (done.returncode, done.stdout) == (0, "on the shelf\n")
    assert "no memory in this session" in done.stderr


def test_a_polite_kill_is_handed_on_and_nothing_stays(tmp_path: Path) -> None:
    script = "trap 'echo told; exit 5' TERM; echo ready; while :; do sleep 0.05; done"
    process = subprocess.Popen(
        [MEM, "start", "--", "sh", "-c", script], env=environment(tmp_path), stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    process.terminate()
    assert process.stdout.read() == "told\n"
    assert process.wait(60) == 5
    process.stdout.close()


def test_a_kill_that_comes_before_we_know_the_program_is_handed_on_too() -> None:
    script = "trap 'exit 5' TERM; echo ready; while :; do sleep 0.05; done"
    with _passed_on() as receive:
        child = subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None and child.stdout.readline() == "ready\n"
        signal.raise_signal(signal.SIGTERM)
        receive(child)
        assert child.wait(60) == 5
    child.stdout.close()


class Terminal:
    """A program at a terminal of its own."""

    def __init__(self, command: list[str], variables: dict[str, str], cwd: Path) -> None:
        self.seen = ""
        self.pid, self.descriptor = pty.fork()
        if self.pid == 0:
            os.chdir(cwd)
            os.execvpe(command[0], command, variables)

    def until(self, text: str, seconds: float = 60) -> None:
        end = time.monotonic() + seconds
        while text not in self.seen:
            assert time.monotonic() < end, self.seen
            if select.select([self.descriptor], [], [], 0.1)[0]:
                self._read()

    def type(self, text: str) -> None:
        os.write(self.descriptor, text.encode())

    def insist(self, text: str, heard: str) -> None:
        """Types it until it is heard: Python handles a signal only when it is not just about to wait for input."""
        end = time.monotonic() + 60
        while heard not in self.seen:
            assert time.monotonic() < end, self.seen
            self.type(text)
            with contextlib.suppress(AssertionError):
                self.until(heard, seconds=0.5)

    def code(self) -> int:
        with contextlib.suppress(OSError):
            while True:
                self._read()
        _, status = os.waitpid(self.pid, 0)
        os.close(self.descriptor)
        return os.waitstatus_to_exitcode(status)

    def _read(self) -> None:
        self.seen += os.read(self.descriptor, 4096).decode("utf-8", "replace")


def test_ctrl_c_is_the_program_s(tmp_path: Path) -> None:
    code = (
        "import os,signal,sys\n"
        "signal.signal(signal.SIGINT, lambda *_: os.write(1, b'heard\\n'))\n"
        "print(sys.stdin.isatty(), sys.stdout.isatty(), flush=True)\n"
        "sys.exit(int(input()))\n"
    )
    terminal = Terminal([MEM, "start", "--", sys.executable, "-c", code], environment(tmp_path), tmp_path)
    terminal.until("True True")
    terminal.insist("\x03", "heard")
    terminal.type("9\n")
    assert terminal.code() == 9


@pytest.mark.parametrize(("answer", "messages"), [("y\n", 2), ("\n", 0)])
def test_a_pure_run_at_a_terminal_asks_whether_to_keep_it(
    tmp_path: Path, upstream: Upstream, answer: str, messages: int
) -> None:
    command = [MEM, "start", "--pure", "--", sys.executable, "-c", ASK]
    terminal = Terminal(command, environment(tmp_path, upstream), tmp_path)
    terminal.until("[y/N]")
    assert kept(tmp_path) == []
    terminal.type(answer)
    assert terminal.code() == 0
    assert len(kept(tmp_path)) == messages


def test_a_pure_run_without_a_terminal_keeps_nothing(tmp_path: Path, upstream: Upstream) -> None:
    for options, more in ((("--pure",), {}), ((), {"CATMEM_PURE": "1"})):
        variables = {**environment(tmp_path, upstream), **more}
        words = [MEM, "start", *options, "--", sys.executable, "-c", ASK]
        done = subprocess.run(
            words, env=variables, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=True
        )
        assert done.stdout == "on the shelf\n"
    assert kept(tmp_path) == []


# mem proxy


@contextlib.contextmanager
def proxy(root: Path, *options: str, **more: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    process = subprocess.Popen(
        [MEM, "proxy", "--json", *options],
        env={**environment(root), **more},
        cwd=root,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield process, json.loads(process.stdout.readline())
    finally:
        process.terminate()
        process.wait(60)
        process.stdout.close()


def status(url: str, **headers: str) -> int:
    request = urllib.request.Request(url, headers={name.replace("_", "-"): value for name, value in headers.items()})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_proxy_runs_until_it_is_told_to_end(tmp_path: Path, upstream: Upstream, number: int) -> None:
    with proxy(tmp_path, "--upstream", f"openai={upstream.url}/v1", "--project", "kitchen") as (process, told):
        assert told["project"] == "kitchen"
        assert status(f"{told['url']}/v1/models") == 200
        assert upstream.sent[-1].line == b"GET /v1/models HTTP/1.1"
        process.send_signal(number)
        assert process.wait(60) == 0


def test_only_this_machine_may_come_in_and_no_page_of_a_browser(tmp_path: Path, upstream: Upstream) -> None:
    with proxy(tmp_path, "--upstream", f"openai={upstream.url}/v1") as (_, told):
        assert status(f"{told['url']}/v1/models", Host="evil.example") == 403
        assert status(f"{told['url']}/v1/models", Host=f"localhost:{told['port']}") == 200
        assert status(f"{told['url']}/v1/models", Host="[::1]:80") == 200
        assert len(upstream.sent) == 2


def test_where_others_can_reach_it_a_token_is_asked_for(tmp_path: Path, upstream: Upstream) -> None:
    token = "teapot-teapot-teapot"
    options = ("--host", "0.0.0.0", "--upstream", f"openai={upstream.url}/v1")
    with proxy(tmp_path, *options, CATMEM_PROXY_TOKEN=token) as (_, told):
        url = told["url"]
        assert status(f"{url}/v1/models") == 401
        assert status(f"{url}/key/{token[:-1]}/v1/models") == 401
        assert status(f"{url}/key/{token}/p/x/v1/models", Host="my-server.local") == 200
        assert status(f"{url}/v1/models", x_catmem_token=token) == 200
        assert token.encode() not in b"".join(sent.head for sent in upstream.sent)
    with proxy(tmp_path, *options) as (_, told):
        assert len(told["token"]) >= 16
        assert status(f"{told['url']}/key/{told['token']}/v1/models") == 200


@pytest.mark.parametrize(
    ("options", "variables"),
    [
        (("--upstream", "openai"), {}),
        (("--upstream", "openai=ftp://x"), {}),
        (("--host", "0.0.0.0"), {"CATMEM_PROXY_TOKEN": "short"}),
        (("--port", "99999"), {}),
    ],
)
def test_what_cannot_be_meant_is_said(tmp_path: Path, options: tuple[str, ...], variables: dict[str, str]) -> None:
    done = subprocess.run(
        [MEM, "proxy", *options], env={**environment(tmp_path), **variables}, capture_output=True, text=True, timeout=60, check=False
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith("mem: ")


def test_a_port_that_is_taken_is_named(tmp_path: Path, upstream: Upstream) -> None:
    done = subprocess.run(
        [MEM, "proxy", "--port", str(upstream.port)], env=environment(tmp_path), capture_output=True, text=True, timeout=60, check=False
    )  # fmt: skip
    assert done.returncode == 8
    assert str(upstream.port) in done.stderr
