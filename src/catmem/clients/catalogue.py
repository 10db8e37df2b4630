"""The clients that catmem knows: rows only, nothing is imported (hot path).

`history`, `hooks`, `reply` and `install` are modules; "" where a client has no such side yet. `suffixes` are the
files that a walk through a folder looks at; behind one that ends in a dot anything may follow. `folders` are where the
client keeps its histories: `$NAME` where that variable is set, `~` the home folder, `*` any name, `.` the workspace.
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
        events: tuple[str, ...]


CLIENTS: dict[str, Row] = {
    "claude-code": {
        "history": "catmem.clients.claude_code.history",
        "hooks": "catmem.clients.claude_code.event",
        "reply": "catmem.clients.claude_code.reply",
        "install": "catmem.clients.claude_code.install",
        "folders": ("$CLAUDE_CONFIG_DIR/projects", "~/.claude/projects"),
        "suffixes": (".jsonl",),
        "events": ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd"),
    },
    "codex": {
        "history": "catmem.clients.codex.history",
        "hooks": "",
        "reply": "",
        "install": "",
        "folders": (
            "$CODEX_HOME/sessions",
            "$CODEX_HOME/archived_sessions",
            "~/.codex/sessions",
            "~/.codex/archived_sessions",
        ),
        "suffixes": (".jsonl", ".jsonl.zst", ".json"),
        "events": (),
    },
    "gemini": {
        "history": "catmem.clients.gemini_cli.history",
        "hooks": "",
        "reply": "",
        "install": "",
        "folders": ("~/.gemini/tmp",),
        "suffixes": (".json", ".jsonl"),
        "events": (),
    },
    "opencode": {
        "history": "catmem.clients.opencode.history",
        "hooks": "",
        "reply": "",
        "install": "",
        "folders": (
            "$XDG_DATA_HOME/opencode",
            "~/.local/share/opencode",
            "~/Library/Application Support/opencode",
            "$APPDATA/opencode",
        ),
        "suffixes": (".db", ".json", ".jsonl"),
        "events": (),
    },
    "messages": {
        "history": "catmem.clients.messages.history",
        "hooks": "",
        "reply": "",
        "install": "",
        "folders": (),
        "suffixes": (".jsonl",),
        "events": (),
    },
    "chatgpt": {
        "history": "catmem.clients.chatgpt.history",
        "hooks": "",
        "reply": "",
        "install": "",
        "folders": (),
        "suffixes": (".json", ".zip"),
        "events": (),
    },
    "claude-ai": {
        "history": "catmem.clients.claude_ai.history",
        "hooks": "",
        "reply": "",
        "install": "",
        "folders": (),
        "suffixes": (".json", ".zip"),
        "events": (),
    },
    "cursor": {
        "history": "catmem.clients.cursor.history",
        "hooks": "",
        "reply": "",
        "install": "",
        "folders": (
            "$XDG_CONFIG_HOME/Cursor/User",
            "~/.config/Cursor/User",
            "~/Library/Application Support/Cursor/User",
            "$APPDATA/Cursor/User",
            "~/.cursor/projects",
        ),
        "suffixes": (".vscdb", ".jsonl", ".txt"),
        "events": (),
    },
    "aider": {
        "history": "catmem.clients.aider.history",
        "hooks": "",
        "reply": "",
        "install": "",
        "folders": ("./.aider.chat.history.md", "~/.aider.chat.history.md"),
        "suffixes": (".md",),
        "events": (),
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
        "events": (),
    },
    "openclaw": {
        "history": "catmem.clients.openclaw.history",
        "hooks": "",
        "reply": "",
        "install": "",
        "folders": ("$OPENCLAW_STATE_DIR/agents", "~/.openclaw/agents", "~/.pi/agent/sessions"),
        "suffixes": (".jsonl", ".jsonl.reset.", ".jsonl.full.bak"),
        "events": (),
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
        "events": (),
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
        "events": (),
    },
    "specstory": {
        "history": "catmem.clients.specstory.history",
        "hooks": "",
        "reply": "",
        "install": "",
        "folders": ("./.specstory/history",),
        "suffixes": (".md",),
        "events": (),
    },
}
