"""Secrets that a word announces: `DB_PASSWORD=…`, "the wifi password is …", 密码是…, `--api-key …`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from catmem.text.secret_checks import (
    is_code,
    is_hash_like,
    is_identifier,
    is_mixed,
    is_ordinary,
    is_placeholder,
    is_random,
    reads_as_word,
)
from catmem.text.secret_rules import LEAD, LEADS
from catmem.text.secret_words import NAME_OF_OTHER, UNITS, UNITS_CJK


class Place:
    """One announced value and what is known about how it is announced."""

    __slots__ = ("copula", "end", "family", "line", "name", "quoted", "spoken", "start", "value")

    def __init__(self, family: str, name: str, copula: str, spoken: bool) -> None:
        self.family, self.name, self.copula, self.spoken = family, name, copula, spoken
        self.start = self.end = 0
        self.value, self.quoted, self.line = "", False, False


@cache
def _compiled(pattern: str, flags: int = 0) -> re.Pattern[str]:
    return re.compile(pattern, flags)


def find(text: str, folded: str, source: str) -> Iterator[tuple[str, int, int]]:
    """Yield kind, start and end of each announced secret. `folded` is `text` in lower case, of the same length."""
    for kind, family, anchors in LEADS:
        for anchor in anchors.split("\n"):
            whole_word = anchor.startswith("\\b")
            word = anchor[2:] if whole_word else anchor
            at = folded.find(word)
            while at >= 0:
                end = at + len(word)
                if not whole_word or _is_whole(text, at, end):
                    for start, stop in _read(text, at, end, family, source, word):
                        yield kind, start, stop
                at = folded.find(word, end)


def _is_whole(text: str, at: int, end: int) -> bool:
    """Is `pass` a word, or a part of a name (`dbPass`, DB_PASS), and not the beginning of `passenger`?"""
    before, first, after = text[at - 1 : at] if at else "", text[at], text[end : end + 1]
    if after.isascii() and after.isalpha():
        return False
    return not (before.isascii() and before.isalpha()) or (before.islower() and first.isupper())


def _read(text: str, at: int, end: int, family: str, source: str, word: str) -> list[tuple[int, int]]:
    lead = _compiled(LEAD, re.IGNORECASE).match(text, end)
    head = _head(text, at)
    found = []
    if lead:
        place = Place(family, head + text[at:end] + lead["tail"], lead["copula"].strip().lower(), _is_spoken(lead))
        if _take(text, lead.end(), place) and _believed(text, at, place, source):
            found.append((place.start, place.end))
    if not found:
        found += _adjacent(text, at, end, family, source, head)
    if not found and source == "said":
        found += _reversed(text, at, end, family)
    return found


def _is_spoken(lead: re.Match[str]) -> bool:
    """Prose, and not an assignment: a copula that is a word."""
    return not _compiled(r"[\s:=>\-|?：＝→{\[\"',]*").fullmatch(lead["copula"]) or bool(lead["about"])


def _head(text: str, at: int) -> str:
    """The name's part before the anchor, and in prose the word before it ("cache key")."""
    start = at
    while (
        start > max(0, at - 48)
        and text[start - 1].isascii()
        and (text[start - 1].isalnum() or text[start - 1] in "_.-")
    ):
        start -= 1
    if start < at:
        return text[start:at]
    before = _compiled(r"[A-Za-z_]{1,20}[ \t]$").search(text[max(0, at - 24) : at])
    return before[0] if before else ""


# --- reading the value ---------------------------------------------------------------------------------------------

_QUOTES = {"「": "」", "『": "』", "“": "”", "‘": "’", "«": "»", "《": "》"}


def _take(text: str, at: int, place: Place) -> bool:
    """Read the value at `at` into `place`: quoted up to the closing quote, else a run of printable ASCII."""
    opener = _compiled(r"\\{0,3}[\"'`]|``").match(text, at)
    if opener:
        stop = text.find(opener[0], opener.end(), opener.end() + 300)
        line = text.find("\n", opener.end(), opener.end() + 300)
        if stop > opener.end() and not 0 <= line < stop:
            return _set(text, opener.end(), stop, place, quoted=True)
        at = opener.end()
    elif closer := _QUOTES.get(text[at : at + 1]):
        stop = text.find(closer, at + 1, at + 60)
        return stop > 0 and _set(text, at + 1, stop, place, quoted=True)
    run = _compiled(r"[!-~]{1,300}").match(text, at)
    if not run:
        return False
    return _set(text, at, at + len(_trimmed(run[0])), place, quoted=False)


