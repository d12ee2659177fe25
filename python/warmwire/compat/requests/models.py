"""Requests and responses of requests."""

from __future__ import annotations

import datetime
import json as jsonlib
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote, unquote, urlencode, urlsplit, urlunsplit

from ... import _errors as errors
from ..._models import Request as _Request
from ..._models import Response as _Response
from ..._models import copied
from . import exceptions
from .auth import HTTPBasicAuth
from .cookies import RequestsCookieJar
from .structures import CaseInsensitiveDict

_SAFE = "!#$%&'()*+,/:;=?@[]~"


class Request:
    """A request as the program describes it."""

    def __init__(
        self,
        method: str | None = None,
        url: Any = None,
        headers: Any = None,
        files: Any = None,
        data: Any = None,
        params: Any = None,
        auth: Any = None,
        cookies: Any = None,
        hooks: Any = None,
        json: Any = None,
    ) -> None:
        self.method, self.url, self.headers, self.files = method, url, headers or {}, files or []
        self.data, self.params, self.auth, self.cookies, self.json = data or [], params or {}, auth, cookies, json
        self.hooks = hooks or {}

    def __repr__(self) -> str:
        return f"<Request [{self.method}]>"

    def prepare(self) -> PreparedRequest:
        """Returns what is sent."""
        found = PreparedRequest()
        found.prepare(**self.__dict__)
        return found


class PreparedRequest:
    """A request as it is sent."""

    def __init__(self) -> None:
        self.method: str | None = None
        self.url: str | None = None
        self.headers = CaseInsensitiveDict()
        self.body: Any = None
        self.hooks: Any = {}
        self._files: list[Any] = []
        self._auth: Any = None
        self._cookies: Any = None

    def __repr__(self) -> str:
        return f"<PreparedRequest [{self.method}]>"

    @property
    def path_url(self) -> str:
        """Path and query."""
        found = urlsplit(self.url or "")
        return (found.path or "/") + (f"?{found.query}" if found.query else "")

    def copy(self) -> PreparedRequest:
        """Returns a copy."""
        found = PreparedRequest()
        found.__dict__.update(self.__dict__, headers=self.headers.copy())
        return found

    def prepare(self, *arguments: Any, **named: Any) -> None:
        """Prepares a request from the arguments of :class:`Request`."""
        given = Request(*arguments, **named)
        self.method = (given.method or "GET").upper()
        self.prepare_url(given.url, given.params)
        self.headers = CaseInsensitiveDict()
        for name, value in given.headers.items():
            self._set_header(name, value)
        self._cookies = given.cookies
        plain = copied(given.cookies)._plain
        if plain and "cookie" not in self.headers:
            self.headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in plain.items())
        self.prepare_body(given.data, given.files, given.json)
        self.prepare_auth(given.auth)
        self.hooks = given.hooks

    def _set_header(self, name: Any, value: Any) -> None:
        if value is None:
            return
        if not isinstance(value, (str, bytes)):
            raise exceptions.InvalidHeader(f"Header part ({value!r}) from ({name!r}, {value!r}) must be of type str or bytes")
        text = value.decode("latin-1") if isinstance(value, bytes) else value
        if text[:1].isspace() or "\n" in text or "\r" in text:
            raise exceptions.InvalidHeader(f"Invalid leading whitespace or line break in header value: {value!r}")
        self.headers[name] = text

    def prepare_url(self, url: Any, params: Any) -> None:
        """Checks the URL and adds the parameters."""
        text = url.decode() if isinstance(url, bytes) else str(url)
        text = text.lstrip()
        if ":" in text and not text.lower().startswith("http"):
            self.url = text
            return
        try:
            parts = urlsplit(text)
            host, _ = parts.hostname, parts.port
        except ValueError as error:
            raise exceptions.InvalidURL(f"Failed to parse: {text}") from error
        if not parts.scheme:
            raise exceptions.MissingSchema(f"Invalid URL {text!r}: No scheme supplied. Perhaps you meant https://{text}?")
        if not host:
            raise exceptions.InvalidURL(f"Invalid URL {text!r}: No host supplied")
        if host.startswith(("*", ".")):
            raise exceptions.InvalidURL("URL has an invalid label.")
        more = params.decode() if isinstance(params, bytes) else params if isinstance(params, str) else _encoded(params)
        query = "&".join(part for part in (parts.query, more) if part)
        path = quote(parts.path or "/", safe=_SAFE)
        self.url = urlunsplit((parts.scheme, parts.netloc, path, quote(query, safe=_SAFE), parts.fragment))

    def prepare_body(self, data: Any, files: Any, json: Any = None) -> None:
        """Chooses the body and its type."""
        kind = None
        if not data and json is not None:
            try:
                self.body = jsonlib.dumps(json, allow_nan=False).encode()
            except ValueError as error:
                raise exceptions.InvalidJSONError(error) from error
            kind = "application/json"
        elif files:
            sent = _Request("POST", "http://host/", data=_listed(data), files=_listed(files))
            self._files = sent.body
            return
        elif data:
            is_form = isinstance(data, (Mapping, list, tuple))
            self.body = _encoded(data) if is_form else data
            if is_form or isinstance(data, str):
                kind = "application/x-www-form-urlencoded"
        if kind and "content-type" not in self.headers:
            self.headers["Content-Type"] = kind
        self.prepare_content_length(self.body)

    def prepare_content_length(self, body: Any) -> None:
        """Sets Content-Length if the size is known."""
        if isinstance(body, (str, bytes)):
            self.headers["Content-Length"] = str(len(body.encode() if isinstance(body, str) else body))
        elif body is not None:
            try:
                place = body.tell()
                self.headers["Content-Length"] = str(body.seek(0, 2) - place)
                body.seek(place)
            except (AttributeError, OSError):
                self.headers["Transfer-Encoding"] = "chunked"
        elif self.method not in ("GET", "HEAD"):
            self.headers["Content-Length"] = "0"

    def prepare_auth(self, auth: Any) -> None:
        """Applies a login, or that of the URL."""
        found = urlsplit(self.url or "")
        if auth is None and found.username:
            auth = (unquote(found.username), unquote(found.password or ""))
        if not auth:
            return
        if isinstance(auth, tuple) and len(auth) == 2:
            auth = HTTPBasicAuth(*auth)
        changed = auth(self)
        self.__dict__.update(changed.__dict__)


