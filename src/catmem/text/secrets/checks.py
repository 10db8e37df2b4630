"""Is it a secret? Checksums, and whether a value is a value at all or a placeholder, code, or an ordinary word."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from itertools import pairwise

from catmem.text.secrets.words import (
    ALGORITHMS,
    ORDINARY_ENDINGS,
    ORDINARY_WORDS,
    SECRET_NOUNS,
    UNITS,
)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def luhn(digits: str) -> bool:
    """ISO/IEC 7812-1: every second digit from the right doubled, the sum of digits divides by ten."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


# First digits and lengths of the card networks (ISO/IEC 7812 issuer ranges): Visa, Mastercard, American Express,
# Discover, Diners, JCB, UnionPay, Maestro.
_CARD = (
    r"4\d{12}(?:\d{3}){0,2}|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}"
    r"|6(?:011|5\d\d|4[4-9]\d)\d{12}|3(?:0[0-5]|[68]\d)\d{11}|35(?:2[89]|[3-8]\d)\d{12}|62\d{14,17}|50\d{14}"
)


def is_card(number: str) -> bool:
    """A payment card number: issuer range, length, checksum; blanks and hyphens between groups are fine."""
    digits = number.replace(" ", "").replace("-", "")
    return bool(_compiled(_CARD).fullmatch(digits)) and luhn(digits) and len(set(digits)) > 1


def is_chinese_id(number: str) -> bool:
    """GB 11643-1999: weights 2^(17-i) mod 11 over 17 digits give the 18th character."""
    weighted = sum(int(digit) * pow(2, 17 - place, 11) for place, digit in enumerate(number[:17]))
    return "10X98765432"[weighted % 11] == number[17].upper()


# Length by country, from the SWIFT IBAN registry.
_IBAN_LENGTHS = (
    "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 EE20 EG29 ES24 FI18 FO18 FR27 "
    "GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 "
    "MD24 ME22 MK19 MR27 MT31 MU30 NL18 NO15 PK24 PL28 PS29 PT25 QA29 RO24 RS22 SA24 SC31 SE24 SI19 SK24 SM27 ST25 SV28 TL23 "
    "TN24 TR26 UA29 VA22 VG24 XK20"
)


def is_iban(number: str) -> bool:
    """ISO 13616: moved to the end and read as digits, the number leaves 1 modulo 97."""
    compact = number.replace(" ", "")
    if _IBAN_LENGTHS.find(f"{compact[:2]}{len(compact)}") < 0:
        return False
    turned = compact[4:] + compact[:4]
    return int("".join(str(int(letter, 36)) for letter in turned)) % 97 == 1


def is_ssn(number: str) -> bool:
    """US social security number: no group is zero, the area is neither 666 nor above 899."""
    area, group, serial = number.split("-")
    return area not in ("000", "666") and area < "900" and group != "00" and serial != "0000"


@lru_cache(maxsize=1024)
def is_placeholder(value: str) -> bool:
    """Does it stand for a secret instead of being one: `<your-key>`, `$TOKEN`, `${…}`, `****`, `xxx`, `changeme`?"""
    if len(set(value.lower())) <= 2 and not any(letter.isdigit() for letter in value):
        return True
    return bool(_compiled(_PLACEHOLDER).search(value))


_PLACEHOLDER = (
    r"(?i)^(?:<|\$\{|\$\(|\$\{\{|\{\{|%\(|#\{|\[secret:|\{[\w.]*\}$|%\w+%$|\$\w+$|\$env:|\$\w+\.|@\w+@$|!\w+$|__\w+__$"
    r"|(?:my|your|the|some|a|an|insert|enter|put|add|use)[-_ ]|your[a-z]*$|change[-_ ]?(?:me|it|this)|replace[-_]"
    r"|op://|arn:|ssm:|sm://|vault:|file:|env:|env\.|secrets?\.|keyring:|azurekeyvault|secretref|kms:"
    r"|example|placeholder|redacted|removed|hidden|masked|dummy$|todo|tbd|none$|null$|nil$|undefined$|n/a$"
    r"|test$|foo$|bar$|baz$|foobar$|abc$|password\d?$|passwd$|pass$|secret$|token$|key$|apikey$|user$|username$)"
    r"|\*{3}|x{5}|•|…|\.{3}|[-_]here\b|[-_]goes[-_]|_EXAMPLE|EXAMPLEKEY|EXAMPLE$|\byour[-_ ]"
    r"|%[sdr]|\{\w*\}|process\.env|os\.environ|getenv|import\.meta|redacted|\$\{|\{\{"
)


