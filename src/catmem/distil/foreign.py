"""What in a message is shown rather than said: pasted lines, quotation marks, "the README says:".

All of it works on single lines and looks at form only; no judgement of meaning.
"""

from __future__ import annotations

import re

_CJK_RUN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")

# --- pasted ---

# Forms that people do not type: each is the shape of a line of a log, a trace, a shell, a diff, code or markup.
_SHAPES = re.compile(
    r"""^\s*(?:
      \[?\d{4}-\d\d-\d\d[T\s]\d\d:\d\d                              # 2026-01-05 10:00 of a log
    | \[?\d{1,2}:\d\d:\d\d(?:[.,]\d+)?\]?\s+\S                      # 10:00:01.123 of a log
    | (?:Mon|Tue|Wed|Thu|Fri|Sat|Sun|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\s+\d+\s+\d\d:\d\d:\d\d
    | \[?(?:DEBUG|INFO|WARN|WARNING|ERROR|FATAL|TRACE|CRITICAL)\]?(?:\s|:|\[)
    | Traceback\ \(most | File\ "[^"]+",\ line\ \d
    | at\ [\w$.<>/]+\s?\( | (?:Caused\ by|goroutine\ \d+|panic|thread\ '\w+'):?\s
    | [\w.]*(?:Error|Exception|Warning):\s
    | (?:error|warning|fatal)(?:\[\w+\])?:\s | npm\ (?:ERR!|WARN\b|error\b)
    | (?:\$|%|\#|❯|➜|>>>|PS\ [A-Z]:\\\S*>)\s+\S
    | [\w.-]+@[\w.-]+[:~\s][^\s]*[$\#]\s
    | @@\ -\d | diff\ --git | (?:\+\+\+|---)\ \S+/ | index\ [0-9a-f]{7,}\.\.
    | \|.*\|\s*$ | [-=+|\s]{6,}$
    | import\ [\w.]+(?:\ as\ \w+)?;?\s*$ | from\ [\w.]+\ import\b | import\ .*\bfrom\ ["'] | \#include\b
    | (?:def|class|fn|func|function)\ \w+\s*[(:{<]
    | (?:public|private|protected|static)\ .*[{;(]\s*$ | (?:const|let|var|val)\ \w+\s*[:=]
    | (?:SELECT|INSERT\ INTO|CREATE\ (?:TABLE|INDEX)|ALTER\ TABLE|UPDATE\ \w+\ SET|DELETE\ FROM)\b
    | </?[a-zA-Z][^>]*>\s*(?:.*</\w+>)?\s*$ | [{}\[\]();,]+\s*$ | [{\[]\s*["{\[]
    | ["']?[\w.\-]+["']?\s*[:=]\s*(?:["'{\[\d]|true|false|null|none)[^\s]*,?\s*$
    | [\w.\-]+\s*=\s*\S+\s*$ | \[[\w.\-:]+\]\s*$ | [A-Z][A-Z0-9_]{3,}=\S*
    | (?:https?|ssh|git|ftp)://\S+\s*$
    )""",
    re.VERBOSE,
)
_CODE_MARKS = re.compile(r"[{}();=<>\[\]|\\$&*^~@#+/_:]")
_WORDS = re.compile(r"[A-Za-z]{2,}")
# Share of code marks from which a line without Chinese is not prose: 0.2 keeps sentences full of paths and names.
_CODE_SHARE = 0.2


def looks_pasted(line: str) -> bool:
    """Whether one line by itself has the shape of machine output or code."""
    if len(line) > 2000:
        return True
    if _SHAPES.match(line):
        return True
    bare = line.strip()
    if len(bare) < 12 or _CJK_RUN.search(bare):
        return False
    marks = len(_CODE_MARKS.findall(re.sub(r"`[^`]*`|\S*://\S*|(?:[\w.~-]*/)+[\w.-]*", "", bare)))
    if marks / len(bare) >= _CODE_SHARE:
        return True
    return bare.endswith((";", "{", "=>", "->")) and marks >= 2


_PAIR = re.compile(r"^\s*(?:-\s+)?[\w.\-/\"']+\s*[:=]\s*\S.{0,60}$")


def table_like(line: str) -> bool:
    """A line that is a row or a pair only if its neighbours are: `name: value`, `a,b,c,d`, columns by tabs."""
    bare = line.strip()
    if not bare or bare[-1] in ".!?。！？":
        return False
    if "\t" in bare:
        return True
    if bare.count(",") >= 3 and bare.count(", ") <= 1:
        return True
    return bool(_PAIR.match(line)) and len(bare.split()) <= 5 and not _CJK_RUN.search(bare)


def mail_header(line: str) -> bool:
    head = line.strip().split(":")[0].split("：")[0].strip().lower()
    return head in _MAIL_HEADS and (":" in line or "：" in line)


_MAIL_HEADS = frozenset(
    "from to cc subject date sent 发件人 收件人 抄送 主题 主旨 寄件人 發件人 發送時間 发送时间 日期".split()  # noqa: SIM905
)

