"""Secrets that are known by what stands around them: the rule table, as data.

Three tables: `SHAPES` (a structure: an address with a password, a header, a command line), `LEADS` (a word that
announces a secret: `password=`, "the password is", 密码是) and `NUMBERS` (cards, identity numbers, telephones). The
fourth, `formats.FORMATS`, knows keys by their first letters. A rule's pattern is compiled only when one of its literal
anchors occurs in a text, so a clean text costs a search for literals.
"""

# ruff: noqa: SIM905 - a rule reads best on one line
from __future__ import annotations

# --- Shapes: kind, anchors (lower case), pattern before the anchor (or ""), pattern from the anchor on, check (or "").
# The group `v`, where there is one, is the secret; else all of it. Case does not count. Both prompts and tool output.

# Printable ASCII but for quotes, brackets of tags and what ends a shell word.
_SIGNS = r"[!#-%(-:=?-_a-{}~]"
_Q = r"[\"'`\\]{0,4}"
_QVALUE = rf"{_Q}(?P<v>(?<=[\"'])[^\"'\n]{{3,200}}(?=[\"'])|(?<![\"']){_SIGNS}{{3,200}})"

SHAPES: tuple[tuple[str, str, str, str, str], ...] = (
    # RFC 3986 userinfo. A password with an unescaped / ? # is common enough to be read, too.
    (
        "url-password",
        "://",
        "",
        r"://[^\s:/@?#\"'<>`\\]{0,200}:(?P<v>[^\s\"'<>`\\]{1,200})@(?=[\w\[.%-])",
        "url_password",
    ),
    ("url-password", "://", "", r"://(?P<v>[\w.~-]{20,200})@(?=[\w.-])", "random"),
    # Go's DSN (user:password@tcp(host)/db) and Oracle's (user/password@host)
    ("url-password", "@tcp(\n@unix(", r"[\w.-]{1,60}:(?P<v>[^\s\"'`@:]{1,80})$", r"@(?:tcp|unix)\(", "url_password"),
    ("password", "sqlplus ", "", rf"sqlplus\s+(?:-\w+\s+)*{_Q}[\w.-]+/(?P<v>[^\s\"'@/]{{2,80}})@", "value"),
    # RFC 7519: header and payload are JSON objects, so both begin with eyJ; five parts are an encrypted token.
    ("jwt", "eyj", "", r"(?<![A-Za-z0-9_-])(?-i:eyJ)[\w-]{8,8000}\.[\w-]{8,8000}(?:\.[\w-]{0,8000}){0,3}", ""),
    ("discord-token", ".", r"(?<![\w-])(?-i:[MNO])[\w-]{22,28}$", r"\.[\w-]{6}\.[\w-]{27,45}", ""),
    ("zhipu-key", ".", r"(?<!\w)[0-9a-f]{32}$", r"\.[A-Za-z0-9]{16}(?!\w)", ""),
    ("terraform-token", ".atlasv1.", r"(?<!\w)\w{14}$", r"\.atlasv1\.[\w=-]{50,90}", ""),
    ("telegram-token", ":a", r"(?<!\d)\d{7,11}$", r":(?-i:A)[\w-]{30,40}", "random"),
    ("azure-secret", "q~", r"[\w~.-]{3,4}$", r"(?-i:Q)~[\w~.-]{30,40}", ""),
    ("azure-secret", "azdo", r"(?<!\w)\w{60,80}$", r"AZDO\w{4}(?!\w)", ""),
    ("mailchimp-key", "-us", r"(?<!\w)[0-9a-f]{32}$", r"-us\d{1,2}(?!\w)", ""),
    ("fcm-key", ":apa91b", r"(?<!\w)[\w-]{7,30}$", r":APA91b[\w-]{100,300}", ""),
    # The secret half next to its key id, as consoles and CSV files show them.
    (
        "aws-key",
        "akia\nasia",
        "",
        r"A[KS]IA[A-Z0-9]{16}[\s,;:|/\"']{1,6}(?P<v>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
        "random",
    ),
    ("aliyun-key", "ltai", "", r"LTAI\w{12,26}[\s,;:|/\"']{1,6}(?P<v>[A-Za-z0-9]{30})(?!\w)", "random"),
    ("tencent-key", "akid", "", r"AKID\w{28,40}[\s,;:|/\"']{1,6}(?P<v>[A-Za-z0-9]{32})(?!\w)", "random"),
    # The habit that Stripe began: a maker's letters, the stage, a run without blanks.
    (
        "api-key",
        "_test_\n_live_\n_prod_\n_sandbox_",
        r"(?<![A-Za-z0-9])[a-z]{2,8}$",
        r"_[a-z]{4,7}_[A-Za-z0-9]{12,200}",
        "random",
    ),
    # Addresses that are the secret themselves
    (
        "webhook",
        "hooks.slack.com/",
        "",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<v>[\w/+-]{16,200})",
        "",
    ),
    ("webhook", "/api/webhooks/", "", r"/api/webhooks/(?P<v>\d{15,22}/[\w-]{40,100})", ""),
    ("webhook", "/bot/v2/hook/\n/bot/hook/", "", r"/bot/(?:v2/)?hook/(?P<v>[\w-]{20,80})", ""),
    ("webhook", "/webhook/send?key=", "", r"/webhook/send\?key=(?P<v>[\w-]{20,80})", ""),
    ("webhook", "/robot/send?access_token=", "", r"/robot/send\?access_token=(?P<v>\w{20,80})", ""),
    (
        "webhook",
        "webhook.office.com/\noutlook.office.com/webhook",
        "",
        r"[\w.]*office\.com/webhook\w*/(?P<v>[\w@./-]{40,300})",
        "",
    ),
    (
        "webhook",
        "hooks.zapier.com/\nhook.eu1.make.com/\nhook.us1.make.com/\nmaker.ifttt.com/",
        "",
        r"[\w.]+/(?:hooks/catch/|trigger/\w+/with/key/)?(?P<v>[\w/-]{14,120})",
        "",
    ),
    (
        "signature",
        "sig=\nsignature=\nx-amz-security-token=",
        r"[?&;][\w-]{0,12}$",
        r"(?:sig|signature|x-amz-security-token)=(?P<v>[\w%.~+/=-]{20,2000})",
        "value",
    ),
    # Headers
    (
        "authorization",
        "authorization",
        "",
        rf"authorization{_Q}\s{{0,3}}[:=,]\s{{0,3}}{_Q}(?:bearer|basic|token|digest|bot|apikey|key|sso-key|splunk|genie\w+)?\s{{0,3}}(?P<v>[\w.~+/=:-]{{8,4000}})",
        "header",
    ),
    ("authorization", "bearer ", "", r"bearer\s{1,3}(?P<v>[\w.~+/=-]{12,4000})", "header"),
    ("authorization", "basic ", "", r"(?-i:Basic)\s(?P<v>[A-Za-z0-9+/]{16,400}={0,2})(?![\w/])", "header"),
    # Seeds of one-time passwords: base32 (RFC 4648), often in groups of four
    ("totp-seed", "otpauth://", "", r"otpauth://[^\s\"']{0,300}?[?&]secret=(?P<v>[A-Z2-7=]{8,200})", ""),
    (
        "totp-seed",
        "totp\notp\n2fa\nmfa\nauthenticator\nsetup key\nseed\n两步验证\n二次验证\n动态口令\n二段階認証",
        "",
        r"[^\n]{2,60}?[\s:：=\"'`是为は](?P<v>(?-i:[A-Z2-7]{4}[ -]?){4,16}(?-i:[A-Z2-7]{0,4}))(?![\w])",
        "base32",
    ),
    # A wallet's words (BIP 39: 12 to 24 words of three to eight letters)
    (
        "seed-phrase",
        "mnemonic\nseed phrase\nseed words\nrecovery phrase\nsecret phrase\nbackup phrase\n助记词\n助記詞\nニーモニック",
        "",
        r"[^\n:：=]{0,40}?[\s:：=\"'`是为は]{1,6}(?P<v>(?:\d{0,2}[. ]{0,2}[a-z]{3,8}[ ,\n]{1,3}){11,23}[a-z]{3,8})(?![a-z])",
        "",
    ),
    # Command lines
    (
        "password",
        "mysql\nmariadb",
        "",
        rf"(?:mysql\w*|mariadb(?:-\w+)?)\b[^\n|;&]{{0,160}}?\s-p(?!ort\b|rotocol\b|orts?=){_QVALUE}",
        "argument",
    ),
    ("password", "sshpass", "", rf"sshpass\s+-p\s{{0,3}}{_QVALUE}", "argument"),
    ("password", "redis-cli", "", rf"redis-cli\b[^\n|;&]{{0,160}}?\s(?:-a|--pass)\s+{_QVALUE}", "argument"),
    (
        "password",
        "curl\nhttp \nhttpie\nwget",
        "",
        r"(?:curl|https?|httpie|wget)\b[^\n|;]{0,400}?\s(?:-u|--user|-a|--auth|--proxy-user|-U)[ =]?[\"']?[^\s:\"'/]{1,80}:(?P<v>[^\s\"'/][^\s\"']{1,200})",
        "argument",
    ),
    (
        "password",
        "docker login\npodman login\nhelm registry\naz login\nnerdctl login\nskopeo login\ncrane auth",
        "",
        rf"\w+ [^\n|;&]{{0,160}}?\s-p\s+{_QVALUE}",
        "argument",
    ),
    (
        "password",
        "mongo\nldapsearch\nldapadd\nldapmodify\nmosquitto_\nsmbclient\nclickhouse-client\nrabbitmq\nunzip\nzip \nsqlcmd\nbcp \ninflux",
        "",
        rf"\w[^\n|;&]{{0,160}}?\s(?:-p|-w|-P)\s+{_QVALUE}",
        "argument",
    ),
    (
        "password",
        "smbclient\nrpcclient\nnet rpc\ncifs",
        "",
        r"\w[^\n|;&]{0,160}?(?:-U|username=)\s?[\"']?[\w.\\-]{1,60}%(?P<v>[^\s\"']{2,100})",
        "argument",
    ),
    ("password", "7z\nunrar\nrar ", "", rf"(?:7z\w*|unrar|rar)\s[^\n|;&]{{0,120}}?\s-(?:hp|p){_QVALUE}", "argument"),
    ("password", "pass:", r"-(?:pass|passin|passout|k|aes\w+)\s+[\"']?$", r"pass:(?P<v>[^\s\"']{2,200})", "argument"),
    ("password", "htpasswd", "", rf"htpasswd\s+-[a-z]*b[a-z]*\s+(?:-\w+\s+)*\S+\s+\S+\s+{_QVALUE}", "argument"),
    (
        "password",
        "| sudo\n| docker login\n| passwd\n| chpasswd\n| podman login\n| gh auth\n| kinit\n| cryptsetup\n|sudo\n| helm registry\n| openssl",
        "",
        "",
        "piped",
    ),
    ("password", "xfreerdp\nrdesktop\nmstsc", "", rf"\w+\s[^\n]{{0,200}}?(?:/p:|\s-p\s+){_QVALUE}", "argument"),
    ("password", "net user ", "", rf"net user\s+[\w.-]+\s+{_QVALUE}\s+/add", "argument"),
    ("password", "net use", "", rf"net use\s[^\n]{{0,160}}?/user:\S+\s+{_QVALUE}", "argument"),
    (
        "token",
        "vault login\nnpm login\nhuggingface-cli login\nwandb login\nrailway login\nauth login\nngrok config add-authtoken\nauthtoken ",
        "",
        r"\w[\w -]{4,40}?\s(?:--\w+[ =])?(?P<v>[\w.-]{16,200})",
        "random",
    ),
    # Files of credentials
    ("password", "login ", "", rf"login\s+\S{{1,100}}\s+password\s+{_QVALUE}", "argument"),
    (
        "password",
        ":5432:\n:3306:\n:*:",
        "",
        r":(?:\d+|\*):[^:\s]{1,80}:[^:\s]{1,80}:(?P<v>[^\s:]{2,100})(?=\s|$)",
        "argument",
    ),
    ("password", "requirepass \nmasterauth ", "", rf"(?:requirepass|masterauth)\s+{_QVALUE}", "argument"),
    (
        "password",
        "identified by \nidentified with ",
        "",
        r"identified(?: with [\w'\"]+)? by\s+(?:password\s+)?['\"](?P<v>[^'\"\n]{2,100})['\"]",
        "argument",
    ),
    (
        "password",
        "password>\npasswd>\npassphrase>\npwd>\nsecret>\ntoken>\nkey>",
        "",
        r"\w+>(?:<!\[CDATA\[)?\s{0,20}(?P<v>[^<>\s\]]{4,300})\s{0,20}(?:\]\]>)?</",
        "value",
    ),
    ("putty-key", "private-lines:", "", r"Private-Lines:\s*\d+\s+(?P<v>(?:[A-Za-z0-9+/=]{4,80}\s*){1,200})", ""),
)

