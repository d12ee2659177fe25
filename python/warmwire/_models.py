"""Requests and responses: their conversion to and from transfers."""

from __future__ import annotations

import codecs
import datetime
import itertools
import json as jsonlib
import os
import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, MutableMapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, NamedTuple, Union
from urllib.parse import urlencode, urljoin, urlsplit

from . import _native
from ._errors import (
    ConnectTimeout,
    HTTPStatusError,
    OptionError,
    ReadTimeout,
    RequestError,
    StreamConsumed,
    WriteTimeout,
    failure,
)
from ._urls import URL, text_of

if TYPE_CHECKING:
    from ._native import Outcome
    from ._types import AuthTypes, ContentTypes, DataTypes, FilesTypes, HeaderTypes, ParamTypes, TimeoutTypes, URLTypes

OPTIONS: dict[str, int] = {name: number for name, number, _ in _native.known_options()}
USER_AGENT = f"warmwire/{_native.__version__}"

_STALL_LIMIT = _native.STALL_LIMIT_MS
_EXPLAIN = _native.EXPLAIN
_ACCESS_POLICY = _native.ACCESS_POLICY
_FOLLOW_NAMES = _native.FOLLOW_NAMES
_PRIORITY = _native.PRIORITY
_LONGEST = 2**31 - 1
_ACCEPT_ENCODING = "deflate, gzip, br, zstd"
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


def copied(cookies: Any) -> Cookies:
    """Returns a jar with the cookies of a mapping, a list of pairs, or another jar."""
    found = Cookies(cookies._plain if isinstance(cookies, Cookies) else dict(cookies or {}))
    if isinstance(cookies, Cookies):
        found._lines = dict(cookies._lines)
    return found


class _Unset:
    """The type of an argument that was not given."""

    def __repr__(self) -> str:
        return "<the default>"

    def __bool__(self) -> bool:
        return False


UNSET = _Unset()


class Headers(MutableMapping[str, str]):
    """Header fields. Names are case-insensitive; :meth:`get_list` returns all values of one name.

    >>> headers = warmwire.Headers({"Content-Type": "text/plain"})
    >>> headers["content-type"]
    'text/plain'
    """

    __slots__ = ("_rows",)

    def __init__(self, rows: Mapping[str, str] | Mapping[bytes, bytes] | Iterable[tuple[Text, Text]] | None = None) -> None:
        if rows is None:
            self._rows: list[tuple[str, str]] = []
            return
        if isinstance(rows, Headers):
            self._rows = list(rows._rows)
            return
        pairs: Iterable[tuple[Text, Text]] = rows.items() if isinstance(rows, Mapping) else rows
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

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (Headers, Mapping)):
            return NotImplemented
        mine, theirs = ([(name.lower(), value) for name, value in Headers(each)._rows] for each in (self, other))
        return sorted(mine) == sorted(theirs)

    def __repr__(self) -> str:
        secret = ("authorization", "proxy-authorization")
        return f"Headers({[(name, '[secure]' if name.lower() in secret else value) for name, value in self._rows]!r})"

    def get_list(self, name: str) -> list[str]:
        """Returns all values of a name, in order."""
        wanted = name.lower()
        return [value for known, value in self._rows if known.lower() == wanted]

    def multi_items(self) -> list[tuple[str, str]]:
        """Returns all fields, in order."""
        return list(self._rows)