_SPEAKER = re.compile(
    r"\s*(?:[-*]\s*)?(?:\*\*)?(?:user|customer|client|human|assistant|agent|bot|support|caller|speaker ?\w?|"
    r"用户|用戶|客户|客戶|顾客|顧客|买家|買家|客服|助手|坐席|机器人|機器人|老师|学生)\s*\d*(?:\*\*)?\s*[:：]\s*\S",
    re.IGNORECASE,
)


def speaker_named(line: str) -> bool:
    """A line of a talk that is shown: "Customer: I always pay by card.", "用户：以后都发顺丰"."""
    return bool(_SPEAKER.match(line))


# --- quoted ---

_QUOTES = (
    re.compile(r"“[^”\n]*”"),
    re.compile(r"「[^」\n]*」"),
    re.compile(r"『[^』\n]*』"),
    re.compile(r"《《[^》\n]*》》"),
    re.compile(r"(?<![\w\"])\"[^\"\n]{2,}\"(?![\w\"])"),
    re.compile(r"(?<![\w'])'[^'\n]*\s[^'\n]*\s[^'\n]*'(?![\w'])"),
    re.compile(r"‘[^’\n]*\s[^’\n]*\s[^’\n]*’(?!\w)"),
)


def quote_spans(content: str) -> list[tuple[int, int]]:
    """The spans of a message inside quote marks, the marks included. A mark left open does not count."""
    if not any(mark in content for mark in "“「『\"'‘"):
        return []
    return [m.span() for pattern in _QUOTES for m in pattern.finditer(content)]


# Who or what is quoted: a document or a third person, with a verb of saying or writing.
_DOCUMENT = (
    r"(?:read ?me|docs?|documentation|wiki|manual|handbook|guide(?:lines?|book)?|style ?guide|mails?|e-?mails?|letter|"
    r"memo|tickets?|issue|article|blog|post|tweet|thread|chapter|book|tutorial|paper|spec|contract|clause|policy|slide|"
    r"deck|poster|sticker|sign|comment|docstring|changelog|release notes|contributing\S*|job ad|listing|brief|page|"
    r"transcript|faq|rfc|error|log|banner|prompt|template|reviewer|colleague|boss|manager|client|customer|vendor|lead|"
    r"linter|compiler|stackoverflow|he|she|they|it|this|which|text|somebody|someone)"
)
_SAYING = r"(?:says?|said|reads?|states?|wrote|writes|claims?|asks?|told|quotes?|puts? it|posted|replied|answered)"
_ENGLISH = re.compile(rf"\b{_DOCUMENT}\b[^:.?!]{{0,40}}\b{_SAYING}\b", re.IGNORECASE)
_FROM_DOCUMENT = re.compile(
    r"\b(?:from|per|quoting|verbatim|excerpt|quote)\b[^:]{0,40}$|"
    r"\b(?:their|his|her|the|this|that)\s+(?:\w+\s+){0,3}(?:mail|e-?mail|message|reply|note|readme|docs?|wiki|ticket|comment|"
    r"guide|policy|spec|letter|contract|article|post|job ad|changelog|log|output|error|trace)\b[^:]{0,24}$",
    re.IGNORECASE,
)
_OWN_VOICE = re.compile(
    r"\b(?:i|we)(?:'ve|'d|'ll|'m)?\s+(?:\w+\s+){0,2}(?:said|say|wrote|told|quote|posted)\b", re.IGNORECASE
)
_CHINESE = re.compile(
    r"(?:里|里面|上|上面|中|裡|裡面|头|头)(?:都|也|就|还|明确|明明|是|这么|這麼|面)*(?:写|寫|说|說|规定|規定|要求|贴|注明|强调|提到)|"
    r"写着|寫著|写道|写的是|寫的是|原话|原文|原話|摘自|引自|引用|转发|轉發|发来|發來|贴出来|邮件|郵件|公告|通知|留言|函[：:]|"
    r"(?:文档|文檔|手册|手冊|指南|规范|規範|博客|教程|帖子|留言|注释|註釋|合同|公众号|知乎|论文|书)[^，。]{0,12}(?:说|說|写|寫|讲|講|称|是)|"
    r"(?:他|她|他们|老板|同事|客户|領導|领导|师兄|师姐|导师|甲方|供应商|群里|网友|前任)[^，。]{0,10}(?:说|說|写|寫|讲|講|回|喊|发)"
)


def attributed(text: str) -> bool:
    """Whether the sentence names a document or another person as its source."""
    if _CHINESE.search(text):
        return True
    return bool(_ENGLISH.search(text)) and not _OWN_VOICE.search(text)


def announces_quote(line: str, *, whole_line: bool = True) -> bool:
    """Whether what follows is somebody else's text: "their reply:", "文档里写：".

    With `whole_line` the line has to end in the colon; otherwise the colon may stand inside it, as in
    "The README says: use X."
    """
    bare = line.rstrip()
    if whole_line:
        if not bare.endswith((":", "：")):
            return False
        head = bare[:-1]
        # "I told you:" announces the writer's own words.
        return not _OWN_VOICE.search(head) and (attributed(head) or bool(_FROM_DOCUMENT.search(head)))
    for colon in (": ", "："):
        head, found, tail = bare.partition(colon)
        if found and tail and attributed(head):
            return True
    return False