# Where an unquoted value surely ends: an escape, a closing quote, or a separator before the next name.
_VALUE_END = r"\\[nrt\"']|[\"'`<>]|[,;&|](?=\s*$|\s*[\"']?[A-Za-z_][\w.-]{0,40}[\"']?\s*[=:])"


def _trimmed(run: str) -> str:
    if cut := _compiled(_VALUE_END).search(run, 1):
        run = run[: cut.start()]
    while run:
        last = run[-1]
        pairs = {")": "(", "]": "[", "}": "{"}
        if last in ".,;:?*" or (last in pairs and run.count(pairs[last]) < run.count(last)):
            run = run[:-1]
        else:
            break
    return run


def _set(text: str, start: int, end: int, place: Place, quoted: bool) -> bool:
    place.start, place.end, place.value, place.quoted = start, end, text[start:end], quoted
    rest = _compiled(r"[\"'`*_,;)\]}\s\\.]*").match(text, end)
    after = rest[0] if rest else ""
    place.line = "\n" in after or end + len(after) >= len(text)
    return bool(place.value.strip())


# --- believing it ---------------------------------------------------------------------------------------------------


def _believed(text: str, at: int, place: Place, source: str) -> bool:
    value = place.value
    if is_placeholder(value) or value.startswith("[secret:") or _names_another(place.name):
        return False
    if source == "tool":
        return _believed_of_tool(text, at, place)
    if place.family == "password":
        return _is_password(text, place)
    if place.family == "code":
        return _is_code_number(text, place)
    if place.family == "pair":
        return False
    return _is_key(text, at, place)


def _names_another(name: str) -> bool:
    """password_length, token_count, publicKey: the name of something else."""
    parts = _compiled(r"[A-Z]?[a-z0-9]+|[A-Z0-9]+").findall(name)
    return any(part.lower() in NAME_OF_OTHER for part in parts)


def _is_password(text: str, place: Place) -> bool:
    value = place.value
    if len(value) < 3 or is_ordinary(value) or _is_measure(text, place):
        return False
    if place.quoted:
        return _is_quoted_password(value, place)
    if is_code(value) or is_identifier(value):
        return False
    if value.isalpha():
        return _ends_clause(text, place.end) and not reads_as_word(value) and len(value) >= 4 and _alone(text, place)
    if value.isdigit():
        return len(value) >= 4
    return is_mixed(value) or bool(_compiled(r"[!@#$%^&*+=~?]").search(value)) or value.count("-") >= 3


def _is_quoted_password(value: str, place: Place) -> bool:
    if not value.isascii():  # 口令是「芝麻开门」
        return len(value) <= 16 and not _compiled(
            r"密码|密碼|口令|错|請|请|输入|不能|为空|必填|パスワード|入力|비밀|확인"
        ).search(value)
    if " " in value:
        words = value.split()
        return "phrase" in place.name.lower() and 3 <= len(words) <= 10 and all(w.isalnum() for w in words)
    if is_code(value) and not is_mixed(value):
        return False
    return not is_identifier(value) and not (value.isalpha() and reads_as_word(value))


def _alone(text: str, place: Place) -> bool:
    """A bare word is a password in prose, in a line of its own, or in an assignment without blanks."""
    return place.spoken or place.line or text[place.start - 1] in "=:："


def _ends_clause(text: str, end: int) -> bool:
    return bool(
        _compiled(r"\s*(?:[.,;!)\]}\n。，；！）、\"'`]|$|\\n|(?:for|btw|dont|don't|please|fyi|lol)\b)").match(text, end)
    )


