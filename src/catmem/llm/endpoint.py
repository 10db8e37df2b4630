"""One address that streams answers: the only place that speaks HTTP. It asks that address and no other."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from email.utils import parsedate_to_datetime
from types import ModuleType
from typing import Any, NamedTuple
from urllib.parse import urlsplit, urlunsplit

from catmem import __version__
from catmem.llm import failures
from catmem.llm.events import event_data
from catmem.llm.failures import Where
from catmem.llm.port import Completion, Failure, Finish, Row

# Seconds. A local server loads a model of many GB before its first word; once connected we wait that long for each.
CONNECT_SECONDS = 10.0
SILENCE_SECONDS = 120.0
# Marks what catmem itself asks, so that its own proxy, if it stands on the way, neither records it nor adds to it.
OUR_CALL = {"x-catmem-helper": "1"}
# The bounds of a whole answer: far above what anybody reads, they end a server that drips for ever.
ANSWER_SECONDS = 900.0
ANSWER_BYTES = 8_000_000
# Of an error's body so much is read, and of its message so much shown.
_ERROR_BYTES = 20_000
_ERROR_CHARACTERS = 200


class Heard(NamedTuple):
    """What an event of a stream says: a piece of the answer, whether and why the answer ends with it, and the tokens
    counted so far (0: not said)."""

    text: str
    complete: bool = False
    finish: Finish = "stop"
    input_tokens: int = 0
    output_tokens: int = 0


Read = Callable[[Any], Heard]
"""Reads one event, parsed from JSON. May fail with any error of the wrong shape, or raise ServerSaid."""


def tokens(number: object) -> int:
    """A server's count; 0 for what is none."""
    return number if isinstance(number, int) and number > 0 else 0


class ServerSaid(Exception):
    """An error that a server reports within a stream that began well; does not leave this package."""

    def __init__(self, status: int, body: Any) -> None:
        super().__init__(status)
        self.status, self.body = status, body


