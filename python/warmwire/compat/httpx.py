"""The interface of httpx on Warmwire's engine: ``import warmwire.compat.httpx as httpx``.

>>> import warmwire.compat.httpx as httpx
>>> httpx.get("https://example.com/", params={"a": "1"}).status_code
200
"""

from __future__ import annotations

import asyncio
import enum
import ssl
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from http import HTTPStatus
from typing import Any

from .. import _client, _models, _settings, _transport
from .. import _errors as ours
from .._models import Cookies, Headers, UNSET, Response
from .._native import __version__
from .._tls import SSLContext
from .._transfer import Pool
from .._urls import URL, QueryParams, rows_of, text_of
from .._urls import _primitive


class HTTPError(Exception):
    """The base of :class:`RequestError` and :class:`HTTPStatusError`; ``code`` is curl's number."""

    code = 0

    def __init__(self, message: str, *, request: Any = None) -> None:
        super().__init__(message)
        self._request = request

    @property
    def request(self) -> Any:
        """The request that failed."""
        if self._request is None:
            raise RuntimeError("The .request property has not been set.")
        return self._request


class RequestError(HTTPError):
    """No reply."""


class TransportError(RequestError):
    """A failure below HTTP."""


class TimeoutException(TransportError):
    """A time limit was reached."""


class ConnectTimeout(TimeoutException):
    """No connection in time."""


class ReadTimeout(TimeoutException):
    """No data in time."""


class WriteTimeout(TimeoutException):
    """The request was not accepted in time."""


class PoolTimeout(TimeoutException):
    """No connection became free in time."""


class NetworkError(TransportError):
    """No connection, or a broken one."""


class ConnectError(NetworkError):
    """No connection."""


class ReadError(NetworkError):
    """Receiving failed."""


class WriteError(NetworkError):
    """Sending failed."""


class CloseError(NetworkError):
    """Closing failed."""


class ProxyError(TransportError):
    """The proxy refused."""


class UnsupportedProtocol(TransportError):
    """The scheme is missing or not supported."""


class ProtocolError(TransportError):
    """The protocol was violated."""


class LocalProtocolError(ProtocolError):
    """The request violates the protocol."""


class RemoteProtocolError(ProtocolError):
    """The reply violates the protocol."""


class DecodingError(RequestError):
    """The body's coding is broken."""


class TooManyRedirects(RequestError):
    """More redirects than allowed."""


class HTTPStatusError(HTTPError):
    """``raise_for_status`` found no success."""

    code = 22

    def __init__(self, message: str, *, request: Any, response: Any) -> None:
        super().__init__(message, request=request)
        self.response = response


class InvalidURL(Exception):
    """The URL is malformed."""


class CookieConflict(Exception):
    """Several cookies have the name."""


class StreamError(RuntimeError):
    """The body was used wrongly."""


class StreamConsumed(StreamError):
    """The body was read before."""


class StreamClosed(StreamError):
    """The response is closed."""


class ResponseNotRead(StreamError):
    """The body has not been read."""


class RequestNotRead(StreamError):
    """The request's body has not been read."""


_KINDS: tuple[tuple[type[Exception], type[RequestError]], ...] = (
    (ours.ConnectTimeout, ConnectTimeout),
    (ours.ReadTimeout, ReadTimeout),
    (ours.WriteTimeout, WriteTimeout),
    (ours.PoolTimeout, PoolTimeout),
    (ours.TimeoutException, TimeoutException),
    (ours.ProxyError, ProxyError),
    (ours.ConnectError, ConnectError),
    (ours.IncompleteBody, RemoteProtocolError),
    (ours.TooManyRedirects, TooManyRedirects),
    (ours.UnsupportedProtocol, UnsupportedProtocol),
    (ours.DecodingError, DecodingError),
    (ours.ProtocolError, RemoteProtocolError),
)
_BY_CODE = {52: RemoteProtocolError, 55: WriteError, 56: ReadError}


def translated(error: ours.WarmwireError, request: Any = None) -> Exception:
    """Returns the exception of httpx for one of ours."""
    if isinstance(error, ours.InvalidURL) and not isinstance(error, ours.UnsupportedProtocol):
        return InvalidURL(str(error))
    if isinstance(error, ours.StreamConsumed):
        return StreamConsumed(str(error))
    kind = _BY_CODE.get(error.code) or next((theirs for kind, theirs in _KINDS if isinstance(error, kind)), RequestError)
    found = kind(str(error), request=request or getattr(error, "request", None))
    found.code = error.code
    return found


@contextmanager
def _translating(request: Any = None) -> Iterator[None]:
    try:
        yield
    except ours.WarmwireError as error:
        raise translated(error, request) from error


