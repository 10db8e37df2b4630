"""Memories that read like orders to an assistant (hot path): kept and shown to the user, but not put before a model.

A text of a web page or a file may have found its way into a memory. Nobody who says "we deploy on Fridays" tells an
assistant to ignore what it was told; a house rule ("run the linter before each commit") is no such order.
"""

from __future__ import annotations

import functools
import re
import unicodedata

_SECRET = r"(secret|token|password|credential|api[ _-]?key|private key|env(ironment)? variable)s?"
_SECRET_ZH = "(密钥|口令|密码|令牌|凭证|环境变量)"
_PLACE = r"(https?://|\S+@|\S+\.\w)"

# Each row: words of which one occurs in whatever the pattern finds, so that most texts compile no pattern at all.
_ORDERS: tuple[tuple[tuple[str, ...], str], ...] = (
    # Setting aside what the assistant was told.
    (
        ("ignore", "disregard", "forget", "override", "bypass"),
        r"\b(ignore|disregard|forget|override|bypass)\b( all| any| of| the| your)*"
        r" (previous|prior|above|earlier|preceding|system|safety|your)\b[^.\n]{0,20}"
        r"\b(instruction|prompt|rule|guideline|safeguard|direction|message)s?\b"
        r"|\b(ignore|disregard|forget)\b (everything|all)( of that| that was said)? (above|before|so far)\b",
    ),
    (
        ("指令", "提示", "规则", "要求", "约束", "限制", "设定"),
        r"(忽略|无视|忘记|忘掉|不要理会|绕过|覆盖)[^。\n]{0,8}(之前|以上|上面|先前|前面|此前|系统|安全|你的)[^。\n]{0,8}"
        r"(指令|提示|规则|要求|约束|限制|设定)|(忽略|无视|绕过)[^。\n]{0,10}(指令|提示词)",
    ),
    # Making it somebody else.
    (
        ("you are", "act as", "behave as", "respond as", "prompt", "jailbreak"),
        r"\byou are (now|no longer)\b|\b(act|behave|respond) as (if you|an? (unrestricted|different|new))\b"
        r"|\b(reveal|print|show|repeat|leak)\b[^.\n]{0,20}\b(system|developer) prompt\b|\bjailbreak",
    ),
    (
        ("你", "扮演", "提示词", "越狱"),
        r"你(现在|从现在起|不再)是|扮演[^。\n]{0,6}不受限|(输出|泄露|告诉我)[^。\n]{0,6}系统提示词|越狱",
    ),
    # Hiding it from the user.
    (
        ("the user",),
        r"\b(do not|don't|never|without) (tell(ing)?|inform(ing)?|alert(ing)?|notify(ing)?|mention(ing)? (this|it) to)"
        r" the user\b",
    ),
    (("用户",), r"(不要|别|不能|切勿|不许)(告诉|告知)用户|瞒着用户"),
    # Running what somebody sent.
    (
        ("run", "execute", "eval", "paste"),
        r"\b(run|execute|eval|paste)\b[^.\n]{0,30}\bthe following\b[^.\n]{0,20}\b(command|script|code|payload)s?\b",
    ),
    (
        ("curl", "wget", "iwr", "invoke-webrequest"),
        r"\b(curl|wget|iwr|invoke-webrequest)\b[^\n]*[|;&]\s*(sudo\s+)?((ba|z|da)?sh|iex|python3?)\b",
    ),
    (("rm -", "base64"), r"\brm\s+-(rf|fr)\s+[~/*]|\bbase64\s+(-d|--decode)\b[^\n]*\|"),
    (("执行", "运行"), r"(执行|运行)(以下|下面|下列|如下)[^。\n]{0,10}(命令|脚本|代码)"),
    # Giving secrets away.
    (
        ("send", "post", "upload", "exfiltrate", "leak", "forward", "email"),
        rf"\b(send|post|upload|exfiltrate|leak|forward|email)\b[^.\n]{{0,40}}\b{_SECRET}\b[^\n]{{0,30}}\bto {_PLACE}",
    ),
    (
        ("发", "传", "泄露"),
        rf"(发送|上传|外传|转发|泄露)[^。\n]{{0,12}}{_SECRET_ZH}[^。\n]{{0,12}}(到|给|至)"
        rf"|把[^。\n]{{0,12}}{_SECRET_ZH}[^。\n]{{0,8}}(发|传)[^。\n]{{0,4}}(到|给|至)",
    ),
    # Pretending to be a message of the talk.
    (
        ("system", "assistant", "<|im_", "inst]", "instruction", "tool_result", "function_calls"),
        r"^\s*(system|assistant)\s*:|<\|im_(start|end)\|>|\[/?inst\]"
        r"|</?(system|instructions?|tool_result|function_calls?)\b",
    ),
)


def is_order(text: str) -> bool:
    """True for a text that tells an assistant what to do against its user or its rules."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return any(_compiled(pattern).search(folded) for hints, pattern in _ORDERS if any(hint in folded for hint in hints))


@functools.cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
