"""Requests and responses: their conversion to and from transfers."""

from __future__ import annotations

import codecs
import datetime
import json as jsonlib
import os
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any, Union
from urllib.parse import urlencode, urljoin

from . import _native
from ._errors import HTTPStatusError, OptionError, StreamConsumed, failure

if TYPE_CHECKING:
    from ._native import Outcome

OPTIONS: dict[str, int] = {name: number for name, number, _ in _native.known_options()}
USER_AGENT = f"warmwire/{_native.__version__}"

_BASIC, _DIGEST, _NEGOTIATE, _NTLM, _BEARER = 1, 2, 4, 8, 64
_VERSIONS = {"1.0": 1, "1.1": 2, "2": 4, "3": 30}
_OBEY_CODE = 2  # CURLFOLLOW_OBEYCODE: a redirect's code says which method follows
_URL = OPTIONS["URL"]
_FOLLOW = OPTIONS["FOLLOWLOCATION"]
_MAX_REDIRS = OPTIONS["MAXREDIRS"]
_ENCODING = OPTIONS["ACCEPT_ENCODING"]
_AGENT = OPTIONS["USERAGENT"]
_HEADERS = OPTIONS["HTTPHEADER"]
_COOKIE_FILE = OPTIONS["COOKIEFILE"]
_COOKIE_LIST = OPTIONS["COOKIELIST"]
_COOKIE = OPTIONS["COOKIE"]
_METHOD = OPTIONS["CUSTOMREQUEST"]
_BODY = OPTIONS["COPYPOSTFIELDS"]
_BODY_SIZE = OPTIONS["POSTFIELDSIZE_LARGE"]
_CONNECT_TIMEOUT = OPTIONS["CONNECTTIMEOUT_MS"]
_NOSIGNAL = OPTIONS["NOSIGNAL"]

Text = Union[str, bytes]
Option = tuple[int, Any]


class Headers(MutableMapping[str, str]):
    """Header fields. Names are case-insensitive; :meth:`get_list` returns all values of one name."""

    __slots__ = ("_rows",)

    def __init__(self, rows: Mapping[str, str] | Iterable[tuple[Text, Text]] | None = None) -> None:
        if rows is None:
            self._rows: list[tuple[str, str]] = []
            return
        if isinstance(rows, Headers):
            self._rows = list(rows._rows)
            return
        pairs = rows.items() if isinstance(rows, Mapping) else rows
        self._rows = [(_text(name), _text(value)) for name, value in pairs]

    def __getitem__(self, name: str) -> str:
        values = self.get_list(name)
        if not values:
            raise KeyError(name)
        return ", ".join(values)

    def __setitem__(self, name: str, value: Text) -> None:
        wanted = name.lower()
        self._rows = [row for row in self._rows if row[0].lower() != wanted]
        self._rows.append((_text(name), _text(value)))

    def __delitem__(self, name: str) -> None:
        wanted = name.lower()
        kept = [row for row in self._rows if row[0].lower() != wanted]
        if len(kept) == len(self._rows):
            raise KeyError(name)
        self._rows = kept

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and any(row[0].lower() == name.lower() for row in self._rows)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(name.lower() for name, _ in self._rows))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __repr__(self) -> str:
        return f"Headers({self._rows!r})"

    def get_list(self, name: str) -> list[str]:
        """Returns all values of a name, in order."""
        wanted = name.lower()
        return [value for known, value in self._rows if known.lower() == wanted]

    def multi_items(self) -> list[tuple[str, str]]:
        """Returns all fields, in order."""
        return list(self._rows)


