"""The hook against a bare interpreter: `mem hook claude-code UserPromptSubmit` with 100,000 memories."""

from __future__ import annotations

import json
import random
import statistics
import sys
import tempfile
from pathlib import Path

from bench.measure import Bar, process_seconds
from catmem.domain.change import Change
from catmem.domain.memory import Claim, memory_id
from catmem.settings.workspace import project_of
from catmem.wiring import Catmem

MEMORIES = 100_000
ROUNDS = 40
_WORDS = [
    "cache",
    "queue",
    "socket",
    "retry",
    "schema",
    "index",
    "branch",
    "deploy",
    "staging",
    "token",
    "parser",
    "render",
    "build",
    "lint",
    "test",
    "upload",
    "region",
    "cluster",
    "worker",
    "batch",
    "window",
    "ledger",
    "invoice",
    "tenant",
    "router",
    "gateway",
    "缓存",
    "队列",
    "部署",
    "索引",
    "分支",
    "网关",
    "账单",
    "测试",
    "上传",
    "订单",
    "支付",
    "日志",
    "权限",
    "容器",
]


def measure() -> list[Bar]:
    """Medians of processor and wall time, in turn with the bare interpreter."""
    with tempfile.TemporaryDirectory() as folder:
        root, workspace = Path(folder, "data"), Path(folder, "shop")
        workspace.mkdir()
        fill(Catmem(root), project_of(str(workspace)).key, MEMORIES)
        program = str(Path(sys.executable).with_name("mem"))
        hook = [program, "hook", "claude-code", "UserPromptSubmit", "--dir", str(root)]
        bare = [sys.executable, "-c", "pass"]
        cpu, wall = [], []
        for number in range(ROUNDS):
            prompt = f"why does the {_WORDS[number % 23]} of the staging cluster time out, 队列 {number}?"
            payload = {
                "session_id": f"s{number % 4}",
                "cwd": str(workspace),
                "prompt": prompt,
                "prompt_id": f"p{number}",
            }
            theirs = process_seconds(bare)
            ours = process_seconds(hook, json.dumps(payload).encode())
            wall.append(ours[0] / theirs[0])
            cpu.append(ours[1] / theirs[1])
    return [
        Bar(f"hook UserPromptSubmit, {MEMORIES:,} memories / python -c pass, wall", statistics.median(wall), 6),
        Bar(f"hook UserPromptSubmit, {MEMORIES:,} memories / python -c pass, processor", statistics.median(cpu), 6),
    ]


def fill(catmem: Catmem, project: str, count: int) -> None:
    """Puts `count` memories of made-up sentences into a project, and indexes them."""
    dice = random.Random(7)
    for start in range(0, count, 5000):
        changes = []
        for number in range(start, min(start + 5000, count)):
            text = f"{' '.join(dice.choices(_WORDS, k=7))} {number}"
            claim = Claim(
                id=memory_id("project", project, "project", "follows", text),
                scope="project",
                project=project,
                kind=("convention", "environment", "decision")[number % 3],  # type: ignore[arg-type]
                subject="project",
                predicate="follows",
                object=text,
                text=text,
                valid_from="2026-03-01T10:00:00.000Z",
                confidence=0.8,
            )
            changes.append(Change(0, "", "", "distilled", "distiller", claims=(claim,)))
        catmem.store.commit(changes)
    catmem.index.catch_up(catmem.store, catmem.history)
    catmem.close()


if __name__ == "__main__":
    for bar in measure():
        print(bar.line())
