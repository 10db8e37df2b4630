"""Checksums and judgements on values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catmem.text.secrets.checks import (
    is_card,
    is_chinese_id,
    is_code,
    is_iban,
    is_identifier,
    is_ordinary,
    is_placeholder,
    is_random,
    is_scrambled,
    luhn,
)
from tests.text.secret_samples import Maker


@given(st.integers(0, 2**30))
def test_what_the_maker_makes_is_valid_and_one_digit_off_is_not(seed: int) -> None:
    make = Maker(seed)
    card, number = make.card("4", 16), make.chinese_id()
    assert luhn(card) and is_chinese_id(number)
    assert not luhn(card[:-1] + str((int(card[-1]) + 1) % 10))
    other = "0" if number[-1] != "0" else "1"
    assert not is_chinese_id(number[:-1] + other)


def test_cards_and_accounts() -> None:
    assert is_card("5555 5555 5555 4444")
    assert not is_card("1234 5678 9012 3456")
    assert not is_card("0000 0000 0000 0000")
    assert is_iban("DE89 3704 0044 0532 0130 00")
    assert not is_iban("DE89 3704 0044 0532 0130 01")
    assert not is_iban("MT2025120518056789")


@pytest.mark.parametrize(
    "value",
    [
        "<your-key>",
        "$TOKEN",
        "${TOKEN}",
        "{{ token }}",
        "****",
        "xxx",
        "xxxxxxxx",
        "YOUR_KEY",
        "changeme",
        "None",
        "%s",
        "op://a/b",
    ],
)
def test_placeholders(value: str) -> None:
    assert is_placeholder(value)


@pytest.mark.parametrize("value", ["hunter2", "$ecret!!1", "Summer2024!", "x7f3q9", "yourself99"])
def test_no_placeholders(value: str) -> None:
    assert not is_placeholder(value)


@pytest.mark.parametrize(
    "value",
    ["os.environ", "get_token(", "tokens[i]", "self.password", "DB_PASSWORD", "/run/secrets/x", "https://x", "await"],
)
def test_code(value: str) -> None:
    assert is_code(value)


def test_words_names_and_noise() -> None:
    assert is_ordinary("hashed") and is_ordinary("sha256") and is_ordinary("8-character") and is_ordinary("v1.2.3")
    assert not is_ordinary("hunter2") and not is_ordinary("swordfish")
    assert is_identifier("newPassword") and is_identifier("auth_token") and not is_identifier("letmein")
    assert is_random("a1b2" * 4, 16) and not is_random("abcdefgh" * 2, 16)
    assert is_scrambled("aZ7kQ9mP2xL5vB8nR4tW", 20) and not is_scrambled("tokenRefreshHandlerV2Impl", 20)
