from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catmem.distil.classifier import KEPT, LABELS, Classifier, cue_words, from_record, values_of, worth
from catmem.distil.features import Context, Vocabulary, atoms_of, features_of
from catmem.distil.units import Unit, units_of

# Where F1 is best in cross-validation (training/README.md): what is kept lies above, what is not below.
OPERATING_POINT = 0.42


@pytest.fixture(scope="module")
def classifier() -> Classifier:
    return Classifier.load()


def unit(text: str) -> Unit:
    return Unit(text, 0, len(text))


def kept(classifier: Classifier, text: str, **around: str) -> float:
    return worth(classifier.scores(unit(text), Context(**around)))


# Sentences of this test's own; none stands in the corpus. What a team decided may well be a convention.
@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("from now on keep your answers under ten lines", "preference"),
        ("以后回答都用中文，代码注释也是", "preference"),
        ("解释的时候少用 bullet，我习惯看整段的", "preference"),
        ("our build server runs Debian 11 with 8 GB of RAM and no GPU", "environment"),
        ("测试服务器在内网，没有外网，系统是 CentOS 7", "environment"),
        ("all our tables are singular and every migration must have a down script", "convention"),
        ("我们组的接口一律返回 snake_case，字段不许缩写", "convention"),
        ("decided: we drop GraphQL and stay with plain REST, the clients are simple", "decision convention"),
        ("定了，缓存不用 Redis 了，直接用 Postgres", "decision"),
        ("we still haven't decided whether invoices go out weekly or monthly", "question"),
        ("导出要不要做成异步还没想好，等产品那边回复", "question"),
        ("the importer is half done, tomorrow I continue with the address parser", "progress"),
        ("登录页做完了，注册还没做，下次接着弄", "progress"),
    ],
)
def test_what_is_worth_keeping(classifier: Classifier, text: str, kinds: str) -> None:
    scores = classifier.scores(unit(text), Context(before="Done.", after="Noted.", turn=2))
    assert worth(scores) > OPERATING_POINT
    assert max(KEPT, key=lambda label: scores[label]) in kinds.split()


@pytest.mark.parametrize(
    "text",
    [
        "thanks, that works now",
        "add a test for the empty list",
        "why does the worker restart every night?",
        "what if we always cached the first page?",
        "just this once skip the linter",
        "still fails with the same error",
        "谢谢，好了",
        "帮我把这个函数改成异步的",
        "为什么每次启动都这么慢？",
        "这次先写死成 5 吧",
        "如果以后都用 Go 会不会更快？",
        "还是报错，跟刚才一样",
    ],
)
def test_what_is_not(classifier: Classifier, text: str) -> None:
    assert kept(classifier, text, before="Done.") < OPERATING_POINT


@given(st.text(min_size=1, max_size=300), st.text(max_size=200), st.text(max_size=200))
@settings(max_examples=60, deadline=None)
def test_scores_are_probabilities_whatever_the_text(text: str, before: str, after: str) -> None:
    model = Classifier.load()
    for found in units_of(text):
        scores = model.scores(found, Context(before=before, after=after))
        assert tuple(scores) == LABELS
        assert all(0 <= p <= 1 for p in scores.values())
        assert math.isclose(sum(scores.values()), 1, abs_tol=1e-9)
        assert scores == model.scores(found, Context(before=before, after=after))


def test_a_score_does_not_depend_on_how_long_the_session_became(classifier: Classifier) -> None:
    sentence = unit("we deploy from main only")
    assert classifier.scores(sentence, Context(turn=4, turns=5)) == classifier.scores(
        sentence, Context(turn=4, turns=90)
    )


def test_unknown_names_back_off_to_their_shape(classifier: Classifier) -> None:
    one, other = (kept(classifier, f"we use {name} for queues in every service") for name in ("zorbmq", "quuxline"))
    assert one == other


@pytest.mark.parametrize(
    ("text", "atoms"),
    [
        ("We use Zorb v3.8!", ["we", "use", "<Name>", "<version>", "!"]),
        ("统一用 zorb，别用 tab", ["统", "一", "用", "<word>", ",", "别", "用", "<word>"]),
        ("put 12 in src/a.py and myVar", ["<word>", "<number>", "<word>", "<path>", "<word>", "<CamelCase>"]),
        ("`x = 1` at https://a.example/b", ["<code>", "<word>", "<url>"]),
        ("key [secret:api_key:ab12] 16GB HTTP", ["<word>", "<secret>", "<measure>", "<CAPITALS>"]),
    ],
)
def test_atoms(text: str, atoms: list[str]) -> None:
    assert atoms_of(text, frozenset({"we", "use"})) == atoms


def test_cues_of_both_languages_fall_into_one_group() -> None:
    vocabulary = Vocabulary(frozenset({"from", "now", "on"}), cue_words())
    for text in ("tabs from now on", "以后用制表符"):
        groups = dict(features_of(unit(text), Context(), vocabulary))
        assert "c:lasting" in groups["cues"]


def test_long_sentences_weigh_little_more_than_short_ones() -> None:
    vocabulary = Vocabulary(frozenset(), {})
    short, long = (
        math.hypot(*(value for _, value in values_of(features_of(unit(text), Context(), vocabulary)[:1])))
        for text in ("tabs", "a b c d e f g h " * 5 + "以后统一用制表符，不要空格")
    )
    assert short < long < 2.5 * short


def test_a_feature_counts_once_however_often_it_occurs() -> None:
    values = values_of([("words", ["tabs", "tabs", "on"]), ("form", [])])
    assert [name for name, _ in values] == ["tabs", "on"]


def test_a_model_adds_the_weights_of_its_features() -> None:
    model = from_record(
        {
            "classes": ["task", "plain", "preference"],
            "bias": [0.0, 0.0, 0.0],
            "step": 1.0,
            "temperature": 1.0,
            "common": ["tabs"],
            "features": ["p:opening", "tabs"],
            "rows": [1, 0, 0, 1, 2, 20],
        }
    )
    scores = model.scores(unit("tabs"), Context())
    assert scores["preference"] > 0.9
    assert math.isclose(scores["none"] + scores["preference"], 1)
    assert scores["decision"] == 0
