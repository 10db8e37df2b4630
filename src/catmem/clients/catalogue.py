"""The clients that catmem knows: rows only, nothing is imported (hot path).

`history`, `hooks`, `reply` and `install` are modules; "" where a client has no such side yet. `suffixes` are the
files that a walk through a folder looks at; behind one that ends in a dot anything may follow. `folders` are where the
client keeps its histories: `$NAME` where that variable is set, `~` the home folder, `*` any name, `.` the workspace.
Files that end as `follows` says hold one session each and grow with it, so that they can be read on. `events` are the
host's events -> ours; `programs` are the names of its command.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypedDict

    class Row(TypedDict):
        history: str
        hooks: str
        reply: str
        install: str
        folders: tuple[str, ...]
        suffixes: tuple[str, ...]
        follows: tuple[str, ...]
        events: dict[str, str]
        programs: tuple[str, ...]


_SAME_NAMES = {name: name for name in ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd")}

CLIENTS: dict[str, Row] = {
    "claude-code": {
        "history": "catmem.clients.claude_code.history",
        "hooks": "catmem.clients.claude_code.event",
        "reply": "catmem.clients.claude_code.reply",
        "install": "catmem.clients.claude_code.install",
        "folders": ("$CLAUDE_CONFIG_DIR/projects", "~/.claude/projects"),
        "suffixes": (".jsonl",),
        "follows": (".jsonl",),
        "events": _SAME_NAMES,
        "programs": ("claude",),
    },
    "codex": {
        "history": "catmem.clients.codex.history",
        "hooks": "catmem.clients.codex.event",
        "reply": "catmem.clients.codex.reply",
        "install": "catmem.clients.codex.install",
        "folders": (
            "$CODEX_HOME/sessions",
            "$CODEX_HOME/archived_sessions",
            "~/.codex/sessions",
            "~/.codex/archived_sessions",
        ),
        "suffixes": (".jsonl", ".jsonl.zst", ".json"),
        "follows": (".jsonl",),
        "events": _SAME_NAMES,
        "programs": ("codex",),
    },
    "gemini": {
        "history": "catmem.clients.gemini_cli.history",
        "hooks": "catmem.clients.gemini_cli.event",
        "reply": "catmem.clients.gemini_cli.reply",
        "install": "catmem.clients.gemini_cli.install",
        "folders": ("~/.gemini/tmp",),
        "suffixes": (".json", ".jsonl"),
        "follows": (".json", ".jsonl"),
        "events": {
            "SessionStart": "SessionStart",
            "BeforeAgent": "UserPromptSubmit",
            "AfterAgent": "Stop",
            "SessionEnd": "SessionEnd",
        },
        "programs": ("gemini",),
    },
    "opencode": {
        "history": "catmem.clients.opencode.history",
        "hooks": "catmem.clients.opencode.event",
        "reply": "catmem.clients.opencode.reply",
        "install": "catmem.clients.opencode.install",
        "folders": (
            "$XDG_DATA_HOME/opencode",
            "~/.local/share/opencode",
            "~/Library/Application Support/opencode",
            "$APPDATA/opencode",
        ),
        "suffixes": (".db", ".json", ".jsonl"),
        "follows": (),
        "events": {"system.transform": "SessionStart", "chat.message": "UserPromptSubmit", "session.idle": "Stop"},
        "programs": ("opencode",),
    },
    "messages": {
        "history": "catmem.clients.messages.history",
        "hooks": "",
        "reply": "",
        "install": "",
        "folders": (),
        "suffixes": (".jsonl",),
        "follows": (),
        "events": {},
        "programs": (),
    },
    "chatgpt": {
        "history": "catmem.clients.chatgpt.history",
        "hooks": "",
        "reply": "",
        "install": "",
        "folders": (),
        "suffixes": (".json", ".zip"),
        "follows": (),
        "events": {},
        "programs": (),
    },
    "claude-ai": {
        "history": "catmem.clients.claude_ai.history",
        "hooks": "",
        "reply": "",
        "install": "",
        "folders": (),
        "suffixes": (".json", ".zip"),
        "follows": (),
        "events": {},
        "programs": (),
    },
    "cursor": {
        "history": "catmem.clients.cursor.history",
        "hooks": "catmem.clients.cursor.event",
        "reply": "catmem.clients.cursor.reply",
        "install": "catmem.clients.cursor.install",
        "folders": (
            "$XDG_CONFIG_HOME/Cursor/User",
            "~/.config/Cursor/User",
            "~/Library/Application Support/Cursor/User",
            "$APPDATA/Cursor/User",
            "~/.cursor/projects",
        ),
        "suffixes": (".vscdb", ".jsonl", ".txt"),
        "follows": (".jsonl",),
        "events": {"sessionStart": "SessionStart", "beforeSubmitPrompt": "UserPromptSubmit", "stop": "Stop"},
        "programs": ("cursor", "cursor-agent"),
    },
    "aider": {
        "history": "catmem.clients.aider.history",
        "hooks": "",
        "reply": "",
        "install": "",
        "folders": ("./.aider.chat.history.md", "~/.aider.chat.history.md"),
        "suffixes": (".md",),
        "follows": (),
        "events": {},
        "programs": (),
    },
    "cline": {
        "history": "catmem.clients.cline.history",
        "hooks": "",
        "reply": "",
        "install": "",
        "folders": (
            "$XDG_CONFIG_HOME/*/User/globalStorage/saoudrizwan.claude-dev/tasks",
            "$XDG_CONFIG_HOME/*/User/globalStorage/rooveterinaryinc.roo-cline/tasks",
            "~/.config/*/User/globalStorage/saoudrizwan.claude-dev/tasks",
            "~/.config/*/User/globalStorage/rooveterinaryinc.roo-cline/tasks",
            "~/Library/Application Support/*/User/globalStorage/saoudrizwan.claude-dev/tasks",
            "~/Library/Application Support/*/User/globalStorage/rooveterinaryinc.roo-cline/tasks",
            "$APPDATA/*/User/globalStorage/saoudrizwan.claude-dev/tasks",
            "$APPDATA/*/User/globalStorage/rooveterinaryinc.roo-cline/tasks",
            "~/.vscode-server/data/User/globalStorage/saoudrizwan.claude-dev/tasks",
            "~/.vscode-server/data/User/globalStorage/rooveterinaryinc.roo-cline/tasks",
            "~/.cline/data/tasks",
        ),
        "suffixes": (".json",),
        "follows": (),
        "events": {},
        "programs": (),
    },
    "openclaw": {
        "history": "catmem.clients.openclaw.history",
        "hooks": "",
        "reply": "",
        "install": "",
        "folders": ("$OPENCLAW_STATE_DIR/agents", "~/.openclaw/agents", "~/.pi/agent/sessions"),
        "suffixes": (".jsonl", ".jsonl.reset.", ".jsonl.full.bak"),
        "follows": (),
        "events": {},
        "programs": (),
    },
    "nanobot": {
        "history": "catmem.clients.nanobot.history",
        "hooks": "",
        "reply": "",
        "install": "",
        "folders": (
            "~/.nanobot/sessions",
            "~/.nanobot/*/sessions",
            "~/.catbuddy/sessions",
            "~/.catbuddy/*/sessions",
        ),
        "suffixes": (".jsonl",),
        "follows": (),
        "events": {},
        "programs": (),
    },
    "llm": {
        "history": "catmem.clients.llm.history",
        "hooks": "",
        "reply": "",
        "install": "",
        "folders": (
            "$LLM_USER_PATH/logs.db",
            "$XDG_CONFIG_HOME/io.datasette.llm/logs.db",
            "~/.config/io.datasette.llm/logs.db",
            "~/Library/Application Support/io.datasette.llm/logs.db",
            "$APPDATA/io.datasette.llm/logs.db",
        ),
        "suffixes": (".db",),
        "follows": (),
        "events": {},
        "programs": (),
    },
    "specstory": {
        "history": "catmem.clients.specstory.history",
        "hooks": "",
        "reply": "",
        "install": "",
        "folders": ("./.specstory/history",),
        "suffixes": (".md",),
        "follows": (),
        "events": {},
        "programs": (),
    },
}
