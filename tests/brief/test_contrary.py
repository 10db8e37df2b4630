"""Whether two statements contradict each other, say the same, or are about two things: in both languages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catmem.brief.contrary import Sense, contradict, say_the_same
from catmem.text.sense import sense_of


def sense(text: str) -> Sense:
    return Sense(sense_of(text))


CONTRARY = [
    ("Use tabs", "Don't use tabs"),
    ("Use tabs", "Never use tabs"),
    ("use tabs for indentation", "Use spaces for indentation"),
    ("缩进用空格", "缩进用 tab"),
    ("缩进用 tab", "不要用 tab 缩进"),
    ("Indent with tabs", "缩进用空格"),
    ("Commit messages are in English", "提交信息用中文写"),
    ("Commit messages in Chinese", "提交信息一律用英文"),
    ("Ruff formats at 100 columns", "Ruff formats at 120 columns"),
    ("每行不超过 100 列", "每行不超过 80 列"),
    ("The API listens on port 5439", "The API listens on port 5440"),
    ("端口是 5439", "端口为 5440"),
    ("Commit directly to main", "Never commit directly to main; open a merge request from a topic branch"),
    ("User prefers short answers", "回答要详细"),
    ("The user likes detailed answers", "回答尽量简短"),
    ("Deploy on Fridays", "Don't deploy on Fridays"),
    ("周五不要部署", "Deploy on Fridays"),
    ("Use tabs, not spaces", "Use spaces, not tabs"),
    ("Use pnpm instead of npm", "Use npm"),
    ("用 pnpm 而不是 npm", "用 npm"),
    ("写测试", "不写测试"),
    ("提交前跑测试", "提交前不用跑测试"),
    ("Add comments to the code", "No comments in the code"),
    ("Prefers dark theme", "Prefers light theme"),
    ("不喜欢分号", "喜欢分号"),
    ("縮排用空格", "缩排用 tab"),
    ("缩进用两个空格", "缩进用 4 个空格"),
    ("Indent with two spaces", "缩进用四个空格"),
    ("Indent with tabs", "Indent with two spaces"),
    ("indent with tabs", "two spaces"),
    ("缩进用 tab", "Indent with 4 spaces"),
    ("We use npm", "we use pnpm now"),
    ("Package manager is npm", "装包走 pnpm"),
    ("Use poetry", "装包用 uv"),
    ("We deploy to Fly", "部署在 Render"),
    ("staging is on Fly", "预发在 Render 上"),
    ("We use Jest for tests", "测试用 Vitest"),
    ("数据库用 Postgres", "Our database is MySQL"),
    ("Docs live in Notion", "文档放在语雀"),
    ("Python 3.11", "项目用 Python 3.12"),
    ("用 Node 18", "Node 版本是 20"),
    ("Don't commit to main", "直接提交到 main"),
    ("不要提交到 main", "commit directly to main"),
    ("Use single quotes", "字符串用双引号"),
    ("行宽 100", "Line length is 120"),
    ("Coverage must be at least 80%", "覆盖率至少 90%"),
    ("timeout is 30 seconds", "超时 60 秒"),
    ("Cache for 30 minutes", "缓存 30 天"),
    ("Use camelCase for variables", "变量用下划线命名"),
    ("Answer in English", "回答用中文"),
    ("Standup is at 9:30", "Standup is at 10:00"),
    ("The daily standup starts at 9:30 am", "站会每天上午十点开始"),
    ("站会九点半开始", "站会改到 10 点整"),
    ("Backups run at 3 am", "备份在凌晨四点"),
    ("Release on Mondays", "发版定在周四"),
    ("Standup at 9:30", "站会 9:45"),
    ("I use vim", "编辑器用 VS Code"),
    ("Node 18", "We use Node 20"),
]
BESIDE_EACH_OTHER = [
    ("Run the tests before each commit", "Don't run tests on battery"),
    ("We use Postgres", "We use Redis"),
    ("The zebra stable 1 has rule number 7", "The zebra stable 2 has rule number 14"),
    ("Sensor 3 is broken", "Sensor 4 is broken"),
    ("Use tabs in Makefiles", "Use spaces in Python"),
    ("Never commit directly to main", "Commit messages are in English"),
    ("回答用中文", "提交信息用英文"),
    ("Staging is at 10.0.0.3", "Production is at 10.0.0.4"),
    ("staging uses port 5439", "production uses port 5440"),
    ("规则 1：提交之前先跑一遍测试", "规则 2：提交之前先跑一遍测试"),
    ("If tests fail, stop", "Run tests"),
    ("Deploy on Fridays", "Deploy on Mondays only to staging"),
    ("We use Postgres", "We use MySQL"),
    ("frontend uses npm", "backend uses uv"),
    ("Use npm for the docs site", "Use pnpm for the app"),
    ("Indent Python with 4 spaces", "Indent YAML with two spaces"),
    ("Python 用 4 个空格缩进", "YAML 用两个空格缩进"),
    ("staging deploys to Fly", "production deploys to Render"),
    ("预发部署在 Fly", "生产部署在 Render"),
    ("测试用 Jest", "测试用 pytest"),
    ("unit tests use Jest", "e2e tests use Vitest"),
    ("Use Python 3.11 in CI", "Use Python 3.12 locally"),
    ("Don't commit to main", "Don't push to main"),
    ("Service A runs on port 8080", "Service B of the shop runs on port 9090"),
    ("Cache timeout is 30 seconds", "Request timeout is 60 seconds"),
    ("日志保留 30 天", "备份保留 90 天"),
    ("Use tabs", "Two spaces after a period"),
    ("变量用驼峰", "文件名用下划线"),
    ("Deploy to Fly", "Deploy on Fridays"),
    ("文档放在语雀", "文档用中文写"),
    ("测试用 Jest", "测试放在 tests 目录"),
    ("Keep functions under 40 lines", "Keep files under 300 lines"),
    ("提交信息用英文", "注释用中文"),
    ("Standup is at 9:30", "Retro is at 10:00"),
    ("Backups run at 3:00 on Sundays", "Backups run at 4:00 on weekdays"),
    ("Use vim on servers", "Use VS Code at home"),
    ("Images are 16:9", "Images are lazy"),
    ("API 在 localhost:8080", "API 在 localhost:8081 的备机"),
    ("注意三点：先测试，再提交，最后发版", "注意两点：先测试，再提交"),
]
THE_SAME = [
    ("Use tabs for indentation", "缩进用 tab"),
    ("Commit messages are written in Chinese", "提交信息用中文写"),
    ("Run tests before committing", "Always run tests before committing"),
    ("回答要简短", "Keep answers short"),
    ("Don't use tabs", "不要用 tab"),
    ("部署走 Argo CD", "Deploy with Argo CD"),
    ("Never push to main", "不要 push 到 main"),
    ("Don't commit to main", "不要提交到 main"),
    ("timeout is 30 seconds", "超时 30 秒"),
    ("Indent with two spaces", "缩进用两个空格"),
    ("Use Python 3.12", "项目用 Python 3.12"),
    ("We deploy to Fly", "部署在 Fly"),
    ("Standup is at 9:30 am", "站会每天早上九点半开始"),
    ("Backups at 15:00", "备份在下午三点"),
]


@pytest.mark.parametrize(("one", "other"), CONTRARY)
def test_what_cannot_both_be_heeded(one: str, other: str) -> None:
    assert contradict(sense(one), sense(other))
    assert contradict(sense(other), sense(one))


@pytest.mark.parametrize(("one", "other"), BESIDE_EACH_OTHER)
def test_what_stands_beside_each_other(one: str, other: str) -> None:
    assert not contradict(sense(one), sense(other))
    assert not say_the_same(sense(one), sense(other))


@pytest.mark.parametrize(("one", "other"), THE_SAME)
def test_one_statement_in_two_wordings(one: str, other: str) -> None:
    assert say_the_same(sense(one), sense(other))
    assert not contradict(sense(one), sense(other))


@given(st.text(), st.text())
def test_any_two_texts_are_safe_and_no_order_counts(one: str, other: str) -> None:
    a, b = sense(one), sense(other)
    assert contradict(a, b) == contradict(b, a)
    assert say_the_same(a, b) == say_the_same(b, a)
