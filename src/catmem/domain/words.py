"""The words of the design as a person reads them, in Chinese; English readers see the words themselves."""

from __future__ import annotations

import re

_CHINESE = {
    # kinds
    "preference": "偏好",
    "environment": "环境",
    "convention": "约定",
    "decision": "决定",
    "question": "问题",
    "progress": "进展",
    "note": "笔记",
    # roles and titles, the kinds of passages
    "user": "用户",
    "assistant": "助手",
    "tool": "工具",
    "title": "标题",
    "system": "系统",
    # scopes
    "project": "项目",
    "global": "全局",
    # what was done
    "distilled": "提炼",
    "remember": "记住",
    "edit": "修改",
    "forget": "忘记",
    "restore": "恢复",
    "pin": "固定",
    "promote": "晋升",
    "merge": "合并",
    "retire": "退役",
    "import": "导入",
    # what became of a memory, where no operation is called so
    "added": "新增",
    "replaced": "更替",
    "merged": "并入",
    "retired": "退役",
    "returned": "重新有效",
    "promoted": "晋升",
    "restored": "恢复",
    "forgotten": "忘记",
    # by whom; a user is one above
    "distiller": "提炼",
    "dream": "整理",
    "sync": "同步",
}

# The reasons that steps write into the ledger, which is in one language for all readers.
_REASONS = (
    (re.compile(r"forgotten by the user"), "用户要求忘记"),
    (re.compile(r"restored by the user"), "恢复从前的说法"),
    (re.compile(r"edited in MEMORY\.md"), "在 MEMORY.md 中修改"),
    (re.compile(r"deleted from MEMORY\.md"), "从 MEMORY.md 中删去"),
    (re.compile(r"forgotten through an assistant"), "经助手忘记"),
    (re.compile(r"noted by the assistant"), "助手所记"),
    (re.compile(r"asked for through an assistant"), "经助手要求记住"),
    (re.compile(r"replaced"), "已有新的说法"),
    (re.compile(r"the user's own word stands"), "以用户自己的话为准"),
    (re.compile(r"taken back"), "说话人已收回"),
    (re.compile(r"say the same"), "说的是同一件事"),
    (re.compile(r"done with"), "已了结"),
    (re.compile(r"imported"), "导入"),
    (re.compile(r"said in (\d+) sessions"), r"在 \1 个会话中说过"),
    (re.compile(r"not confirmed for (\d+) days"), r"\1 天未再确认"),
)


def word(name: str, language: str) -> str:
    """A kind, scope, role, operation or author for a reader of `language`."""
    return _CHINESE.get(name, name) if language == "zh" else name


def reason(why: str, language: str) -> str:
    """Why a memory changed, for a reader of `language`; a reason of another making stays as it is."""
    for pattern, chinese in _REASONS if language == "zh" else ():
        if pattern.fullmatch(why):
            return pattern.sub(chinese, why)
    return why