# --- Leads: kind, family, anchors (lower case). `secrets` looks for a copula after the anchor and reads the value.
# The family says how much proof the value needs: `password` may be anything that is no ordinary word, `key` must look
# made by a machine, `code` is digits or groups. A leading `\b` asks for a word of its own (pass, not passenger).

LEADS: tuple[tuple[str, str, str], ...] = (
    (
        "password",
        "password",
        "password\npasswd\npassphrase\npasscode\npasswort\nkennwort\ncontraseña\nsenha\nmot de passe\nпароль\n密码\n密碼\n口令\n暗号\n"
        "パスワード\nパスコード\n暗証番号\n合言葉\n비밀번호\n비번\n패스워드\n\\bpass\n\\bpwd\n\\bpw\n\\bpsw\n\\bpsk\n\\bparole",
    ),
    ("api-key", "key", "key\nキー"),
    ("token", "key", "token\n令牌\n授权码\n授權碼\nトークン\n토큰\n\\bpat\n\\bjwt"),
    (
        "secret",
        "key",
        "secret\ncredential\n密钥\n密鑰\n秘钥\n密匙\n私钥\n私鑰\n凭证\n凭据\n憑證\nシークレット\n秘密鍵\n激活码\n卡密\n兑换码\n\\bauth\n\\bak\n\\bsk\n\\bdsn",
    ),
    (
        "code",
        "code",
        "verification code\none-time code\none time code\nsecurity code\n2fa code\nmfa code\nsms code\notp code\nlogin code\nbackup code\n"
        "recovery code\nauth code\naccess code\ndoor code\ngate code\nalarm code\nunlock code\n验证码\n驗證碼\n校验码\n动态码\n安全码\n"
        "提取码\npin码\npin 码\n门禁码\n门锁码\n恢复码\n備份碼\n認証コード\n確認コード\n인증번호\n인증코드\n\\botp\n\\bpin\n\\bcvv\n\\bcvc\n\\bcvv2",
    ),
    (
        "login",
        "pair",
        "credentials\ncreds\nlogin\nuser/pass\nusername/password\nuser/password\nuser:pass\nlogged in as\nlog in as\nsign in as\nlog in with\n"
        "login with\n账号密码\n帐号密码\n账户密码\n用户名密码\n用户名/密码\n账号/密码\n帐号/密码\n用户/密码\n账密\n用户名和密码\n账号和密码\n帳號密碼\n登录信息\nidとパスワード\nログイン",
    ),
)

