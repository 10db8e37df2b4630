"""What a model's server or the way to it may do wrong, in words that say what to do next."""

from __future__ import annotations

from dataclasses import dataclass

from catmem.llm.port import Failure

# Seconds. A server that is starting, busy or restarting is worth another try after half a minute; a wrong key, name or
# address stays wrong until somebody mends it.
SHORT_REST = 30.0
LONG_REST = 300.0
# What a server may ask for; whoever bans for longer is asked once an hour.
LONGEST_REST = 3600.0

# Told by the server as "not now" rather than "not so": timeout, too early, too many requests.
_BUSY = frozenset({408, 409, 425, 429})


@dataclass(frozen=True, slots=True)
class Where:
    """A model's server as error texts name it: `host` without what else the address holds, the key's variable or ""."""

    host: str
    variable: str


def missing_library() -> Failure:
    return Failure(
        "models need the HTTP client; install it with `pip install 'catmem[llm]'`",
        "使用模型需要 HTTP 客户端；请运行 `pip install 'catmem[llm]'`",
        remedy="another",
        rest=LONG_REST,
        kind="setup",
    )


def missing_key(where: Where) -> Failure:
    return Failure(
        f"the variable {where.variable} holds no key for {where.host}; set it before `mem start`",
        f"环境变量 {where.variable} 里没有 {where.host} 的密钥；请先设置再运行 `mem start`",
        remedy="another",
        kind="setup",
        rest=LONG_REST,
    )


def bad_address(base_url_host: str) -> Failure:
    return Failure(
        f"base_url of a model is no address ({base_url_host}); mend it with `mem config set models …`",
        f"模型的 base_url 不是有效地址（{base_url_host}）；请用 `mem config set models …` 修改",
        remedy="another",
        kind="setup",
        rest=LONG_REST,
    )


def refused(where: Where, status: int, said: str, retry_after: float | None) -> Failure:
    """A server's status other than 200. `said` is its own message, or ""."""
    en, zh = (f" ({said})", f"（{said}）") if said else ("", "")
    host = where.host
    if status in (401, 403):
        # What the server says is not quoted: some repeat a part of the key.
        return Failure(*_key_refused(where, status), remedy="another", rest=LONG_REST, kind="401")
    if 300 <= status < 400:
        return Failure(
            f"{host} redirects elsewhere ({status}); only the configured address is asked: mend base_url",
            f"{host} 要求转到别处（{status}）；只会访问所配置的地址，请修改 base_url",
            remedy="another",
            kind="404",
            rest=LONG_REST,
        )
    if status in (404, 405):
        return Failure(
            f"{host} has no such model or address{en}; see `mem config get models`",
            f"{host} 上没有这个模型或地址{zh}；请检查 `mem config get models`",
            remedy="another",
            kind="404",
            rest=LONG_REST,
        )
    if status in _BUSY or status >= 500:
        rest = SHORT_REST if retry_after is None else min(max(retry_after, 1.0), LONGEST_REST)
        return Failure(
            f"{host} is too busy or out of order, status {status}{en}; try again in {rest:.0f} s",
            f"{host} 繁忙或故障，状态 {status}{zh}；请在 {rest:.0f} 秒后再试",
            remedy="later",
            kind="429" if status in _BUSY else "500",
            rest=rest,
        )
    return Failure(
        f"{host} refused the request, status {status}{en}; see `mem config get models`",
        f"{host} 拒绝了请求，状态 {status}{zh}；请检查 `mem config get models`",
        remedy="another",
        kind="400",
    )


def _key_refused(where: Where, status: int) -> tuple[str, str]:
    if not where.variable:
        return (
            f"{where.host} wants a key ({status}); name its environment variable as api_key_env of the model",
            f"{where.host} 需要密钥（{status}）；请在模型的 api_key_env 里写上环境变量名",
        )
    return (
        f"{where.host} refused the key in {where.variable} ({status}); check it",
        f"{where.host} 拒绝了 {where.variable} 中的密钥（{status}）；请检查",
    )