class Cookies(MutableMapping[str, str]):
    """The cookies of a client. The engine decides which are sent where. As a mapping: names and values."""

    def __init__(self, given: Mapping[str, str] | None = None) -> None:
        self._lines: dict[tuple[str, str, str], bytes] = {}
        self._plain: dict[str, str] = dict(given or {})

    def __getitem__(self, name: str) -> str:
        for (_, _, known), line in self._lines.items():
            if known == name:
                return line.rsplit(b"\t", 1)[1].decode("latin-1")
        return self._plain[name]

    def __setitem__(self, name: str, value: str) -> None:
        self._plain[name] = value

    def __delitem__(self, name: str) -> None:
        stored = [key for key in self._lines if key[2] == name]
        for key in stored:
            del self._lines[key]
        if self._plain.pop(name, None) is None and not stored:
            raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*self._plain, *(key[2] for key in self._lines)]))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __repr__(self) -> str:
        return f"Cookies({dict(self)!r})"

    def set(self, name: str, value: str, domain: str, path: str = "/") -> None:
        """Sets a cookie for one host or, with a leading dot, a domain."""
        tail = "TRUE" if domain.startswith(".") else "FALSE"
        line = "\t".join((domain, tail, path, "FALSE", "0", name, value))
        self._lines[(domain, path, name)] = line.encode("latin-1")

    def clear(self) -> None:
        """Removes all cookies."""
        self._lines.clear()
        self._plain.clear()

    def _took(self, loaded: Iterable[tuple[str, str, str]], now: list[bytes]) -> None:
        """Updates the jar from a transfer that started with ``loaded``."""
        found = {}
        for line in now:
            fields = line.split(b"\t")
            if len(fields) == 7:
                domain = fields[0].removeprefix(b"#HttpOnly_")
                found[tuple(field.decode("latin-1") for field in (domain, fields[2], fields[5]))] = line
        for key in loaded:
            if key not in found:
                self._lines.pop(key, None)
        self._lines.update(found)  # type: ignore[arg-type]


