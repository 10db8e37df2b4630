"""What was forgotten is in no file any more, and nothing brings it back."""

from __future__ import annotations

import json
import os
from collections.abc import Callable

import pytest

from catmem.capture.spool import spool
from catmem.distil.model.proposals import Proposal, Proposals
from catmem.distil.model.record import ParkedAnswer, Record
from catmem.domain.session import SessionRef
from catmem.inject import told
from catmem.llm.port import Completion
from catmem.sessions.records import message_record
from catmem.settings.paths import Paths
from tests.cli.shell import Shell

SECRET = {"en": "zanzibarctl", "zh": "桃花潭水"}
SAID = {
    "en": ("Remember: always deploy with zanzibarctl.", "以后部署都用 zanzibarctl 工具。", "zanzibarctl needs a token"),
    "zh": ("记住：部署一律用桃花潭水。", "以后都用桃花潭水写提交说明。", "桃花潭水要先预热"),
}


@pytest.fixture(params=["en", "zh"])
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def knowing(shell_in: Callable[[str], Shell], language: str) -> Shell:
    """That knows it from two sessions and a saved text, has told an assistant of it, and has exports from before."""
    shell = shell_in(language)
    first, second, saved = SAID[language]
    shell.talk("one", first, ("assistant", "OK."), "What next?")
    shell.talk("two", second)
    shell.ok("import", "one.jsonl", "two.jsonl")
    shell.ok("work")
    shell.ok("recall", "--save", saved, "--project", "shop")
    told = shell.ok("brief", "--project", "shop")
    assert SECRET[language] in told
    shell.ok("export", "memories.json")
    shell.ok("export", "messages.json", "--messages")
    return shell


def holding(shell: Shell, word: str) -> list[str]:
    """The files of the data directory with the word in them, as text or escaped as JSON."""
    forms = {word.encode(), json.dumps(word)[1:-1].encode(), word.encode("utf-16-le"), word.encode("gb18030")}
    found = []
    for folder, _, names in os.walk(shell.data):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                data = file.read().lower()
            if any(form.lower() in data for form in forms):
                found.append(os.path.relpath(path, shell.data))
    return sorted(found)


def test_it_was_there(knowing: Shell, language: str) -> None:
    places = {place.partition("/")[0] for place in holding(knowing, SECRET[language])}
    assert {"ledger", "messages", "memories.db"} <= places


def test_purged_it_is_in_no_file_and_stays_away(knowing: Shell, language: str) -> None:
    word = SECRET[language]
    gone = knowing.json("forget", word, "--yes", "--purge")["forgotten"]
    assert {session for memory in gone for session in memory["sessions"]} == {"one", "two", "command-line"}
    assert holding(knowing, word) == []
    knowing.ok("work")
    assert holding(knowing, word) == []
    assert knowing.json("recall", word, "--all-projects")["items"] == []
    assert word not in knowing.ok("export", "--messages")
    for name in ("one.jsonl", "two.jsonl"):
        knowing.ok("import", name)
        knowing.ok("work")
        assert holding(knowing, word) == []
    knowing.ok("doctor")


@pytest.mark.parametrize("export", ["memories.json", "messages.json"])
def test_an_export_from_before_does_not_bring_it_back(knowing: Shell, language: str, export: str) -> None:
    word = SECRET[language]
    knowing.ok("forget", word, "--yes", "--purge")
    knowing.ok("import", export)
    knowing.ok("work")
    assert holding(knowing, word) == []
    assert set(knowing.json("stats")["memories"]) == {"forgotten"}


def test_without_purge_only_the_conversation_has_it(knowing: Shell, language: str) -> None:
    word = SECRET[language]
    knowing.ok("forget", word, "--yes")
    assert {place.partition("/")[0] for place in holding(knowing, word)} <= {"messages", "search", "index.json"}
    knowing.ok("work")
    assert all(item["type"] == "passage" for item in knowing.json("recall", word, "--all-projects")["items"])
    assert word not in knowing.ok("brief", "--project", "shop")


def test_purging_later_takes_the_sentences_by_their_words(knowing: Shell, language: str) -> None:
    word = SECRET[language]
    (gone, *_) = knowing.json("forget", word, "--yes")["forgotten"]
    done = knowing.mem("forget", gone["id"], "--purge", "--yes")
    assert done.code == 4 and "--purge" in done.err
    foreseen = knowing.json("forget", word, "--purge", "--dry-run")
    assert sorted(s["session"] for s in foreseen["sentences"]) == ["one", "two"] and holding(knowing, word)
    assert all(word in sentence["text"] for sentence in foreseen["sentences"])
    assert knowing.mem("forget", word, "--purge").code == 12 and holding(knowing, word), "it asks"
    assert word in knowing.ok("forget", word, "--purge", "--dry-run")
    knowing.ok("forget", word, "--purge", "--yes")
    assert holding(knowing, word) == []
    assert knowing.mem("forget", word, "--purge", "--yes").code == 4
    knowing.ok("work")
    knowing.ok("doctor")
    assert "What next?" in knowing.ok("sessions", "show", "one")


def test_it_goes_from_the_rebuilt_database_too(knowing: Shell, language: str) -> None:
    word = SECRET[language]
    knowing.ok("forget", word, "--yes", "--purge")
    for path in knowing.data.glob("memories.db*"):
        path.unlink()
    knowing.ok("doctor", "--repair")
    assert holding(knowing, word) == []
    assert set(knowing.json("stats")["memories"]) == {"forgotten"}


