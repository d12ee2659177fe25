"""Transfers with Warmwire's engine: HTTP/1 to 3, FTP, SFTP and curl's other protocols, on one pool of warm connections.

>>> import warmwire
>>> reply = warmwire.get("https://example.com/")
>>> reply.status_code, len(reply.content) > 0
(200, True)

:class:`Client` and :class:`AsyncClient` resemble those of httpx and requests. ``warmwire.compat.requests`` and
``warmwire.compat.httpx`` run programs that were written for these.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._batches import fetch_batches
from ._client import AsyncClient, Client, Pool, default_pool
from ._errors import (
    ConnectError,
    ConnectTimeout,
    DecodingError,
    HTTPStatusError,
    IncompleteBody,
    InvalidURL,
    LoginError,
    OptionError,
    PoolTimeout,
    ProtocolError,
    ProxyError,
    ReadTimeout,
    RemoteFileNotFound,
    RequestError,
    ResolveError,
    StreamConsumed,
    TLSError,
    TimeoutException,
    TooManyRedirects,
    TransportError,
    UnsupportedProtocol,
    UploadError,
    WarmwireError,
    WriteError,
    WriteTimeout,
)
from ._many import Fetched, afetch_many, fetch_many
from ._models import Auth, BasicAuth, BearerAuth, Cookies, DigestAuth, Headers, Informational, Limits, Request, Response, Timeout, Why
from ._native import CURL_VERSION, __version__
from ._transport import MockTransport, ReplayTransport, Transport
from ._types import signed
from ._uploads import Uploaded, aupload, upload
from ._urls import URL, QueryParams
from ._watch import Change, Message, Watch, Watched, watch

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._tls import SSLContext
    from ._types import RequestOptions, URLTypes


@signed
def request(method: str, url: URLTypes, *, pool: Pool | None = None, **how: Unpack[RequestOptions]) -> Response:
    """Sends one request; see :meth:`Client.request`. Connections are kept for the next one, cookies are not.

    >>> warmwire.request("GET", "https://example.com/").status_code
    200
    """
    return Client(pool=pool).request(method, url, **how)


@signed
def stream(
    method: str, url: URLTypes, *, pool: Pool | None = None, **how: Unpack[RequestOptions]
) -> AbstractContextManager[Response]:
    """Sends a request whose body is read piece by piece.

    >>> with warmwire.stream("GET", "https://example.com/") as reply:
    ...     size = sum(len(piece) for piece in reply.iter_bytes())
    """
    return Client(pool=pool).stream(method, url, **how)


@signed
def get(url: URLTypes, *, pool: Pool | None = None, **how: Unpack[RequestOptions]) -> Response:
    """Sends a GET request.

    >>> warmwire.get("https://example.com/", params={"q": "x"}, timeout=5).status_code
    200
    """
    return request("GET", url, pool=pool, **how)


@signed
def head(url: URLTypes, *, pool: Pool | None = None, **how: Unpack[RequestOptions]) -> Response:
    """Sends a HEAD request.

    >>> warmwire.head("https://example.com/").content
    b''
    """
    return request("HEAD", url, pool=pool, **how)


@signed
def options(url: URLTypes, *, pool: Pool | None = None, **how: Unpack[RequestOptions]) -> Response:
    """Sends an OPTIONS request.

    >>> warmwire.options("https://example.com/").request.method
    'OPTIONS'
    """
    return request("OPTIONS", url, pool=pool, **how)


@signed
def post(url: URLTypes, *, pool: Pool | None = None, **how: Unpack[RequestOptions]) -> Response:
    """Sends a POST request.

    >>> warmwire.post("https://example.com/echo", data={"a": "1"}).text
    'a=1'
    """
    return request("POST", url, pool=pool, **how)


@signed
def put(url: URLTypes, *, pool: Pool | None = None, **how: Unpack[RequestOptions]) -> Response:
    """Sends a PUT request, or uploads a file by FTP or SFTP.

    >>> warmwire.put("https://example.com/echo", content=b"body").content
    b'body'
    """
    return request("PUT", url, pool=pool, **how)


@signed
def patch(url: URLTypes, *, pool: Pool | None = None, **how: Unpack[RequestOptions]) -> Response:
    """Sends a PATCH request.

    >>> warmwire.patch("https://example.com/echo", content=b"part").content
    b'part'
    """
    return request("PATCH", url, pool=pool, **how)


@signed
def delete(url: URLTypes, *, pool: Pool | None = None, **how: Unpack[RequestOptions]) -> Response:
    """Sends a DELETE request.

    >>> warmwire.delete("https://example.com/").status_code
    200
    """
    return request("DELETE", url, pool=pool, **how)


__all__ = [
    "AsyncClient",
    "Auth",
    "BasicAuth",
    "BearerAuth",
    "CURL_VERSION",
    "Change",
    "Client",
    "ConnectError",
    "ConnectTimeout",
    "Cookies",
    "DecodingError",
    "DigestAuth",
    "Fetched",
    "HTTPStatusError",
    "Headers",
    "IncompleteBody",
    "Informational",
    "InvalidURL",
    "Limits",
    "LoginError",
    "Message",
    "MockTransport",
    "OptionError",
    "Pool",
    "PoolTimeout",
    "ProtocolError",
    "ProxyError",
    "QueryParams",
    "ReadTimeout",
    "RemoteFileNotFound",
    "ReplayTransport",
    "Request",
    "RequestError",
    "ResolveError",
    "Response",
    "SSLContext",
    "StreamConsumed",
    "TLSError",
    "Timeout",
    "TimeoutException",
    "TooManyRedirects",
    "Transport",
    "TransportError",
    "URL",
    "UnsupportedProtocol",
    "UploadError",
    "Uploaded",
    "WarmwireError",
    "Watch",
    "Watched",
    "Why",
    "WriteError",
    "WriteTimeout",
    "__version__",
    "afetch_many",
    "aupload",
    "default_pool",
    "delete",
    "fetch_batches",
    "fetch_many",
    "get",
    "head",
    "options",
    "patch",
    "post",
    "put",
    "request",
    "stream",
    "upload",
    "watch",
]

# Tracebacks, help() and pickles name the public module.
for _name in set(__all__) & set(globals()):
    if hasattr(globals()[_name], "__module__") and not isinstance(globals()[_name], str):
        globals()[_name].__module__ = __name__
del _name


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        # Modules that need more than the package itself are imported when they are used.
        if name in ("compat", "easy", "filesystem"):
            return import_module(f".{name}", __name__)
        # Python's ssl takes milliseconds, and an interpreter may be without it.
        if name == "SSLContext":
            return import_module("._tls", __name__).SSLContext
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__all__", "__doc__", "__file__", "__name__", "__path__", "compat", "easy", "filesystem"]