def _listed(given: Any) -> Any:
    return list(given.items()) if isinstance(given, Mapping) else given


def _encoded(given: Any) -> str:
    """Encodes pairs; None is left out, and a list is several pairs."""
    rows = []
    for name, values in given.items() if isinstance(given, Mapping) else given or ():
        for value in values if isinstance(values, (list, tuple, set)) else (values,):
            if value is not None:
                rows.append((name, value))
    return urlencode(rows)


class Response:
    """A reply."""

    def __init__(self) -> None:
        self.status_code: Any = None
        self.headers = CaseInsensitiveDict()
        self.url: Any = None
        self.encoding: str | None = None
        self.history: list[Response] = []
        self.reason: str | None = None
        self.cookies = RequestsCookieJar()
        self.elapsed = datetime.timedelta(0)
        self.request: Any = None
        self.connection: Any = None
        self._inner: Any = None
        self._content: Any = False
        self._consumed = False
        self._next: Any = None

    @classmethod
    def _of(cls, inner: _Response, request: PreparedRequest) -> Response:
        found = cls()
        found._inner, found.request = inner, request
        found.status_code, found.reason, found.url = inner.status_code, inner.reason_phrase, str(inner.url)
        found.headers = CaseInsensitiveDict(inner.headers)
        found.elapsed = inner.elapsed
        found.cookies = RequestsCookieJar(dict(inner.cookies))
        kind = found.headers.get("content-type", "")
        found.encoding = inner.charset_encoding or (
            "utf-8" if "application/json" in kind else "ISO-8859-1" if kind.startswith("text/") else None
        )
        for hop in inner.history:
            found.history.append(cls._of(hop, request))
        if inner._content is not None:
            found._content = inner._content
        return found

    def __repr__(self) -> str:
        return f"<Response [{self.status_code}]>"

    def __bool__(self) -> bool:
        return self.ok

    __nonzero__ = __bool__

    def __iter__(self) -> Iterator[bytes]:
        return self.iter_content(128)

    def __enter__(self) -> Response:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        self.content  # noqa: B018
        return {**self.__dict__, "request": None if self._inner is None else self.request, "connection": None}

    @property
    def ok(self) -> bool:
        """Whether the status is below 400."""
        return bool(self.status_code < 400)

    @property
    def is_redirect(self) -> bool:
        """Whether a redirect could be followed."""
        return "location" in self.headers and self.status_code in (301, 302, 303, 307, 308)

    @property
    def is_permanent_redirect(self) -> bool:
        """Whether the redirect holds for good."""
        return "location" in self.headers and self.status_code in (301, 308)

    @property
    def next(self) -> PreparedRequest | None:
        """The request that a redirect asks for."""
        following = self._inner.next_request
        if following is None:
            return None
        found = self.request.copy()
        found.method, found.url = following.method, str(following.url)
        if following.content is None:
            found.body = None
        return found  # type: ignore[no-any-return]

    @property
    def apparent_encoding(self) -> str:
        """A guess at the charset: UTF-8 if the body is that, otherwise Latin-1."""
        try:
            self.content.decode("utf-8")
        except UnicodeDecodeError:
            return "ISO-8859-1"
        return "ascii" if self.content.isascii() else "utf-8"

    @property
    def content(self) -> bytes:
        """The body."""
        if self._content is False:
            if self._consumed:
                raise RuntimeError("The content for this response was already consumed")
            self._content = b"".join(self.iter_content(64 * 1024)) if self.status_code else None
            self._consumed = True
        return self._content or b""

    @property
    def text(self) -> str:
        """The body as text."""
        name = self.encoding or self.apparent_encoding
        try:
            return self.content.decode(name, "replace")
        except LookupError:
            return self.content.decode("utf-8", "replace")

    def json(self, **kwargs: Any) -> Any:
        """Parses the body as JSON."""
        try:
            return jsonlib.loads(self.content if not self.encoding or self.encoding.lower() == "utf-8" else self.text, **kwargs)
        except (jsonlib.JSONDecodeError, UnicodeDecodeError) as error:
            place = getattr(error, "pos", 0)
            raise exceptions.JSONDecodeError(getattr(error, "msg", str(error)), self.text, place) from None

    @property
    def links(self) -> dict[str, dict[str, str]]:
        """The Link field by relation."""
        return self._inner.links  # type: ignore[no-any-return]

    @property
    def raw(self) -> Any:
        """An object with ``read``: the body as the engine decodes it."""
        return _Raw(self)

    def iter_content(self, chunk_size: int | None = 1, decode_unicode: bool = False) -> Iterator[Any]:
        """Yields the body in pieces of this size."""
        if chunk_size is not None and not isinstance(chunk_size, int):
            raise TypeError(f"chunk_size must be an int, it is instead a {type(chunk_size)}.")
        if self._consumed and self._content is False:
            raise exceptions.StreamConsumedError()
        return self._pieces(chunk_size, decode_unicode)

    def _pieces(self, chunk_size: int | None, decode_unicode: bool) -> Iterator[Any]:
        if self._content is not False:
            body = self._content or b""
            size = chunk_size or len(body) or 1
            pieces: Iterator[bytes] = (body[at : at + size] for at in range(0, len(body), size))
        else:
            self._consumed = True
            pieces = self._inner.iter_bytes(chunk_size)
        decode = None
        if decode_unicode and self.encoding:
            import codecs

            decode = codecs.getincrementaldecoder(self.encoding)("replace").decode
        try:
            for piece in pieces:
                yield piece if decode is None else decode(piece)
        except errors.WarmwireError as error:
            raise exceptions.translated(error, self.request) from error

    def iter_lines(self, chunk_size: int = 512, decode_unicode: bool = False, delimiter: Any = None) -> Iterator[Any]:
        """Yields the lines of the body."""
        pending = None
        for piece in self._pieces(None if self._content is False else chunk_size, decode_unicode):
            whole = piece if pending is None else pending + piece
            lines = whole.split(delimiter) if delimiter else whole.splitlines()
            ends = lines and lines[-1] and whole and lines[-1][-1:] == whole[-1:]
            pending = lines.pop() if ends or delimiter and lines else None
            yield from lines
        if pending is not None:
            yield pending

    def raise_for_status(self) -> None:
        """Raises HTTPError for 4xx and 5xx."""
        if 400 <= self.status_code < 600:
            side = "Client" if self.status_code < 500 else "Server"
            raise exceptions.HTTPError(f"{self.status_code} {side} Error: {self.reason} for url: {self.url}", response=self)

    def close(self) -> None:
        """Releases the connection."""
        if self._inner is not None:
            self._inner.close()


class _Raw:
    """A file over the body of a response."""

    def __init__(self, response: Response) -> None:
        self._pieces, self._held, self.headers = response._pieces(None, False), b"", response.headers
        self.status, self.reason = response.status_code, response.reason

    def read(self, amt: int | None = None, decode_content: bool = True) -> bytes:
        """Reads at most so many bytes."""
        while amt is None or len(self._held) < amt:
            piece = next(self._pieces, None)
            if piece is None:
                break
            self._held += piece
        found, self._held = (self._held, b"") if amt is None else (self._held[:amt], self._held[amt:])
        return found