# Between the announcing word and the value. `copula` may stand after the rest of a name, its closing quote, a
# remark in brackets and "for …". Bounded everywhere: no text can make it slow.
LEAD = (
    r"(?P<tail>[A-Za-z0-9_.-]{0,30})"
    r"(?P<close>[\\\"'`*_)\]】」』”’]{0,6})"
    r"(?:\s?[（(\[][^()（）\[\]\n]{1,24}[)）\]])?"
    r"(?P<about>\s(?:for|to|of|on|at|in|used by|that|we use for)\s[^.;:：=!?\n]{1,40}?)?"
    r"[^\S\n]{0,4}[*_]{0,2}"
    r"(?P<copula>:=|=>|->|→|==?(?![=~>])|=|:(?!:)|：|＝|\?=|[|?](?=\s)"
    r"|\sis\b|\swas\b|\sare\b|'s\s|’s\s|\s(?:will|should|shall|must|can) be\b|\s(?:has been |got |was |is )?(?:set|changed|reset|updated|switched|rotated) to\b|\s(?:looks like|reads|being|equals|goes|to)\b"
    r"|\s?(?:已经|已|都|就|仍|还|目前|现在|暂时|默认|应该|统一|一直|被|给你|的话|值|内容|我){0,3}\s?"
    r"(?:改成|改为|改到|设成|设为|设置成|设置为|设定为|换成|换为|重置为|重置成|更新为|变成|用的是|就是|叫做|叫|是|为|為|用)\s?(?:了|这个)?"
    r"|\s?(?:は|が|を|って)|\s?(?:는|은|이|가|를|을)\s|\s(?:lautet|ist|es|est|é|è|это)\b|\s[—–]\s"
    r"|[\"']?[\s,]{1,12}[\"']?(?:default)?[vV]alue[\"']?\s?[:=]|[\"']?\s{0,3}\{[^{}]{0,200}?default\s{0,4}=|(?<=[\"'])\s?,(?=\s?[\"']))"
    r"(?P<after>\s{0,8}(?:(?:now|still|just|currently|simply|literally|actually|either|probably|this(?: one)?|the following|as follows|below|下面这个|这个|这样|以下)(?=[\s:：]))?"
    r"\s?[:：]?\s{0,4}(?:[*_]{2}\s{0,4})?)"
)

