"""What models have cost and whether they rest, as `mem stats` and `mem status` say it."""

from __future__ import annotations

import dataclasses
from typing import Any

from catmem.cli.output import Session, counted
from catmem.llm.budget import Account, Spend
from catmem.llm.providers import key_of, name_of
from catmem.wiring import Catmem


def spend_of(catmem: Catmem) -> dict[str, Any]:
    """Calls and tokens by model, today and in all, and the day's budget."""
    account = catmem.spending.account()
    return {
        "budget": catmem.spending.daily_tokens,
        "today": {name: dataclasses.asdict(spend) for name, spend in account.today.items()},
        "total": {name: dataclasses.asdict(spend) for name, spend in account.total.items()},
    }


def print_spend(session: Session) -> None:
    account = session.catmem.spending.account()
    if not account.total:
        return
    budget = session.catmem.spending.daily_tokens
    calls = sum(spend.calls for spend in account.today.values())
    session.say(
        f"models today: {account.tokens_today:,} of {budget:,} tokens in {counted(calls, 'call')}",
        f"今天的模型用量：{budget:,} 词元中的 {account.tokens_today:,}，调用 {calls} 次",
    )
    session.say(f"  in all: {_listed(account, 'en')}", f"  累计：{_listed(account, 'zh')}")


def models_of(catmem: Catmem) -> dict[str, Any]:
    """The models of `mem status`: how much of the budget is used, whether work waits for it, and who rests (seconds)."""
    rows = catmem.settings.models
    resting = {name_of(row): round(catmem.rests.left(key_of(row))) for row in rows}
    return {
        "configured": [name_of(row) for row in rows],
        "budget": catmem.spending.daily_tokens,
        "spent_today": catmem.spending.account().tokens_today,
        "waiting_for_budget": bool(rows) and catmem.spending.rests(),
        "resting": {name: seconds for name, seconds in resting.items() if seconds},
    }


def print_models(session: Session, value: dict[str, Any]) -> None:
    """Nothing where none is configured: everything works without."""
    if not value["configured"]:
        return
    names, spent, budget = value["configured"], value["spent_today"], value["budget"]
    session.say(
        f"models: {', '.join(names)}; {spent:,} of {budget:,} tokens used today",
        f"模型：{'、'.join(names)}；今天已用 {budget:,} 词元中的 {spent:,}",
    )
    if value["waiting_for_budget"]:
        session.say(
            "! the day's budget for models is used up: until tomorrow the rules alone distil; "
            "`mem config set daily_token_budget N` allows more",
            "! 今天的模型预算已用完：明天之前只凭规则提炼；可用 `mem config set daily_token_budget N` 提高",
        )
    for name, seconds in value["resting"].items():
        session.say(
            f"! {name} failed and is left alone for {seconds} s; `mem models check` says why",
            f"! {name} 出过故障，{seconds} 秒内不再调用；用 `mem models check` 查看原因",
        )


def _listed(account: Account, language: str) -> str:
    def said(name: str, spend: Spend) -> str:
        if language == "zh":
            return f"{name} {spend.tokens:,} 词元（{spend.calls} 次）"
        return f"{name} {spend.tokens:,} tokens ({counted(spend.calls, 'call')})"

    return ("，" if language == "zh" else ", ").join(said(name, spend) for name, spend in sorted(account.total.items()))