class Endpoint:
    """An address, the key for it and the headers that go with each request.

    header  the header that carries the key, and what stands before the key in it: ("Authorization", "Bearer ")
    extra   other headers
    """

    def __init__(
        self,
        row: Row,
        path: str,
        environment: Mapping[str, str],
        *,
        header: tuple[str, str],
        extra: Mapping[str, str] | None = None,
    ) -> None:
        self._http = _library()
        self._url, host = _address(row["base_url"], path)
        self._where = Where(host, row.get("api_key_env", ""))
        self._environment = environment
        self._header = header
        self._extra = extra or {}

    def answer(self, body: Mapping[str, Any], read: Read) -> Iterator[str]:
        """Sends `body` and yields the pieces of the answer that `read` finds in the events. Raises Failure."""
        begun = False
        try:
            for heard in self._heard(body, read):
                if heard.text:
                    begun = True
                    yield heard.text
                if heard.complete:
                    break
            else:
                raise failures.cut_short(self._where)
            if not begun:
                raise failures.empty(self._where)
        except Failure as failure:
            raise (failures.broken_off(failure) if begun else failure) from None

    def whole(self, body: Mapping[str, Any], read: Read) -> Completion:
        """The same answer gathered, with why it ended and what it cost; it may be empty. Raises Failure."""
        text: list[str] = []
        finish: Finish | None = None
        given = got = 0
        try:
            for heard in self._heard(body, read):
                text.append(heard.text)
                given, got = max(given, heard.input_tokens), max(got, heard.output_tokens)
                if heard.complete:
                    # What was said first is why it ended: some servers say an empty "stop" after it.
                    finish = finish or heard.finish
                if finish and given and got:
                    break
        except Failure:
            # Tokens are counted after the end; an answer that is complete is not lost for their sake.
            if finish is None:
                raise
        if finish is None:
            raise failures.cut_short(self._where)
        return Completion("".join(text), finish, given, got)

    def ask(self, body: Mapping[str, Any]) -> Any:
        """The JSON of an answer that is no text. Raises Failure."""
        try:
            return json.loads("".join(self._data(body)))
        except (ValueError, RecursionError):
            raise failures.unreadable(self._where) from None

    def misread(self) -> Failure:
        """That an answer of `ask` has not the form that it ought to have."""
        return failures.unreadable(self._where)

    def _heard(self, body: Mapping[str, Any], read: Read) -> Iterator[Heard]:
        for data in self._data(body):
            if data == "[DONE]":
                yield Heard("", complete=True)
                continue
            try:
                heard = read(json.loads(data))
                if not isinstance(heard.text, str):
                    raise TypeError
            except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
                raise failures.unreadable(self._where) from None
            except ServerSaid as said:
                raise failures.refused(self._where, said.status, self._quoted(said.body), None) from None
            yield heard

    def _data(self, body: Mapping[str, Any]) -> Iterator[str]:
        """The events' data, or the whole body of a server that does not stream. Errors of the way are translated."""
        http = self._http
        begun = False
        self._find_host()
        timeout = http.Timeout(SILENCE_SECONDS, connect=CONNECT_SECONDS)
        # Nothing of the environment (proxies, .netrc) and no redirect leads the words elsewhere.
        client = http.Client(trust_env=False, follow_redirects=False, timeout=timeout)
        try:
            with client, client.stream("POST", self._url, json=body, headers=self._headers()) as response:
                if response.status_code != 200:
                    raise self._refusal(response)
                chunks = self._bounded(response.iter_bytes())
                if "json" in response.headers.get("content-type", ""):
                    yield b"".join(chunks).decode("utf-8", "replace")
                    return
                for data in event_data(chunks):
                    begun = True
                    yield data
        except http.ConnectError as error:
            told = failures.untrusted if "CERTIFICATE" in str(error).upper() else failures.unreachable
            raise told(self._where) from None
        except http.ConnectTimeout:
            raise failures.unreachable(self._where) from None
        except http.TimeoutException:
            raise failures.too_slow(self._where, SILENCE_SECONDS, begun=begun) from None
        except (http.InvalidURL, http.UnsupportedProtocol):
            raise failures.bad_address(self._where.host) from None
        except (http.HTTPError, http.StreamError):
            raise failures.cut_short(self._where) from None

    def _find_host(self) -> None:
        """Waits for the name to become an address, no longer than for a connection.

        Without a network the system may try for half a minute, and cannot be stopped meanwhile: so a thread waits for
        it, which Ctrl-C leaves behind.
        """
        parts = urlsplit(self._url)
        found = threading.Event()

        def look() -> None:
            # What is wrong with the name is said when it is connected to.
            with contextlib.suppress(OSError, UnicodeError):
                socket.getaddrinfo(parts.hostname, parts.port or parts.scheme, type=socket.SOCK_STREAM)
            found.set()

        threading.Thread(target=look, daemon=True).start()
        if not found.wait(CONNECT_SECONDS):
            raise failures.unreachable(self._where)

    def _headers(self) -> dict[str, str]:
        headers = {"User-Agent": f"catmem/{__version__}", "Accept-Encoding": "identity", **OUR_CALL, **self._extra}
        if self._where.variable:
            name, before = self._header
            headers[name] = before + self._key()
        return headers

    def _key(self) -> str:
        key = self._environment.get(self._where.variable, "").strip()
        if not key or not key.isascii() or not key.isprintable():
            raise failures.missing_key(self._where)
        return key

    def _bounded(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        end, left = time.monotonic() + ANSWER_SECONDS, ANSWER_BYTES
        for chunk in chunks:
            left -= len(chunk)
            if left < 0 or time.monotonic() > end:
                raise failures.too_much(self._where)
            yield chunk

    def _refusal(self, response: Any) -> Failure:
        raw = b""
        for chunk in response.iter_bytes():
            raw += chunk
            if len(raw) > _ERROR_BYTES:
                break
        try:
            body = json.loads(raw)
        except (ValueError, RecursionError):
            body = None
        return failures.refused(
            self._where, response.status_code, self._quoted(body), _seconds(response.headers.get("retry-after", ""))
        )

    def _quoted(self, body: Any) -> str:
        """The server's own message, on one line, shortened, without the key."""
        error = body.get("error", body) if isinstance(body, dict) else body
        message = error.get("message") if isinstance(error, dict) else error
        if not isinstance(message, str):
            return ""
        key = self._environment.get(self._where.variable, "").strip() if self._where.variable else ""
        if key:
            # The beginning is enough: servers repeat a key with stars in its middle.
            message = re.sub(re.escape(key[:6]) + r"\S*", "[key]", message)
        line = " ".join(message.split())
        return line if len(line) <= _ERROR_CHARACTERS else line[: _ERROR_CHARACTERS - 1] + "…"


def _library() -> ModuleType:
    try:
        import httpx2
    except ImportError:
        raise failures.missing_library() from None
    return httpx2


def _address(base_url: str, path: str) -> tuple[str, str]:
    """(the address asked, its host and port): `path` is added to what `base_url` has, and `/v1` where it has none."""
    try:
        parts = urlsplit(base_url.strip())
        host = parts.hostname or ""
        shown = f"{host}:{parts.port}" if parts.port else host
    except ValueError:
        raise failures.bad_address("?") from None
    if not host:
        raise failures.bad_address("?")
    base = parts.path.rstrip("/")
    if not base.endswith(path):
        base = (base or ("" if path.startswith("/v1") else "/v1")) + path
    return urlunsplit(parts._replace(path=base, fragment="")), shown


def _seconds(text: str) -> float | None:
    """`Retry-After` in seconds, which may also be a date (RFC 9110, 10.2.3)."""
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        return parsedate_to_datetime(text).timestamp() - time.time()
    except (ValueError, TypeError, OverflowError):
        return None
