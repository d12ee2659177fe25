"""Transfers with Warmwire's engine: HTTP/1 to 3, FTP, SFTP and curl's other protocols, on one pool of warm connections.

>>> import warmwire
>>> reply = warmwire.get("https://example.com/")
>>> reply.status_code, len(reply.content)

:class:`Client` and :class:`AsyncClient` resemble those of httpx and requests.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from ._batches import fetch_batches
from ._client import AsyncClient, Client, Pool, default_pool
from ._errors import (
    ConnectError,
    DecodingError,
    HTTPStatusError,
    IncompleteBody,
    InvalidURL,
    LoginError,
    OptionError,
    ProtocolError,
    ProxyError,
    RemoteFileNotFound,
    RequestError,
    ResolveError,
    StreamConsumed,
    TimeoutException,
    TLSError,
    TooManyRedirects,
    TransportError,
    UploadError,
    WarmwireError,
    WriteError,
)
from ._many import Fetched, afetch_many, fetch_many
from ._models import Auth, BasicAuth, BearerAuth, Cookies, DigestAuth, Headers, Request, Response, Timeout
from ._native import CURL_VERSION, __version__


def request(method: str, url: str, *, pool: Pool | None = None, **how: Any) -> Response:
    """Sends one request; see :meth:`Client.request`. Connections are kept for the next one, cookies are not."""
    return Client(pool=pool).request(method, url, **how)


def stream(method: str, url: str, *, pool: Pool | None = None, **how: Any) -> AbstractContextManager[Response]:
    """Sends a request whose body is read piece by piece."""
    return Client(pool=pool).stream(method, url, **how)


def get(url: str, **how: Any) -> Response:
    """Sends a GET request."""
    return request("GET", url, **how)


def head(url: str, **how: Any) -> Response:
    """Sends a HEAD request."""
    return request("HEAD", url, **how)


def options(url: str, **how: Any) -> Response:
    """Sends an OPTIONS request."""
    return request("OPTIONS", url, **how)


def post(url: str, **how: Any) -> Response:
    """Sends a POST request."""
    return request("POST", url, **how)


def put(url: str, **how: Any) -> Response:
    """Sends a PUT request, or uploads a file by FTP or SFTP."""
    return request("PUT", url, **how)


def patch(url: str, **how: Any) -> Response:
    """Sends a PATCH request."""
    return request("PATCH", url, **how)


def delete(url: str, **how: Any) -> Response:
    """Sends a DELETE request."""
    return request("DELETE", url, **how)


__all__ = [
    "CURL_VERSION",
    "AsyncClient",
    "Auth",
    "BasicAuth",
    "BearerAuth",
    "Client",
    "ConnectError",
    "Cookies",
    "DecodingError",
    "DigestAuth",
    "Fetched",
    "HTTPStatusError",
    "Headers",
    "IncompleteBody",
    "InvalidURL",
    "LoginError",
    "OptionError",
    "Pool",
    "ProtocolError",
    "ProxyError",
    "RemoteFileNotFound",
    "Request",
    "RequestError",
    "ResolveError",
    "Response",
    "StreamConsumed",
    "TLSError",
    "Timeout",
    "TimeoutException",
    "TooManyRedirects",
    "TransportError",
    "UploadError",
    "WarmwireError",
    "WriteError",
    "__version__",
    "afetch_many",
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
]