class Timeout:
    """Time limits in seconds; None is no limit.

    ``connect`` limits everything up to a connection (names, TCP, TLS), ``read`` the time without data (counted in whole
    seconds), ``total`` the whole transfer with its redirects.
    """

    __slots__ = ("connect", "read", "total")

    def __init__(
        self,
        timeout: float | None = None,
        *,
        connect: float | None = None,
        read: float | None = None,
        total: float | None = None,
    ) -> None:
        self.connect = timeout if connect is None else connect
        self.read = timeout if read is None else read
        self.total = total

    @classmethod
    def of(cls, given: Timeout | float | tuple[float | None, float | None] | None) -> Timeout:
        """Converts a number (``connect`` and ``read``) or a pair (one and the other)."""
        if isinstance(given, Timeout):
            return given
        if isinstance(given, tuple):
            return cls(connect=given[0], read=given[1])
        return cls(given)

    def options(self) -> list[Option]:
        """Returns the options of a transfer."""
        found: list[Option] = []
        if self.connect is not None:
            found.append((_CONNECT_TIMEOUT, max(1, int(self.connect * 1000))))
        if self.total is not None:
            found.append((OPTIONS["TIMEOUT_MS"], max(1, int(self.total * 1000))))
        if self.read is not None:
            seconds = max(1, -int(-self.read // 1))
            found += [(OPTIONS["LOW_SPEED_LIMIT"], 1), (OPTIONS["LOW_SPEED_TIME"], seconds)]
            found.append((OPTIONS["SERVER_RESPONSE_TIMEOUT_MS"], seconds * 1000))
        return found


class Auth:
    """A login: ``Auth(user, password, scheme)``, scheme ``basic``, ``digest``, ``ntlm``, ``negotiate`` or ``any``."""

    _SCHEMES = {
        "basic": _BASIC,
        "digest": _DIGEST,
        "ntlm": _NTLM,
        "negotiate": _NEGOTIATE,
        "any": _BASIC | _DIGEST | _NTLM | _NEGOTIATE,
    }

    def __init__(self, user: str = "", password: str = "", scheme: str = "basic") -> None:
        if scheme not in self._SCHEMES:
            raise OptionError(f"{scheme!r} is no scheme of authentication", 43)
        self.user, self.password, self.scheme = user, password, scheme

    def options(self) -> list[Option]:
        """Returns the options of a transfer."""
        return [
            (OPTIONS["HTTPAUTH"], self._SCHEMES[self.scheme]),
            (OPTIONS["USERNAME"], self.user),
            (OPTIONS["PASSWORD"], self.password),
        ]


class BasicAuth(Auth):
    """User and password, sent with the first request."""


class DigestAuth(Auth):
    """User and password, proved by a digest of the server's challenge."""

    def __init__(self, user: str, password: str) -> None:
        super().__init__(user, password, "digest")


class BearerAuth(Auth):
    """A token (RFC 6750). It is sent to the host of the URL, and to no host that a redirect leads to."""

    def __init__(self, token: str) -> None:
        super().__init__()
        self.token = token

    def options(self) -> list[Option]:
        return [(OPTIONS["HTTPAUTH"], _BEARER), (OPTIONS["XOAUTH2_BEARER"], self.token)]


class Request:
    """A request, before it is sent. Event hooks may change its headers."""

    __slots__ = ("body", "content", "headers", "method", "options", "url")

    def __init__(
        self,
        method: str,
        url: str,
        *,
        params: Any = None,
        headers: Any = None,
        content: Any = None,
        data: Any = None,
        json: Any = None,
        files: Any = None,
    ) -> None:
        self.method = method.upper()
        self.url = _with_params(url, params) if params else url
        self.headers = headers if isinstance(headers, Headers) else Headers(headers)
        self.content: Any = None
        self.body: list[Option] = []
        self.options: list[Option] = []
        if files:
            self.body = [(OPTIONS["MIMEPOST"], [*_fields(data), *_files(files)])]
            return
        if json is not None:
            content = jsonlib.dumps(json, separators=(",", ":")).encode()
            if "content-type" not in self.headers:
                self.headers["Content-Type"] = "application/json"
        elif isinstance(data, Mapping) or (isinstance(data, (list, tuple)) and data):
            content = urlencode(list(_pairs(data)), doseq=True).encode()
            if "content-type" not in self.headers:
                self.headers["Content-Type"] = "application/x-www-form-urlencoded"
        elif data is not None:
            content = data
        if isinstance(content, str):
            content = content.encode()
        elif isinstance(content, (bytearray, memoryview)):
            content = bytes(content)
        self.content = content

    def at(self, url: str) -> Request:
        """Returns a copy for another URL."""
        twin = Request.__new__(Request)
        twin.method, twin.url, twin.headers = self.method, url, Headers(self.headers)
        twin.content, twin.body, twin.options = self.content, self.body, self.options
        return twin

    def __repr__(self) -> str:
        return f"<Request({self.method!r}, {self.url!r})>"

    def for_engine(self, settings: list[Option]) -> tuple[list[Option], Any]:
        """Returns the options and the upload: None, bytes, or True if it is fed."""
        options = [(_URL, self.url), *settings, *self.options, *self.body]
        method, content, upload = self.method, self.content, None
        rows = [f"{name}: {value}" if value else f"{name};" for name, value in self.headers._rows]
        if content is None:
            if method == "HEAD":
                options.append((OPTIONS["NOBODY"], 1))
            elif method == "POST" and not self.body:
                options += [(_BODY_SIZE, 0), (_BODY, b"")]
                rows.append("Content-Type:")
            elif method != "GET" and not (self.body and method == "POST"):
                options.append((_METHOD, method))
        elif isinstance(content, bytes) and method != "PUT" and self.url[:4].lower() == "http":
            options += [(_BODY_SIZE, len(content)), (_BODY, content)]
            if method != "POST":
                options.append((_METHOD, method))
            if "content-type" not in self.headers:
                rows.append("Content-Type:")
        else:
            options.append((OPTIONS["UPLOAD"], 1))
            if method != "PUT":
                options.append((_METHOD, method))
            length = self.headers.get("content-length")
            if isinstance(content, bytes):
                length, upload = str(len(content)), content
            else:
                upload = True
            if length is not None:
                options.append((OPTIONS["INFILESIZE_LARGE"], int(length)))
                rows = [row for row in rows if not row.lower().startswith("content-length:")]
        if content is not None and "expect" not in self.headers:
            rows.append("Expect:")
        if rows:
            options.append((_HEADERS, rows))
        return options, upload


class Response:
    """A reply: its last head, and its body as bytes, text or JSON, or piece by piece."""

    default_encoding = "utf-8"
    _heads: list[Any] | None = None
    _headers: Headers | None = None
    _encoding: str | None = None
    _history: list[Response] | None = None
    _consumed = False

    def __init__(self, request: Request, outcome: Outcome, stream: Any = None) -> None:
        self.request = request
        self.status_code: int = outcome.status
        self._outcome = outcome
        self._stream = stream
        self._content: bytes | None = None if stream is not None else outcome.body

    def __repr__(self) -> str:
        return f"<Response [{self.status_code} {self.reason_phrase}]>"

    @property
    def history(self) -> list[Response]:
        """The redirects that were followed, in order."""
        if self._history is None:
            self._history = list(self._hops()) if self._outcome.redirects else []
        return self._history

    @property
    def url(self) -> str:
        """The URL that answered, after redirects."""
        return self._outcome.url

    @property
    def headers(self) -> Headers:
        """Fields of the last head."""
        if self._headers is None:
            last = self._last_head()
            self._headers = Headers(last[3] if last else None)
        return self._headers

    @property
    def reason_phrase(self) -> str:
        """The text after the status; HTTP/2 and 3 have none."""
        last = self._last_head()
        return last[2] if last else ""

    reason = reason_phrase

    @property
    def http_version(self) -> str:
        """``HTTP/1.1``, ``HTTP/2``, ``HTTP/3``; empty for other protocols."""
        last = self._last_head()
        return last[0] if last else ""

    @property
    def elapsed(self) -> datetime.timedelta:
        """Time that the transfer took, up to the receipt of this response."""
        return datetime.timedelta(seconds=self._outcome.times[5])

    @property
    def timings(self) -> dict[str, float]:
        """Seconds from the start to the end of each step."""
        names = ("name", "connect", "tls", "request", "first_byte", "total")
        return dict(zip(names, self._outcome.times))

    @property
    def peer(self) -> tuple[str, int]:
        """Address and port of the server."""
        return self._outcome.peer

    @property
    def new_connections(self) -> int:
        """Number of connections opened for the transfer; 0 if a warm one was reused."""
        return self._outcome.connects

    @property
    def is_success(self) -> bool:
        """Whether the status is 2xx, or a transfer of another protocol succeeded."""
        return 200 <= self.status_code < 300 or not self._parsed()

    @property
    def is_redirect(self) -> bool:
        """Whether the status is 3xx and there is a Location."""
        return 300 <= self.status_code < 400 and "location" in self.headers

    @property
    def is_client_error(self) -> bool:
        """Whether the status is 4xx."""
        return 400 <= self.status_code < 500

    @property
    def is_server_error(self) -> bool:
        """Whether the status is 5xx."""
        return self.status_code >= 500

    @property
    def is_error(self) -> bool:
        """Whether the status is 4xx or 5xx."""
        return self.status_code >= 400 and bool(self._parsed())

    @property
    def ok(self) -> bool:
        """Whether the status is below 400, as in requests."""
        return not self.is_error

    def raise_for_status(self) -> Response:
        """Raises :class:`HTTPStatusError` for 4xx and 5xx."""
        if self.is_error:
            text = f"{self.status_code} {self.reason_phrase}".strip()
            raise HTTPStatusError(f"{text} for {self.url}", request=self.request, response=self)
        return self

    @property
    def cookies(self) -> Cookies:
        """The cookies that this response set."""
        found = Cookies()
        for row in self.headers.get_list("set-cookie"):
            name, _, value = row.split(";", 1)[0].partition("=")
            found[name.strip()] = value.strip()
        return found

    @property
    def encoding(self) -> str:
        """The charset of the body: the one set here, the one in Content-Type, or the default."""
        if self._encoding is None:
            for word in self.headers.get("content-type", "").split(";")[1:]:
                name, _, value = word.strip().partition("=")
                if name.lower() == "charset":
                    self._encoding = value.strip("\"' ")
        return self._encoding or self.default_encoding

    @encoding.setter
    def encoding(self, name: str) -> None:
        self._encoding = name

    @property
    def content(self) -> bytes:
        """The whole body."""
        if self._content is None:
            raise StreamConsumed("the body was not read: read() or aread() does that")
        return self._content

    @property
    def text(self) -> str:
        """The body as text. What cannot be decoded is replaced."""
        try:
            return self.content.decode(self.encoding, "replace")
        except LookupError:
            return self.content.decode(self.default_encoding, "replace")

    def json(self, **how: Any) -> Any:
        """Parses the body as JSON."""
        return jsonlib.loads(self.content, **how)

    def read(self) -> bytes:
        """Reads the body to its end."""
        if self._content is None:
            self._content = b"".join(self.iter_bytes())
        return self._content

    async def aread(self) -> bytes:
        """Reads the body to its end."""
        if self._content is None:
            self._content = b"".join([piece async for piece in self.aiter_bytes()])
        return self._content

    def iter_bytes(self, chunk_size: int | None = None) -> Iterator[bytes]:
        """Yields the body in pieces as they arrive, or of this size. A slow reader makes the sender wait."""
        return self._read(self._shape(chunk_size))

    def iter_content(self, chunk_size: int | None = None) -> Iterator[bytes]:
        """As :meth:`iter_bytes`, by the name in requests."""
        return self.iter_bytes(chunk_size)

    def iter_text(self, chunk_size: int | None = None) -> Iterator[str]:
        """Yields the body as text in pieces."""
        return self._read(self._shape(chunk_size, self._decoded()))

    def iter_lines(self) -> Iterator[str]:
        """Yields the lines of the body without their ends."""
        return self._read(self._shape(None, self._decoded(), _Lines()))

    def aiter_bytes(self, chunk_size: int | None = None) -> AsyncIterator[bytes]:
        """Yields the body in pieces as they arrive, or of this size. A slow reader makes the sender wait."""
        return self._aread(self._shape(chunk_size))

    def aiter_text(self, chunk_size: int | None = None) -> AsyncIterator[str]:
        """Yields the body as text in pieces."""
        return self._aread(self._shape(chunk_size, self._decoded()))

    def aiter_lines(self) -> AsyncIterator[str]:
        """Yields the lines of the body without their ends."""
        return self._aread(self._shape(None, self._decoded(), _Lines()))

    iter_raw = iter_bytes
    aiter_raw = aiter_bytes

    def close(self) -> None:
        """Releases the transfer; one that has not ended is aborted at once."""
        if self._stream is not None:
            self._stream.close()

    async def aclose(self) -> None:
        """Releases the transfer; one that has not ended is aborted at once."""
        self.close()

    def __enter__(self) -> Response:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Response:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def _decoded(self) -> _Decoded:
        return _Decoded(self.encoding, self.default_encoding)

    @staticmethod
    def _shape(chunk_size: int | None, *steps: Any) -> _Shape:
        return _Shape(steps if chunk_size is None else (_Sized(chunk_size), *steps))

    def _stored(self) -> tuple[bytes, ...] | None:
        """Returns the body if it has been read. Returns None, once, if it has not yet arrived."""
        if self._content is not None:
            return (self._content,) if self._content else ()
        if self._consumed or self._stream is None:
            raise StreamConsumed("the body was read before")
        self._consumed = True
        return None

    def _read(self, shape: _Shape) -> Iterator[Any]:
        stored = self._stored()
        return shape.of(self._stream.pieces(self) if stored is None else stored)

    def _aread(self, shape: _Shape) -> AsyncIterator[Any]:
        stored = self._stored()
        return shape.aof(self._stream.apieces(self) if stored is None else _each(stored))

    def _parsed(self) -> list[Any]:
        if self._heads is None:
            self._heads = _native.parse_heads(self._outcome.head)
        return self._heads

    def _last_head(self) -> Any:
        heads = self._parsed()
        return heads[-1] if heads else None

    def _hops(self) -> Iterator[Response]:
        url = self.request.url
        for head in self._parsed()[:-1]:
            headers = Headers(head[3])
            if 300 <= head[1] < 400 and "location" in headers:
                hop = Response.__new__(Response)
                hop.__dict__.update(self.__dict__)
                hop.status_code, hop._headers, hop._heads, hop._history = head[1], headers, [head], []
                hop._outcome, hop._content, hop._stream = _Hop(url, self._outcome), b"", None
                yield hop
                url = urljoin(url, headers["location"])


class _Hop:
    """The outcome of one redirect."""

    def __init__(self, url: str, whole: Outcome) -> None:
        self.url, self._whole = url, whole

    def __getattr__(self, name: str) -> Any:
        return getattr(self._whole, name)


class _Sized:
    """Pieces of one size; the last may be shorter."""

    def __init__(self, size: int) -> None:
        if size < 1:
            raise ValueError("a piece has at least one byte")
        self._size, self._held = size, b""

    def push(self, piece: bytes) -> list[bytes]:
        held = self._held + piece
        whole = len(held) - len(held) % self._size
        self._held = held[whole:]
        return [held[place : place + self._size] for place in range(0, whole, self._size)]

    def end(self) -> list[bytes]:
        return [self._held] if self._held else []


class _Decoded:
    """Decodes bytes to text. What cannot be decoded is replaced."""

    def __init__(self, name: str, default: str) -> None:
        try:
            found = codecs.getincrementaldecoder(name)
        except LookupError:
            found = codecs.getincrementaldecoder(default)
        self._decoder = found("replace")

    def push(self, piece: bytes) -> list[str]:
        text = self._decoder.decode(piece)
        return [text] if text else []

    def end(self) -> list[str]:
        text = self._decoder.decode(b"", True)
        return [text] if text else []


class _Lines:
    """Splits text into lines, without their ends."""

    def __init__(self) -> None:
        self._held = ""

    def push(self, text: str) -> list[str]:
        lines = (self._held + text).splitlines(keepends=True)
        self._held = lines.pop() if lines and (not lines[-1].endswith("\n")) else ""
        return [line.rstrip("\r\n") for line in lines]

    def end(self) -> list[str]:
        return [self._held.rstrip("\r\n")] if self._held else []


class _Shape:
    """Conversion steps of a body, for synchronous and asynchronous readers."""

    def __init__(self, steps: Iterable[Any]) -> None:
        self._steps = list(steps)

    def _through(self, pieces: list[Any], is_end: bool = False) -> list[Any]:
        for step in self._steps:
            found = [one for piece in pieces for one in step.push(piece)]
            pieces = found + step.end() if is_end else found
        return pieces

    def of(self, pieces: Iterable[bytes]) -> Iterator[Any]:
        for piece in pieces:
            yield from self._through([piece])
        yield from self._through([], is_end=True)

    async def aof(self, pieces: AsyncIterator[bytes]) -> AsyncIterator[Any]:
        async for piece in pieces:
            for one in self._through([piece]):
                yield one
        for one in self._through([], is_end=True):
            yield one


async def _each(pieces: Iterable[bytes]) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


def _text(given: Text) -> str:
    return given.decode("latin-1") if isinstance(given, bytes) else str(given)


def _pairs(given: Any) -> Iterable[tuple[str, Any]]:
    rows = given.items() if isinstance(given, Mapping) else given
    return [(name, value) for name, value in rows if value is not None]


def _with_params(url: str, params: Any) -> str:
    query = params if isinstance(params, str) else urlencode(list(_pairs(params)), doseq=True)
    head, mark, fragment = url.partition("#")
    return head + ("&" if "?" in head else "?") + query + mark + fragment


def _fields(data: Any) -> list[tuple[Any, ...]]:
    rows = []
    for name, value in _pairs(data or {}):
        for one in value if isinstance(value, (list, tuple)) else (value,):
            rows.append((name.encode(), None, None, one if isinstance(one, bytes) else str(one).encode(), None))
    return rows


def _files(files: Any) -> list[tuple[Any, ...]]:
    rows = []
    for name, given in _pairs(files):
        filename, kind = None, None
        if isinstance(given, tuple):
            filename, given, kind = (*given, None)[:3]
        if filename is None:
            filename = os.path.basename(str(getattr(given, "name", name)))
        path = None
        if hasattr(given, "read"):
            path = _whole_file(given)
            given = None if path else given.read()
        if isinstance(given, str):
            given = given.encode()
        kind = kind.encode() if kind else None
        rows.append((name.encode(), filename.encode(), kind, given, path))
    return rows


def _whole_file(file: Any) -> str | None:
    """Returns the path of a file at its beginning: it can be sent without reading it into memory."""
    try:
        path = os.fspath(file.name)
        whole = isinstance(path, str) and file.tell() == 0 and "b" in file.mode and os.path.isfile(path)
    except (AttributeError, OSError, TypeError, ValueError):
        return None
    return os.path.abspath(path) if whole else None


def outcome_failure(outcome: Outcome, request: Request) -> Exception:
    """Returns the exception for a failed transfer."""
    return failure(outcome.code, outcome.message, request)


Hook = Callable[[Any], Any]
