"""`MEMORY.md` as its user meets it: written by `mem work`, edited by hand, brought back by `mem doctor`."""

from __future__ import annotations

import subprocess

import pytest

from tests.cli.shell import Shell


@pytest.fixture(params=["en", "zh"])
def shell(request, shell_in) -> Shell:
    shell = shell_in(request.param)
    shell.ok("recall", "--save", "回答先给结论，再讲理由", "--global")
    shell.ok("recall", "--save", "The staging database is on port 5433", "--project", "shop")
    shell.ok("work")
    return shell


def page(shell: Shell, project: str = "shop"):
    return shell.data / "projects" / project / "memory" / "MEMORY.md"


def test_work_writes_the_pages_and_takes_over_what_was_edited(shell):
    profile = shell.data / "memory" / "MEMORY.md"
    assert "## User Profile" in profile.read_text() and "先给结论" in profile.read_text()
    text = page(shell).read_text()
    assert "## Project Context" in text and "5433" in text
    page(shell).write_text(text.replace("port 5433", "port 6000"))
    shell.ok("work")
    found = shell.json("recall", "staging", "--project", "shop")["items"]
    assert [item["text"] for item in found if item["type"] == "memory"] == ["The staging database is on port 6000"]
    assert "MEMORY.md" in shell.ok("log")


def test_a_deleted_line_is_in_no_file(shell):
    lines = page(shell).read_text().splitlines(keepends=True)
    page(shell).write_text("".join(line for line in lines if "5433" not in line))
    shell.ok("work")
    assert shell.json("recall", "staging", "--project", "shop")["items"] == []
    assert not [p for p in shell.data.rglob("*") if p.is_file() and b"5433" in p.read_bytes()]


def test_forgetting_takes_the_line_from_the_page(shell):
    shell.ok("forget", "staging", "--yes")
    assert "5433" not in page(shell).read_text()


def test_doctor_brings_a_lost_page_back_the_same(shell):
    before = page(shell).read_bytes()
    page(shell).unlink()
    assert shell.mem("doctor").code == 1
    shell.ok("doctor", "--repair")
    assert page(shell).read_bytes() == before and shell.mem("doctor").code == 0
    page(shell).write_bytes(b"\xff\xfe\x00")
    found = shell.mem("doctor")
    assert found.code == 1 and "UTF-8" in found.out + found.err
    shell.mem("doctor", "--repair")
    assert page(shell).read_bytes() == b"\xff\xfe\x00"


def test_the_page_in_the_projects_own_folder_where_that_is_wanted(shell):
    subprocess.run(["git", "init", "-q", str(shell.folder)], check=True)
    shell.ok("config", "set", "project_memory_file", "workspace")
    shell.ok("recall", "--save", "Run make check first")
    rows = '{"session":"s1","role":"user","content":"hello","timestamp":"2026-07-01T10:00:00Z","project":""}\n'
    shell.write("talk.jsonl", rows)
    assert not (shell.folder / "memory").exists()
    payload = f'{{"session_id":"a","cwd":"{shell.folder}","prompt":"记住：我们用 ruff","transcript_path":""}}'
    shell.ok("hook", "claude-code", "UserPromptSubmit", typed=payload)
    shell.ok("work")
    shell.ok("work")
    assert "Run make check first" in (shell.folder / "memory" / "MEMORY.md").read_text()
    assert not (shell.folder / ".git" / "memory").exists()
