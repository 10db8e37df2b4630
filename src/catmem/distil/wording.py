"""From a sentence to the words of a memory: selected, never rewritten.

What leads into the sentence and has no part in it is left out ("hm. ok so," · 对，), a task hung on its end as well, and
several rules in one sentence are parted where each can stand alone.
"""

from __future__ import annotations

import re

# A memory that is longer is a paragraph; what cannot be cut to it is cut at the last stop before it.
LONGEST = 300

_LEADING = re.compile(
    r"""^(?:
      (?:h+m+|u+h+m*|ok(?:ay)?|k|oh|ah|ugh|btw|fyi|ps|yep|yea|yeah|yup|nope|nah|alright|heads\ up|by\ the\ way|lol|nvm|mate|hey)
        (?:[\s,.!:;–—-]+|$)
    | (?:so|and|but|also|well|look|listen|yes|no|right|sure|great|good|nice|cool|fine|perfect|true|anyway|actually|wait|thanks|
        thx|cheers|please|one\ more\ thing|another\ thing|side\ note|no\ no|hold\ on|you\ know\ what|exactly|correct)
        [,.!:;–—]+\s*
    | (?:please\ )?(?:remember|note|keep\ in\ mind)(?:\ that\b|[,:])\s*
    | (?:对了|對了|對|对|好的?|嗯+|哦+|噢|啊|呃|行|可以|成|等下|等等|等一下|另外|还有|還有|顺便(?:说一?下|提一?句)?|順便|不对|不對|不是|话说|說起來|
        是的?|没错|懂了|明白|谢谢|唉|哎|诶|记住|記住|记一?下|補充一下|补充一?下|忘了说|忘了跟你说|thx|ok)
        [，,。.!！:：；;\s~～]+
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_TRAILING = re.compile(
    r"""(?:
      [,;–—]\s*(?:so\s+|and\s+|then\s+)?(?:can|could|would)\ you\b[^,;]*\??
    | [,;]\s*(?:so\s+|and\s+|then\s+)?(?:please|pls)\ (?:rename|add|fix|change|move|convert|update|redo|rewrite|port|remove|run|try)\b[^,;]*
    | [，,；;]\s*(?:所以)?(?:你|请|麻烦)(?:先|帮我|帮忙|再|就|来)?(?:把|帮|看|给我|改|列|写|查|加|删|跑)[^，,；;]*
    | [，,；;]\s*(?:帮我|幫我|麻烦)[^，,；;]*
    | [，,；;]\s*[\w\u3400-\u9fff ]{1,10}呢
    )[\s.!。！]*$""",
    re.IGNORECASE | re.VERBOSE,
)
_HEADED = re.compile(
    r"^[^:：]*(?:rules?|conventions?|standards?|guidelines?|规矩|規矩|约定|約定|规范|規範|规定|規定|规则|要求)[^:：]{0,40}[:：]\s*(?=\S)",
    re.IGNORECASE,
)
_AND = re.compile(r"^(?:and|plus|also|以及|并且|还有|另外)\s*", re.IGNORECASE)
_BRACKETS = {"(": ")", "（": "）", "[": "]", "{": "}", "「": "」", "“": "”"}
# What a part needs to stand alone: about four English words, or six Chinese characters.
_LEAST_WIDTH = 12
# A part that starts so hangs on the one before.
_HANGING = re.compile(
    r"^(?:because|since|so|but|or|which|that|except|unless|if|when|then|else|otherwise|not|no|as|with|the types?|e\.g|i\.e|"
    r"因为|所以|但|不然|否则|除非|如果|比如|例如|包括|因為|即|也就是|只|谁|而|且|就|才|都|再|连|哪怕|免得|省得|反正|毕竟)",
    re.IGNORECASE,
)


def worded(text: str, *, whole: bool = False) -> list[str]:
    """The statements of one kept sentence, each at most `LONGEST` characters. With `whole` they are not parted: a
    sentence that tells what it replaces is one statement."""
    core = _without_tail(_without_lead(text))
    parts = [core] if whole else _parted(core)
    return [part if len(part) <= LONGEST else _cut(part) for part in parts]


def _without_lead(text: str) -> str:
    core = text.strip()
    while found := _LEADING.match(core):
        rest = core[found.end() :].lstrip()
        if _width(rest) < _LEAST_WIDTH:
            break
        core = rest
    return core


def _without_tail(text: str) -> str:
    found = _TRAILING.search(text)
    if found and _width(text[: found.start()]) >= _LEAST_WIDTH:
        return text[: found.start()].rstrip()
    return text


def _parted(text: str) -> list[str]:
    """The rules of a list in one sentence, or the sentence itself."""
    head = _HEADED.match(text)
    if head:
        parts = _pieces(text[head.end() :], ",;，；、" if _CJK.search(text) else ",;")
        if len(parts) > 1 and all(_stands(part) for part in parts):
            return parts
    parts = _pieces(text, ";；")
    return parts if len(parts) > 1 and all(_stands(part) for part in parts) else [text]


_CJK = re.compile(r"[\u3400-\u9fff]")


def _pieces(text: str, stops: str) -> list[str]:
    """`text` cut at `stops` outside of brackets."""
    pieces, current, closing = [], "", list[str]()
    for char in text:
        if char in _BRACKETS:
            closing.append(_BRACKETS[char])
        elif closing and char == closing[-1]:
            closing.pop()
        if char in stops and not closing:
            pieces.append(current)
            current = ""
        else:
            current += char
    pieces.append(current)
    return [_AND.sub("", piece.strip()).strip(" .。") for piece in pieces if piece.strip(" .。")]


def _stands(part: str) -> bool:
    return _width(part) >= _LEAST_WIDTH and not _HANGING.match(part)


def _width(text: str) -> int:
    return sum(1 if c.isascii() else 2 for c in text)


def _cut(text: str) -> str:
    """The beginning of a run-on sentence, to the last clause that ends in time."""
    head = text[:LONGEST]
    stop = max(head.rfind(mark) for mark in ",;，；、")
    return head[:stop] if stop > LONGEST // 3 else head[: LONGEST - 1].rsplit(" ", 1)[0] + "…"
