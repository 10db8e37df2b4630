"""Sentences with made-up secrets, put together at run time so that scanners of repositories stay quiet."""

from __future__ import annotations

import base64
import random
import string

_SEED = 20_261
_ALNUM = string.ascii_letters + string.digits


class Maker:
    """Makes values of the published shapes, the same in each run."""

    def __init__(self, seed: int = _SEED) -> None:
        self._random = random.Random(seed)

    def pick(self, letters: str, length: int) -> str:
        return "".join(self._random.choices(letters, k=length))

    def alnum(self, length: int) -> str:
        # Upper, lower and a digit for sure, as any real key of some length has them.
        return "aZ7" + self.pick(_ALNUM, length - 3)

    def hexadecimal(self, length: int) -> str:
        return "a7" + self.pick("0123456789abcdef", length - 2)

    def base32(self, length: int) -> str:
        return "A7" + self.pick("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", length - 2)

    def base64(self, length: int) -> str:
        return base64.b64encode(self._random.randbytes(length)).decode()

    def uuid(self) -> str:
        return "-".join(self.hexadecimal(length) for length in (8, 4, 4, 4, 12))

    def card(self, begin: str, length: int) -> str:
        body = begin + self.pick(string.digits, length - len(begin) - 1)
        total = 0
        for place, digit in enumerate(reversed(body)):
            value = int(digit) * (2 - place % 2)
            total += value - 9 if value > 9 else value
        return body + str(-total % 10)

    def chinese_id(self) -> str:
        body = "110105" + "19900307" + self.pick(string.digits, 3)
        weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
        return body + "10X98765432"[sum(w * int(d) for w, d in zip(weights, body, strict=True)) % 11]

    def pem(self, label: str) -> str:
        dashes = "-" * 5
        lines = "\n".join(self.base64(48) for _ in range(4))
        return f"{dashes}BEGIN {label}{dashes}\n{lines}\n{dashes}END {label}{dashes}"


