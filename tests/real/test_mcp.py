"""The real assistants with our tools: their first request offers them, and what a tool says comes back in the next."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from catmem.capture.remember import remember
from catmem.inject import told
from catmem.wiring import Catmem
from tests.real.calling import DONE, Call, CallingUpstream
from tests.real.programs import CLAUDE_CODE, CODEX, GEMINI, OPENCODE

pytestmark = pytest.mark.slow

FACT = "the staging database of the shop listens on port 5433, 暂存库"
RULE = "we deploy on Fridays"
# Far above any run seen; it only turns a hang into a failure.
_PATIENCE = 120


class Desk:
    """A home with a memory in it, a project, and assistants that have `mem mcp` among their tools."""

    def __init__(self, root: Path) -> None:
        self.home, self.folder, self.data = root / "home", root / "shop", root / "catmem"
        for folder in (self.home, self.folder):
            folder.mkdir()
        catmem = Catmem(self.data)
        self.project = str(catmem.project_of(str(self.folder)).key)
        remember(
            catmem.store, FACT, project=self.project, scope="project", kind="note", session="command-line",
            redact=catmem.redact, clock=catmem.clock,
        )  # fmt: skip
        catmem.close()
        self.ours = [sys.executable, "-m", "catmem"]
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "TERM": "dumb",
            "LANG": "C.UTF-8",
            "CATMEM_DIR": str(self.data),
        }

    def claude(self, prompt: str, calls: Sequence[Call], *options: str, **environment: str) -> CallingUpstream:
        """Asks Claude Code, whose hook captures the prompt."""
        server = {"command": self.ours[0], "args": [*self.ours[1:], "mcp"]}
        config = self.home / "mcp.json"
        config.write_text(json.dumps({"mcpServers": {"catmem": server}}))
        hook = {"type": "command", "command": f"{' '.join(self.ours)} hook claude-code UserPromptSubmit"}
        settings = {"hooks": {"UserPromptSubmit": [{"hooks": [hook]}]}}
        with CallingUpstream(calls) as upstream:
            command = [
                str(CLAUDE_CODE), "-p", prompt, "--settings", json.dumps(settings), "--strict-mcp-config",
                "--mcp-config", str(config), "--allowedTools", "mcp__catmem", *options,
            ]  # fmt: skip
            more = {
                "ANTHROPIC_BASE_URL": upstream.url,
                "ANTHROPIC_API_KEY": "sk-test-dummy",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "MCP_CONNECTION_NONBLOCKING": "0",
            }
            assert DONE in self._run(command, {**more, **environment})
        return upstream

    def codex(self, prompt: str, calls: Sequence[Call]) -> CallingUpstream:
        with CallingUpstream(calls) as upstream:
            folder = self.home / ".codex"
            folder.mkdir(exist_ok=True)
            arguments = json.dumps([*self.ours[1:], "mcp", "--dir", str(self.data)])
            (folder / "config.toml").write_text(
                f'model = "gpt-5-codex"\nmodel_provider = "fake"\ncheck_for_update_on_startup = false\n'
                f'[analytics]\nenabled = false\n[model_providers.fake]\nname = "fake"\nbase_url = "{upstream.url}/v1"\n'
                f'env_key = "FAKE_KEY"\nwire_api = "responses"\nrequest_max_retries = 1\nstream_max_retries = 1\n'
                f'[mcp_servers.catmem]\ncommand = "{self.ours[0]}"\nargs = {arguments}\nrequired = true\n'
            )
            command = [
                str(CODEX),
                "exec",
                "--skip-git-repo-check",
                "--dangerously-bypass-approvals-and-sandbox",
                prompt,
            ]
            assert DONE in self._run(command, {"FAKE_KEY": "sk-test-dummy"})
        return upstream

    def gemini(self, prompt: str, calls: Sequence[Call]) -> CallingUpstream:
        with CallingUpstream(calls, "mcp_catmem_") as upstream:
            server = {"command": self.ours[0], "args": [*self.ours[1:], "mcp", "--dir", str(self.data)], "trust": True}
            settings = {
                "security": {"auth": {"selectedType": "gemini-api-key"}},
                "privacy": {"usageStatisticsEnabled": False},
                "mcpServers": {"catmem": server},
            }
            self._write(".gemini/settings.json", settings)
            command = [str(GEMINI), "--skip-trust", "-m", "gemini-2.5-flash", "--approval-mode", "yolo", "-p", prompt]
            more = {"GEMINI_API_KEY": "sk-test-dummy", "GOOGLE_GEMINI_BASE_URL": upstream.url}
            assert DONE in self._run(command, more)
        return upstream

    def opencode(self, prompt: str, calls: Sequence[Call]) -> CallingUpstream:
        with CallingUpstream(calls, "catmem_") as upstream:
            provider = {
                "npm": "@ai-sdk/openai-compatible",
                "options": {"baseURL": f"{upstream.url}/v1", "apiKey": "sk-test-dummy"},
                "models": {
                    "fake-model": {"name": "Fake", "limit": {"context": 100_000, "output": 1000}, "tool_call": True}
                },
            }
            server = {"type": "local", "command": [*self.ours, "mcp", "--dir", str(self.data)], "enabled": True}
            config = {"autoupdate": False, "provider": {"fakeoai": provider}, "mcp": {"catmem": server}}
            self._write(".config/opencode/opencode.json", config)
            more = {
                "OPENCODE_DISABLE_AUTOUPDATE": "1",
                "OPENCODE_DISABLE_MODELS_FETCH": "1",
                "npm_config_fetch_retries": "0",
            }
            assert DONE in self._run([str(OPENCODE), "run", "-m", "fakeoai/fake-model", prompt], more)
        return upstream

    def _write(self, name: str, settings: Mapping[str, object]) -> None:
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(settings))

    def memories(self) -> list[tuple[str, str, bool]]:
        """(by whom, words, pinned) of what was remembered beside the fact."""
        catmem = Catmem(self.data)
        catmem.store.catch_up()
        found = [(m.now.by, m.now.text, m.now.pinned) for m in catmem.store.live() if m.now.text != FACT]
        catmem.close()
        return found

    def left_running(self) -> list[str]:
        """Our processes that are there 5 seconds after the assistant has gone."""
        until = time.monotonic() + 5
        while self._servers() and time.monotonic() < until:
            time.sleep(0.1)
        return self._servers()

    def _servers(self) -> list[str]:
        found = []
        mark = f"CATMEM_DIR={self.data}".encode()
        for folder in Path("/proc").iterdir():
            try:
                command = (folder / "cmdline").read_bytes() if folder.name.isdigit() else b""
                if b"catmem\0mcp" in command and (
                    mark in (folder / "environ").read_bytes() or bytes(self.data) in command
                ):
                    found.append(command.decode())
            except OSError:
                continue
        return found

    def _run(self, command: list[str], more: dict[str, str]) -> str:
        done = subprocess.run(
            command,
            cwd=self.folder,
            env={**self.environment, **more},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=_PATIENCE,
            check=False,
        )
        assert done.returncode == 0, f"exited {done.returncode}: {done.stdout}{done.stderr}"
        return done.stdout


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.mark.real("claude-code")
def test_claude_code_recalls_what_is_known(desk: Desk) -> None:
    upstream = desk.claude("which port has the staging database?", [("recall", {"query": "staging database port"})])
    assert {"mcp__catmem__recall", "mcp__catmem__remember", "mcp__catmem__forget"} <= set(upstream.offered[0])
    (result,) = upstream.results
    assert result.startswith("<catmem-memory>") and FACT in result, "as plain text"
    (session,) = told.sessions_told(Catmem(desk.data).paths)
    records = told.records_of(Catmem(desk.data).paths, session)
    assert session.startswith("claude-code:") and records[-1]["door"] == "mcp"
    assert desk.left_running() == []


@pytest.mark.real("claude-code")
def test_claude_code_remembers_the_users_own_words_and_no_others(desk: Desk) -> None:
    calls: list[Call] = [
        ("remember", {"text": RULE}),
        ("remember", {"text": "always deploy with --force", "everywhere": True}),
    ]
    upstream = desk.claude(f"Please remember: {RULE}. Then read the notes of the vendor.", calls)
    assert "Remembered" in upstream.results[0] and "only as a note" in upstream.results[1]
    # The worker that the hook started may have been first with the same sentence: then that memory is pinned.
    (_, noted, _), (by, kept, pinned) = sorted(desk.memories())
    assert noted == "always deploy with --force" and by in ("user", "distiller")
    assert (kept.rstrip("."), pinned) == (RULE, True)


@pytest.mark.real("claude-code")
def test_claude_code_forgets_after_a_preview(desk: Desk) -> None:
    upstream = desk.claude("forget the port", [("forget", {"words": "staging port"}), ("forget", {"token": "guessed"})])
    assert FACT in upstream.results[0] and "not known" in upstream.results[1]


@pytest.mark.real("claude-code")
def test_claude_code_in_pure_mode_is_told_nothing(desk: Desk) -> None:
    upstream = desk.claude("which port?", [("recall", {"query": "port"})], CATMEM_PURE="1")
    assert upstream.results[0].startswith("Pure mode") and FACT not in "".join(upstream.texts)


@pytest.mark.real("codex")
def test_codex_recalls_and_remembers_in_its_own_session(desk: Desk) -> None:
    calls: list[Call] = [("recall", {"query": "暂存库 port"}), ("remember", {"text": RULE})]
    upstream = desk.codex(f"which port? And remember: {RULE}", calls)
    assert FACT in upstream.results[0]
    assert "catmem-memory" in upstream.results[0] and '{"result"' not in upstream.results[0]
    (session,) = told.sessions_told(Catmem(desk.data).paths)
    assert session.startswith("codex:")
    # No hook has captured what was typed: then nobody knows that the user said it.
    assert desk.memories() == [("assistant", RULE, False)]
    assert desk.left_running() == []


@pytest.mark.parametrize(
    "assistant", [pytest.param(name, marks=pytest.mark.real(name)) for name in ("gemini", "opencode")]
)
def test_others_recall_and_note(desk: Desk, assistant: str) -> None:
    """They name no session to a server: what they ask to remember is a note."""
    calls: list[Call] = [("recall", {"query": "暂存库 port"}), ("remember", {"text": RULE})]
    upstream = getattr(desk, assistant)(f"which-port? remember: {RULE}", calls)
    assert FACT in upstream.results[0] and "only as a note" in upstream.results[1]
    (session,) = told.sessions_told(Catmem(desk.data).paths)
    assert session.startswith("mcp:")
    assert desk.memories() == [("assistant", RULE, False)]
    assert desk.left_running() == []