def _is_measure(text: str, place: Place) -> bool:
    """ "8 characters", "16 位": a number and its unit."""
    if not _compiled(r"[\d.,~–-]{1,9}\+?").fullmatch(place.value):
        return False
    unit = _compiled(r"\s{0,2}([A-Za-z]+|[^\x00-\x7f]{1,2})").match(text, place.end)
    return unit is not None and (unit[1].lower() in UNITS or unit[1].startswith(UNITS_CJK))


def _is_code_number(text: str, place: Place) -> bool:
    value = place.value
    if _is_measure(text, place) or is_ordinary(value):
        return False
    low = place.name.lower()
    if low.startswith(("cvv", "cvc")):
        return value.isdigit() and len(value) in (3, 4)
    if value.isdigit():
        return 4 <= len(value) <= 12
    return bool(
        _compiled(r"[A-Za-z0-9]{4,10}(?:-[A-Za-z0-9]{3,10}){0,7}|G-\d{6}|\d{3} \d{3}").fullmatch(value)
    ) and is_mixed(value)


def _is_key(text: str, at: int, place: Place) -> bool:
    value, low = place.value, place.name.lower()
    if len(value) < 6 or is_ordinary(value) or " " in value or _is_measure(text, place):
        return False
    if is_code(value) or is_identifier(value):
        return False
    if _is_bare(low):
        return is_random(value, 16) and not is_hash_like(value) and not _compiled(r"[a-z0-9-]+").fullmatch(value)
    if is_hash_like(value):
        return _opens(low)
    if value.isalpha():
        return len(value) >= 16 and value not in (value.lower(), value.upper(), value.title())
    if value.isdigit():
        return len(value) >= 8 and "secret" in low
    if not is_mixed(value):
        return False
    return len(value) >= 8 or place.quoted or "secret" in low or not place.spoken


_OPENS = "api|secret|access|auth|private|bearer|refresh|personal|bot|密钥|密鑰|秘钥|私钥|令牌|凭证|토큰|トークン|キー|token|encryption|master|signing|license"


def _opens(name: str) -> bool:
    """Is it a key that opens something? Then a UUID or plain hexadecimal is believed."""
    return bool(_compiled(_OPENS).search(name)) and not _compiled(
        r"session|trace|request|device|instance|client_?id"
    ).search(name)


def _is_bare(name: str) -> bool:
    """ "key" and nothing before it that says what it opens."""
    return bool(
        _compiled(r"(?:(?:the|a|this|that|my|new|your|our|and|with|use|is|it|by|of|as|to) )?keys?").fullmatch(
            name.strip()
        )
    )


# --- tools: only lines of the shape of a settings file -------------------------------------------------------------------

_LINE_START = r"(?:^|[\n\r\"'`]|\\n|[-+>|] |\d+[→:|\t] {0,4}|(?:export|set|env|ENV|ARG|declare -x|\$env:|-e|--env|setx) ?)[ \t]{0,40}[\"']?$"


def _believed_of_tool(text: str, at: int, place: Place) -> bool:
    """NAME=value as in `.env`, or `name: value` in a settings file with a value made by a machine or a generator."""
    if place.spoken or place.family in ("code", "pair") or place.copula not in ("=", ":", "：", ":="):
        return False
    value = place.value
    name_start = at - len(place.name) + len(place.name[len(_head(text, at)) :]) if _head(text, at) else at
    if not _compiled(_LINE_START).search(text[max(0, name_start - 60) : name_start]):
        return False
    if is_code(value) or is_ordinary(value) or is_identifier(value) or " " in value or len(value) < 4:
        return False
    named_as_env = bool(_compiled(r"[A-Z][A-Z0-9_]{2,60}").fullmatch(place.name))
    if place.family == "password":
        if named_as_env:
            return not _compiled(r"[a-z_]+\(|^\$").search(value) and (not value.isalpha() or place.line)
        return is_mixed(value) and len(value) >= 6 and place.line
    if is_hash_like(value) and not _opens(place.name.lower()):
        return False
    if named_as_env:
        return is_mixed(value) and len(value) >= 8
    return is_random(value, 16) and place.line and not is_hash_like(value)


# --- without a copula, and the other way round --------------------------------------------------------------------------

