"""Search tokens: what a text is found by. One rule for documents and queries, so that both meet.

- Everything is folded: compatibility forms (NFKC: full width, ligatures), case, accents of Latin letters.
- A word gives its stem. An identifier or path gives itself whole and its parts: `getUserName` -> getusername, get,
  user, name. A whole is written without its `_` and `-`, so get_user_name, get-user-name and getUserName are one.
- Chinese, Japanese, Korean, Thai and their like are written without blanks, so a run of them gives its overlapping
  pairs. A query of one character (or a lone one beside Latin letters) needs more, since a pair does not contain its
  characters for an index of whole terms: memories give each character, too; of passages, which are many, the pairs that
  begin or end with it are asked for. Queries use single characters only where no pair can be made, so the singles never
  blur a longer query. Traditional characters count as their simplified ones.
- A token never holds a blank, and a word is never found by letters inside it: "db" finds mongoDB, not "feedback".
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections import Counter
from functools import cache, lru_cache

from catmem.text.simplified import simplified
from catmem.text.stemming import stem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# Longer runs are blobs (base64, minified code): nobody searches for them, and each would be a term of its own.
_LONGEST = 64
# Parts of one whole: a path or a URL has some ten.
_MOST_PARTS = 24

# Scripts without blanks: Han with its extensions, kana, Hangul, Bopomofo, Thai, Lao, Myanmar, Khmer.
_DENSE = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035"
    "\u303b\u303c\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u3131-\u318e\u31a0-\u31bf\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff"
)
_DENSE_RUN = rf"[{_DENSE}]+"
# Letters and digits, with the marks that belong to them (accents, Arabic and Indic vowels). Looked for only between
# dense runs: naming the dense scripts here as well would cost each hook 6 ms for the compiling.
_LETTER = r"(?:[^\W_]|[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0900-\u0963\u0966-\u0dff])"
_PLAIN_LETTER = "[A-Za-z0-9]"
_WORD = (
    r"(?:(?<![^\s(\[\"'`，。、：])[.#](?=LETTER))?_*LETTER+"
    r"(?:(?:[-_./:@\\'’+&~=]|::|->|__)_*LETTER+)*(?:\+\+|#(?!LETTER))?"
)
_SEPARATORS = r"[/:@\\=&~]+|->|\+(?=\w)"
_INNER = r"[-_.]+"
_VERSION = r"v?(\d+(?:\.\d+)+)"
# What is said as one with the word before it: the user's, we're. Of I'd the word is I, and none is id.
_CLITIC = r"'(?:s|d|ll|re|ve|m)$"
# A git object or another digest: its letters and digits are no parts of a name.
_HASH = r"(?=.*\d)[0-9a-f]{7,}"
_CAMEL = r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^A-Za-z0-9]+"


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


# Stands for what is not indexed in its place, so that a text counts as long as if it were: a public set in Chinese has
# 63.1 % of its answers in the first ten with it, 61.4 % without. No query has it.
_MARK = "·"


def tokens(text: str) -> list[str]:
    """The tokens of a document, in order, repeated as often as they occur."""
    found: list[str] = []
    for words, dense in _stretches(text):
        found.extend(_tokens_of(words))
        found.extend(dense)
        found.extend(_pairs(dense))
    return found


def passage_tokens(text: str) -> tuple[list[str], list[str]]:
    """The tokens of one of many documents in two lists: its words with what it has several times, and what it has once.

    The latter are pairs of characters of scripts without blanks, by far most; and characters that are all of their run,
    others are not there alone. Both are filled up with marks to the length of `tokens`.
    """
    found: list[str] = []
    pairs: list[str] = []
    singles = 0
    for words, dense in _stretches(text):
        found.extend(_tokens_of(words))
        if len(dense) > 1:
            singles += len(dense)
            pairs.extend(_pairs(dense))
        else:
            pairs.extend(dense)
    whole = len(found) + len(pairs) + singles
    times = Counter(pairs)
    once = [pair for pair, count in times.items() if count == 1]
    found.extend(pair for pair in pairs if times[pair] > 1)
    return found + [_MARK] * (whole - len(found)), once + [_MARK] * (whole - len(once))


def query_tokens(text: str) -> list[str]:
    """The tokens of a query: the same words and pairs; single characters only where no pair can be made."""
    found: list[str] = []
    for words, dense in _stretches(text):
        found.extend(_tokens_of(words))
        found.extend(_pairs(dense) if len(dense) > 1 else dense)
    return found


def is_dense(token: str) -> bool:
    """True for a token of a script without blanks."""
    return not token.isascii() and _compiled(_DENSE_RUN).match(token) is not None


def content_tokens(text: str) -> list[str]:
    """The query tokens that say something about the subject: without `STOPWORDS`. Empty for "thanks, go on".

    A query all of stopwords ("NOT OR AND") has none; who still wants to search for it uses `query_tokens`.
    """
    return [token for token in query_tokens(text) if token not in stopwords()]


def _pairs(run: str) -> Iterable[str]:
    return map(str.__add__, run, run[1:])


def _tokens_of(words: Iterable[str]) -> Iterable[str]:
    return itertools.chain.from_iterable(map(_word_tokens, words))


def _stretches(text: str) -> Iterator[tuple[list[str], str]]:
    """The words before each run of scripts without blanks, and that run; the last ones with none."""
    if text.isascii():
        yield _compiled(_WORD.replace("LETTER", _PLAIN_LETTER)).findall(text), ""
        return
    text = unicodedata.normalize("NFKC", text)
    words = _compiled(_WORD.replace("LETTER", _LETTER))
    start = 0
    for dense in _compiled(_DENSE_RUN).finditer(text):
        yield words.findall(text, start, dense.start()), simplified(dense[0])
        start = dense.end()
    yield words.findall(text, start), ""


@lru_cache(maxsize=16384)
def _word_tokens(run: str) -> tuple[str, ...]:
    """The tokens of one word, identifier, path, address, version …"""
    if run.isascii() and run.isalpha() and (run.islower() or run.istitle() or run.isupper()):
        return (stem(run.lower()),) if len(run) <= _LONGEST else ()
    run = without_accents(run)
    found: dict[str, None] = {}  # a set that keeps the order
    whole = _whole(run)
    if whole and len(whole) <= _LONGEST:
        found[whole] = None
    segments = [piece for piece in _compiled(_SEPARATORS).split(run) if piece]
    for segment in segments[:_MOST_PARTS]:
        if len(segments) > 1 and (inner := _whole(segment)) and len(inner) <= _LONGEST:
            found[inner] = None
        if version := _compiled(_VERSION).fullmatch(segment):
            _add_version(version[1], found)
            continue
        for piece in _compiled(_INNER).split(segment)[:_MOST_PARTS]:
            if piece and "'" not in segment:
                _add_parts(piece, found)
    return tuple(found)


def _whole(run: str) -> str:
    """The one form of an identifier or word as a whole: lower case, without its `_` and `-`."""
    whole = run.lower()
    if whole.startswith("#") and not whole[1:].isdigit():
        whole = whole[1:]
    if "'" in whole:
        whole = _compiled(_CLITIC).sub("", whole).replace("'", "")
    whole = whole.replace("_", "")
    return stem(whole if "->" in whole else whole.replace("-", ""))


def _add_version(number: str, found: dict[str, None]) -> None:
    """Add 3.11.7 and the 3.11 that people ask for; its single numbers say nothing."""
    found[number] = None
    parts = number.split(".")
    if len(parts) == 3:
        found[".".join(parts[:2])] = None


def _add_parts(piece: str, found: dict[str, None]) -> None:
    """Add what an identifier is made of: getUserName -> get, user, name; OAuth2 -> oauth."""
    piece = piece.lstrip(".#")
    if piece.endswith(("+", "#")) or len(piece) > _LONGEST:  # C++ and C# are not C
        return
    whole = stem(piece.lower())
    found[whole] = None
    if whole.isascii() and _compiled(_HASH).fullmatch(whole):
        return
    if len(base := whole.rstrip("0123456789")) > 1 and base != whole:
        found[stem(base)] = None
    parts = _compiled(_CAMEL).findall(piece)
    if 1 < len(parts) <= _MOST_PARTS:
        for part in parts:
            if len(part) > 1:
                found[stem(part.lower())] = None


def without_accents(run: str) -> str:
    """Without accents, the case kept (parts are found by it). Marks of scripts other than Latin, Greek and Cyrillic
    are letters of their own and stay."""
    if run.isascii():
        return run
    run = run.replace("’", "'")
    decomposed = unicodedata.normalize("NFD", run)
    if decomposed == run:
        return _cased(run)
    return _cased(unicodedata.normalize("NFC", "".join(c for c in decomposed if not "\u0300" <= c <= "\u036f")))


def _cased(run: str) -> str:
    """Fold what lower case alone does not: ß, final sigma, dotted I."""
    return "".join(c if c.isascii() else unicodedata.normalize("NFKC", c.casefold()) for c in run)


@cache
def stopwords() -> frozenset[str]:
    """`STOPWORDS`, built on first use from `stopwords.py`."""
    from catmem.text import stopwords as words

    found = {stem(word) for word in words.ENGLISH} | set(words.ENGLISH) | set(words.CHINESE_CHARACTERS)
    for pairs in (words.CHINESE_PAIRS, words.JAPANESE_PAIRS, words.KOREAN_PAIRS):
        found.update(pair for run in pairs for pair in map(str.__add__, run, run[1:]))
    return frozenset(found)


@cache
def words_of_the_trade() -> frozenset[str]:
    """Stopwords that may be meant as a name: `OF_THE_TRADE` of `stopwords.py`."""
    from catmem.text import stopwords as words

    return frozenset(map(stem, words.OF_THE_TRADE))


def __getattr__(name: str) -> frozenset[str]:
    if name == "STOPWORDS":
        return stopwords()
    raise AttributeError(name)