def test_what_a_session_was_told_of_it_goes(knowing: Shell, language: str) -> None:
    word = SECRET[language]
    payload = {"session_id": "5e55", "transcript_path": "", "cwd": str(knowing.folder), "source": "startup"}
    project = knowing.json("brief", "--cwd", knowing.folder)
    assert project["bytes"] >= 0
    knowing.ok("recall", "--save", f"{word} !", "--global")
    typed = json.dumps({**payload, "hook_event_name": "SessionStart"})
    assert word in json.dumps(
        json.loads(knowing.ok("hook", "claude-code", "SessionStart", typed=typed)), ensure_ascii=False
    )
    knowing.ok("work")
    knowing.ok("forget", word, "--yes", "--purge")
    assert holding(knowing, word) == []


def test_a_sentence_that_no_memory_was_made_of_is_in_no_digest_either(
    shell_in: Callable[[str], Shell], language: str
) -> None:
    word, shell = SECRET[language], shell_in(language)
    asked = {"en": "what does zanzibarctl print when it is slow?", "zh": "桃花潭水跑得慢的时候会打印什么内容？"}
    for name in ("one", "two"):
        shell.talk(name, asked[language], ("assistant", "Nothing. 没有。"), "let us look at the log of it, then 看日志")
        shell.ok("import", f"{name}.jsonl")
    shell.ok("work")
    assert {"ledger", "memories.db"} <= {place.partition("/")[0] for place in holding(shell, word)}
    shell.ok("forget", word, "--purge", "--yes")
    assert holding(shell, word) == []
    assert ("中的句子" if language == "zh" else "sentences of") in shell.ok("log")
    shell.ok("work")
    (shell.data / "memories.db").unlink()
    shell.ok("doctor", "--repair")
    shell.ok("import", "one.jsonl")
    assert holding(shell, word) == []


def test_what_is_kept_only_for_a_while_goes(knowing: Shell, language: str) -> None:
    """Words that a killed process left, that wait to be taken in, or that a model said and an assistant was told."""
    word, (first, second, _) = SECRET[language], SAID[language]
    paths = Paths(knowing.data)
    for folder in (paths.run / "pages", paths.projects / "shop" / "memory"):
        folder.mkdir(parents=True, exist_ok=True)
        left = folder / ".MEMORY.md.4711.abcdef.tmp"
        left.write_text(f"- {first}\n")
        os.utime(left, (0, 0))
    waiting = message_record("user", f"{first}\n{word}?", "2026-06-30T10:00:00.000Z", uid="spooled")
    spool(str(paths.root), {"project": "shop", "key": "one", "records": [waiting], "listing": {"project": "shop"}})
    other = SessionRef("shop", "three")
    raw = f"I see that you said: {second} And that is all that I can say about it."
    Record(paths).park(ParkedAnswer("shop", "three", 1, 2, "2026-06-30T10:00:00Z", "prose", "no JSON", raw))
    Proposals(paths).save(other, Proposal(1, 2, "end", {"k": Completion(raw)}))
    passage = [{"id": "one#1.2", "section": "recall", "matched": []}]
    for items, text, query in ((passage, f"… {word}", ""), ([], "", second), ([], first, "")):
        told.tell(paths, "five", door="mcp", event=told.RECALL, project="shop", at="2026-06-30T10:00:00.000Z",
                  items=items, text=text, query=query)  # fmt: skip
    assert len({place.rpartition("/")[0] for place in holding(knowing, word)}) >= 8
    knowing.ok("forget", word, "--yes", "--purge")
    knowing.ok("forget", word, "--yes", "--purge")  # What is left are sentences that were no memory.
    assert holding(knowing, word) == []


def test_saying_it_anew_is_allowed(knowing: Shell, language: str) -> None:
    word, saved = SECRET[language], SAID[language][2]
    knowing.ok("forget", word, "--yes", "--purge")
    knowing.ok("recall", "--save", saved, "--project", "shop")
    assert [it["text"] for it in knowing.json("recall", word, "--project", "shop")["items"]] == [saved]


def test_forget_by_day_and_project(knowing: Shell, language: str) -> None:
    assert knowing.mem("forget", "--before", "2026-06-01", "--yes").code == 4
    assert knowing.mem("forget", "--project", "elsewhere", "--yes").code == 4
    two = knowing.json("forget", "--project", "shop", "--before", "2026-07-01", "--dry-run")["would_forget"]
    assert sorted(session for memory in two for session in memory["sessions"]) == ["one", "two"]
    assert knowing.json("forget", "--project", "shop", "--before", "2026-07-01", "--yes")["forgotten"] == two
    live = [m for m in knowing.json("export")["memories"] if m["status"] == "live"]
    assert [memory["text"] for memory in live if memory["project"] == "shop"] == [SAID[language][2]]


@pytest.mark.parametrize(
    ("edited", "word"), [("We deploy on Fridays, never late", "never late"), ("周五部署，不许拖", "不许拖")]
)
def test_a_line_that_was_edited_meanwhile_goes_with_its_memory(shell: Shell, edited: str, word: str) -> None:
    """Its words are the memory's, although no worker has taken them in yet."""
    id = shell.json("recall", "--save", "We deploy on Fridays", "--global")["id"]
    shell.ok("work")
    page = shell.data / "memory" / "MEMORY.md"
    page.write_text(page.read_text().replace("We deploy on Fridays", edited))
    assert word in shell.ok("forget", id, "--dry-run")
    shell.ok("forget", id, "--yes")
    shell.ok("work")
    assert shell.json("recall", word)["items"] == [] and word not in page.read_text()
    assert not [f for f in shell.data.rglob("*") if f.is_file() and word.encode() in f.read_bytes()]