class Timeout:
    """Time limits; ``read`` and ``write`` are one limit of the engine, the larger."""

    def __init__(self, timeout: Any = UNSET, *, connect: Any = UNSET, read: Any = UNSET, write: Any = UNSET, pool: Any = UNSET) -> None:
        if isinstance(timeout, Timeout):
            self.__dict__.update(timeout.__dict__)
            return
        if isinstance(timeout, tuple):
            connect, read = timeout[0], timeout[1]
            write = timeout[2] if len(timeout) > 2 else None
            pool = timeout[3] if len(timeout) > 3 else None
            timeout = None
        limits = (connect, read, write, pool)
        if timeout is UNSET and any(each is UNSET for each in limits):
            raise ValueError("httpx.Timeout must either include a default, or set all four parameters explicitly.")
        self.connect, self.read, self.write, self.pool = (timeout if each is UNSET else each for each in limits)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Timeout) and self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        if len(set(self.__dict__.values())) == 1:
            return f"Timeout(timeout={self.connect})"
        return f"Timeout(connect={self.connect}, read={self.read}, write={self.write}, pool={self.pool})"

    def as_dict(self) -> dict[str, Any]:
        """Returns the limits by name."""
        return dict(self.__dict__)


def _limit(given: Any) -> _models.Timeout:
    found = Timeout(given)
    either = None if None in (found.read, found.write) else max(found.read, found.write)
    return _models.Timeout(connect=found.connect, read=either, pool=found.pool)


class Limits:
    """Limits of connections. With ``max_keepalive_connections`` a client has a pool of its own."""

    def __init__(
        self,
        *,
        max_connections: int | None = None,
        max_keepalive_connections: int | None = None,
        keepalive_expiry: Any = UNSET,
    ) -> None:
        self.max_connections, self.max_keepalive_connections = max_connections, max_keepalive_connections
        # httpx's default is short because it cannot see that a server has closed a connection; the engine checks.
        self._expiry = None if keepalive_expiry is UNSET else keepalive_expiry
        self.keepalive_expiry = 5.0 if keepalive_expiry is UNSET else keepalive_expiry

    def __repr__(self) -> str:
        shown = ("max_connections", "max_keepalive_connections", "keepalive_expiry")
        return f"Limits({', '.join(f'{name}={getattr(self, name)}' for name in shown)})"


class Request(_models.Request):
    """A request."""

    def __init__(
        self,
        method: str,
        url: Any,
        *,
        params: Any = None,
        headers: Any = None,
        cookies: Any = None,
        content: Any = None,
        data: Any = None,
        files: Any = None,
        json: Any = None,
        extensions: Any = None,
    ) -> None:
        text = _checked(url)
        if params is not None:
            text = str(URL(text).copy_with(params=_params(params))) if _params(params)._rows else text.partition("?")[0]
        if data is not None and not isinstance(data, Mapping):
            content, data = data, None
        if isinstance(data, Mapping):
            data = [(name, _primitive(value)) for name, value in rows_of(data)]
            data = data or None
        super().__init__(method, text, headers=headers, content=content, data=data, files=files, json=json)
        self.extensions = dict(extensions or {})
        if cookies:
            jar = _models.copied(cookies)
            self.options = jar.options()
            if jar._plain:
                self.headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in jar._plain.items())

    @property
    def stream(self) -> Any:
        """The body."""
        return self.content

    def read(self) -> bytes:
        """Returns the body."""
        if self.content is not None and not isinstance(self.content, bytes):
            self.content = self.content.read() if hasattr(self.content, "read") else b"".join(self.content)
        return self.content or b""


def _checked(url: Any) -> str:
    try:
        text = text_of(url)
    except TypeError as error:
        raise TypeError(f"Invalid type for url. Expected str or httpx.URL, got {type(url)}: {url!r}") from error
    try:
        URL(text).port  # noqa: B018
    except ValueError as error:
        raise InvalidURL(f"Invalid port: {text!r}") from error
    if any(ord(letter) < 32 or ord(letter) == 127 for letter in text):
        raise InvalidURL("Invalid non-printable ASCII character in URL")
    return text.replace(" ", "%20")


def _params(given: Any) -> QueryParams:
    return QueryParams(given)