class Cookies(MutableMapping[str, str]):
    """The cookies of a client. The engine decides which are sent where. As a mapping: names and values.

    >>> cookies = warmwire.Cookies({"theme": "dark"})
    >>> cookies.set("session", "1", domain="example.com")
    >>> sorted(cookies.items())
    [('session', '1'), ('theme', 'dark')]
    """

    def __init__(self, given: Mapping[str, str] | None = None) -> None:
        # Other threads change it meanwhile: each iteration is over a list of its own.
        self._lines: dict[tuple[str, str, str], bytes] = {}
        self._plain: dict[str, str] = dict(given or {})

    def __getitem__(self, name: str) -> str:
        for (_, _, known), line in list(self._lines.items()):
            if known == name:
                return line.rsplit(b"\t", 1)[1].decode("latin-1")
        return self._plain[name]

    def __setitem__(self, name: str, value: str) -> None:
        self._plain[name] = value

    def __delitem__(self, name: str) -> None:
        stored = [key for key in list(self._lines) if key[2] == name]
        for key in stored:
            self._lines.pop(key, None)
        if self._plain.pop(name, None) is None and not stored:
            raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*self._plain, *(key[2] for key in list(self._lines))]))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __repr__(self) -> str:
        return f"Cookies({dict(self)!r})"

    def set(self, name: str, value: str, domain: str, path: str = "/") -> None:
        """Sets a cookie for one host or, with a leading dot, a domain."""
        tail = "TRUE" if domain.startswith(".") else "FALSE"
        line = "\t".join((domain, tail, path, "FALSE", "0", name, value))
        self._lines[(domain, path, name)] = line.encode("latin-1")

    def options(self) -> list[Option]:
        """Returns the options of a transfer for the cookies with a domain."""
        return [(_COOKIE_LIST, line) for line in list(self._lines.values())]

    def clear(self) -> None:
        """Removes all cookies."""
        self._lines.clear()
        self._plain.clear()

    def _took(self, loaded: Iterable[bytes], now: Iterable[bytes]) -> None:
        """Updates the jar from a transfer that started with the lines ``loaded`` and ended with the lines ``now``.

        Only what the transfer itself has changed counts: other transfers may have changed the jar meanwhile.
        """
        before, after = _by_key(loaded), _by_key(now)
        for key, line in before.items():
            if key not in after and self._lines.get(key) == line:
                self._lines.pop(key, None)
        for key, line in after.items():
            if before.get(key) != line:
                self._lines[key] = line


def _by_key(lines: Iterable[bytes]) -> dict[tuple[str, str, str], bytes]:
    """Returns lines of a cookie file by domain, path and name."""
    found = {}
    for line in lines:
        fields = [field.decode("latin-1") for field in line.split(b"\t")]
        if len(fields) == 7:
            found[(fields[0].removeprefix("#HttpOnly_"), fields[2], fields[5])] = line
    return found


class Timeout:
    """Time limits in seconds, exact to the millisecond; None is no limit.

    ``connect`` limits everything up to a connection (names, TCP, TLS), ``read`` the time in which no byte moves in either
    direction, ``pool`` the wait for a connection under :class:`Limits`, ``total`` the whole transfer with its redirects. The first
    argument is the default of the first three.

    >>> warmwire.Timeout(5, connect=0.5)
    Timeout(connect=0.5, read=5, pool=5, total=None)
    """

    __slots__ = ("connect", "pool", "read", "total")

    def __init__(
        self,
        timeout: float | None = None,
        *,
        connect: float | None | _Unset = UNSET,
        read: float | None | _Unset = UNSET,
        pool: float | None | _Unset = UNSET,
        total: float | None = None,
    ) -> None:
        self.connect = timeout if isinstance(connect, _Unset) else connect
        self.read = timeout if isinstance(read, _Unset) else read
        self.pool = timeout if isinstance(pool, _Unset) else pool
        self.total = total
        for name in self.__slots__:
            limit = getattr(self, name)
            if limit is not None and (isinstance(limit, bool) or not isinstance(limit, (int, float)) or not limit > 0):
                raise ValueError(f"Timeout({name}={limit!r}): a limit is a number of seconds above 0, or None for no limit")

    def __repr__(self) -> str:
        return "Timeout(" + ", ".join(f"{name}={getattr(self, name)!r}" for name in ("connect", "read", "pool", "total")) + ")"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Timeout) and all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def of(cls, given: TimeoutTypes | None) -> Timeout:
        """Converts a number (``connect``, ``read`` and ``pool``) or a pair (``connect``, ``read``)."""
        if isinstance(given, Timeout):
            return given
        if isinstance(given, tuple):
            if len(given) != 2:
                raise ValueError("a pair is (connect, read)")
            return cls(connect=given[0], read=given[1])
        return cls(given)

    def options(self) -> list[Option]:
        """Returns the options of a transfer."""
        # Without it curl gives up after 300 seconds.
        found: list[Option] = [(_CONNECT_TIMEOUT, _milliseconds(self.connect))]
        if self.total is not None:
            found.append((OPTIONS["TIMEOUT_MS"], _milliseconds(self.total)))
        if self.read is not None:
            limit = _milliseconds(self.read)
            # The second is for the replies of servers that are no HTTP servers.
            found += [(_STALL_LIMIT, limit), (OPTIONS["SERVER_RESPONSE_TIMEOUT_MS"], limit)]
        return found


