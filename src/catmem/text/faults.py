"""What a parser has against a text, in Chinese: Python and YAML tell it in English alone."""

from __future__ import annotations

import re

_WHERE = re.compile(r"(?P<what>.*?): line (?P<line>\d+) column (?P<column>\d+) \(char \d+\)(?P<rest>.*)", re.DOTALL)
# Everything that Python's decoder says, and our own readers beside it.
_JSON = {
    "Expecting value": "此处应有一个值",
    "Expecting property name enclosed in double quotes": "此处应有双引号括起的名称",
    "Expecting ':' delimiter": "此处应有冒号",
    "Expecting ',' delimiter": "此处应有逗号",
    "Extra data": "后面还有多余内容",
    "Unterminated string starting at": "字符串没有结束",
    "Invalid control character at": "有不允许的控制字符",
    "Invalid \\escape": "反斜杠转义无效",
    "Invalid \\uXXXX escape": "\\uXXXX 转义无效",
    "Illegal trailing comma before end of object": "对象末尾多了逗号",
    "Illegal trailing comma before end of array": "数组末尾多了逗号",
    "nested too deeply": "嵌套过深",
    "too long to read": "过长，无法读取",
    "no whole record": "没有完整的记录",
    "empty": "没有内容",
}


def json_fault_zh(detail: str) -> str:
    """A detail as `str(JSONDecodeError)` has it; what is not known stays as it is."""
    told = _WHERE.fullmatch(detail)
    if not told:
        return _JSON.get(detail, detail)
    # The decoder was given one line in most cases; its number is told beside the detail then.
    line = f"第 {told['line']} 行" if told["line"] != "1" else ""
    return f"{_JSON.get(told['what'], told['what'])}，{line}第 {told['column']} 列{told['rest']}"


def yaml_fault_zh(error: Exception) -> str:
    """Where a YAML parser met something wrong, as far as it says."""
    mark = getattr(error, "problem_mark", None)
    return f"第 {mark.line + 1} 行第 {mark.column + 1} 列附近写法有误" if mark else "写法有误"