def formats() -> list[tuple[str, str]]:
    """Name and value of keys that are known by their form alone."""
    make = Maker()
    alnum, hexa = make.alnum, make.hexadecimal
    return [
        ("aws", "AK" + "IA" + make.pick(string.ascii_uppercase, 16)),
        ("google", "AI" + "za" + alnum(35)),
        ("google oauth", "GOC" + "SPX-" + alnum(28)),
        ("aliyun", "LT" + "AI5t" + alnum(18)),
        ("tencent", "AK" + "ID" + alnum(32)),
        ("volcengine", "AK" + "LT" + alnum(40)),
        ("baidu", "ALT" + "AK" + alnum(21)),
        ("github", "gh" + "p_" + alnum(36)),
        ("github fine", "github" + "_pat_" + alnum(22) + "_" + alnum(59)),
        ("gitlab", "gl" + "pat-" + alnum(20)),
        ("npm", "np" + "m_" + alnum(36)),
        ("pypi", "py" + "pi-AgEIcHlwaS5vcmc" + alnum(70)),
        ("docker", "dckr" + "_pat_" + alnum(27)),
        ("anthropic", "sk-" + "ant-api03-" + alnum(80) + "-_AA"),
        ("openai project", "sk-" + "proj-" + alnum(60) + "T3Blbk" + "FJ" + alnum(20) + "-"),
        ("openai", "sk-" + alnum(48)),
        ("deepseek", "sk-" + hexa(32)),
        ("openrouter", "sk-" + "or-v1-" + hexa(64)),
        ("groq", "gs" + "k_" + alnum(52)),
        ("hugging face", "hf" + "_" + alnum(34)),
        ("replicate", "r8" + "_" + alnum(37)),
        ("slack bot", "xo" + "xb-123456789012-1234567890123-" + alnum(24)),
        ("telegram", "8123456789:A" + "A" + alnum(33)),
        ("discord", "MTk4NjIyNDgzNDcxOTI1MjQ4." + "Cl2FMQ." + alnum(27)),
        ("sendgrid", "S" + "G." + alnum(22) + "." + alnum(43)),
        ("twilio", "S" + "K" + hexa(32)),
        ("mailgun", "ke" + "y-" + hexa(32)),
        ("mailchimp", hexa(32) + "-us" + "12"),
        ("stripe", "sk" + "_live_" + alnum(24)),
        ("stripe test", "rk" + "_test_" + alnum(24)),
        ("shopify", "shp" + "at_" + hexa(32)),
        ("digitalocean", "dop" + "_v1_" + hexa(64)),
        ("databricks", "da" + "pi" + hexa(32)),
        ("vault", "hv" + "s." + alnum(90)),
        ("grafana", "gl" + "sa_" + alnum(32) + "_" + hexa(8)),
        ("new relic", "NR" + "AK-" + make.pick(string.ascii_uppercase + string.digits, 27)),
        ("notion", "nt" + "n_" + alnum(46)),
        ("linear", "lin" + "_api_" + alnum(40)),
        ("figma", "fig" + "d_" + alnum(40)),
        ("azure ad", "abc8" + "Q~" + alnum(34)),
        ("jwt", "eyJ" + alnum(30) + ".eyJ" + alnum(60) + "." + alnum(43)),
        ("age", "AGE-SECRET" + "-KEY-1" + make.pick("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)),
        ("rsa", make.pem("RSA " + "PRIVATE KEY")),
        ("pkcs8", make.pem("PRIVATE" + " KEY")),
        ("openssh", make.pem("OPENSSH " + "PRIVATE KEY")),
        ("pgp", make.pem("PGP PRIVATE" + " KEY BLOCK")),
        ("card", make.card("4", 16)),
        ("amex", make.card("34", 15)),
        ("unionpay", make.card("62", 19)),
        ("chinese id", make.chinese_id()),
        ("iban", "GB82 WEST 1234 5698 7654 32"),
        ("maker unknown", "zq" + "_live_" + alnum(28)),
    ]


# `%s` stands for a password; all are things that people write to assistants or run in shells.
PASSWORD_SENTENCES = """
the wifi password is %s
btw the password for staging is %s, don't share
Password: %s
**Password:** `%s`
my wifi pass: %s dont share
set the password to %s
%s is the password
use %s as the password
log in with bob / %s
creds: admin/%s
the password was changed, now it is %s
密码是%s
密码：%s
服务器的密码是 %s，数据库在 db.example.test
数据库密码改成了 %s
root 密码 %s
口令为%s
账号密码：bob/%s
把密码设为 %s
新密码是“%s”
密码，别告诉别人：%s
解压密码：%s
パスワードは%sです
パスワードを %s に変更
비밀번호는 %s 입니다
Passwort: %s
DB_PASSWORD=%s
export PGPASSWORD='%s'
  password: %s
"password": "%s",
{\\"password\\":\\"%s\\"}
<password>%s</password>
spring.datasource.password=%s
Server=h;Database=d;User Id=sa;Password=%s;
postgres://app:%s@db.example.test/app
redis://:%s@cache:6379/0
jdbc:mysql://h/db?user=root&password=%s
root:%s@tcp(127.0.0.1:3306)/app
mysql -u root -p%s app
sshpass -p '%s' ssh bob@host.example.test
curl -u admin:%s https://example.test
docker login -u bob -p %s
redis-cli -h h -a %s ping
echo "%s" | sudo -S ls
machine h login bob password %s
IDENTIFIED BY '%s'
tool --password %s run
- name: DB_PASSWORD
""".strip("\n").split("\n")[:-1]

KEY_SENTENCES = """
API_KEY=%s
api_key = "%s"
"apiKey": "%s"
X-API-Key: %s
Authorization: Bearer %s
Authorization: Token %s
the api key is %s
here is the token: %s
remember this token: %s
记住这个 token，后面调接口都用它：%s
我的 API key 是 %s
密钥是%s
令牌：%s
访问令牌是 %s
APIキーは %s です
토큰: %s
use %s for the api key
tool --api-key %s run
https://example.test/x?access_token=%s&y=1
Cookie: theme=dark; sessionid=%s; lang=en
Set-Cookie: sid=%s; Path=/; HttpOnly
//registry.example.test/:_authToken=%s
AccountName=x;AccountKey=%s;EndpointSuffix=y
client_secret: "%s"
aws configure set aws_secret_access_key %s
the webhook secret is %s
""".strip("\n").split("\n")
