"""The real Claude Code as a model of ours: it is asked words without a tool, and what it is asked is nobody's session."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.real.machine import Machine
from tests.real.programs import CLAUDE_CODE
from tests.real.upstream import FakeUpstream

pytestmark = [pytest.mark.slow, pytest.mark.real("claude-code")]

# As the README says it; without the last, the user's MCP servers (ours is one) would still be there.
COMMAND = [str(CLAUDE_CODE), "-p", "--tools", "", "--strict-mcp-config"]


def test_it_is_asked_without_a_tool_and_nothing_of_it_is_captured(tmp_path: Path) -> None:
    with FakeUpstream() as upstream:
        machine = Machine(tmp_path, upstream)
        machine.install_hooks()
        rows = json.dumps([{"name": "claude", "api": "command", "command": COMMAND}])
        machine.mem("config", "set", "models", rows)
        checked = json.loads(machine.run_mem("models", "check", "--json").stdout)
        # The upstream always understands, which is an answer, and not one of the form.
        [record] = checked["models"]
        assert record["reachable"] and record["failure"] is None and not record["works"]

        # A request without a tool is no turn to the stand-in: one with a tool would be seen here.
        assert upstream.turns == []
        [asked] = [request for request in upstream.requests if "[memory-helper v1]" in request.prompt]
        assert not asked.body.get("tools")
        # Nor is it told what we remember: it works for the memory.
        assert "<catmem-memory" not in asked.text

        transcripts = list((machine.home / ".claude" / "projects").rglob("*.jsonl"))
        assert transcripts, "it kept none, so that nothing could be imported"
        machine.mem("work")
        machine.run_mem("import", str(machine.home / ".claude" / "projects"))
        assert json.loads(machine.mem("sessions", "--json"))["sessions"] == []
        assert machine.left_running() == []