def _milliseconds(seconds: float | None) -> int:
    return _LONGEST if seconds is None else min(_LONGEST, max(1, round(seconds * 1000)))


class Limits:
    """Limits of a client's connections: at most ``max_connections`` transfers at a time, and how long idle ones are kept.

    A request beyond the limit waits; after ``Timeout(pool=...)`` seconds it raises :class:`PoolTimeout`.

    >>> warmwire.Client(limits=warmwire.Limits(max_connections=10)).limits
    Limits(max_connections=10, keepalive_expiry=None)
    """

    __slots__ = ("keepalive_expiry", "max_connections")

    def __init__(self, *, max_connections: int | None = None, keepalive_expiry: float | None = None) -> None:
        if max_connections is not None and max_connections < 1:
            raise ValueError("max_connections is at least 1, or None for no limit")
        self.max_connections, self.keepalive_expiry = max_connections, keepalive_expiry

    def __repr__(self) -> str:
        return f"Limits(max_connections={self.max_connections!r}, keepalive_expiry={self.keepalive_expiry!r})"

    def options(self) -> list[Option]:
        """Returns the options of a transfer."""
        if self.keepalive_expiry is None:
            return []
        return [(OPTIONS["MAXAGE_CONN"], max(1, round(self.keepalive_expiry)))]


class Auth:
    """A login: ``Auth(user, password, scheme)``, scheme ``basic``, ``digest``, ``ntlm``, ``negotiate`` or ``any``.

    >>> warmwire.Auth("me", "secret", "digest")
    Auth('me', [secure], 'digest')
    """

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

    def __repr__(self) -> str:
        scheme = f", {self.scheme!r}" if type(self) is Auth else ""
        return f"{type(self).__name__}({self.user!r}, [secure]{scheme})"

    def options(self) -> list[Option]:
        """Returns the options of a transfer."""
        return [
            (OPTIONS["HTTPAUTH"], self._SCHEMES[self.scheme]),
            (OPTIONS["USERNAME"], self.user),
            (OPTIONS["PASSWORD"], self.password),
        ]


class BasicAuth(Auth):
    """User and password, sent with the first request.

    >>> warmwire.get("https://example.com/", auth=warmwire.BasicAuth("me", "secret")).status_code
    200
    """


class DigestAuth(Auth):
    """User and password, proved by a digest of the server's challenge.

    >>> warmwire.get("https://example.com/", auth=warmwire.DigestAuth("me", "secret")).status_code
    200
    """

    def __init__(self, user: str, password: str) -> None:
        super().__init__(user, password, "digest")


class BearerAuth(Auth):
    """A token (RFC 6750). It is sent to the host of the URL, and to no host that a redirect leads to.

    >>> warmwire.get("https://example.com/", auth=warmwire.BearerAuth("t0ken")).status_code
    200
    """

    def __init__(self, token: str) -> None:
        super().__init__()
        self.token = token

    def __repr__(self) -> str:
        return "BearerAuth([secure])"

    def options(self) -> list[Option]:
        return [(OPTIONS["HTTPAUTH"], _BEARER), (OPTIONS["XOAUTH2_BEARER"], self.token)]


