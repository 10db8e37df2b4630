"""Words that stand where a secret could stand, English and Chinese: data for the checks of `checks`.

A password may be any word, so a value made of letters alone is believed only if it is none of these.
"""

# ruff: noqa: SIM905 - word lists read best as words
from __future__ import annotations

# Nouns for secrets: a value that contains one of them, and no digit, is a name in code and not a secret.
SECRET_NOUNS = (
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "token",
    "secret",
    "credential",
    "apikey",
    "api_key",
    "key",
    "auth",
)

ALGORITHMS = frozenset(
    """md5 md4 sha1 sha-1 sha2 sha224 sha256 sha-256 sha384 sha512 sha-512 sha3 blake2b blake2s blake3 bcrypt scrypt
    argon2 argon2i argon2id pbkdf2 hmac base64 base32 base58 base64url utf8 utf-8 utf16 utf8mb4 utf-16 utf-32 iso-8859-1 iso8859-1 latin1 latin-1 cp1252 gb2312 gb18030 big5 ascii hex aes aes128
    aes256 aes-256 rsa rsa2048 rsa4096 ed25519 ecdsa x509 oauth oauth2 oauth2.0 jwt jwe saml oidc ldap ldap3 http2 ipv4
    ipv6 tls1 ssl3 2fa mfa totp otp u2f fido2 webauthn s3 ec2 k8s i18n l10n a11y p12 pkcs8 pkcs12 pkcs1 v1 v2 v3
    int32 int64 uint8 uint64 float32 float64 varchar varchar(255) char(60) text crc32 n8n win32 x86 arm64 amd64
    log4j es6 es2020 h264 mp3 mp4 web3 vue3 python3 node18 node20""".split()
)

ORDINARY_WORDS = frozenset(
    """a an the this that these those it its itself is are was were be been being not no none never always only also
    too very so just still now then here there where when what which who why how if or and but nor yet because since
    for from to of in on at by with without within into onto about over under between among through during before after
    again once all any some each every both either neither other another same such own one two three four first last
    next previous new old current default real actual right wrong correct incorrect valid invalid good bad fine ok okay
    safe unsafe secure insecure strong weak short long small large big tiny simple complex easy hard plain plaintext
    plain-text cleartext clear hashed encrypted decrypted encoded decoded salted hidden visible shown masked redacted
    empty blank null nil none undefined void true false yes no on off optional mandatory required needed necessary
    missing absent present gone lost found known unknown secret private public shared unique common random static
    dynamic temporary permanent expired active inactive enabled disabled locked unlocked ready done set unset reset
    changed unchanged updated rotated revoked removed deleted stored saved kept cached loaded passed sent read written
    printed logged leaked exposed checked verified validated accepted rejected denied allowed refused ignored skipped
    string str text varchar char number numeric digit digits int integer float double bool boolean object array list
    dict map bytes buffer any unknown never symbol date datetime type types class enum struct optional field fields
    column row table value values key keys name names file files path url uri env environment variable variables config
    configuration setting settings parameter parameters param params argument arguments arg args option options flag
    flags header headers body payload request response session cookie cookies user users username email mail account
    login logout signup signin admin-only server client database db schema migration model view page form input output
    prompt label button link icon component module package library function method call return returns hash hashes
    digest salt nonce signature cert certificate vault keychain keyring manager store storage bucket secret secrets
    password passwords passwd pwd pass passphrase token tokens credential credentials auth authentication authorization
    policy policies rule rules length size count limit min max strength format pattern regex validation validator
    rotation expiry expiration ttl timeout refresh renewal recovery generator checker meter
    too-short too-long case-sensitive case-insensitive read-only write-only non-empty not-null per-user up-to-date
    must should shall will would can could may might do does did done has have had having get gets got use uses used
    using see look check ask try make makes made take takes taken put puts give gives given go goes went come comes
    stay stays remain remains seem seems look looks work works worked fail fails failed break breaks broken broke
    expire expires live lives exist exists depend depends contain contains include includes need needs want wants
    please sorry thanks thank hello hi hey yep nope sure maybe perhaps probably actually basically literally really
    exactly already later soon today tomorrow yesterday somewhere nowhere everywhere anywhere anyway else more less
    most least much many few several enough same different similar equal like unlike as than instead rather
    production prod staging stage dev development local localhost test testing tests ci cd docker kubernetes compose
    github gitlab aws gcp azure google apple microsoft slack json yaml yml toml xml html css sql csv ini dotenv
    mine yours his hers ours theirs my your our their his her me you him us them we they i he she someone anyone
    nothing something anything everything nobody everybody fun funny obvious great perfect awful terrible stupid
    free paid open closed full half double single multiple separate individual personal internal external main
    primary secondary minimum maximum high low top bottom left up down back away apart together alone
    pending unavailable available impossible possible likely unlikely important critical sensitive confidential
    todo fixme tbd n/a na""".split()
)

ORDINARY_ENDINGS = (
    "ed",
    "ing",
    "able",
    "ible",
    "ly",
    "tion",
    "sion",
    "ment",
    "ness",
    "less",
    "ful",
    "ous",
    "ive",
    "ence",
    "ance",
)

# After a number these make a measure and not a secret: "8 characters", "16位".
UNITS = frozenset(
    """char chars character characters digit digits letter letters symbol symbols word words byte bytes bit bits kb mb
    gb k m s ms sec secs second seconds min mins minute minutes hour hours day days week weeks month months year years
    time times st nd rd th px rem em x users attempts tries items rows tokens requests""".split()
)
UNITS_CJK = (
    "位",
    "个",
    "個",
    "字",
    "年",
    "月",
    "日",
    "天",
    "次",
    "分",
    "小时",
    "小時",
    "秒",
    "种",
    "條",
    "条",
    "文字",
    "桁",
    "回",
    "時",
    "자",
    "개",
    "일",
    "글자",
)

# Parts of a name that say what the secret's neighbour is, and not the secret: password_length, token_count, key_id.
NAME_OF_OTHER = (
    "length len min max count limit ttl expir expiry hash hashed digest field file path dir policy url uri endpoint name id "
    "ids type label placeholder hint reset regex pattern manager input strength prompt algo algorithm version rotation "
    "env var header param budget usage used cost price size window enabled disabled required store provider "
    "class prefix suffix format column table index error message msg text title description help confirm "
    "total num number per rate at by on date time model limiter bucket valid validator check checker is has show hide "
    "toggle visible change forgot update kind mode method handler callback func function encoder decoder config "
    "public pub cache primary foreign sort partition unique object map dict idempotency shortcut hot arrow press "
    "up down code binding translation i18n eos bos pad sep cls mask unk next page cursor continuation design "
    "special stop start end first last completion output context ref reference arn fingerprint thumbprint "
    "expires expiration issued created updated scope scopes estimate estimator counter tokenizer split"
).split()
