"""The other assistants on a machine: how each is told of the fake upstream, and how one asks it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.real import programs
from tests.real.machine import Answer, Machine


@dataclass(frozen=True, slots=True)
class Assistant:
    """A program that is asked once a process.

    `prepare` writes what a user of it would have; `new` and `again` are its words for a session's first prompt and for
    going on with the last session; the prompt is the last word, or comes on stdin. `histories` are the places in a home
    where it keeps its talks.
    """

    name: str
    program: Path
    prepare: Callable[[Machine], Mapping[str, str]]
    new: tuple[str, ...]
    again: tuple[str, ...]
    histories: tuple[str, ...]
    on_stdin: bool = False

    def ask(self, machine: Machine, prompt: str, *, again: bool = False, before: str = "") -> Answer:
        """One prompt, in a process of its own."""
        words = [str(self.program), *(self.again if again else self.new)]
        said = {"stdin": prompt} if self.on_stdin else {}
        return machine.run(
            [*words, *([] if self.on_stdin else [prompt])], before=before, more=self.prepare(machine), **said
        )


def _codex(machine: Machine) -> Mapping[str, str]:
    config = machine.home / ".codex" / "config.toml"
    if not config.exists():
        config.parent.mkdir()
        config.write_text(
            'model = "gpt-5-codex" # 我的模型\n'
            'model_provider = "fake"\n'
            "check_for_update_on_startup = false\n"
            "analytics.enabled = false\n"
            "\n"
            "[model_providers.fake]\n"
            'name = "fake"\n'
            f'base_url = "{machine.upstream.url}/v1"\n'
            'env_key = "FAKE_KEY"\n'
            'wire_api = "responses"\n'
            "request_max_retries = 1\n"
            "stream_max_retries = 1\n"
        )
    return {"FAKE_KEY": "sk-test-dummy"}


def _gemini(machine: Machine) -> Mapping[str, str]:
    settings = machine.home / ".gemini" / "settings.json"
    if not settings.exists():
        settings.parent.mkdir()
        settings.write_text(
            "{\n"
            "  // 我的登录方式\n"
            '  "security": { "auth": { "selectedType": "gemini-api-key" } },\n'
            '  "privacy": { "usageStatisticsEnabled": false } // no\n'
            "}\n"
        )
    return {"GEMINI_API_KEY": "sk-test-dummy", "GOOGLE_GEMINI_BASE_URL": machine.upstream.url}


def _opencode(machine: Machine) -> Mapping[str, str]:
    folder = machine.home / ".config" / "opencode"
    if not folder.exists():
        folder.mkdir(parents=True)
        model = {"name": "Fake", "limit": {"context": 100_000, "output": 1000}, "tool_call": True}
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": f"{machine.upstream.url}/v1", "apiKey": "sk-test-dummy"},
            "models": {"fake-model": model},
        }
        config = {"$schema": "https://opencode.ai/config.json", "autoupdate": False, "provider": {"fakeoai": provider}}
        (folder / "opencode.json").write_text(json.dumps(config, indent=2) + "\n")
        # With a plugin it fetches this library into its configuration, and waits for minutes where there is no network.
        kept, library = programs.OPENCODE.parent / "node_modules", "@opencode-ai/plugin"
        shutil.copytree(
            kept,
            folder / "node_modules",
            ignore=lambda _, names: [name for name in names if name.startswith(("opencode-", "."))],
            copy_function=os.link,
        )
        version = json.loads((kept / library / "package.json").read_text())["version"]
        (folder / "package.json").write_text(json.dumps({"dependencies": {library: version}}))
    return {
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "npm_config_fetch_retries": "0",
        "npm_config_registry": "http://127.0.0.1:9",  # nothing is fetched
    }


CODEX = Assistant(
    "codex",
    programs.CODEX,
    _codex,
    ("exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust"),
    ("exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", "resume", "--last"),
    (".codex/sessions",),
)
GEMINI = Assistant(
    "gemini",
    programs.GEMINI,
    _gemini,
    ("--skip-trust", "-m", "gemini-2.5-flash", "-p"),
    ("--skip-trust", "-m", "gemini-2.5-flash", "--resume", "latest", "-p"),
    (".gemini/tmp",),
)
OPENCODE = Assistant(
    "opencode",
    programs.OPENCODE,
    _opencode,
    ("run", "-m", "fakeoai/fake-model"),
    ("run", "-m", "fakeoai/fake-model", "-c"),
    (".local/share/opencode",),
    on_stdin=True,
)


def settings_of(assistant: Assistant, machine: Machine) -> dict[Path, bytes]:
    """The files of its configuration that an install may change, with their bytes."""
    folder = {"codex": ".codex", "gemini": ".gemini", "opencode": ".config/opencode"}[assistant.name]
    names = ("hooks.json", "settings.json", "opencode.json*", "config.toml", "plugin/*")
    return {path: path.read_bytes() for name in names for path in sorted((machine.home / folder).glob(name))}