@lru_cache(maxsize=1024)
def is_code(value: str) -> bool:
    """Is an unquoted value an expression: a call, an index, a dotted or constant name, a path, an address?"""
    return bool(_compiled(_CODE).search(value))


_CODE = (
    r"^(?:[A-Za-z_$][\w$]*(?:\.|\?\.|::))*[A-Za-z_$][\w$]*[(\[]"  # call( index[
    r"|^[A-Za-z_$][\w$]*(?:(?:\??\.|::|->)[A-Za-z_$][\w$]*)+;?$"  # a.b.c
    r"|^&?\*?[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$"  # AN_ENVIRONMENT_NAME
    r"|^(?:~|\.{0,2})/[a-z0-9_./-]*$|^[A-Za-z]:[\\/]"  # paths
    r"|^[a-z][a-z0-9+.-]*://|^(?:await|new|typeof|return|lambda|func|function|async|let|const|var)\b"
    r"|^[\[({]|=>|^@|\)\s*[;{]?$|^[|&<>=!?:,;.+/-]+$|:$"
)


def is_hash_like(value: str) -> bool:
    """A git object, a digest or a UUID: random, but no secret by itself."""
    return bool(_compiled(_HASHES).fullmatch(value))


_HASHES = (
    r"(?:[a-f0-9]{7,12}|[a-f0-9]{40}|[a-f0-9]{64}|[a-f0-9]{128})"
    r"|(?:sha\d+|md5)[:-].+|[a-fA-F0-9]{8}(?:-[a-fA-F0-9]{4}){3}-[a-fA-F0-9]{12}"
)


def is_mixed(value: str) -> bool:
    """Does it have letters and digits?"""
    return any(c.isdigit() for c in value) and any(c.isalpha() for c in value)


def is_random(value: str, least: int) -> bool:
    """A run as machines make it: at least `least` long, and upper, lower and digits, or hexadecimal, or base32."""
    if len(value) < least or not is_mixed(value):
        return False
    upper, lower = value.upper() != value, value.lower() != value
    return (upper and lower) or bool(_compiled(r"[0-9a-f]{16,}|[A-Z0-9]{16,}|[a-z0-9]{16,}").fullmatch(value))


def is_scrambled(value: str, least: int) -> bool:
    """Letters of both cases and digits, changing often: no name of a programmer looks so, camelCase with V2 neither."""
    if len(value) < least or not (is_mixed(value) and value != value.lower() and value != value.upper()):
        return False
    classes = ["d" if c.isdigit() else "u" if c.isupper() else "l" if c.islower() else "-" for c in value]
    changes = sum(before != after for before, after in pairwise(classes))
    return changes * 4 >= len(value) and len(_compiled(r"[0-9]+").findall(value)) > 1


# Identifiers that services print: they name a thing and open none.
_IDENTIFIERS = (
    r"(?:msg|req|toolu|call|run|thread|asst|evt|cus|sub|inv?|pi|ch|price|prod|acct|usr|user|org|proj|file|batch|resp|sess"
    r"|trace|span|step|item|conv|chatcmpl|cmpl|ssh|sha\d*|AAAA|rs|fc|ws|job|task|tx|node|pod|build|img|image|vol|i)[-_A-Z0-9]"
)


def names_a_thing(value: str) -> bool:
    """msg_01HX…, req_011G…, call_…: an identifier of a service, or a public key."""
    return bool(_compiled(_IDENTIFIERS).match(value))


@lru_cache(maxsize=1024)
def is_ordinary(value: str) -> bool:
    """A word of a sentence about passwords: "empty", "stored", "sha256", "8-character", "字符串"."""
    low = value.lower().strip("'\"`*_.,:;!?()")
    if low in ORDINARY_WORDS or low in ALGORITHMS:
        return True
    if _compiled(r"\d*(?:[-~–x+]|\.\.)?\d*[-+]?(?:[a-z]{0,12})").fullmatch(low) and any(
        low.lstrip("0123456789-~–x+.") == unit for unit in UNITS
    ):
        return True
    if _compiled(r"v?\d+(?:\.\d+){1,3}(?:-[a-z]+[.\d]*)?").fullmatch(low):  # a version
        return True
    pieces = [piece for piece in _compiled(r"[^a-z]+").split(low) if piece]
    return bool(pieces) and len(pieces) > 1 and all(p in ORDINARY_WORDS or p in ALGORITHMS for p in pieces)


