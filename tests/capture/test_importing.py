from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from catmem.capture.formats import FORMATS, files_of
from catmem.capture.importing import ImportReport
from catmem.capture.known import Known
from catmem.clients.catalogue import CLIENTS
from catmem.domain.errors import ImportFailed
from catmem.domain.session import SessionRef
from tests.capture.world import PROJECT, REF, World
from tests.clients.talk import SESSION, Talk

FORK = "0f0e0d0c-0000-4000-8000-00000000f04c"


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A folder as Claude Code keeps it."""
    folder = tmp_path / "projects" / "-home-kim-teapot"
    (folder / SESSION / "subagents").mkdir(parents=True)
    (folder / SESSION / "tool-results").mkdir()
    talk().write(folder)
    Talk().user("s1", "search", isSidechain=True).write(folder / SESSION / "subagents", "agent-1.jsonl")
    Talk().user("s2", "search", isSidechain=True).write(folder, "agent-2.jsonl")
    (folder / SESSION / "tool-results" / "big.jsonl").write_text("not a session\n")
    (folder.parent / "history.jsonl").write_text('{"display":"x"}\n')
    (folder.parent / "settings.json").write_text('{"model":"x"}\n')
    return folder.parent


def talk() -> Talk:
    return Talk().user("u1", "茶壶").says("a1", "teapot").user("u2", "two").says("a2", "second")


def fork(session: str = FORK, **fields: object) -> Talk:
    copy = Talk(session).user("u1", "茶壶", **fields).says("a1", "teapot", **fields).user("u2", "two", **fields)
    copy.says("a2", "second", **fields)
    return copy.user("u3", "another way", **fields).says("a3", "third", **fields)


def counts(report: ImportReport) -> tuple[int, int, int]:
    return report.sessions, report.messages_new, report.messages_known


def test_a_tree_is_walked_and_only_sessions_are_taken(world: World, tree: Path) -> None:
    report = world.imported(tree)
    assert report.record() == {"sessions": 1, "messages_new": 4, "messages_known": 0, "problems": []}
    assert world.told() == [("user", "茶壶"), ("assistant", "teapot"), ("user", "two"), ("assistant", "second")]
    assert report.touched == [REF]


def test_a_second_import_changes_not_a_byte(world: World, tree: Path) -> None:
    world.imported(tree)
    before = world.bytes()
    assert counts(world.imported(tree)) == (1, 0, 4)
    assert world.bytes() == before


def test_a_grown_file_gives_what_it_gained(world: World, tree: Path) -> None:
    world.imported(tree)
    talk().user("u3", "three").write(tree / "-home-kim-teapot")
    assert counts(world.imported(tree)) == (1, 1, 4)


def test_a_dry_run_counts_and_writes_nothing(world: World, tree: Path) -> None:
    assert counts(world.imported(tree, dry_run=True)) == (1, 4, 0)
    assert world.bytes() == {}


def test_a_dry_run_finds_what_the_import_then_finds(world: World, tmp_path: Path) -> None:
    world.prompt("茶壶", "p1")
    world.now += 120  # when the transcript says that it was answered
    world.stop("teapot", "p1")
    talk().write(tmp_path)
    fork().write(tmp_path)
    for _ in range(2):
        foreseen = counts(world.imported(tmp_path, dry_run=True))
        assert counts(world.imported(tmp_path)) == foreseen
    assert foreseen[1] == 0


def test_what_hooks_captured_is_known(world: World, tree: Path) -> None:
    world.prompt("茶壶", "p1")
    world.stop("teapot", "p1")
    assert counts(world.imported(tree)) == (1, 2, 2)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
@pytest.mark.parametrize("marked", [{"sessionKind": "bg"}, {}])
def test_a_forks_messages_are_not_doubled(
    world: World, tmp_path: Path, order: tuple[int, int], marked: dict[str, str]
) -> None:
    files = [talk().write(tmp_path), fork(**marked).write(tmp_path)]
    paths = [files[number] for number in order]
    assert counts(world.imported(*paths)) == (2, 6, 4)
    before = world.bytes()
    assert counts(world.imported(*paths)) == (2, 0, 10)
    assert world.bytes() == before
    other = SessionRef(PROJECT, f"claude-code:{FORK}")
    assert own(world, REF) == ["u1", "a1", "u2", "a2"]
    assert own(world, other) == ["u3", "a3"]
    assert world.marks("continues", other)[-1]["key"] == REF.key
    assert world.marks("continues") == []
    assert {header.ref: header.count for header in world.history.headers()} == {REF: 4, other: 2}


def own(world: World, ref: SessionRef) -> list[str]:
    """The messages that are the session's own."""
    known = Known(world.history, ref)
    return [m.uid for m in known.messages if m.uid not in known.inherited]


