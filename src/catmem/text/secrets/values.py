"""Read the value that a word announces, and decide whether it is a secret or only a word about secrets."""

from __future__ import annotations

import re
from functools import cache

from catmem.text.secrets.checks import (
    is_code,
    is_hash_like,
    is_identifier,
    is_mixed,
    is_ordinary,
    is_placeholder,
    is_random,
    reads_as_word,
)
from catmem.text.secrets.words import NAME_OF_OTHER, UNITS, UNITS_CJK


class Place:
    """An announced value: by what name, how, and where it stands."""

    __slots__ = ("alone", "copula", "end", "family", "name", "quoted", "spoken", "start", "value")

    def __init__(self, family: str, name: str, copula: str, spoken: bool) -> None:
        self.family = family  # "password", "key", "code" or "pair": how much proof the value needs
        self.name = name  # DB_PASSWORD, "cache key", 密码
        self.copula = copula  # "=", "is", 是, or nothing
        self.spoken = spoken  # prose, and not an assignment
        self.value, self.start, self.end = "", 0, 0
        self.quoted = False
        self.alone = False  # the value ends its line


@cache
def compiled(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """A pattern, compiled on first use and kept."""
    return re.compile(pattern, flags)


# --- reading --------------------------------------------------------------------------------------------------------

_QUOTES = {"「": "」", "『": "』", "“": "”", "‘": "’", "«": "»", "《": "》"}
# Where an unquoted value surely ends: an escape, a closing quote, or a separator before the next name.
_VALUE_END = r"\\[nrt\"']|[\"'`<>]|[,;&|](?=\s*$|\s*[\"']?[A-Za-z_][\w.-]{0,40}[\"']?\s*[=:])"
# A password may hold any sign; a key and a code hold no separators.
_RUNS = {"key": r"[!#-%(-+\--:=?-_a-{}~]{1,300}", "code": r"[A-Za-z0-9-]{1,40}"}
_CLOSING = {")": "(", "]": "[", "}": "{"}


def take(text: str, at: int, place: Place) -> bool:
    """Read the value at `at` into `place`: quoted up to the closing quote, else a run of printable ASCII."""
    opener = compiled(r"\\{0,3}[\"'`]|``").match(text, at)
    if opener:
        stop = text.find(opener[0], opener.end(), opener.end() + 300)
        line = text.find("\n", opener.end(), opener.end() + 300)
        if stop == opener.end():  # empty
            return False
        if stop > 0 and not 0 <= line < stop:
            return _set(text, opener.end(), stop, place, quoted=True)
        at = opener.end()
    elif closer := _QUOTES.get(text[at : at + 1]):
        stop = text.find(closer, at + 1, at + 60)
        return stop > 0 and _set(text, at + 1, stop, place, quoted=True)
    run = compiled(_RUNS.get(place.family, r"[!-~]{1,300}")).match(text, at)
    return run is not None and _set(text, at, at + len(trimmed(run[0])), place, quoted=False)


def trimmed(run: str) -> str:
    """Cut an unquoted value where the sentence or the next assignment goes on."""
    if cut := compiled(_VALUE_END).search(run, 1):
        run = run[: cut.start()]
    while run and (run[-1] in ".,;:?*" or run.count(_CLOSING.get(run[-1], run[-1])) < run.count(run[-1])):
        run = run[:-1]
    return run


def _set(text: str, start: int, end: int, place: Place, quoted: bool) -> bool:
    place.start, place.end, place.value, place.quoted = start, end, text[start:end], quoted
    rest = compiled(r"[\"'`*_,;)\]}\s\\.]*").match(text, end)
    after = rest[0] if rest else ""
    place.alone = "\n" in after or end + len(after) >= len(text)
    return bool(place.value.strip())


# --- believing ------------------------------------------------------------------------------------------------------


def is_believed(text: str, place: Place) -> bool:
    """Is the value of a word in prose or of an assignment a secret? For what people and assistants write."""
    if is_placeholder(place.value) or (place.family != "code" and names_another(place.name)):
        return False
    if place.family == "password":
        return _is_password(text, place)
    if place.family == "code":
        return is_code_number(text, place)
    return place.family == "key" and _is_key(text, place)


def names_another(name: str) -> bool:
    """password_length, token_count, publicKey: the name of something else."""
    parts = compiled(r"[A-Z]?[a-z0-9]+|[A-Z0-9]+").findall(name)
    return any(part.lower() in NAME_OF_OTHER for part in parts)


def is_measure(text: str, place: Place) -> bool:
    """A number and its unit: "8 characters", "16 位"."""
    if not compiled(r"[\d.,~–-]{1,9}\+?").fullmatch(place.value):
        return False
    unit = compiled(r"\s{0,2}([A-Za-z]+|[^\x00-\x7f]{1,2})").match(text, place.end)
    return unit is not None and (unit[1].lower() in UNITS or unit[1].startswith(UNITS_CJK))


# The next cell of a table or a list, or what follows a question, proves less than an assignment.
_COLUMNS = ("|", ",", "?")


def _is_password(text: str, place: Place) -> bool:
    value = place.value
    if place.copula in _COLUMNS and not (is_mixed(value) and len(value) >= 6):
        return False
    if len(value) < 3 or is_ordinary(value) or is_measure(text, place):
        return False
    if place.quoted:
        return _is_quoted_password(value, place)
    if is_code(value) or is_identifier(value):
        return False
    if value.isalpha():
        if place.spoken and place.name.lower().split()[-1] == "pass":  # "pass to", "one pass is"
            return False
        return len(value) >= 4 and not reads_as_word(value) and _stands_out(text, place)
    if value.isdigit():
        return len(value) >= 4
    return is_mixed(value) or bool(compiled(r"[!@#$%^&*+=~?]").search(value)) or value.count("-") >= 3


_CJK_WORDS = r"密码|密碼|口令|错|請|请|输入|不能|为空|必填|パスワード|入力|비밀|확인"


def _is_quoted_password(value: str, place: Place) -> bool:
    if not value.isascii():  # 口令是「芝麻开门」
        return len(value) <= 16 and not compiled(_CJK_WORDS).search(value)
    if " " in value:
        words = value.split()
        return "phrase" in place.name.lower() and 3 <= len(words) <= 10 and all(word.isalnum() for word in words)
    if is_code(value) and not is_mixed(value):
        return False
    return not is_identifier(value) and not (value.isalpha() and reads_as_word(value))


_CLAUSE_END = r"\s*(?:[.,;!)\]}\n。，；！）、\"'`]|$|\\n|(?:for|btw|dont|don't|please|fyi|lol)\b)"


def _stands_out(text: str, place: Place) -> bool:
    """A word of letters alone is a password if it ends its clause, in prose, on a line of its own, or after a bare =."""
    shown = place.spoken or place.alone or text[place.start - 1] in "=:："
    return shown and compiled(_CLAUSE_END).match(text, place.end) is not None


_CODE_NUMBER = r"[A-Za-z0-9]{4,10}(?:-[A-Za-z0-9]{3,10}){0,7}|G-\d{6}|\d{3} \d{3}"


def is_code_number(text: str, place: Place) -> bool:
    """A one-time code, a PIN, a door code, the three digits on a card's back."""
    value = place.value
    if is_measure(text, place) or is_ordinary(value):
        return False
    if "cv" in place.name.lower():
        return value.isdigit() and len(value) in (3, 4)
    if value.isdigit():
        return 4 <= len(value) <= 12
    return is_mixed(value) and compiled(_CODE_NUMBER).fullmatch(value) is not None


def _is_key(text: str, place: Place) -> bool:
    value, low = place.value, place.name.lower()
    if len(value) < 6 or " " in value or "\\" in value or is_ordinary(value) or is_measure(text, place):
        return False
    if is_code(value) or is_identifier(value):
        return False
    if place.copula in _COLUMNS and not is_random(value, 16):
        return False
    if "key" in low and not opens(low):  # a key of a map, a cache, a list; or of a maker we do not know
        return is_random(value, 16) and not is_hash_like(value) and not compiled(r"[a-z0-9-]+").fullmatch(value)
    if is_hash_like(value):
        return opens(low)
    if value.isalpha():
        mixed_case = value not in (value.lower(), value.upper(), value.title())
        return (len(value) >= 16 and mixed_case) or _is_secret_phrase(low, place)
    if value.isdigit():
        return len(value) >= 8 and "secret" in low
    return is_mixed(value) and (len(value) >= 8 or place.quoted or "secret" in low or not place.spoken)


def _is_secret_phrase(name: str, place: Place) -> bool:
    """JWT_SECRET=mysupersecretvalue: letters alone, in a settings file."""
    return "secret" in name and not place.spoken and len(place.value) >= 12 and (place.alone or place.quoted)


_OPENING = (
    r"api|secret|access|auth|private|bearer|refresh|personal|bot|token|encrypt|master|sign|licen|service|hmac|account"
    r"|deploy|webhook|client|app|admin|wifi|wpa|shared|密钥|密鑰|秘钥|密匙|私钥|私鑰|令牌|凭证|凭据|激活码|토큰|トークン|シークレット|秘密鍵|キー"
)
_NOT_OPENING = r"session|trace|request|device|instance|client_?id"


def opens(name: str) -> bool:
    """Does the name say that it opens something? Then a UUID or plain hexadecimal is believed."""
    return compiled(_OPENING).search(name) is not None and not compiled(_NOT_OPENING).search(name)


# --- tools: only lines of the shape of a settings file ---------------------------------------------------------------

# What may stand before the name: a line start (also numbered, quoted or of a diff), an export, a flag.
_LINE_START = (
    r"(?:^|[\n\r\"'`]|\\n|[-+>|] |(?:^|\n)(?:[+-]|//\S{1,60}/:|[\w./-]{1,60}:(?:\d+[:-])?)|\d+[→:|\t] {0,4}|(?:export|set|env|ENV|ARG|declare -x|\$env:|-e|--env|setx) ?)"
    r"[ \t]{0,40}[\"']?$"
)


def is_believed_of_tool(text: str, name_start: int, place: Place) -> bool:
    """NAME=value as in `.env`, or `name: value` in a settings file with a value that no word and no code is."""
    value, name = place.value, place.name.strip()
    if place.spoken or place.family not in ("password", "key") or place.copula not in ("=", ":", "：", ":="):
        return False
    if is_placeholder(value) or names_another(name):
        return False
    if not compiled(_LINE_START).search(text[max(0, name_start - 60) : name_start]):
        return False
    if len(value) < 4 or " " in value or "\\" in value or is_code(value) or is_ordinary(value) or is_identifier(value):
        return False
    named_as_env = compiled(r"[A-Z][A-Z0-9_]{2,60}").fullmatch(name) is not None
    if place.family == "password":
        return (
            (not value.isalpha() or place.alone)
            if named_as_env
            else is_mixed(value) and len(value) >= 6 and place.alone
        )
    if is_hash_like(value) and not opens(name.lower()):
        return False
    if named_as_env:
        return (is_mixed(value) and len(value) >= 8) or _is_secret_phrase(name.lower(), place)
    return is_random(value, 16) and place.alone and not is_hash_like(value)