def unreachable(where: Where) -> Failure:
    return Failure(
        f"{where.host} cannot be reached; is it running, and base_url right?",
        f"无法连接 {where.host}；请确认它在运行，且 base_url 正确",
        remedy="later",
        kind="unreachable",
        rest=SHORT_REST,
    )


def untrusted(where: Where) -> Failure:
    return Failure(
        f"the certificate of {where.host} is not trusted; check base_url",
        f"{where.host} 的证书不受信任；请检查 base_url",
        remedy="another",
        kind="unreachable",
        rest=LONG_REST,
    )


def too_slow(where: Where, seconds: float, *, begun: bool = False) -> Failure:
    return Failure(
        f"{where.host} was silent for {seconds:.0f} s; try again, or ask for less",
        f"{where.host} 在 {seconds:.0f} 秒内没有回应；请重试或缩短问题",
        remedy="later",
        kind="hang" if begun else "timeout",
        rest=SHORT_REST,
    )


def too_much(where: Where) -> Failure:
    return Failure(
        f"the answer of {where.host} found no end; ask for less",
        f"{where.host} 的回答没完没了；请缩小问题范围",
        remedy="another",
        kind="hang",
    )


def cut_short(where: Where) -> Failure:
    return Failure(
        f"the connection to {where.host} ended too early; try again",
        f"与 {where.host} 的连接提前中断；请重试",
        remedy="later",
        kind="stream-died",
        rest=SHORT_REST,
    )


def unreadable(where: Where) -> Failure:
    return Failure(
        f"{where.host} answered in a form we do not know; is `api` of this model right?",
        f"{where.host} 的回应格式无法识别；请检查该模型的 `api` 设置",
        remedy="another",
        kind="unreadable",
        rest=LONG_REST,
    )


def empty(where: Where) -> Failure:
    return Failure(
        f"{where.host} gave an empty answer; say it in other words",
        f"{where.host} 的回答为空；请换个说法",
        remedy="another",
        kind="empty",
    )


def broken_off(failure: Failure) -> Failure:
    """The same, after a part of the answer was given: nobody else can go on with it."""
    return Failure(
        f"the answer broke off: {failure.en}",
        f"回答中断：{failure.zh}",
        remedy="give up",
        rest=failure.rest,
        kind=failure.kind,
    )


def no_command(name: str, reason: str) -> Failure:
    return Failure(
        f"the program {name} of a model cannot be started ({reason}); install it, or mend `command` in `models`",
        f"无法启动模型的程序 {name}（{reason}）；请安装，或修改 `models` 里的 `command`",
        remedy="another",
        rest=LONG_REST,
        kind="setup",
    )


def command_failed(name: str, code: int, said: str) -> Failure:
    """`said` is the last line that it wrote to stderr, or ""."""
    how_en, how_zh = (f"code {code}", f"退出码 {code}") if code > 0 else (f"signal {-code}", f"信号 {-code}")
    said = said if len(said) <= 200 else said[:199] + "…"
    en, zh = (f": {said}", f"：{said}") if said else ("", "")
    return Failure(
        f"the program {name} failed, {how_en}{en}; try it by hand",
        f"程序 {name} 失败，{how_zh}{zh}；请手动试一试",
        remedy="another",
        rest=SHORT_REST,
        kind="command",
    )


def command_too_slow(name: str, seconds: float, *, begun: bool) -> Failure:
    return Failure(
        f"the program {name} had not answered after {seconds:.0f} s and was ended; try it by hand",
        f"程序 {name} 在 {seconds:.0f} 秒后仍未答完，已被结束；请手动试一试",
        remedy="later",
        rest=SHORT_REST,
        kind="hang" if begun else "timeout",
    )


def command_endless(name: str) -> Failure:
    return Failure(
        f"the answer of the program {name} found no end; it was ended",
        f"程序 {name} 的回答没完没了，已被结束",
        remedy="another",
        kind="hang",
    )


def command_silent(name: str) -> Failure:
    return Failure(
        f"the program {name} said nothing; try it by hand",
        f"程序 {name} 什么也没有回答；请手动试一试",
        remedy="another",
        kind="empty",
    )