@lru_cache(maxsize=1024)
def is_identifier(value: str) -> bool:
    """Letters only, and a name: camelCase, snake_case, or one of our own nouns within ("newPassword", "authToken")."""
    if not _compiled(r"[A-Za-z_$-]+").fullmatch(value):
        return False
    low = value.lower()
    if value == low and value.isalpha() and len(value) > 13:  # too long for one word, and no name is written so
        return False
    if any(noun in low for noun in SECRET_NOUNS):
        return True
    return "_" in value or bool(_compiled(r"[a-z][A-Z]").search(value))


def reads_as_word(value: str) -> bool:
    """Letters only and the shape of an adjective, a participle or an adverb."""
    return value.isalpha() and value.lower().endswith(ORDINARY_ENDINGS)


# --- the checks that rules name: text, start and end of the value -> is it one? -------------------------------------


def _url_password(text: str, start: int, end: int) -> bool:
    value = text[start:end]
    if _compiled(r"\d{1,5}(?:[/?#]|$)").match(value) and _compiled(r"\d{2,5}[/?#].*").match(value):
        return False  # a port and a path, the @ comes later
    return not is_placeholder(value) and value[0] not in "<{$" and not _compiled(r"^\W+$").match(value)


def _value(text: str, start: int, end: int) -> bool:
    value = text[start:end]
    return not (is_placeholder(value) or is_code(value) or is_ordinary(value) or is_identifier(value)) and (
        is_mixed(value) or len(value) >= 12 or not value.isalnum()
    )


def _argument(text: str, start: int, end: int) -> bool:
    value = text[start:end]
    if is_placeholder(value) or value[0] in "-$<{/" or _compiled(r"\d{1,5}(?::\d{1,5})?|[A-Z_]+").fullmatch(value):
        return value.isdigit() and len(value) > 5
    return True


def _header(text: str, start: int, end: int) -> bool:
    value = text[start:end]
    if is_placeholder(value) or is_ordinary(value) or is_identifier(value) or is_code(value):
        return False
    mixed_case = value not in (value.lower(), value.upper())
    return is_mixed(value) or (mixed_case and len(value) >= 12 and not reads_as_word(value)) or len(value) >= 24


def _random(text: str, start: int, end: int) -> bool:
    return is_random(text[start:end], 16) and not is_placeholder(text[start:end])


def _base32(text: str, start: int, end: int) -> bool:
    return any(c.isdigit() for c in text[start:end])


def _phone_long(folded: str, start: int, end: int) -> bool:
    digits = sum(c.isdigit() for c in folded[start:end])
    separated = digits < end - start - 1
    line_start = folded.rfind("\n", 0, start) + 1
    # "+17000000000" at the beginning of a line may be a line of a diff.
    return 9 <= digits <= 15 and (separated or folded[line_start:start].strip() != "")


def _phone_near(folded: str, start: int, end: int) -> bool:
    from catmem.text.secrets.rules import PHONE_WORDS

    window = folded[max(0, start - 24) : start]
    return any(word in window for word in PHONE_WORDS)


def _phone_mobile(folded: str, start: int, end: int) -> bool:
    # Eleven digits alone are also a number of bytes (17179869184): they need a word, or the groups people write.
    grouped = bool(_compiled(r"(?:86[ -]?)?\d{3}[ -]\d{4}[ -]\d{4}").fullmatch(folded[start:end]))
    return grouped or folded[max(0, start - 1) : start + 2] == "+86" or _phone_near(folded, start, end)


CHECKS = {
    "url_password": _url_password,
    "value": _value,
    "argument": _argument,
    "header": _header,
    "random": _random,
    "base32": _base32,
    "card": lambda text, start, end: is_card(text[start:end]),
    "chinese_id": lambda text, start, end: is_chinese_id(text[start:end]),
    "iban": lambda text, start, end: is_iban(text[start:end]),
    "ssn": lambda text, start, end: is_ssn(text[start:end]),
    "phone_long": _phone_long,
    "phone_near": _phone_near,
    "phone_mobile": _phone_mobile,
}
