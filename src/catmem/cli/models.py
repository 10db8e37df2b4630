"""`mem models check`"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import click

from catmem.cli.output import Session, mem_command, mem_group
from catmem.cli.usage import Group
from catmem.distil.model.trial import Trial, try_model
from catmem.llm.budget import Spend
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
    trial = try_model(model_of(row, os.environ))
    # It is the user who asks, so the budget does not forbid it; yet it costs.
    if trial.calls:
        cost = Spend(trial.calls, trial.input_tokens, trial.output_tokens)
        catmem.spending.settle(name_of(row), Spend(), cost)
    if trial.works:
        catmem.rests.wake(key_of(row))
    if not session.as_json:
        _print(session, row, trial)
    return _record(row, trial)


def _record(row: Row, trial: Trial) -> dict[str, Any]:
    failure = trial.failure
    return {
        "name": name_of(row),
        "api": row["api"],
        "model": row.get("model", ""),
        "place": place_of(row),
        "works": trial.works,
        "reachable": _is_reachable(trial),
        "key": {"variable": row["api_key_env"], "set": _has_key(row)} if "api_key_env" in row else None,
        "follows_form": trial.works,
        "keeps_language": trial.keeps_language,
        "selects_right": trial.selects_right,
        "input_tokens": trial.input_tokens,
        "output_tokens": trial.output_tokens,
        "seconds": round(trial.seconds, 2),
        "fault": trial.fault,
        "failure": {"kind": failure.kind, "message": failure.en} if failure else None,
    }


def _print(session: Session, row: Row, trial: Trial) -> None:
    label = label_of(row)
    if trial.failure is not None:
        session.say(f"✗ {label}: {trial.failure.en}", f"✗ {label}：{trial.failure.zh}")
        return
    if trial.fault:
        session.say(
            f"✗ {label}: answers, but not in the form that was asked ({trial.fault}); take a larger model, or a server "
            "that holds it to a JSON schema",
            f"✗ {label}：有回答，但没有遵守格式（{trial.fault}）；请换更大的模型，或支持 JSON schema 的服务",
        )
        return
    tokens, seconds = trial.input_tokens + trial.output_tokens, trial.seconds
    session.say(
        f"✓ {label}: works, {seconds:.1f} s a session, {tokens} tokens",
        f"✓ {label}：可用，每段 {seconds:.1f} 秒，共 {tokens} 词元",
    )
    if "api_key_env" in row:
        session.say(f"    the key in {row['api_key_env']} is taken", f"    {row['api_key_env']} 中的密钥有效")
    for holds, right, wrong in _GRADES:
        en, zh = right if holds(trial) else wrong
        session.say(f"    {en}", f"    {zh}")


_Grade = tuple[Callable[[Trial], bool], tuple[str, str], tuple[str, str]]
# What holds, what is said if it does, and what if it does not.
_GRADES: tuple[_Grade, ...] = (
    (
        lambda trial: trial.keeps_language,
        ("answers Chinese in Chinese and English in English", "中文用中文、英文用英文作答"),
        (
            "! answers in another language than it is asked in; its words will not be used",
            "! 用另一种语言作答；不会采用其措辞",
        ),
    ),
    (
        lambda trial: trial.selects_right,
        ("selects what lasts and leaves the rest", "选出了长期有效的内容，没有选其余的"),
        (
            "! selects what was only for once, or misses what lasts; the rules are still applied to it",
            "! 选了一次性的内容或漏选；规则仍会把关",
        ),
    ),
)


def _is_reachable(trial: Trial) -> bool:
    return trial.failure is None or trial.failure.kind not in ("setup", "unreachable", "timeout")


def _has_key(row: Row) -> bool:
    return bool(os.environ.get(row["api_key_env"], "").strip())