class Request:
    """A request, before it is sent. Event hooks may change its headers.

    >>> request = warmwire.Request("post", "https://example.com/", json={"a": 1})
    >>> request.method, request.headers["content-type"], request.content
    ('POST', 'application/json', b'{"a":1}')
    """

    __slots__ = ("_full", "_rows", "_url", "body", "content", "extensions", "method", "options")

    def __init__(
        self,
        method: str,
        url: URLTypes,
        *,
        params: ParamTypes | None = None,
        headers: HeaderTypes | None = None,
        content: ContentTypes | None = None,
        data: DataTypes | None = None,
        json: Any = None,
        files: FilesTypes | None = None,
    ) -> None:
        self.method = method.upper()
        text = url if type(url) is str else text_of(url)
        self._url = _with_params(text, params) if params else text
        self._rows = Headers(headers)
        self._full = False
        self.content: Any = None
        self.body: list[Option] = []
        self.options: list[Option] = []
        self.extensions: dict[str, Any] = {}
        if files:
            self.body = [(OPTIONS["MIMEPOST"], [*_fields(data), *_files(files)])]
            return
        body: DataTypes | None = content
        if json is not None:
            body = jsonlib.dumps(json, separators=(",", ":")).encode()
            if "content-type" not in self._rows:
                self._rows["Content-Type"] = "application/json"
        elif isinstance(data, Mapping) or (isinstance(data, (list, tuple)) and data):
            body = urlencode(list(_pairs(data)), doseq=True).encode()
            if "content-type" not in self._rows:
                self._rows["Content-Type"] = "application/x-www-form-urlencoded"
        elif data is not None:
            body = data
        if isinstance(body, str):
            body = body.encode()
        elif isinstance(body, (bytearray, memoryview)):
            body = bytes(body)
        self.content = body

    @property
    def url(self) -> URL:
        """The URL with its parameters."""
        return URL(self._url)

    @url.setter
    def url(self, url: URLTypes) -> None:
        self._url = text_of(url)

    @property
    def headers(self) -> Headers:
        """The fields that are sent. Cookies and logins are added by the engine and not listed."""
        if not self._full:
            self._full = True
            given = self._rows
            self._rows = Headers([row for row in self._defaults().items() if row[0] not in given] + given._rows)
        return self._rows

    @headers.setter
    def headers(self, rows: HeaderTypes) -> None:
        self._rows, self._full = Headers(rows), False

    def _defaults(self) -> dict[str, str]:
        """Returns the fields that are sent unless the request has others."""
        found = {"Host": urlsplit(self._url).netloc.rpartition("@")[2]}
        if self._url[:4].lower() != "http":
            return {}
        found |= {"User-Agent": USER_AGENT, "Accept": "*/*", "Accept-Encoding": _ACCEPT_ENCODING}
        if isinstance(self.content, bytes):
            found["Content-Length"] = str(len(self.content))
        return found

    def at(self, url: str) -> Request:
        """Returns a copy for another URL."""
        twin = Request.__new__(Request)
        twin.method, twin._url, twin._rows, twin._full = self.method, url, Headers(self._rows), self._full
        twin.content, twin.body, twin.options, twin.extensions = self.content, self.body, self.options, self.extensions
        return twin

    def __repr__(self) -> str:
        return f"<Request({self.method!r}, {str(self.url)!r})>"

    def __getstate__(self) -> Any:
        # A body that is read once cannot be stored.
        state = {name: getattr(self, name) for name in self.__slots__ if name != "extensions"}
        state["content"] = self.content if isinstance(self.content, bytes) else None
        return (None, {**state, "body": [], "extensions": {}})

    def _fields(self) -> list[str]:
        """Returns the rows for the engine, which adds its defaults to them."""
        if not self._full:
            return [f"{name}: {value}" if value else f"{name};" for name, value in self._rows._rows]
        defaults = {name.lower(): value for name, value in self._defaults().items()}
        rows = []
        for name, value in self._rows._rows:
            if defaults.get(name.lower()) != value:
                rows.append(f"{name}: {value}" if value else f"{name};")
        # A default that was deleted.
        return rows + [f"{name}:" for name in defaults if name not in self._rows]

    def for_engine(self, settings: list[Option]) -> tuple[list[Option], Any]:
        """Returns the options and the upload: None, bytes, or True if it is fed."""
        options = [(_URL, self._url), *settings, *self.options, *self.body]
        method, content = self.method, self.content
        upload: bytes | bool | None = None
        given, rows = self._rows, self._fields()
        if content is None:
            if method == "HEAD":
                options.append((OPTIONS["NOBODY"], 1))
            elif method == "POST" and not self.body:
                options += [(_BODY_SIZE, 0), (_BODY, b"")]
                if "content-type" not in given:
                    rows.append("Content-Type:")
            elif method != "GET" and not (self.body and method == "POST"):
                options.append((_METHOD, method))
        elif isinstance(content, bytes) and method != "PUT" and self._url[:4].lower() == "http":
            options += [(_BODY_SIZE, len(content)), (_BODY, content)]
            if method != "POST":
                options.append((_METHOD, method))
            if "content-type" not in given:
                rows.append("Content-Type:")
        else:
            options.append((OPTIONS["UPLOAD"], 1))
            if method != "PUT":
                options.append((_METHOD, method))
            length = given.get("content-length")
            if isinstance(content, bytes):
                length, upload = str(len(content)), content
            else:
                upload = True
            if length is not None:
                options.append((OPTIONS["INFILESIZE_LARGE"], int(length)))
                rows = [row for row in rows if not row.lower().startswith("content-length:")]
        if content is not None and "expect" not in given:
            rows.append("Expect:")
        if rows:
            options.append((_HEADERS, rows))
        return options, upload


