"""Why something of a foreign file could not be taken as it stands: each reason in English and Chinese."""

from __future__ import annotations

from catmem.text.faults import json_fault_zh

Reason = tuple[str, str]

NOT_A_RECORD: Reason = ("not a record", "不是一条记录")
NO_TIME: Reason = ("no time of its own: took that of the line before, or of the file", "没有时间：取上一行或文件的时间")
NO_TIME_IN_SESSION: Reason = (
    "no time of its own: took that of the session's start, or of the file",
    "没有时间：取会话开始或文件的时间",
)
NO_ZONE: Reason = ("a time without a zone: read as local time", "时间没有时区：按本地时间读取")
LOOKS_ALIKE: Reason = (
    "blanks at line ends are missing: a heading of the assistant looks like words of the user",
    "行尾空格缺失：助手的标题与用户的话无法区分",
)
NO_SESSION: Reason = ("no session", "没有 session")
NO_CONTENT: Reason = ("no content", "没有 content")
NO_TALK: Reason = (
    "no words of a person and an assistant in it: not a session",
    "其中没有人与助手的对话：不是会话",
)
NO_LINE_READ: Reason = ("not one of its lines could be read", "没有一行可以读取")
UNKNOWN_FORMAT: Reason = (
    "not a history that catmem knows: name its format with --from",
    "不是 catmem 认识的格式：请用 --from 指明",
)
MORE: Reason = ("more problems follow in this file", "该文件还有更多问题")


def empty(title: str) -> Reason:
    named = f" {title!r}" if title else ""
    return f"skipped: no message in the conversation{named}", f"已跳过：对话{named}中没有消息"


def not_json(detail: str) -> Reason:
    return f"not JSON: {detail}", f"不是 JSON：{json_fault_zh(detail)}"


def incomplete(detail: str) -> Reason:
    return (
        f"1 incomplete record at the end of the file ({detail})",
        f"文件末尾有 1 条不完整的记录（{json_fault_zh(detail)}）",
    )


def too_long(size: int) -> Reason:
    return f"too long to read: {size} bytes", f"过长，无法读取：{size} 字节"


def nul_characters(count: int) -> Reason:
    return f"{count} NUL characters", f"{count} 个 NUL 字符"


def unknown_role(role: object) -> Reason:
    return f"unknown role {role!r}", f"未知的 role {role!r}"


def counted(reason: Reason, count: int) -> Reason:
    """The reason of several lines, told once."""
    return (f"{reason[0]} ({count})", f"{reason[1]}（{count} 处）") if count > 1 else reason


def other_encoding(name: str) -> Reason:
    return f"is {name}, not UTF-8 text: convert it and try again", f"是 {name}，不是 UTF-8 文本：请转换后重试"


def no_first_line(number: int, detail: str) -> Reason:
    return (
        f"not one of its first lines could be read (line {number}: not JSON: {detail})",
        f"开头没有一行可以读取（第 {number} 行不是 JSON：{json_fault_zh(detail)}）",
    )
