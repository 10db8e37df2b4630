"""A secret never survives, its sentence does, and what is no secret is left alone."""

from __future__ import annotations

import re
import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catmem.text.secrets.redact import find, has_secret, markers, new_key, redact
from tests.text.secret_samples import KEY_SENTENCES, PASSWORD_SENTENCES, Maker, formats

KEY = b"k" * 32
MAKE = Maker(7)
PASSWORD = "Vb9" + MAKE.pick("abcdefghjkmnpqrstuvwxyz23456789", 8)
TOKEN = MAKE.alnum(32)


@pytest.mark.parametrize(("name", "value"), formats())
@pytest.mark.parametrize("frame", ["%s", "please use %s, thanks", "密钥%s。", 'x = "%s"\n', "{\\n%s\\n}"])
def test_a_known_form_is_found_anywhere(name: str, value: str, frame: str) -> None:
    out = redact(frame % value, KEY)
    assert value not in out, name
    left, right = frame.split("%s")
    assert out.startswith(left) and out.endswith(right)
    if not value[:4].isdigit() and " " not in value and name not in ("amex", "unionpay", "chinese id"):
        assert value not in redact(frame % value, KEY, source="tool")


@pytest.mark.parametrize("sentence", PASSWORD_SENTENCES)
def test_a_password_is_found(sentence: str) -> None:
    _is_gone_and_readable(sentence, PASSWORD)


@pytest.mark.parametrize("sentence", KEY_SENTENCES)
def test_a_key_is_found(sentence: str) -> None:
    _is_gone_and_readable(sentence, TOKEN)


def _is_gone_and_readable(sentence: str, value: str) -> None:
    out = redact(sentence.replace("%s", value), KEY)
    assert value not in out
    pattern = re.escape(sentence).replace("%s", r"[\"'`]?\[secret:[a-z0-9-]+:[0-9a-f]{8}\][\"'`]?")
    assert re.fullmatch(pattern, out), out


@pytest.mark.parametrize(
    "word",
    ["hunter2", "letmein", "swordfish", "P@ss" + "w0rd!", "qwerty123", "12345678", "correct-horse-battery-staple"],
)
def test_weak_passwords_are_passwords(word: str) -> None:
    assert word not in redact(f"the password is {word}", KEY)
    assert word not in redact(f"密码是 {word}，记得保密", KEY)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("two-factor setup key %s", MAKE.base32(32)),
        ("otpauth://totp/Ex:bob?secret=%s&issuer=Ex", MAKE.base32(24)),
        ("pay with %s please", " ".join(re.findall("....", MAKE.card("51", 16)))),
        ("验证码是 %s", "482913"),
        ("the pin is %s", "4821"),
        ("call me at %s", "+1 (555) 010-4477"),
        ("手机号 %s", "138" + "00000000"),
        ("mail %s please", "nobody@" + "example.test"),
        ("助记词是 %s", "abandon ability able about above absent absorb abstract absurd abuse access accident"),
        ("私钥 %s", "0x" + MAKE.hexadecimal(64)),
        ("license key is %s", "A7K2P-Q9X3M-L5T8R-W2Z6N-B4V7C"),
        ("post to https://hooks." + "slack.com/services/%s", "T0AB12CD3/B0EF45GH6/" + MAKE.alnum(24)),
        ("HEROKU_API_KEY=%s", MAKE.uuid()),
        ("[Interface]\nPrivateKey = %s\nAddress = 10.0.0.1/24", MAKE.base64(32)),
        ("env:\n- name: API_TOKEN\n  value: %s\n", TOKEN),
    ],
)
def test_other_kinds(text: str, value: str) -> None:
    assert value not in redact(text % value, KEY)


CLEAN = """
the password field is empty
密码不对
密码是存在保险库里的，不要写进仓库
密码至少 8 位，包含数字
密码用 bcrypt 加密后存库
我们把登录令牌的刷新逻辑改成了每小时一次
token 过期时间是 3600 秒
验证码识别准确率 95%
パスワードは8文字以上
password must be at least 8 characters
The password is hashed with bcrypt before it is stored.
The API key lives in the vault, ask Ops.
the api key is read from the environment
the key change landed in 38a0762df6adeb917d6d661e9aec80a57cd64900
cache key v2-a4cfdd45fb586c52790afa8d935fe59f-deps
fixed in commit 3d1c6b278fae1bd903bd3f6d759034744d864c44
uuid 123e4567-e89b-12d3-a456-426614174000
sha256:dcfae07f86e581e4f7e0c28cb9461d8b2d5fb41442282767d1b90c75c9716410
"integrity": "sha512-62FCJFGUHfu3jW0U3Ia4oFsjQjE+ijePrA3P6YWL9THP4AgJAYdwgrDCU2SVqoqqqxl3dL2iPz=="
ETag: W/"aacb2805909998c31b073b59c1b2f35c"
msg_01HXYnVGwbBlJvudhrAeiM2c req_011GxXRNdVs7z9oP8W3xSNi
password=<your-password>
password=***REDACTED***
DB_PASSWORD=${DB_PASSWORD}
export TOKEN=$GITHUB_TOKEN
const apiKey = process.env.OPENAI_API_KEY;
api_key = os.environ["OPENAI_API_KEY"]
password = request.form["password"]
password: str = Field(min_length=8)
token = await get_token(user)
max_tokens=4096, prompt_tokens: 1200
api_key: "YOUR_API_KEY"
Set the DATABASE_URL and AUTH_TOKEN environment variables
postgres://user:password@localhost/db
Authorization: Bearer <token>
public key ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ3v8wq9Zk3y0 bob
git@github.com:acme/app.git
npm i @types/node@20.1.0
@app.route("/login")
listening on 10.0.0.12:5432 and 8.8.8.8
order 2026113000012345 shipped
ISBN 9780306406157 page 4111
port 17179869184 bytes
pass: 12, fail: 3
keyboard shortcut key: Ctrl+Shift+P
mysql -h localhost -P 3306 -u root -p
psql -h localhost -p 5432
Cookie: theme=dark; lang=en
password_file: /run/secrets/db_password
JWT_EXPIRES_IN=7d
""".strip("\n").split("\n")


