"""A light English stemmer of our own: plural, -ing and -ed, so that "caches", "cached" and "caching" meet "cache".

Conservative: two words share a stem only if one is a plain inflection of the other. It never takes -er, -ly, -tion or
-ment away. Where spelling leaves a choice ("noted": note or not?) the shape of the rest decides; words that go against
their shape stand in `_IRREGULAR`.
"""

# ruff: noqa: SIM905 - word lists read best as words
from __future__ import annotations

from functools import lru_cache

_VOWELS = frozenset("aeiouy")

# Words that look inflected and are not, or whose stem the rules would miss.
_KEPT = frozenset(
    """news this does goes https species series lens always perhaps alias atlas canvas pandas chaos kudos class less
    gas bus yes his hers its has was as us is axis basis thesis status focus virus bonus menus corpus nexus plus
    kubernetes windows redis analysis emphasis address process access express success progress compress
    string thing spring bring king ring sing wing swing sting being during ping nothing anything something everything
    morning evening ceiling sibling sterling wedding setting pudding clothing cling fling sling viking
    need feed seed speed breed bleed indeed exceed proceed succeed greed weed deed steed embed shed sled
    hundred sacred naked wicked biped shred sped bed red led fed wed ted med id ids""".split()
)
_IRREGULAR = {
    "ids": "id", "dbs": "db", "prs": "pr", "ips": "ip", "vms": "vm", "apis": "api", "urls": "url", "pcs": "pc",
    "settings": "setting", "indices": "index", "matrices": "matrix", "vertices": "vertex", "queries": "query",
    "cookies": "cookie", "movies": "movie", "zombies": "zombie", "caches": "cache", "axes": "axis", "shoes": "shoe",
    "children": "child", "men": "man", "women": "woman", "mice": "mouse", "feet": "foot", "lives": "life",
    "caching": "cache", "cached": "cache", "pasted": "paste", "pasting": "paste", "tasted": "taste", "wasted": "waste",
    "syncing": "sync", "synced": "sync", "syncs": "sync", "ignoring": "ignore", "ignored": "ignore",
    "restoring": "restore", "restored": "restore", "exploring": "explore", "explored": "explore",
    "creating": "create", "created": "create", "creates": "create", "developing": "develop", "developed": "develop",
    "focusing": "focus", "focused": "focus", "rewriting": "rewrite", "deleting": "delete", "deleted": "delete",
    "completing": "complete", "completed": "complete", "rerouted": "reroute", "quoted": "quote", "quoting": "quote",
    "changing": "change", "changed": "change", "arranged": "arrange", "exchanged": "exchange", "challenged": "challenge",
    "arranging": "arrange", "exchanging": "exchange", "ranging": "range", "ranged": "range", "aches": "ache",
    "inviting": "invite", "invited": "invite", "uniting": "unite", "united": "unite", "ageing": "age", "dying": "die",
    "lying": "lie", "tying": "tie", "typed": "type", "typing": "type", "aliases": "alias", "statuses": "status",
    "buses": "bus", "viruses": "virus", "bonuses": "bonus", "gases": "gas", "canvases": "canvas", "lenses": "lens",
    "ran": "run", "wrote": "write", "written": "write", "built": "build", "chose": "choose", "chosen": "choose",
    "broke": "break", "broken": "break", "sent": "send", "kept": "keep", "found": "find", "done": "do",
    "eyed": "eye", "freed": "free", "agreed": "agree", "freeing": "free", "seeing": "see", "agreeing": "agree", "schemas": "schema", "committed": "commit",
}  # fmt: skip
# Doubled by the ending alone: controlled, cancelling. Other words own their double l: install, scroll, call.
_UNDOUBLED_L = frozenset(
    "controll cancell labell modell travell levell signall totall channell tunnell fuell compell propell excell "
    "marshall quarrell initiall unravell rebell".split()
)
# After these endings of a longer rest English writes no e: enter-ed, open-ed, edit-ed, monitor-ed, mention-ed.
_WITHOUT_E = (
    "er",
    "en",
    "el",
    "et",
    "it",
    "on",
    "om",
    "or",
    "ow",
    "ew",
    "ay",
    "ey",
    "oy",
    "ix",
    "ex",
    "ox",
    "al",
    "ol",
    "op",
)


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """Return the stem of a word in lower case; what is not plain ASCII letters comes back as it is."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) < 4 or word in _KEPT or not (word.isascii() and word.isalpha()):
        return word
    word = _singular(word)
    if word in _KEPT:
        return word
    for ending in ("ing", "ed"):
        if word.endswith(ending):
            return _uninflected(word, word[: -len(ending)], ending)
    return word


def _singular(word: str) -> str:
    if not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y" if len(word) > 4 else word[:-1]
    if word.endswith(("xes", "ches", "shes", "sses", "zzes")):
        return word[:-2]
    if word.endswith("oes"):
        return word[:-2]
    return word[:-1]


def _uninflected(word: str, rest: str, ending: str) -> str:
    if ending == "ed" and rest.endswith("i") and len(rest) > 2:
        return rest[:-1] + "y"
    if len(rest) < 2 or rest.endswith("e") or not any(letter in _VOWELS for letter in rest):
        return rest if rest.endswith("e") and len(rest) > 2 else word
    last, before = rest[-1], rest[-2]
    if last == before and last not in "aeiou":
        return rest[:-1] if last not in "lsfz" or rest in _UNDOUBLED_L else rest
    return rest + "e" if _wants_e(rest) else rest


def _wants_e(rest: str) -> bool:
    """Did the base word end in e? Judged by the last letters of what remains without its ending."""
    last, before = rest[-1], rest[-2]
    earlier = rest[-3] if len(rest) > 2 else ""
    if last in "vuz" or (last == "c" and before != "y"):
        return True
    if rest.endswith(("rg", "dg", "rs", "ns", "lg")):
        return True
    if last == "l" and before not in _VOWELS and before not in "lr":
        return True  # enabl(e), handl(e), toggl(e)
    if last == "s" and before in _VOWELS:
        return True  # clos(e), brows(e), paus(e)
    if last in "wxyh" or last in _VOWELS or before not in _VOWELS:
        return False
    if earlier and earlier in _VOWELS and not (earlier == "u" and rest[-4:-3] == "q"):
        return False  # load, explain, join; but requir(e)
    if sum(_begins_vowel_group(rest, place) for place in range(len(rest))) == 1:
        return True  # us(e), not(e), stor(e), scal(e)
    return not rest.endswith(_WITHOUT_E)


def _begins_vowel_group(word: str, place: int) -> bool:
    return word[place] in _VOWELS and (place == 0 or word[place - 1] not in _VOWELS)
