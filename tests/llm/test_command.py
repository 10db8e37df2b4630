"""A program as a model: what it is given, what becomes of it, and that nothing of it stays."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from catmem.llm import command
from catmem.llm.command import prompt_of
from catmem.llm.port import Failure, Model, Turn
from catmem.llm.providers import label_of, model_of, name_of, place_of

TURNS = (Turn("user", "Which port? 端口？"),)
ENVIRONMENT = {"PATH": os.environ["PATH"], "MARK": "given"}


def program(script: str, *arguments: str) -> Model:
    return model_of({"api": "command", "command": ["sh", "-c", script, *arguments]}, ENVIRONMENT)


def answer(model: Model, turns: tuple[Turn, ...] = TURNS) -> str:
    return model.complete(("S",), turns, {"type": "object"}).text


def failure_of(model: Model) -> Failure:
    with pytest.raises(Failure) as caught:
        answer(model)
    assert caught.value.en.isascii() and not caught.value.zh.isascii()
    return caught.value


def is_gone(pid: int) -> bool:
    """Within a second: what was killed may still be waited for by nobody."""
    for _ in range(100):
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
            os.kill(pid, 0)
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.01)
    return False


def test_it_is_known_for_ours_and_works_in_an_empty_folder_of_its_own() -> None:
    lines = answer(program('echo "$CATMEM_HELPER $MARK $0"; pwd; ls -A | wc -l; stat -c %a .')).split("\n")
    assert lines[0] == "1 given sh" and Path(lines[1]) != Path.cwd()
    assert lines[2].strip() == "0" and lines[3] == "700"


def test_no_shell_reads_its_arguments() -> None:
    model = model_of({"api": "command", "command": ["echo", "$(id)", "; ls", ""]}, ENVIRONMENT)
    assert answer(model) == "$(id) ; ls \n"


def test_a_folder_that_somebody_else_may_write_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(command.tempfile, "tempdir", str(tmp_path))
    usual = tmp_path / f"catmem-helper-{os.getuid()}"
    assert answer(program("pwd")).strip() == str(usual)
    usual.chmod(0o777)
    assert answer(program("pwd")).strip() != str(usual)
    usual.rmdir()
    usual.symlink_to(Path.cwd())
    assert answer(program("pwd")).strip() not in (str(usual), str(Path.cwd()))


def test_a_long_prompt_and_a_long_answer_pass_at_once() -> None:
    text = "一段很长的话 and more. " * 40_000
    assert text in answer(program("cat"), (Turn("user", text),))


def test_who_answers_without_reading_is_heard() -> None:
    assert answer(program("echo '{}'"), (Turn("user", "x" * 1_000_000),)) == "{}\n"


def test_a_character_may_come_in_two_pieces() -> None:
    said = list(program(r"printf '\344\275'; sleep 0.1; printf '\240'; printf '\377'").stream((), TURNS))
    assert "".join(said) == "你\ufffd"


def test_words_are_streamed_as_they_come() -> None:
    said = list(program("echo one; sleep 0.2; echo two").stream(("S",), TURNS))
    assert said == ["one\n", "two\n"]
    with pytest.raises(Failure) as caught:
        list(program("echo").stream((), TURNS))
    assert caught.value.kind == "empty"


@pytest.mark.parametrize(("script", "kind"), [("sleep 60", "timeout"), ("echo '{'; sleep 60", "hang")])
def test_a_program_that_hangs_is_ended_with_all_that_it_started(
    script: str, kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(command, "ANSWER_SECONDS", 0.5)
    pids = tmp_path / "pids"
    # Its child does not listen to a polite word.
    failure = failure_of(program(f"trap '' TERM; sleep 60 & echo $$ $! > {pids}; {script}"))
    assert failure.kind == kind and failure.remedy == "later" and failure.rest > 0
    assert all(is_gone(int(pid)) for pid in pids.read_text().split())


def test_a_child_that_it_leaves_behind_is_neither_waited_for_nor_left(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    assert answer(program(f"sleep 60 & echo $! > {pids}; echo '{{}}'")) == "{}\n"
    assert is_gone(int(pids.read_text()))


def test_who_listens_no_more_ends_it(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    stream = program(f"echo $$ > {pids}; while :; do echo word; sleep 0.05; done").stream((), TURNS)
    assert next(stream) == "word\n"
    stream.close()  # type: ignore[attr-defined]
    assert is_gone(int(pids.read_text()))


def test_an_answer_without_end_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "ANSWER_BYTES", 50_000)
    assert failure_of(program("while :; do echo again and again; done")).kind == "hang"


def test_a_program_that_fails_says_why() -> None:
    failure = failure_of(program("echo first >&2; echo 'not   logged in' >&2; exit 7"))
    assert failure.kind == "command" and failure.remedy == "another"
    assert "not logged in" in failure.en and "code 7" in failure.en and "not logged in" in failure.zh
    assert "signal 9" in failure_of(program("kill -9 $$")).en


@pytest.mark.parametrize("name", ["catmem-no-such-program", "/etc/passwd", "/", "~/no/such"])
def test_a_program_that_cannot_be_started(name: str) -> None:
    failure = failure_of(model_of({"api": "command", "command": [name]}, ENVIRONMENT))
    assert failure.kind == "setup" and failure.remedy == "another" and "models" in failure.en


def test_how_it_is_called_in_words() -> None:
    row = {"api": "command", "command": ["/usr/bin/ollama", "run", "qwen3"]}
    assert (name_of(row), place_of(row), label_of({**row, "name": "local"})) == ("ollama", "ollama", "local (ollama)")


def test_a_talk_of_several_turns_says_who_spoke() -> None:
    turns = (Turn("user", "a"), Turn("assistant", "b"), Turn("user", "c"))
    assert prompt_of(("S", ""), turns) == "[memory-helper v1]\n\nS\n\nuser: a\n\nassistant: b\n\nuser: c\n"