def test_both_went_on_and_the_sooner_one_is_the_original(world: World, tmp_path: Path) -> None:
    original = talk().user("u5", "went on", minute=5)
    copy = (
        Talk(FORK)
        .user("u1", "茶壶")
        .says("a1", "teapot")
        .user("u2", "two")
        .says("a2", "second")
        .user("u9", "later", minute=50)
    )
    world.imported(original.write(tmp_path), copy.write(tmp_path))
    assert [m.uid for m in world.messages(SessionRef(PROJECT, f"claude-code:{FORK}"))] == ["u9"]


def test_the_same_words_under_other_ids_are_not_merged(world: World, tmp_path: Path) -> None:
    other = Talk(FORK).user("v1", "茶壶").says("b1", "teapot")
    assert counts(world.imported(talk().write(tmp_path), other.write(tmp_path))) == (2, 6, 0)


def test_ids_that_repeat_by_chance_are_not_merged(world: World, tmp_path: Path) -> None:
    other = Talk(FORK, day=9).user("u1", "茶壶").says("a1", "teapot")
    assert counts(world.imported(talk().write(tmp_path), other.write(tmp_path))) == (2, 6, 0)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_ids_that_programs_count_are_not_merged_at_the_same_minute(
    world: World, tmp_path: Path, order: tuple[int, int]
) -> None:
    files = [
        Talk().user("msg-001", "帮我修好茶壶").says("msg-002", "ok").user("msg-003", "now the lid").write(tmp_path),
        Talk(FORK)
        .user("msg-001", "rename the kettle")
        .says("msg-002", "ok")
        .user("msg-003", "然后提交")
        .write(tmp_path),
    ]
    paths = [files[number] for number in order]
    world.imported(*paths)
    before = world.bytes()
    assert counts(world.imported(*paths)) == (2, 0, 6)
    assert world.bytes() == before
    said = [text for ref in (REF, SessionRef(PROJECT, f"claude-code:{FORK}")) for _, text in world.told(ref)]
    assert said == ["帮我修好茶壶", "ok", "now the lid", "rename the kettle", "ok", "然后提交"]


def test_a_session_gives_away_no_words_that_it_holds_differently(world: World, tmp_path: Path) -> None:
    """Two files of one session whose ids mean other words: it kept the first's, a fork of the second has its own."""
    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()
    files = [
        Talk().user("u1", "茶壶").write(tmp_path / "a"),
        Talk().user("u1", "kettle").says("a1", "yes").write(tmp_path / "b"),
        Talk(FORK).user("u1", "kettle").says("a1", "yes").user("u2", "and a lid").write(tmp_path / "c"),
    ]
    world.imported(*files)
    before = world.bytes()
    assert world.imported(*files).messages_new == 0
    assert world.bytes() == before