def _raise_for_status(self: Any) -> Any:
    if self.is_success:
        return self
    kinds = {1: "Informational response", 3: "Redirect response", 4: "Client error", 5: "Server error"}
    kind = kinds.get(self.status_code // 100, "Invalid status code")
    text = f"{kind} '{self.status_code} {self.reason_phrase}' for url '{self.url}'"
    if self.status_code // 100 == 3:
        text += f"\nRedirect location: '{self.headers.get('location')}'"
    raise HTTPStatusError(text, request=self.request, response=self)


class _Reply(Response):
    """A reply that raises httpx's exceptions."""

    raise_for_status = _raise_for_status

    @property
    def content(self) -> bytes:
        if self._content is None:
            raise ResponseNotRead("Attempted to access streaming response content, without having called `read()`.")
        return self._content

    @property
    def is_closed(self) -> bool:
        """Whether the body is complete or given up."""
        return self._stream is None or not self._stream.is_open

    @property
    def is_stream_consumed(self) -> bool:
        """Whether the body was read."""
        return self._content is not None or self._consumed

    @property
    def extensions(self) -> dict[str, Any]:
        """Facts about the reply."""
        return {"http_version": self.http_version.encode(), "reason_phrase": self.reason_phrase.encode()}

    def _read(self, shape: Any) -> Any:
        with _translating(self._request):
            yield from super()._read(shape)

    async def _aread(self, shape: Any) -> AsyncIterator[Any]:
        with _translating(self._request):
            async for piece in super()._aread(shape):
                yield piece


_Reply.__name__ = _Reply.__qualname__ = "Response"


def _as_reply(found: Any) -> Any:
    found.__class__ = _Reply
    return found


class MockTransport(_transport.MockTransport):
    """Answers requests by a function."""


class HTTPTransport:
    """Settings of the engine for a client: certificates, proxy, limits, and how often a failed connection is tried again."""

    def __init__(self, *, retries: int = 0, **how: Any) -> None:
        refused = sorted(set(how) - {"verify", "cert", "trust_env", "http1", "http2", "limits", "proxy"})
        if refused:
            raise TypeError(f"a transport's {', '.join(refused)} cannot be honoured")
        self.retries, self.how = retries, how


class AsyncHTTPTransport(HTTPTransport):
    """As :class:`HTTPTransport`."""


class Auth:
    """A login: ``auth_flow`` yields the request, changed; only its first step is taken."""

    def auth_flow(self, request: Any) -> Any:
        """Yields the request with the login."""
        yield request


class BasicAuth(_models.BasicAuth):
    """User and password with the first request."""

    def __init__(self, username: str, password: str) -> None:
        super().__init__(username, password)


class DigestAuth(_models.DigestAuth):
    """User and password by a digest."""

    def __init__(self, username: str, password: str) -> None:
        super().__init__(username, password)


class NetRCAuth(Auth):
    """Logins of a .netrc file."""

    def __init__(self, file: str | None = None) -> None:
        import netrc

        self._known = netrc.netrc(file)

    def auth_flow(self, request: Any) -> Any:
        found = self._known.authenticators(request.url.host)
        if found and found[2]:
            request.extensions["warmwire.auth"] = _models.BasicAuth(found[0], found[2])
        yield request


class _Shared(_settings.Settings):
    """Common to both clients: httpx's arguments, as ours."""

    def __init__(
        self,
        *,
        auth: Any = None,
        params: Any = None,
        headers: Any = None,
        cookies: Any = None,
        verify: Any = True,
        cert: Any = None,
        trust_env: bool = True,
        http1: bool = True,
        http2: bool = False,
        proxy: Any = None,
        mounts: Any = None,
        timeout: Any = 5.0,
        follow_redirects: bool = False,
        limits: Limits | None = None,
        max_redirects: int = 20,
        event_hooks: Any = None,
        base_url: Any = "",
        transport: Any = None,
        default_encoding: str | Callable[[bytes], str] = "utf-8",
    ) -> None:
        self._retries = 0
        if isinstance(transport, HTTPTransport):
            given, self._retries = transport.how, transport.retries
            trust_env, limits = given.get("trust_env", trust_env), given.get("limits", limits)
            verify, cert = given.get("verify", verify), given.get("cert", cert)
            proxy, http2, transport = given.get("proxy", proxy), given.get("http2", http2), None
        proxies = {pattern: _url_of(each.how.get("proxy")) for pattern, each in (mounts or {}).items() if isinstance(each, HTTPTransport)}
        if any(isinstance(each, HTTPTransport) and each.retries for each in (mounts or {}).values()):
            raise TypeError("retries of a mounted transport cannot be honoured; set them on the client's transport")
        others = {pattern: each for pattern, each in (mounts or {}).items() if not isinstance(each, HTTPTransport)}
        self._auth, self._limits, self._timeout = auth, limits or Limits(), Timeout(timeout)
        super().__init__(
            headers=headers,
            cookies=_models.copied(cookies),
            timeout=_limit(timeout),
            limits=_models.Limits(max_connections=self._limits.max_connections, keepalive_expiry=self._limits._expiry),
            pool=None if (idle := self._limits.max_keepalive_connections) is None else Pool(idle),
            follow_redirects=follow_redirects,
            max_redirects=max_redirects,
            proxy=proxies or (None if proxy is None else _url_of(proxy)),
            verify=verify,
            cert=cert,
            http_version=None if http2 else "1.1",
            trust_env=trust_env,
            event_hooks=event_hooks,
            base_url=base_url,
            transport=transport,
            mounts=others,
        )
        self._params = QueryParams(params)
        self._default_encoding = default_encoding

    def build_request(self, method: str, url: Any, **how: Any) -> Request:
        """Builds a request with the client's defaults."""
        how.pop("timeout", None)
        text = _checked(url)
        base = str(self.base_url)
        if base and "://" not in text:
            text = base.rstrip("/") + "/" + text.lstrip("/") if text else base
        rows = Headers(self.headers)
        for name, value in Headers(how.pop("headers", None)).multi_items():
            rows[name] = value
        params = how.pop("params", None)
        if self._params:
            params = self._params.merge(params)
        cookies = how.pop("cookies", None)
        found = Request(method, text, headers=rows, params=params, **how)
        found.extensions.setdefault("cookies", cookies)
        return found

    def _how(self, request: Any, auth: Any, follow_redirects: Any, timeout: Any = UNSET) -> dict[str, Any]:
        if not request._url.lower().startswith(("http://", "https://")):
            raise UnsupportedProtocol(
                "Request URL is missing an 'http://' or 'https://' protocol."
                if "://" not in request._url
                else f"Request URL has an unsupported protocol '{request.url.scheme}://'.",
                request=request,
            )
        how: dict[str, Any] = {}
        if follow_redirects is not UNSET:
            how["follow_redirects"] = follow_redirects
        given = request.extensions.get("timeout", timeout)
        if given is not UNSET:
            how["timeout"] = _limit(given if not isinstance(given, dict) else Timeout(**given))
        found = self._auth if auth is UNSET else auth
        if found is None and request.url.username:
            found = (request.url.username, request.url.password)
        if isinstance(found, Auth):
            next(iter(found.auth_flow(request)))
            found = request.extensions.pop("warmwire.auth", None)
        elif callable(found) and not isinstance(found, _models.Auth):
            found(request)
            found = None
        how["auth"] = found
        if request.extensions.get("cookies"):
            # A cookie with a domain goes to that domain only.
            jar = _models.copied(request.extensions["cookies"])
            how["cookies"] = jar._plain
            request.options = jar.options()
        return how

    def _delays(self) -> Iterator[float]:
        """Yields the seconds to wait before each further attempt to connect, which double as httpx's do."""
        for attempt in range(self._retries):
            yield 0.5 * 2.0 ** (attempt - 1) if attempt else 0.0

    def _done(self, found: Any, request: Any) -> Any:
        reply = _as_reply(found)
        encoding = self._default_encoding
        if callable(encoding):
            if reply._content is not None:
                reply.default_encoding = encoding(reply._content) or "utf-8"
        else:
            reply.default_encoding = encoding
        for hop in reply.history:
            _as_reply(hop)
        return reply

    @property
    def params(self) -> QueryParams:
        """The parameters of all requests."""
        return self._params

    @params.setter
    def params(self, given: Any) -> None:
        self._params = QueryParams(given)


def _url_of(proxy: Any) -> str | None:
    if proxy is None:
        return None
    if isinstance(proxy, Proxy):
        url = proxy.url
        return str(url.copy_with(username=proxy.auth[0], password=proxy.auth[1])) if proxy.auth else str(url)
    return text_of(proxy)


class Proxy:
    """A proxy with its login."""

    def __init__(self, url: Any, *, auth: tuple[str, str] | None = None, **how: Any) -> None:
        if how:
            raise TypeError(f"a proxy's {', '.join(how)} cannot be honoured")
        self.url, self.auth = URL(url), auth


class Client(_Shared, _client.Client):
    """A client."""

    def request(self, method: str, url: Any, *, auth: Any = UNSET, follow_redirects: Any = UNSET, timeout: Any = UNSET, **how: Any) -> Any:
        """Sends a request."""
        request = self.build_request(method, url, **how)
        return self.send(request, auth=auth, follow_redirects=follow_redirects, timeout=timeout)

    def send(self, request: Any, *, stream: bool = False, auth: Any = UNSET, follow_redirects: Any = UNSET, timeout: Any = UNSET) -> Any:  # type: ignore[override]
        """Sends a request that was built."""
        if self.is_closed:
            raise RuntimeError("Cannot send a request, as the client has been closed.")
        how = self._how(request, auth, follow_redirects, timeout)
        for delay in self._delays():
            try:
                with _translating(request):
                    return super().send(request, stream=stream, **how)
            except (ConnectError, ConnectTimeout):
                time.sleep(delay)
        with _translating(request):
            return super().send(request, stream=stream, **how)

    def _ended(self, response: Any) -> Any:
        return self._done(super()._ended(response), response.request)

    @contextmanager
    def stream(self, method: str, url: Any, *, auth: Any = UNSET, follow_redirects: Any = UNSET, timeout: Any = UNSET, **how: Any) -> Iterator[Any]:
        """Sends a request whose body is read piece by piece."""
        request = self.build_request(method, url, **how)
        response = self.send(request, stream=True, auth=auth, follow_redirects=follow_redirects, timeout=timeout)
        try:
            yield response
        finally:
            response.close()


class AsyncClient(_Shared, _client.AsyncClient):
    """A client for asyncio."""

    async def request(self, method: str, url: Any, *, auth: Any = UNSET, follow_redirects: Any = UNSET, timeout: Any = UNSET, **how: Any) -> Any:
        """Sends a request."""
        request = self.build_request(method, url, **how)
        return await self.send(request, auth=auth, follow_redirects=follow_redirects, timeout=timeout)

    async def send(self, request: Any, *, stream: bool = False, auth: Any = UNSET, follow_redirects: Any = UNSET, timeout: Any = UNSET) -> Any:  # type: ignore[override]
        """Sends a request that was built."""
        if self.is_closed:
            raise RuntimeError("Cannot send a request, as the client has been closed.")
        how = self._how(request, auth, follow_redirects, timeout)
        for delay in self._delays():
            try:
                with _translating(request):
                    return await super().send(request, stream=stream, **how)
            except (ConnectError, ConnectTimeout):
                await asyncio.sleep(delay)
        with _translating(request):
            return await super().send(request, stream=stream, **how)

    def _ended(self, response: Any) -> Any:
        return self._done(super()._ended(response), response.request)

    @asynccontextmanager
    async def stream(self, method: str, url: Any, *, auth: Any = UNSET, follow_redirects: Any = UNSET, timeout: Any = UNSET, **how: Any) -> AsyncIterator[Any]:
        """Sends a request whose body is read piece by piece."""
        request = self.build_request(method, url, **how)
        response = await self.send(request, stream=True, auth=auth, follow_redirects=follow_redirects, timeout=timeout)
        try:
            yield response
        finally:
            response.close()


_OF_CLIENT = ("verify", "cert", "proxy", "trust_env")


def request(method: str, url: Any, **how: Any) -> Any:
    """Sends a request."""
    with Client(**{name: how.pop(name) for name in _OF_CLIENT if name in how}) as client:
        return client.request(method, url, **how)


@contextmanager
def stream(method: str, url: Any, **how: Any) -> Iterator[Any]:
    """Sends a request whose body is read piece by piece."""
    client = Client(**{name: how.pop(name) for name in _OF_CLIENT if name in how})
    with client.stream(method, url, **how) as response:
        yield response


def get(url: Any, **how: Any) -> Any:
    """Sends a GET request."""
    return request("GET", url, **how)


def options(url: Any, **how: Any) -> Any:
    """Sends an OPTIONS request."""
    return request("OPTIONS", url, **how)


def head(url: Any, **how: Any) -> Any:
    """Sends a HEAD request."""
    return request("HEAD", url, **how)


def post(url: Any, **how: Any) -> Any:
    """Sends a POST request."""
    return request("POST", url, **how)


def put(url: Any, **how: Any) -> Any:
    """Sends a PUT request."""
    return request("PUT", url, **how)


def patch(url: Any, **how: Any) -> Any:
    """Sends a PATCH request."""
    return request("PATCH", url, **how)


def delete(url: Any, **how: Any) -> Any:
    """Sends a DELETE request."""
    return request("DELETE", url, **how)


def create_ssl_context(verify: Any = True, cert: Any = None, trust_env: bool = True) -> ssl.SSLContext:
    """Returns a context for ``verify``."""
    context = SSLContext()
    if verify is False:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if cert is not None:
        context.load_cert_chain(*((cert,) if isinstance(cert, str) else cert))
    return context


codes = enum.IntEnum("codes", {each.name: each.value for each in HTTPStatus})  # type: ignore[misc]
Response = _Reply  # type: ignore[misc]
USE_CLIENT_DEFAULT = UNSET
