"""Secrets that a word announces: `DB_PASSWORD=…`, "the wifi password is …", 密码是…, `--api-key …`."""

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
    is_scrambled,
    names_a_thing,
)
from catmem.text.secrets.rules import LEAD, LEADS
from catmem.text.secrets.shapes import plain
from catmem.text.secrets.values import (
    Place,
    compiled,
    is_believed,
    is_believed_of_tool,
    is_code_number,
    is_measure,
    names_another,
    opens,
    take,
    trimmed,
)

TYPE_CHECKING = False  # as typing's, without importing it in the hot path
if TYPE_CHECKING:
    from collections.abc import Iterator

Range = tuple[int, int]


@cache
def _leads() -> tuple[tuple[str, bool, str, str], ...]:
    return tuple(
        (anchor.removeprefix("\\b"), anchor.startswith("\\b"), kind, family)
        for kind, family, anchors in LEADS
        for anchor in anchors.split("\n")
    )


# Without three signs in a row near the word there is no value (a Chinese sentence about passwords has none).
_ANY_VALUE = r"[!-~]{3}"


def find(text: str, folded: str, source: str) -> Iterator[tuple[str, int, int]]:
    """Yield kind, start and end of each announced secret. `folded` is `text` in lower case, of the same length."""
    ascii_only = plain(folded)
    for word, whole, kind, family in _leads():
        if word not in (ascii_only if word.isascii() else folded):
            continue
        at = folded.find(word)
        while at >= 0:
            end = at + len(word)
            if compiled(_ANY_VALUE).search(text, max(0, at - 160), end + 200) and (
                not whole or _is_whole(text, at, end)
            ):
                found = _announced(text, at, end, family, source) or _beside(text, at, end, family, source)
                if not found and source == "said":
                    found = _reversed(text, at, family) or _further(text, at, end, family)
                if found:
                    yield kind, *found
            at = folded.find(word, end)


def _is_whole(text: str, at: int, end: int) -> bool:
    """Is `pass` a word, or a part of a name (`dbPass`, DB_PASS), and not the beginning of `passenger`?"""
    before, first, after = text[at - 1 : at] if at else "", text[at], text[end : end + 1]
    if after.isascii() and after.isalpha():
        return False
    return not (before.isascii() and before.isalpha()) or (before.islower() and first.isupper())


_NAME_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"


def _head(text: str, at: int) -> str:
    """The part of the name before the anchor (DB_ of DB_PASSWORD), in prose the word before it ("cache key")."""
    window = text[max(0, at - 48) : at]
    head = window[len(window.rstrip(_NAME_LETTERS)) :]
    if head:
        return head
    before = compiled(r"[A-Za-z_]{1,20}[ \t]$").search(text[max(0, at - 24) : at])
    return before[0] if before else ""


def _announced(text: str, at: int, end: int, family: str, source: str) -> Range | None:
    """A name or noun, a copula, a value."""
    lead = compiled(LEAD, re.IGNORECASE).match(text, end)
    if not lead:
        return None
    if "\n" in lead["after"] and (
        ")" in lead["close"] or compiled(r"[ \t]*[\w.\[\]]+\s*[=:(]").match(text, lead.end())
    ):
        return None  # the next line of code, or the next name
    head = _head(text, at)
    spoken = bool(lead["about"]) or not compiled(r"[\s:=>\-|?：＝→{\[\"',]*").fullmatch(lead["copula"])
    place = Place(family, head + text[at:end] + lead["tail"], lead["copula"].strip().lower(), spoken)
    if not take(text, lead.end(), place):
        return None
    if "/" in place.value and compiled(_OF_PAIR).search(text[max(0, at - 10) : at]):
        return None  # "账号密码：bob/…" is a pair
    name_start = at if head.endswith((" ", "\t")) else at - len(head)
    believed = is_believed(text, place) if source == "said" else is_believed_of_tool(text, name_start, place)
    return (place.start, place.end) if believed else None


_OF_PAIR = r"(?i)(?:账号|帐号|账户|用户名?|帳號|user|username|login|id)\s?[和与/:、と]?\s?$"

# --- without a copula ------------------------------------------------------------------------------------------------

_FLAG = r"(?P<tail>[\w-]{0,10})(?:[ \t]+|=|\",\s?|',\s?)"
_BESIDE = r"(?P<tail>)s?(?:\s(?:to|as))?[\"'`)]{0,2}\s{0,3}[（(\"'`「“]?(?=[!-~])"
# "pass" is a verb, too; it announces something only near an account.
_ACCOUNT = r"(?i)user|login|root|admin|wi-?fi|account|账号|帐号|用户|\bmy |\bthe "


def _beside(text: str, at: int, end: int, family: str, source: str) -> Range | None:
    """`--api-key VALUE`, "password hunter2", "API key 9f…", 密码abc123, "creds: admin/hunter2"."""
    if family == "pair":
        return _pair(text, end) if source == "said" else None
    head = _head(text, at)
    flag = head.startswith("-")
    lead = compiled(_FLAG if flag else _BESIDE).match(text, end)
    if not lead or (source == "tool" and not flag) or (lead.end() == end and text[at].isascii()):
        return None
    if text[at:end].lower() == "pass" and not flag and not compiled(_ACCOUNT).search(text[max(0, at - 40) : at]):
        return None
    place = Place(family, head.strip("-") + text[at:end] + lead["tail"], "", spoken=not flag)
    if not take(text, lead.end(), place) or is_placeholder(place.value):
        return None
    if place.value.startswith("-") or _is_no_value(place.value) or is_measure(text, place):
        return None
    if family != "code" and names_another(place.name):
        return None
    proven = _is_flag_value(place) if flag else _is_beside_value(text, at, place)
    return (place.start, place.end) if proven else None


