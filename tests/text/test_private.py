"""Private parts and our own blocks: out, whole, in any cutting of the stream."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catmem.text.private import OUR_TAG, PrivateStream, strip_injected, strip_private

PIECES = st.lists(
    st.sampled_from(
        [
            "<private>", "</private>", "<PRIVATE why='a > b'>", "< private >", "</ private >", "<private/>", "<privates>",
            "`<private>`", "`", "<", ">", "/", "<pri", "vate", "<<private>", "公开", "秘密", " ", "\n", "text", "<" + "x" * 300,
        ]
    ),
    max_size=14,
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a <private>b</private> c", "a  c"),
        ("甲<private>乙</private>丙", "甲丙"),
        ("a<private>b<private>c</private>d</private>e", "ae"),
        ("a <PRIVATE reason='hr'>b</Private> c", "a  c"),
        ("a < private >b</ private > c", "a  c"),
        ("a <private>b to the end\nand on", "a "),
        ("a <private/> b", "a  b"),
        ("put it into a `<private>` tag, please", "put it into a `<private>` tag, please"),
        ("把它放进 `<private>` 标签里", "把它放进 `<private>` 标签里"),
        ("<private>a `</private>` b</private>c", "c"),
        ("List<privateKey> x</private>", "List<privateKey> x</private>"),
        ("nothing here < private", "nothing here < private"),
        ("", ""),
    ],
)
def test_private_parts_go(text: str, kept: str) -> None:
    assert strip_private(text) == kept


@given(PIECES, st.data())
def test_any_chunking_gives_the_same(pieces: list[str], data: st.DataObject) -> None:
    text = "".join(pieces)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=12)))
    stream = PrivateStream()
    parts = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert "".join([stream.feed(part) for part in parts]) + stream.close() == strip_private(text)


@given(st.text(st.sampled_from("<>/private `\n"), max_size=60))
def test_letter_by_letter(text: str) -> None:
    stream = PrivateStream()
    assert "".join(stream.feed(letter) for letter in text) + stream.close() == strip_private(text)


def test_a_stream_holds_back_only_what_could_be_a_tag() -> None:
    stream = PrivateStream()
    assert stream.feed("hello <pri") == "hello "
    assert stream.feed("nt> x") == "<print> x"
    assert stream.feed(" y <private>z") == " y "
    assert stream.close() == ""


OPEN, CLOSE = f"<{OUR_TAG} version='1'>", f"</{OUR_TAG}>"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (f"{OPEN}\n- port 8123\n{CLOSE}\nStart it.", "\nStart it."),
        (f"先 {OPEN}端口{CLOSE} 后", "先  后"),
        (f"a{OPEN}1{CLOSE}b{OPEN}2{CLOSE}c", "abc"),
        (f"a\n{OPEN}\n- cut off here", "a\n"),
        (f"reminder: {OPEN}\n- cut off here", "reminder: "),
        (f"what is {OPEN} for?", f"what is {OPEN} for?"),
        (f"what is `<{OUR_TAG}>` for?", f"what is `<{OUR_TAG}>` for?"),
        (f"a{OPEN.upper()}x{CLOSE.upper()}b", "ab"),
        ("no tag at all", "no tag at all"),
    ],
)
def test_our_own_blocks_go(text: str, kept: str) -> None:
    assert strip_injected(text) == kept


@given(st.lists(st.sampled_from([OPEN, CLOSE, "text", "\n", "`", "记忆"]), max_size=10))
def test_stripping_injected_twice_changes_nothing_more(pieces: list[str]) -> None:
    once = strip_injected("".join(pieces))
    assert strip_injected(once) == once
