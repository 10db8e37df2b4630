"""`mem models check`"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import click

from catmem.cli.output import Session, mem_command, mem_group
from catmem.cli.usage import Group
from catmem.llm.budget import Spend
from catmem.llm.check import Checked, check
from catmem.llm.port import Row
from catmem.llm.providers import key_of, label_of, model_of, name_of, place_of

command = mem_group("models", Group, "Try the configured models.", "检查所配置的模型。")


@mem_command(
    "check",
    "Ask each configured model to select from a tiny session, in both languages, and say what works. "
    "Nothing of yours is sent. Exits 1 if none works.",
    "让每个已配置的模型从一段极短的中英文对话中做选择，并报告哪些可用。不会发送你的任何内容。若没有可用的模型，退出码为 1。",
)
def check_all(session: Session) -> None:
    rows = session.catmem.settings.models
    if not rows:
        session.note(
            "no model is configured, and none is needed; `mem config set models …` sets one (see the README)",
            "没有配置模型，也并非必需；用 `mem config set models …` 设置（见 README）",
        )
    found = [_check(session, row) for row in rows]
    session.result({"models": found, "works": sum(record["works"] for record in found)})
    if not any(record["works"] for record in found):
        raise click.exceptions.Exit(1)


command.add_command(check_all)


def _check(session: Session, row: Row) -> dict[str, Any]:
    catmem = session.catmem
    checked = check(model_of(row, os.environ))
    # It is the user who asks, so the budget does not forbid it; yet it costs.
    if checked.input_tokens or checked.output_tokens:
        catmem.spending.settle(name_of(row), Spend(), Spend(2, checked.input_tokens, checked.output_tokens))
    if checked.works:
        catmem.rests.wake(key_of(row))
    if not session.as_json:
        _print(session, row, checked)
    return _record(row, checked)


def _record(row: Row, checked: Checked) -> dict[str, Any]:
    failure = checked.failure
    return {
        "name": name_of(row),
        "api": row["api"],
        "model": row.get("model", ""),
        "place": place_of(row),
        "works": checked.works,
        "reachable": _is_reachable(checked),
        "key": {"variable": row["api_key_env"], "set": _has_key(row)} if "api_key_env" in row else None,
        "follows_form": checked.follows_form,
        "keeps_language": checked.keeps_language,
        "selects_right": checked.selects_right,
        "input_tokens": checked.input_tokens,
        "output_tokens": checked.output_tokens,
        "seconds": round(checked.seconds, 2),
        "failure": {"kind": failure.kind, "message": failure.en} if failure else None,
    }


def _print(session: Session, row: Row, checked: Checked) -> None:
    label = label_of(row)
    if checked.failure is not None:
        session.say(f"✗ {label}: {checked.failure.en}", f"✗ {label}：{checked.failure.zh}")
        return
    tokens, seconds = checked.input_tokens + checked.output_tokens, checked.seconds
    if checked.works:
        session.say(
            f"✓ {label}: works, {seconds:.1f} s a session, {tokens} tokens",
            f"✓ {label}：可用，每段 {seconds:.1f} 秒，共 {tokens} 词元",
        )
    else:
        session.say(f"✗ {label}: answers, but is of no use", f"✗ {label}：有回答，但无法使用")
    if "api_key_env" in row:
        session.say(f"    the key in {row['api_key_env']} is taken", f"    {row['api_key_env']} 中的密钥有效")
    for holds, right, wrong in _GRADES:
        good = holds(checked)
        if good or checked.works:
            en, zh = right if good else wrong
            session.say(f"    {en}", f"    {zh}")
    if not checked.works:
        session.say(
            "    it does not answer in the form that was asked; take a larger model, or one that can be held to a JSON schema",
            "    没有按要求的格式作答；请换更大的模型，或支持 JSON schema 的模型",
        )


_Grade = tuple[Callable[[Checked], bool], tuple[str, str], tuple[str, str]]
# What holds, what is said if it does, and what if it does not.
_GRADES: tuple[_Grade, ...] = (
    (
        lambda checked: checked.follows_form,
        ("keeps to the form", "遵守格式"),
        ("does not keep to the form", "不遵守格式"),
    ),
    (
        lambda checked: checked.keeps_language,
        ("answers Chinese in Chinese and English in English", "中文用中文、英文用英文作答"),
        (
            "! answers in another language than it is asked; its words will not be used",
            "! 用另一种语言作答；不会采用其措辞",
        ),
    ),
    (
        lambda checked: checked.selects_right,
        ("selects what lasts and leaves the rest", "选出了长期有效的内容，没有选其余的"),
        (
            "! selects what was only for once, or misses what lasts; the rules are still applied to it",
            "! 选了一次性的内容或漏选；规则仍会把关",
        ),
    ),
)


def _is_reachable(checked: Checked) -> bool:
    return checked.failure is None or checked.failure.kind not in ("setup", "unreachable", "timeout")


def _has_key(row: Row) -> bool:
    return bool(os.environ.get(row["api_key_env"], "").strip())