@pytest.mark.parametrize("text", CLEAN)
@pytest.mark.parametrize("source", ["said", "tool"])
def test_what_is_no_secret_stays(text: str, source: str) -> None:
    assert redact(text, KEY, source=source) == text  # type: ignore[arg-type]


def test_embedded_files_are_not_searched() -> None:
    image = "data:image/png;base64," + "sk-" + TOKEN + MAKE.base64(300).replace("+", "a")
    assert redact(f"![x]({image})", KEY) == f"![x]({image})"
    assert TOKEN not in redact(f"{image} token: {TOKEN}", KEY).split(" ", 1)[1]


# --- output of tools -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        "DB_PASSWORD=%s", "    12→DB_PASSWORD=%s", ".env:3:DB_PASSWORD=%s", "MYSQL_ROOT_PASSWORD: %s", '"MYSQL_PASSWORD=%s",',
        "  password: %s", '"password": "%s",', "//r.example.test/:_authToken=%s", "API_KEY=%s\nX=1", "postgres://u:%s@h/d",
    ],
)  # fmt: skip
def test_settings_shown_by_a_tool(line: str) -> None:
    value = MAKE.alnum(20)
    assert value not in redact(line.replace("%s", value), KEY, source="tool")


@pytest.mark.parametrize(
    "line",
    [
        "the password is hunter2",
        "密码是 hunter2",
        "def check(password, key=12): return key2",
        'token = "abc1"',
        "Author: Bob <bob@" + "example.test>",
        "call 555-010-4477",
    ],
)
def test_prose_in_a_tool_is_left(line: str) -> None:
    assert redact(line, KEY, source="tool") == line


# --- markers ---------------------------------------------------------------------------------------------------------


def test_the_same_secret_has_the_same_marker_and_no_letter_of_it() -> None:
    one, other = redact(f"the password is {PASSWORD}", KEY), redact(f"密码：{PASSWORD}", KEY)
    assert markers(one) == markers(other) != {}
    assert markers(redact(f"the password is {PASSWORD}x", KEY)) != markers(one)
    assert markers(redact(f"the password is {PASSWORD}", new_key())) != markers(one)
    assert len(redact("the password is a1b2", KEY)) == len(one)
    assert len({new_key() for _ in range(8)}) == 8


def test_a_secret_is_redacted_where_nothing_announces_it() -> None:
    text = f"The password is {PASSWORD}. Then type {PASSWORD} into the box."
    assert PASSWORD not in redact(text, KEY)


def test_a_secret_of_an_earlier_message_is_known_by_its_hash() -> None:
    known = markers(redact(f"密码是 {PASSWORD}", KEY))
    assert PASSWORD in redact(f"I'll type {PASSWORD} there.", KEY)
    assert PASSWORD not in redact(f"I'll type '{PASSWORD}', there.", KEY, known=known)
    assert redact("nothing to see", KEY, known=known) == "nothing to see"


def test_a_key_wrapped_by_a_terminal_is_one() -> None:
    value = "sk-" + "ant-api03-" + MAKE.alnum(90)
    out = redact(f"key:\n{value[:60]}\n{value[60:]}\nend", KEY)
    assert value[60:] not in out and value[:60] not in out and out.endswith("\nend")


def test_spans_name_kind_and_place() -> None:
    text = f"甲 password: {PASSWORD} 乙"
    (span,) = find(text)
    assert (span.kind, text[span.start : span.end]) == ("password", PASSWORD)
    assert has_secret(text) and not has_secret("甲乙")


SAMPLES = [sentence.replace("%s", PASSWORD) for sentence in PASSWORD_SENTENCES]
SAMPLES += [sentence.replace("%s", TOKEN) for sentence in KEY_SENTENCES]
SAMPLES += [value for _, value in formats()] + CLEAN


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.one_of(st.sampled_from(SAMPLES), st.text(max_size=20)), min_size=1, max_size=4),
    st.sampled_from(["\n", " ", "。", "\n\n"]),
)
def test_redacting_twice_changes_nothing(parts: list[str], glue: str) -> None:
    once = redact(glue.join(parts), KEY)
    assert redact(once, KEY) == once
    assert TOKEN not in once


@settings(deadline=None, max_examples=80)
@given(st.text(max_size=200))
def test_spans_are_ordered_and_apart(text: str) -> None:
    spans = find(text)
    for before, after in pairwise(spans):
        assert before.end <= after.start
    assert all(0 <= span.start < span.end <= len(text) for span in spans)


@pytest.mark.parametrize(
    "piece",
    [
        "password=",
        "密码是",
        "sk-" + "ant-",
        "://a:",
        "Cookie: ",
        "eyJa.",
        "[secret:password:12345678]",
        "mysql -p",
        "-----BEGIN " + "PRIVATE KEY-----",
        "\u0130key ",
    ],
)
def test_time_grows_with_the_text_and_not_faster(piece: str) -> None:
    def seconds(length: int) -> float:
        text = (piece * (length // len(piece) + 1))[:length]
        best = min(_timed(text) for _ in range(2))
        return max(best, 1e-4)

    assert seconds(80_000) < 8 * 5 * seconds(10_000) + 0.2


def _timed(text: str) -> float:
    start = time.process_time()
    find(text)
    return time.process_time() - start