# --- Numbers: kind, pattern, check, also in tool output? Digits alone prove little, so each has a check of its own.
NUMBERS: tuple[tuple[str, str, str, bool], ...] = (
    ("card-number", r"(?<![\d.-])\d{4}(?P<g>[ -])\d{4}(?P=g)\d{4}(?P=g)\d{1,7}(?![\d-])", "card", True),
    ("card-number", r"(?<![\d.-])3\d{3}(?P<g>[ -]?)\d{6}(?P=g)\d{4,5}(?![\d-])", "card", True),
    ("card-number", r"(?<![\w.-])\d{13,19}(?![\w-])(?!\.\d)", "card", False),
    (
        "national-id",
        r"(?<!\d)[1-9]\d{5}(?:18|19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dXx](?!\d)",
        "chinese_id",
        True,
    ),
    ("national-id", r"(?<![\d-])\d{3}-\d{2}-\d{4}(?![\d-])", "ssn", False),
    (
        "bank-account",
        r"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![A-Za-z0-9])",
        "iban",
        False,
    ),
    (
        "phone",
        r"(?<![\w+.])\+\d{1,3}[ -]?(?:\(\d{1,4}\)[ -]?)?\d{2,5}(?:[ -]?\d{2,5}){1,4}(?![\w-])",
        "phone_long",
        False,
    ),
    ("phone", r"(?<![\w.-])\(\d{3}\) ?\d{3}-\d{4}(?![\w-])", "", False),
    ("phone", r"(?<![\w.-])[2-9]\d{2}-\d{3}-\d{4}(?![\w-])", "", False),
    ("phone", r"(?<![\w.-])(?:86[ -]?)?1[3-9]\d[ -]?\d{4}[ -]?\d{4}(?![\w-])", "phone_mobile", False),
    ("phone", r"(?<![\w.-])0\d{1,3}-\d{3,4}-?\d{4}(?![\w-])", "phone_near", False),
)
PHONE_WORDS = (
    "手机",
    "電話",
    "电话",
    "联系",
    "號碼",
    "号码",
    "微信",
    "致电",
    "拨打",
    "打给",
    "短信",
    "座机",
    "携帯",
    "連絡",
    "전화",
    "휴대폰",
    "연락",
    "phone",
    "mobile",
    "cell",
    "call",
    "tel",
    "whatsapp",
    "sms",
    "text me",
    "contact",
    "dial",
    "fax",
    "reach me",
    "my number",
    "number is",
)

# Names of cookies that are settings and not sessions (any other cookie of some length is taken for a session).
PLAIN_COOKIES = frozenset(
    "path domain expires max-age samesite theme lang language locale tz timezone currency consent version priority".split()
)
