from __future__ import annotations

import pytest

from catmem.distil.model.checks import progress_of, sound_words, topics_of
from tests.distil.model.asked import CHINESE, LINES, window_of

ENGLISH = "oh and by the way, we never deploy the billing service to production on Fridays"
SENTENCE = "对了，另外跟你说下，我们生产环境的数据库周五以后不要做结构变更"


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        (ENGLISH, "we never deploy the billing service to production on Fridays"),
        (SENTENCE, "我们生产环境的数据库周五以后不要做结构变更"),
    ],
)
def test_a_sentence_may_be_shortened(sentence: str, words: str) -> None:
    assert sound_words(words, sentence) == (words, "")


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        (ENGLISH, "we deploy the billing service to production on Fridays"),
        (ENGLISH, "never deploy"),
        (ENGLISH, "we never deploy the billing service with Docker"),
        (ENGLISH, f"{ENGLISH}, as the team agreed"),
        ("we run Node 20 here and nothing older", "we run Node 18 here and nothing older"),
        ("only the nightly job may write to the archive bucket", "the nightly job may write to the archive bucket"),
        (SENTENCE, "我们生产环境的数据库周五以后做结构变更"),
        (SENTENCE, "用 Docker 部署"),
    ],
)
def test_words_that_add_turn_or_limit_less_are_not_taken(sentence: str, words: str) -> None:
    short, why = sound_words(words, sentence)
    assert short == "" and why


@pytest.mark.parametrize("words", ["", "  ", ENGLISH, ENGLISH.upper()])
def test_no_words_and_the_same_words_are_no_words(words: str) -> None:
    assert sound_words(words, ENGLISH) == ("", "")


def test_progress_is_of_the_talk() -> None:
    window = window_of(*LINES)
    assert progress_of("the linter fails and the tests are green", window)[0]
    assert progress_of("Migrated the cluster to Kubernetes", window) == ("", False)
    assert progress_of("the build fails with error E4711", window) == ("", False)
    assert progress_of("构建通过了", window) == ("", True)
    assert progress_of("构建又红了，再跑一遍测试", window_of(*CHINESE))[0]


def test_topics_stand_in_the_talk_and_have_a_translation_or_none() -> None:
    topics = [
        {"word": "lock file", "also": "锁文件"},
        {"word": "build", "also": "build 4711 http://example.org"},
        {"word": "Docker", "also": "容器"},
        {"word": "tests", "also": "tests"},
        {"word": 7},
    ]
    found = {topic.word: topic.also for topic in topics_of(topics, window_of(*LINES))}
    assert found == {"lock file": "锁文件", "build": "", "tests": ""}
    chinese = topics_of([{"word": "提交信息", "also": "commit message"}], window_of(*CHINESE))
    assert [(topic.word, topic.also) for topic in chinese] == [("提交信息", "commit message")]
