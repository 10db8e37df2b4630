"""What models may cost: tokens a day, in all processes together, and calls a run; and what they have cost."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from catmem.domain.clock import Clock, system_clock
from catmem.domain.errors import LockBusy, StorageFailed
from catmem.llm.port import MOST_TOKENS, Completion, Failure, Model, Schema, Turn
from catmem.settings.paths import DIRECTORY_MODE, FILE_MODE, write_private
from catmem.text.cut import estimate_tokens

# A run that asks more often is in a loop: a worker lives two minutes, and a call takes seconds.
CALLS_A_RUN = 200
# The file is written in a millisecond; whoever holds it longer is stuck.
_LOCK_SECONDS = 10.0
# What failed after the server may have begun to count: it is taken for spent, as far as it was asked.
_COSTLY = frozenset({"timeout", "hang", "stream-died", "unreadable", "empty", "command"})


class Spent(Failure):
    """The budget does not hold another call. Until tomorrow the work waits; nothing else does."""


@dataclass(frozen=True, slots=True)
class Spend:
    """Calls and tokens."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Spend) -> Spend:
        return Spend(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
        )


@dataclass(frozen=True, slots=True)
class Account:
    """What the file holds: the spend by model of the local day `day` and of all days, and the tokens that a call wanted
    which was refused on that day (0: none was)."""

    day: str = ""
    today: dict[str, Spend] = field(default_factory=dict)
    total: dict[str, Spend] = field(default_factory=dict)
    refused: int = 0

    @property
    def tokens_today(self) -> int:
        return sum(spend.tokens for spend in self.today.values())


class Spending:
    """The account of a data directory. A call is booked before it is made, so that the budget is never exceeded by
    processes that ask at once, or by one that is killed; what it did not cost is given back.

    daily_tokens  the setting `daily_token_budget`
    """

    def __init__(
        self, file: Path, daily_tokens: int, clock: Clock = system_clock, *, calls_a_run: int = CALLS_A_RUN
    ) -> None:
        self._file = file
        self._daily_tokens = daily_tokens
        self._clock = clock
        self._calls_left = calls_a_run

    def account(self) -> Account:
        """As of now: a day that has passed is no longer `today`."""
        account, day = _read(self._file), self._day()
        # A clock that was set back must not give the budget a second time.
        return account if account.day >= day else replace(account, day=day, today={}, refused=0)

    @property
    def daily_tokens(self) -> int:
        return self._daily_tokens

    def rests(self) -> bool:
        """True if a call was refused today: no model is asked until tomorrow, or with a larger budget."""
        account = self.account()
        return bool(account.refused) and account.tokens_today + account.refused > self._daily_tokens

    def book(self, model: str, wanted: Spend) -> None:
        """Takes what a call may cost. Raises Spent and takes nothing if so much is not left."""
        if self._calls_left <= 0:
            raise self._spent_for_this_run()
        with self._locked():
            account = self.account()
            if account.tokens_today + wanted.tokens > self._daily_tokens:
                self._write(replace(account, refused=wanted.tokens))
                raise self._spent_for_today(account.tokens_today)
            self._calls_left -= 1
            self._write(_with(account, model, wanted))

    def settle(self, model: str, booked: Spend, cost: Spend) -> None:
        """What a booked call did cost, in the place of what it might have."""
        with self._locked():
            back = Spend(cost.calls - booked.calls, cost.input_tokens - booked.input_tokens,
                         cost.output_tokens - booked.output_tokens)  # fmt: skip
            self._write(_with(self.account(), model, back))

    def _day(self) -> str:
        return time.strftime("%Y-%m-%d", time.localtime(self._clock()))

    @contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            self._file.parent.mkdir(mode=DIRECTORY_MODE, parents=True, exist_ok=True)
            with FileLock(self._file.with_suffix(".lock"), mode=FILE_MODE, timeout=_LOCK_SECONDS):
                yield
        except Timeout as error:
            raise LockBusy(
                f"{self._file} is held by another process; try again in a minute",
                f"{self._file} 被另一个进程占用；请一分钟后再试",
            ) from error
        except OSError as error:
            raise StorageFailed.writing(self._file, error) from error

    def _write(self, account: Account) -> None:
        write_private(self._file, json.dumps(asdict(account), ensure_ascii=False).encode("utf-8", "replace"))

    def _spent_for_today(self, spent: int) -> Spent:
        return Spent(
            f"the day's budget for models is used up ({spent} of {self._daily_tokens} tokens); they are asked again "
            "tomorrow, or after `mem config set daily_token_budget …`",
            f"今天的模型预算已用完（{self._daily_tokens} 词元中的 {spent}）；明天再询问模型，"
            "或用 `mem config set daily_token_budget …` 调整",
            remedy="later",
            kind="spent",
        )

    def _spent_for_this_run(self) -> Spent:
        return Spent(
            "this run has asked its models often enough; the next one goes on",
            "本次运行调用模型的次数已够多；下次运行会继续",
            remedy="later",
            kind="spent",
        )


class Metered:
    """A model whose completions are paid for. Words for a person who waits (`stream`) are not: they are no background work."""

    def __init__(self, model: Model, name: str, spending: Spending) -> None:
        self._model = model
        self._name = name
        self._spending = spending

    def stream(self, system: Sequence[str], turns: Sequence[Turn]) -> Iterator[str]:
        return self._model.stream(system, turns)

    def complete(
        self, system: Sequence[str], turns: Sequence[Turn], schema: Schema, *, max_tokens: int = MOST_TOKENS
    ) -> Completion:
        asked = sum(map(estimate_tokens, system)) + sum(estimate_tokens(turn.text) for turn in turns)
        booked = Spend(1, asked + estimate_tokens(json.dumps(schema, ensure_ascii=False)), max_tokens)
        self._spending.book(self._name, booked)
        cost = booked
        try:
            said = self._model.complete(system, turns, schema, max_tokens=max_tokens)
            cost = Spend(1, said.input_tokens or asked, said.output_tokens or estimate_tokens(said.text))
        except Failure as failure:
            cost = Spend(1, booked.input_tokens if failure.kind in _COSTLY else 0, 0)
            raise
        finally:
            self._spending.settle(self._name, booked, cost)
        return said


def _with(account: Account, model: str, spend: Spend) -> Account:
    def added(known: dict[str, Spend]) -> dict[str, Spend]:
        return {**known, model: known.get(model, Spend()) + spend}

    return replace(account, today=added(account.today), total=added(account.total))


def _read(file: Path) -> Account:
    """An account that cannot be read is begun anew: it bounds a cost and holds nothing that was said."""
    try:
        known: dict[str, Any] = json.loads(file.read_bytes())
        today, total = _spends(known["today"]), _spends(known["total"])
        return Account(str(known["day"]), today, total, int(known["refused"]))
    except FileNotFoundError:
        return Account()
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return Account()


def _spends(known: dict[str, Any]) -> dict[str, Spend]:
    return {
        str(name): Spend(int(row["calls"]), int(row["input_tokens"]), int(row["output_tokens"]))
        for name, row in known.items()
    }