def _is_no_value(value: str) -> bool:
    return is_placeholder(value) or is_code(value) or is_ordinary(value) or is_identifier(value)


def _is_flag_value(place: Place) -> bool:
    value = place.value
    return is_mixed(value) or (place.family == "password" and len(value) >= 4 and not value.isdigit())


def _is_beside_value(text: str, at: int, place: Place) -> bool:
    value = place.value
    if place.family == "code":
        return value.isdigit() and is_code_number(text, place)
    if not is_mixed(value) or is_hash_like(value):
        return False
    if place.family == "password":
        return len(value) >= 6
    if not text[at].isascii():  # 令牌 …, 密钥 …
        return is_random(value, 12)
    low = place.name.lower()
    if "key" in low and not opens(low):
        return is_random(value, 16) and compiled(r"(?:this|my|new|our|the|use) key").fullmatch(low) is not None
    return is_random(value, 16)


_PAIR = (
    r"[\"'`*]{0,3}(?:\s(?:for|to|on|of)\s[^\n:：=/]{1,30}?)?\s?(?:(?:are|is|were|为|是|分别是|は|with|as)\s?)?[:：=]?\s{0,3}[\"'`*]{0,3}"
    r"(?P<user>[\w.@+-]{1,60})[\"'`]?\s{0,2}(?:[/:,，、|]|\band\b|和)\s{0,2}[\"'`]?(?P<v>[!-~]{3,100})"
)


def _pair(text: str, end: int) -> Range | None:
    """A name and a password after one word: "creds: admin/hunter2", 账号密码：bob/…."""
    match = compiled(_PAIR).match(text, end)
    if not match:
        return None
    value = trimmed(match["v"])
    symbols = compiled(r"\w+[!@#$%^&*]+\w*").fullmatch(value) is not None
    if not (symbols or (is_mixed(value) and len(value) >= 5)) or value.startswith("//") or _is_no_value(value):
        return None
    return match.start("v"), match.start("v") + len(value)


# --- the other way round ---------------------------------------------------------------------------------------------

_AS_ONE = (
    r"[\"'`」”]?\s?(?:as|is|for|被?设为|设成|就是|是|当成|当作|当|作为|做|が|を|は)\s?"
    r"(?:(?:the|my|our|your|a|new|新的?|她的?|我的?)\s?)?(?:[A-Za-z]+\s){0,2}$"
)


def _reversed(text: str, at: int, family: str) -> Range | None:
    """ "hunter2 is the password", "use hunter2 as the password", abc123 是密码."""
    if family not in ("password", "key"):
        return None
    window = text[max(0, at - 60) : at]
    match = compiled(_AS_ONE).search(window)
    before = compiled(r"[!-~]{4,60}$").search(window[: match.start()]) if match else None
    if not before:
        return None
    value = before[0].lstrip("\"'`([").rstrip("\"'`")
    if not is_mixed(value) or _is_no_value(value) or is_hash_like(value):
        return None
    if len(value) < 5 if family == "password" else not is_random(value, 16):
        return None
    start = at - len(window) + before.start() + before[0].find(value)
    return start, start + len(value)


# --- further on in the sentence ----------------------------------------------------------------------------------------

_AFTER_COLON = r"[^\n:：]{1,40}(?P<mark>[:：]|\bit is|\bit's|\bis now|现在是|就是)\s{0,2}[\"'`]?(?P<v>[!#-%(-+\--:=?-_a-{}~]{6,200})"
_IN_SENTENCE = r"[^\n.。;；]{1,60}?(?<![\w/.@-])(?P<v>[\w+/-]{20,200})(?![\w/@(.-])"
_BEFORE = r"(?:^|[^\w/.@-])(?P<v>[\w+/-]{20,200})[^\w/@(\n.。;；-][^\n.。;；]{0,40}$"
_PUBLIC = (
    r"(?i)public|公钥|公開鍵|cache|缓存|primary|主键|fingerprint|指纹|commit|hash|digest|integrity|etag|checksum|ssh-"
)


def _further(text: str, at: int, end: int, family: str) -> Range | None:
    """A value that is not next to the word: "记住这个 token，后面都用它：…", "use Xy7… for the api key"."""
    if family not in ("key", "password") or compiled(_PUBLIC).search(text[max(0, at - 30) : end + 30]):
        return None
    colon = compiled(_AFTER_COLON, re.ASCII).match(text, end)
    if colon and (text[end] in ",，、" or not text[at].isascii() or colon["mark"] not in ":："):
        value = trimmed(colon["v"])
        least = 16 if family == "key" else 6
        digits = sum(c.isdigit() for c in value)
        if len(value) >= least and is_mixed(value) and digits >= (2 if family == "key" else 1) and _is_far_value(value):
            return colon.start("v"), colon.start("v") + len(value)
    window = max(0, at - 160)
    for match, offset in (
        (compiled(_IN_SENTENCE, re.ASCII).match(text, end), 0),
        (compiled(_BEFORE, re.ASCII).search(text[window:at]), window),
    ):
        if match and is_scrambled(match["v"], 20) and _is_far_value(match["v"]):
            return match.start("v") + offset, match.end("v") + offset
    return None


def _is_far_value(value: str) -> bool:
    return not (_is_no_value(value) or is_hash_like(value) or names_a_thing(value))