class _Stored:
    """The facts of a transfer without the engine: of a response that was pickled, or built by a program."""

    NAMES = (
        "code message status head body url http_version redirects reached connects downloaded uploaded announced file_time peer times cookies why"
    ).split()

    reached = 5
    code, message, redirects, connects, downloaded, uploaded, announced, file_time = 0, "", 0, 0, 0, 0, -1, -1
    head, body, url, http_version, peer = b"", b"", "", 2, ("", -1)
    times = (0.0,) * 6
    status = 0
    cookies: list[bytes] | None = None
    why: tuple[str, str] | None = None

    def __init__(self, **facts: Any) -> None:
        self.__dict__.update(facts)

    @classmethod
    def of(cls, outcome: Any) -> _Stored:
        """Copies an outcome, without its body."""
        return cls(**{name: getattr(outcome, name) for name in cls.NAMES if name != "body"})


class Why:
    """The decisions of a transfer, and why: connection, names, TLS, version, cookies, time. ``str()`` is a short story.

    With ``explain="certificates"`` each check of the certificates of servers and proxies is among them.

    >>> reply = warmwire.get("https://example.com/", explain=True)
    >>> [request["status"] for request in reply.why.json()["requests"]]
    [200]
    """

    __slots__ = ("_json", "_text")

    def __init__(self, text: str, json: str) -> None:
        self._text, self._json = text, json

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<Why {self._text.partition(chr(10))[0]!r}>"

    def json(self) -> Any:
        """Returns the reasons as values; the guide describes the members."""
        return jsonlib.loads(self._json)


class Informational(NamedTuple):
    """An informational reply (1xx). Early hints (103) name in ``Link`` what the page will need.

    >>> reply = warmwire.get("https://example.com/")
    >>> [early.headers.get_list("link") for early in reply.informational]
    []
    """

    status_code: int
    headers: Headers


