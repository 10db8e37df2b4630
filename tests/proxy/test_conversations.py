"""Which talk a request belongs to, where nothing names a session."""

from __future__ import annotations

from catmem.domain.message import ToolCall
from catmem.proxy.conversations import Conversations, Opening

LONG = "the teapot stands on the third shelf, behind the kettle"


def opening(said: str, *before: str, **more: object) -> Opening:
    return Opening("p", "c", said, before or ("", ""), **more)  # type: ignore[arg-type]


def test_a_talk_goes_on_where_it_was_answered() -> None:
    talks = Conversations()
    begun = opening("hi")
    key = talks.key_of(begun)
    talks.answered(key, begun, "hello", (), "")
    following = opening("where?", "hi", "hello")
    assert talks.key_of(following) == key
    talks.answered(key, following, LONG, (), "")
    assert talks.key_of(opening("sure?", "where?", f"  {LONG}\n")) == key, "spaces aside"
    assert talks.key_of(opening("sure?", "where? (and a reminder)", LONG)) == key, "a long answer stands for itself"
    assert talks.key_of(opening("sure?", "something else", "hello")) != key, "a short one does not"


def test_each_talk_that_begins_is_a_new_one_unless_it_was_left_without_an_answer() -> None:
    talks = Conversations()
    first = talks.key_of(opening("hi", whole="w"))
    assert talks.key_of(opening("hi", whole="w")) != first
    talks.failed(first, opening("hi", whole="w"))
    assert talks.key_of(opening("hi", whole="w")) == first
    assert talks.key_of(opening("hi", whole="w")) != first, "only once"


def test_a_turn_under_way_is_known_by_its_calls_and_a_kept_answer_by_its_id() -> None:
    talks = Conversations()
    key = talks.key_of(opening("hi"))
    talks.answered(key, opening("hi"), "", (ToolCall("call_7", "look", "{}"),), "resp_1")
    assert talks.key_of(opening("hi", calls=("call_7",))) == key
    assert talks.key_of(opening("bye", previous="resp_1")) == key
    assert talks.key_of(opening("other", calls=("call_7",))) != key
    assert talks.key_of(opening("hi", calls=("made up anew", "look {}"))) == key


def test_projects_and_programs_have_their_own_talks() -> None:
    talks = Conversations()
    key = talks.key_of(opening("hi"))
    talks.answered(key, opening("hi"), LONG, (), "")
    following = opening("where?", "hi", LONG)
    for other in (Opening("q", "c", "where?", following.before), Opening("p", "d", "where?", following.before)):
        assert talks.key_of(other) != key


def test_what_is_not_remembered_is_looked_for_on_disk() -> None:
    talks = Conversations(lambda project, answer: "proxy:old" if (project, answer) == ("p", "hello") else "")
    assert talks.key_of(opening("where?", "hi", "hello")) == "proxy:old"
    assert talks.key_of(opening("where?", "hi", "bye")).startswith("proxy:")


def test_an_answer_that_was_seen_but_not_yet_heard_is_waited_for() -> None:
    begun, heard = opening("在哪里？"), []

    def listen() -> None:
        for key in heard:
            talks.answered(key, begun, "第三层 on the third", (), "")

    talks = Conversations(listen=listen)
    key = talks.key_of(begun)
    heard.append(key)
    assert talks.key_of(opening("sure?", "在哪里？", "第三层 on the third")) == key
