"""A hook runs at every prompt: what it loads is on this list, and nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.shell import Shell

# Beside what Python itself loads to start. A name ending in a point stands for all that begins so.
STANDARD_LIBRARY = (
    "__future__", "bisect", "collections", "collections.abc", "copyreg", "datetime", "enum", "errno", "fcntl",
    "functools", "importlib", "itertools", "json", "json.", "keyword", "math", "operator", "re", "re.", "reprlib",
    "signal", "stat", "time", "types", "unicodedata", "warnings", "zlib",
    # Half a millisecond, where a passage in Chinese is told.
    "encodings.gb18030", "_codecs_cn", "_multibytecodec",
)  # fmt: skip
# The search engine is the only thing that is neither ours nor Python's.
FOREIGN = ("tantivy", "tantivy.tantivy")
OURS = (
    "catmem", "catmem.__main__",
    "catmem.brief", "catmem.brief.",
    "catmem.capture", "catmem.capture.hook",
    "catmem.clients", "catmem.clients.catalogue", "catmem.clients.context_reply", "catmem.domain.helper",
    "catmem.clients.payload",
    "catmem.domain", "catmem.domain.clock", "catmem.domain.errors", "catmem.domain.hashing", "catmem.domain.project",
    "catmem.domain.triggers",
    "catmem.index", "catmem.index.failures", "catmem.index.layout", "catmem.index.opened", "catmem.index.reader", "catmem.index.scope", "catmem.index.stored", "catmem.index.terms",
    "catmem.inject", "catmem.inject.",
    "catmem.recall", "catmem.recall.keyword", "catmem.recall.moments",
    "catmem.recall.passage_words", "catmem.recall.past", "catmem.recall.period", "catmem.recall.query", "catmem.recall.rank", "catmem.recall.relevance", "catmem.recall.then",
    "catmem.recall.weak_words",
    "catmem.sessions", "catmem.sessions.blocks", "catmem.sessions.body", "catmem.sessions.door", "catmem.sessions.file",
    "catmem.sessions.header", "catmem.sessions.locks", "catmem.sessions.names", "catmem.sessions.open_session", "catmem.sessions.refusals",
    "catmem.sessions.present", "catmem.sessions.pure", "catmem.sessions.records", "catmem.sessions.rewrite",
    "catmem.settings", "catmem.settings.language", "catmem.settings.places", "catmem.settings.registry",
    "catmem.settings.secret_key", "catmem.settings.snapshot", "catmem.settings.trouble", "catmem.settings.workspace",
    "catmem.text", "catmem.text.",
)  # fmt: skip
# What one assistant needs is not loaded for another.
OF_THE_CLIENT = {
    "claude-code": {f"catmem.clients.claude_code{part}" for part in ("", ".event", ".reply", ".typed")},
    "codex": {f"catmem.clients.codex{part}" for part in ("", ".event", ".reply", ".typed")},
    "gemini": {f"catmem.clients.gemini_cli{part}" for part in ("", ".event", ".reply", ".typed")},
    "opencode": {f"catmem.clients.opencode{part}" for part in ("", ".event", ".reply")},
    "cursor": {f"catmem.clients.cursor{part}" for part in ("", ".event", ".reply")},
}
PROMPTS = {
    "claude-code": "UserPromptSubmit",
    "codex": "UserPromptSubmit",
    "gemini": "BeforeAgent",
    "opencode": "chat.message",
    "cursor": "beforeSubmitPrompt",
}


# A secret is replaced by a keyed hash, which costs the one who types it a few milliseconds.
SECRETS = {"hashlib"}


@pytest.mark.parametrize("client", list(PROMPTS))
@pytest.mark.parametrize(
    ("prompt", "more"),
    [
        ("Which port has the staging database?", set()),
        ("记住：测试环境的端口是 8080", set()),
        ("记住：密码是 hunter22hunter", SECRETS),
    ],
)
def test_a_prompt_loads_what_it_needs(shell: Shell, client: str, prompt: str, more: set[str]) -> None:
    shell.ok("recall", "--save", "The staging database is on port 5433", "--global")
    shell.ok("work")
    payload = {
        "session_id": "0f3cbb0e-7a45-4a2e-9d0a-3f2f5d1c9b11",
        "conversation_id": "0f3cbb0e-7a45-4a2e-9d0a-3f2f5d1c9b11",
        "transcript_path": "",
        "cwd": str(shell.folder),
        "workspace_roots": [str(shell.folder)],
        "prompt": prompt,
    }
    loaded = _loaded(shell, client, json.dumps(payload))
    assert "catmem.inject.hook" in loaded and "catmem.sessions.file" in loaded, "the hook did not do its work"
    allowed = more | OF_THE_CLIENT[client]
    assert sorted(name for name in loaded - allowed if not _allowed(name)) == []


def test_the_list_names_only_what_there_is() -> None:
    import catmem

    root = Path(catmem.__file__).parent.parent
    for name in (*OURS, *set().union(*OF_THE_CLIENT.values())):
        place = root / name.rstrip(".").replace(".", "/")
        assert place.is_dir() or place.with_suffix(".py").is_file(), name


def _allowed(name: str) -> bool:
    if name.startswith("_") or f"{name}." in OURS or name in sys.builtin_module_names:
        return True
    names = STANDARD_LIBRARY + FOREIGN + OURS
    return name in names or any(name.startswith(begin) for begin in names if begin.endswith("."))


def _loaded(shell: Shell, client: str, payload: str) -> set[str]:
    hook = "from catmem.__main__ import main; main()"
    command = ("hook", client, PROMPTS[client])
    return _imports(shell, hook, *command, typed=payload) - _imports(shell, "pass")


def _imports(shell: Shell, program: str, *arguments: str, typed: str = "") -> set[str]:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", program, *arguments],
        cwd=shell.folder,
        env=shell.environment,
        input=typed,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