class Response:
    """A reply: its last head, and its body as bytes, text or JSON, or piece by piece.

    Programs build one for :class:`MockTransport` and for tests:

    >>> reply = warmwire.Response(200, json={"a": 1})
    >>> reply, reply.json()
    (<Response [200 OK]>, {'a': 1})
    """

    default_encoding = "utf-8"
    _heads: list[Any] | None = None
    _outcome: Outcome | _Stored | _Hop
    _headers: Headers | None = None
    _encoding: str | None = None
    _history: list[Response] | None = None
    _consumed = False
    _reader: Iterator[memoryview] | None = None
    _unread = memoryview(b"")

    def __init__(
        self,
        status_code: int,
        *,
        headers: HeaderTypes | None = None,
        content: bytes | str | None = None,
        text: str | None = None,
        html: str | None = None,
        json: Any = UNSET,
        request: Request | None = None,
    ) -> None:
        rows = Headers(headers)
        body = content.encode() if isinstance(content, str) else content or b""
        for given, kind in ((text, "text/plain; charset=utf-8"), (html, "text/html; charset=utf-8")):
            if given is not None:
                body = given.encode()
                rows.setdefault("Content-Type", kind)
        if not isinstance(json, _Unset):
            body = jsonlib.dumps(json, separators=(",", ":")).encode()
            rows.setdefault("Content-Type", "application/json")
        if "transfer-encoding" not in rows:
            rows.setdefault("Content-Length", str(len(body)))
        try:
            reason = HTTPStatus(status_code).phrase
        except ValueError:
            reason = ""
        lines = [f"HTTP/1.1 {status_code} {reason}", *(f"{name}: {value}" for name, value in rows.multi_items()), "", ""]
        head = "\r\n".join(lines).encode("latin-1")
        self._request = request
        url = str(request.url) if request is not None else ""
        self._become(request, _Stored(status=status_code, head=head, url=url, downloaded=len(body)), None, body)

    @classmethod
    def _of(cls, request: Request, outcome: Any, stream: Any = None) -> Response:
        """Creates the reply of a transfer."""
        found = cls.__new__(cls)
        found._become(request, outcome, stream, None if stream is not None else outcome.body)
        return found

    def _become(self, request: Request | None, outcome: Any, stream: Any, content: bytes | None) -> None:
        self._request, self._outcome, self._stream, self._content = request, outcome, stream, content
        self.status_code: int = outcome.status

    def __repr__(self) -> str:
        text = f"{self.status_code} {self.reason_phrase}".strip()
        return f"<Response [{text if self.status_code else 'OK'}]>"

    def __getstate__(self) -> dict[str, Any]:
        state = {name: value for name, value in self.__dict__.items() if name not in ("_heads", "_stream", "_reader", "_unread")}
        return {**state, "_outcome": _Stored.of(self._outcome), "_stream": None, "_history": self.history}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    @property
    def request(self) -> Request:
        """The request of this reply."""
        if self._request is None:
            raise RuntimeError("the response was built without a request")
        return self._request

    @request.setter
    def request(self, request: Request) -> None:
        self._request = request

    @property
    def history(self) -> list[Response]:
        """The redirects that were followed, in order."""
        if self._history is None:
            self._history = list(self._hops()) if self._outcome.redirects else []
        return self._history

    @property
    def informational(self) -> list[Informational]:
        """The informational replies (1xx) that came before the last head: early hints (103) and the like."""
        early = itertools.takewhile(lambda head: 100 <= head[1] < 200, reversed(self._parsed()[:-1]))
        return [Informational(head[1], Headers(head[3])) for head in early][::-1]

    @property
    def url(self) -> URL:
        """The URL that answered, after redirects."""
        return URL(self._outcome.url)

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
    def why(self) -> Why | None:
        """The reasons of the transfer: of a request with ``explain=True`` once its body has ended, else None."""
        return _why(self._outcome)

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
    def has_redirect_location(self) -> bool:
        """As :attr:`is_redirect`, by the name in httpx."""
        return self.is_redirect

    @property
    def is_informational(self) -> bool:
        """Whether the status is 1xx."""
        return 100 <= self.status_code < 200

    @property
    def next_request(self) -> Request | None:
        """The request that a redirect asks for; None if this is none."""
        if not self.is_redirect:
            return None
        request, status = self.request, self.status_code
        url = self.url.join(self.headers["location"])
        drops = status == 303 and request.method != "HEAD" or status in (301, 302) and request.method == "POST"
        found = request.at(url)
        if drops:
            found.method, found.content, found.body = "GET", None, []
            found._rows = Headers([row for row in found._rows._rows if not row[0].lower().startswith("content-")])
        if URL(url).netloc != self.url.netloc:
            kept = [row for row in found._rows._rows if row[0].lower() not in ("authorization", "cookie", "host")]
            found._rows = Headers(kept)
        return found

    @property
    def links(self) -> dict[str, dict[str, str]]:
        """The Link field (RFC 8288) by relation, or by URL without one.

        >>> reply = warmwire.Response(200, headers={"Link": '<https://example.com/2>; rel="next"'})
        >>> reply.links["next"]["url"]
        'https://example.com/2'
        """
        found: dict[str, dict[str, str]] = {}
        for url, tail in re.findall(r"<([^>]*)>([^<]*)", self.headers.get("link", "")):
            link = {"url": url}
            for name, quoted, plain in re.findall(r';\s*([\w*-]+)\s*=\s*(?:"([^"]*)"|([^;,\s]*))', tail):
                link[name] = quoted or plain
            found[link.get("rel") or url] = link
        return found

    @property
    def num_bytes_downloaded(self) -> int:
        """Number of bytes of body that have arrived, before decoding."""
        return self._outcome.downloaded

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
    def charset_encoding(self) -> str | None:
        """The charset that Content-Type names."""
        for word in self.headers.get("content-type", "").split(";")[1:]:
            name, _, value = word.strip().partition("=")
            if name.lower() == "charset":
                return value.strip("\"' ")
        return None

    @property
    def encoding(self) -> str:
        """The charset of the body: the one set here, the one in Content-Type, or the default."""
        if self._encoding is None:
            self._encoding = self.charset_encoding
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

    def view(self) -> memoryview:
        """Returns the whole body as a read-only view. Slices of it copy nothing, and it keeps the body alive.

        >>> warmwire.get("https://example.com/").view()[:5].tobytes()
        b'<!doc'
        """
        return memoryview(self.content)

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

    def iter_views(self) -> Iterator[memoryview]:
        """As :meth:`iter_bytes`, in read-only views: slices of them copy nothing.

        >>> with warmwire.Client().stream("GET", "https://example.com/") as reply:
        ...     size = sum(len(view) for view in reply.iter_views())
        """
        return map(memoryview, self.iter_bytes())

    def readinto(self, buffer: Any) -> int:
        """Reads the next bytes of the body into a writable buffer. Returns how many; 0 at the end.

        >>> reply, buffer = warmwire.get("https://example.com/"), bytearray(1024)
        >>> reply.readinto(buffer) > 0
        True
        """
        target = memoryview(buffer).cast("B")
        if self._reader is None:
            self._reader, self._unread = self.iter_views(), memoryview(b"")
        while not self._unread:
            piece = next(self._reader, None)
            if piece is None:
                return 0
            self._unread = piece
        count = min(len(target), len(self._unread))
        target[:count] = self._unread[:count]
        self._unread = self._unread[count:]
        return count

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
        url = self.request._url
        for head in self._parsed()[:-1]:
            headers = Headers(head[3])
            if 300 <= head[1] < 400 and "location" in headers:
                hop = Response.__new__(Response)
                hop.__dict__.update(self.__dict__)
                hop.status_code, hop._headers, hop._heads, hop._history = head[1], headers, [head], []
                hop._outcome, hop._content, hop._stream = _Hop(url, self._outcome), b"", None
                hop._request = self.request.at(url)
                yield hop
                url = urljoin(url, headers["location"])


class _Hop:
    """The outcome of one redirect."""

    redirects, body = 0, b""

    def __init__(self, url: str, whole: Outcome | _Stored | _Hop) -> None:
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


def _why(outcome: Any) -> Why | None:
    """Returns the reasons of a transfer, if they were kept."""
    found = getattr(outcome, "why", None)
    return Why(*found) if found else None


def outcome_failure(outcome: Any, request: Request, sends: bool = False) -> RequestError:
    """Returns the exception for a failed transfer; ``sends``: part of the request's body has not been read yet."""
    kind: type[RequestError] | None = None
    if outcome.code == 28:
        content = request.content
        if outcome.reached < 4:
            kind = ConnectTimeout
        elif sends or isinstance(content, bytes) and outcome.uploaded < len(content) and not outcome.status:
            kind = WriteTimeout
        else:
            kind = ReadTimeout
    error = failure(outcome.code, outcome.message, request, kind)
    error.why = _why(outcome)
    return error


Hook = Callable[[Any], Any]