def test_one_session_in_two_folders_is_one_session(world: World, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    moved = talk().user("u3", "elsewhere", cwd="/home/kim/kettle")
    world.imported(talk().write(tmp_path / "a"), moved.write(tmp_path / "b"))
    assert [m.uid for m in world.messages()] == ["u1", "a1", "u2", "a2", "u3"]


def test_our_own_helper_makes_no_session(world: World, tmp_path: Path) -> None:
    Talk().user("u1", "[memory-helper v1] facts please").says("a1", "[]").write(tmp_path)
    assert counts(world.imported(tmp_path)) == (0, 0, 0)
    assert world.bytes() == {}


def test_one_bad_file_or_line_costs_itself(world: World, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    talk().raw(r'{"type":"user","message":{"content":"\p"}}').write(folder)
    (folder / "allbad.jsonl").write_text('{"type":"user" \\p\n{"type":"user" \\p\n')
    (folder / "wide.jsonl").write_bytes(Talk(FORK).user("u9", "x").data().decode().encode("utf-16"))
    report = world.imported(folder)
    assert counts(report) == (1, 4, 0)
    assert [(Path(p.file).name, p.line) for p in report.problems] == [
        (f"{SESSION}.jsonl", 5),
        ("allbad.jsonl", 0),
        ("wide.jsonl", 0),
    ]
    assert "UTF-16" in report.problems[-1].reason
    assert len(report.failed) == 2
    report.raise_if_nothing()


def test_nothing_but_bad_lines_is_a_failure(world: World, tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text('{"type":"user" \\p\n')
    for source in ("auto", "claude-code", "messages"):
        report = world.imported(path, source=source)
        with pytest.raises(ImportFailed, match="jsonl"):
            report.raise_if_nothing()


def test_problems_are_told_in_both_languages(world: World, tmp_path: Path) -> None:
    path = talk().raw("{broken").user("u9", "x", timestamp="2026-03-01T10:00:00").write(tmp_path)
    problems = world.imported(path).problems
    assert [p.said("en").split(":")[0] for p in problems] == ["not JSON", "a time without a zone"]
    assert [p.said("zh").split("：")[0] for p in problems] == ["不是 JSON", "时间没有时区"]


def test_an_empty_folder_is_no_failure(world: World, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    world.imported(tmp_path / "empty").raise_if_nothing()


def test_a_subagents_file_named_outright_is_told_of(world: World, tmp_path: Path) -> None:
    report = world.imported(Talk().user("s1", "search", isSidechain=True).write(tmp_path, "agent-1.jsonl"))
    assert report.sessions == 0
    assert "not a session" in report.problems[0].reason


def test_garbage_does_not_fill_the_report(world: World, tmp_path: Path) -> None:
    bad = Talk().user("u1", "x")
    for _ in range(500):
        bad.raw("{broken")
    assert len(world.imported(bad.write(tmp_path)).problems) <= 51


def test_formats_and_files(tmp_path: Path) -> None:
    assert (*CLIENTS, "catmem-export") == FORMATS
    (tmp_path / "x.bin").write_text("x")
    assert [(path.name, walked) for path, walked in files_of([tmp_path / "x.bin", tmp_path])] == [("x.bin", False)]


def test_our_own_sessions_are_not_imported_with_the_folder_that_they_lie_in(world: World, tmp_path: Path) -> None:
    talk().write(tmp_path)
    for _ in range(2):
        assert world.imported(tmp_path).record()["sessions"] == 1
    assert [header.ref for header in world.history.headers()] == [REF]


MEASURE = """
import sys
from pathlib import Path
from catmem.capture.importing import Importer
from catmem.sessions.history import History
from catmem.settings.paths import Paths
history = History(Paths(Path(sys.argv[1])), durability="none", redact=lambda text, source: text)
def most():  # not getrusage: that has the most of the process that started this one, too
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM:"))
before = most()
report = Importer(history, project_of=lambda cwd: "p").run([Path(sys.argv[2])])
print(report.messages_new, most() - before)
"""


@pytest.mark.slow
def test_lines_of_many_megabytes_cost_no_memory(tmp_path: Path) -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD" * 3_000_000}}
    path = Talk().user("u1", [image]).result("x1", "t1", "一行\n" * 3_000_000).user("u2", "ok").write(tmp_path)
    assert path.stat().st_size > 30_000_000
    run = [sys.executable, "-c", MEASURE, str(tmp_path / "data"), str(path)]
    new, kilobytes = subprocess.run(run, capture_output=True, text=True, check=True).stdout.split()
    assert int(new) == 3
    assert int(kilobytes) < 100_000
    stored = list((tmp_path / "data").rglob("*.jsonl"))
    assert sum(path.stat().st_size for path in stored) < 200_000
