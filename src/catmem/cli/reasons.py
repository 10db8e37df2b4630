"""Why the distiller kept or refused what, and what was wrong with a model's answer, for a person.

The reasons are written in English, since a model is shown them, too; here they have their Chinese words. The names of rules
are names, in either language.
"""

from __future__ import annotations

import re

from catmem.cli.words import word

_FAULTS = {
    # of an answer
    "prose": "答成了文字",
    "empty": "回答为空",
    "half-json": "JSON 不完整",
    "fenced": "多了代码围栏",
    "wrong-type": "格式不符",
    "wrong-language": "语言不符",
    "cut-off": "回答过长被截断",
    "repetition": "不断重复",
    "refusal": "拒绝回答",
    "invented": "编造编号",
    "guessing": "胡乱选择",
    "killed": "询问被中断",
    # of a call
    "400": "请求无效（400）",
    "401": "密钥被拒（401）",
    "404": "地址或模型不存在（404）",
    "429": "请求过多（429）",
    "500": "服务器出错（500）",
    "timeout": "超时",
    "hang": "中途没有下文",
    "stream-died": "连接中断",
    "unreachable": "无法连接",
    "unreadable": "回应无法读取",
    "command": "命令失败",
    "setup": "尚未配置好",
    "spent": "额度用尽",
    "failed": "失败",
}

# What one part of a reason says; \1 stands for a number, a name or names.
_PARTS = (
    # why a sentence was kept or refused
    (r"score (\S+)", r"评分 \1"),
    (r"rules? (.+)", r"规则 \1"),
    (r"not the user's words", "不是用户自己的话"),
    (r"shown, not said", "是贴出来的内容，不是自己说的话"),
    (r"takes something back", "是在收回先前的话"),
    (r"taken back", "说话人已收回"),
    (r"small talk", "寒暄"),
    (r"changes message (\d+)", r"改变了第 \1 条消息的说法"),
    (r"changes (m\w+)", r"改变了记忆 \1"),
    (r"the model agrees", "模型也认同"),
    (r"the model selected it", "由模型选出"),
    # why a model's pick or its words were not taken
    (r"refused by (.+)", r"被规则 \1 排除"),
    (r"selects nearly everything", "模型几乎全选，无法分辨"),
    (r"selects mostly what nothing speaks for", "模型选的多半毫无依据"),
    (r"they are longer than the sentence", "比原句还长"),
    (r"they are not the sentence's", "用了原句没有的词"),
    (r"they leave out what limits it", "漏掉了限定的词"),
    (r"they leave out too much", "漏掉太多"),
    # why an answer could not be used
    (r"it is empty", "内容为空"),
    (r"it refuses", "拒绝回答"),
    (r"the task is only to point at numbers", "其实只需指出编号"),
    (r"it repeats itself", "不断重复"),
    (r"it is too long", "过长"),
    (r"its JSON does not end", "JSON 没有结尾"),
    (r"it is no JSON", "不是 JSON"),
    (r"it is a (\w+), not an object", r"是 \1，不是对象"),
    (r"it has no (.+)", r"缺少 \1"),
    (r"digest is no object with progress and topics", "digest 不是含 progress 和 topics 的对象"),
    (r"topics is no list of objects", "topics 不是对象列表"),
    (r"(\w+) is no list", r"\1 不是列表"),
    (r"an entry of (\w+) has no number n", r"\1 中有一项缺少编号 n"),
    (r"there is no sentence (\S+)", r"没有第 \1 句"),
    (r"an entry of (\w+) has words or sure of a wrong type", r"\1 中有一项的 words 或 sure 类型不对"),
    (r"an entry of facts has an unknown kind or scope", "facts 中有一项的 kind 或 scope 未知"),
    (r"it selects one number again and again", "反复选同一个编号"),
    (r"whoever asked this was ended before there was an answer", "询问的进程在得到回答前就结束了"),
)
_KNOWN = tuple((re.compile(pattern), chinese) for pattern, chinese in _PARTS)
# What stands before a reason and says what it is a reason for.
_HEADS = {
    "too little speaks for it": "依据不足",
    "the model's word does not weigh enough yet": "模型的意见分量还不够",
    "its words were not taken": "未采用模型的措辞",
}
_HARDLY = re.compile(r"it is hardly a (\w+)")


def fault(name: str, language: str) -> str:
    """By what name a fault of a model is counted, for a reader of `language`."""
    return _FAULTS.get(name, name) if language == "zh" else name


def reasons(why: str, language: str) -> str:
    """Reasons of distilling, one or several with "; " between them; what is not known stays as it is."""
    if language != "zh":
        return why
    head, colon, rest = why.partition(": ")
    if colon and head in _HEADS:
        return f"{_HEADS[head]}：{reasons(rest, language)}"
    return "；".join(map(_chinese, why.split("; ")))


def _chinese(part: str) -> str:
    hardly = _HARDLY.fullmatch(part)
    if hardly:
        return f"不像是{word(hardly[1], 'zh')}"
    for pattern, chinese in _KNOWN:
        if pattern.fullmatch(part):
            return pattern.sub(chinese, part).replace(", ", "、")
    return part