_FLAG = r"(?P<tail>[\w-]{0,10})(?:[ \t]+|=|\",\s?|',\s?)"
_BESIDE = r"(?P<tail>)[s]?[\"'`)]{0,2}\s{0,3}[（(\"'`「“]?(?=[!-~])"


def _adjacent(text: str, at: int, end: int, family: str, source: str, head: str) -> list[tuple[int, int]]:
    """`--api-key VALUE`, "password hunter2", "API key 9f…", 密码abc123, "creds: admin/hunter2"."""
    if family == "pair":
        return _pair(text, end) if source == "said" else []
    flag = head.startswith("-") or (head == "" and text[max(0, at - 1) : at] == "-")
    lead = _compiled(_FLAG if flag else _BESIDE).match(text, end)
    if not lead or (source == "tool" and not flag):
        return []
    place = Place(family, head.strip("-") + text[at:end] + lead["tail"], "", spoken=not flag)
    if not _take(text, lead.end(), place) or is_placeholder(place.value) or _names_another(place.name):
        return []
    value = place.value
    if (
        value.startswith("-")
        or is_code(value)
        or is_ordinary(value)
        or is_identifier(value)
        or _is_measure(text, place)
    ):
        return []
    if flag:
        proven = is_mixed(value) or (family == "password" and len(value) >= 4 and not value.isdigit())
    elif family == "password":
        proven = is_mixed(value) and len(value) >= 6 and not is_hash_like(value)
    elif family == "key" and text[end : lead.end()].strip(" ") == "" and head.strip():
        proven = (
            is_random(value, 16)
            and not is_hash_like(value)
            and (_opens(place.name.lower()) or _is_bare(place.name.lower()))
        )
    elif family == "key" and not text[at].isascii():
        proven = is_random(value, 12) and not is_hash_like(value)
    else:
        proven = family == "code" and value.isdigit() and 4 <= len(value) <= 8
    return [(place.start, place.end)] if proven else []


_PAIR = (
    r"[\"'`*]{0,3}\s?(?:(?:are|is|were|为|是|分别是|は|with|as)\s?)?[:：=]?\s{0,3}[\"'`*]{0,3}"
    r"(?P<user>[\w.@+-]{1,60})[\"'`]?\s{0,2}(?:[/:,，、|]|\band\b|和)\s{0,2}[\"'`]?(?P<v>[!-~]{3,100})"
)


def _pair(text: str, end: int) -> list[tuple[int, int]]:
    match = _compiled(_PAIR).match(text, end)
    if not match:
        return []
    value = _trimmed(match["v"])
    proven = is_mixed(value) and len(value) >= 5 or bool(_compiled(r"\w+[!@#$%^&*]+\w*").fullmatch(value))
    if not proven or is_placeholder(value) or is_code(value) or is_ordinary(value) or value.startswith("//"):
        return []
    start = match.start("v")
    return [(start, start + len(value))]


_AS_ONE = r"(?:[\"'`」”]?\s?(?:as|is|for|被?设为|设成|就是|是|当成|当作|当|作为|做|が|を|は)\s?(?:(?:the|my|our|your|a|new|新的?|她的?|我的?)\s?)?(?:[A-Za-z]+\s){0,2})$"


def _reversed(text: str, at: int, end: int, family: str) -> list[tuple[int, int]]:
    """ "hunter2 is the password", "use hunter2 as the password", abc123 是密码."""
    if family not in ("password", "key"):
        return []
    window = text[max(0, at - 60) : at]
    match = _compiled(_AS_ONE).search(window)
    if not match:
        return []
    before = _compiled(r"[!-~]{4,60}$").search(window[: match.start()])
    if not before:
        return []
    value = before[0].lstrip("\"'`([").rstrip("\"'`")
    least = 5 if family == "password" else 16
    if (
        not is_mixed(value)
        or len(value) < least
        or is_ordinary(value)
        or is_placeholder(value)
        or is_code(value)
        or is_hash_like(value)
    ):
        return []
    start = at - len(window) + before.start() + before[0].find(value)
    return [(start, start + len(value))]
