"""Exceptions, each with curl's number and name (https://curl.se/libcurl/c/libcurl-errors.html)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _native

if TYPE_CHECKING:
    from ._models import Request, Response, Why

_CODES: dict[int, tuple[str, str]] = {number: (name, text) for number, name, text in _native.codes()}


class WarmwireError(Exception):
    """The base of all exceptions of this package.

    ``code`` is curl's number and ``name`` its name without ``CURLE_``.
    """

    code: int = 0
    name: str = ""


class RequestError(WarmwireError):
    """A transfer that failed.

    >>> try:
    ...     warmwire.get("http://127.0.0.1:1/")
    ... except warmwire.RequestError as error:
    ...     print(type(error).__name__, error.code, error.name)
    ConnectError 7 COULDNT_CONNECT

    ``why`` has the reasons of a transfer with ``explain=True``, as :attr:`Response.why`.
    """

    why: Why | None = None

    def __init__(self, message: str, code: int = 0, request: Request | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.name = _CODES.get(code, ("", ""))[0]
        self.request = request

    def __reduce__(self) -> Any:
        return (type(self), (self.args[0], self.code, self.request), {"why": self.why})


class InvalidURL(RequestError, ValueError):
    """The URL is malformed (3)."""


class UnsupportedProtocol(InvalidURL):
    """The scheme of the URL is not supported (1)."""


class OptionError(RequestError, ValueError):
    """An option is unknown, or rejects its value (4, 43, 48)."""


class ConnectError(RequestError, ConnectionError):
    """No connection could be opened (7, 45)."""


class ResolveError(ConnectError):
    """The name of a host or proxy cannot be resolved (5, 6)."""


class TLSError(ConnectError):
    """TLS failed: an untrusted certificate, an incomplete handshake, a bad certificate file (35, 51 to 60, …)."""


class ProxyError(ConnectError):
    """The proxy refused (97)."""


class TimeoutException(RequestError, TimeoutError):
    """A time limit was reached (28)."""


class ConnectTimeout(TimeoutException, ConnectError):
    """No connection was made in time: ``Timeout(connect=...)`` (28)."""


class ReadTimeout(TimeoutException):
    """The server sent nothing for too long, or the time of the whole transfer is over (28)."""


class WriteTimeout(TimeoutException):
    """The server did not accept the rest of the request in time (28)."""


class PoolTimeout(TimeoutException):
    """No connection became free in time: ``Limits(max_connections=...)`` and ``Timeout(pool=...)`` (28)."""


class TransportError(RequestError, ConnectionError):
    """The connection broke while data was transferred (18, 52, 55, 56)."""


class IncompleteBody(TransportError):
    """The body ended early (18)."""


class ProtocolError(RequestError):
    """The peer violated its protocol (mainly 8; HTTP/2's 16 and 92, HTTP/3's 95)."""


class DecodingError(RequestError, ValueError):
    """The body's content coding is broken or unknown (61)."""


class TooManyRedirects(RequestError):
    """More redirects than allowed (47)."""


class LoginError(RequestError, PermissionError):
    """A login or access was refused (9, 67, 79, 86)."""


class RemoteFileNotFound(RequestError, FileNotFoundError):
    """The file does not exist (19, 36, 37, 78)."""


class UploadError(RequestError):
    """The upload was refused (25, 26, 65, 70)."""


class WriteError(RequestError, OSError):
    """Received data could not be written (23)."""


class HTTPStatusError(WarmwireError):
    """:meth:`Response.raise_for_status` found a status of 400 or above. ``code`` is curl's for that, 22."""

    code = 22
    name = "HTTP_RETURNED_ERROR"

    def __init__(self, message: str, *, request: Request, response: Response) -> None:
        super().__init__(message)
        self.request = request
        self.response = response

    def __reduce__(self) -> Any:
        return (_status_error, (self.args[0], self.request, self.response))


def _status_error(message: str, request: Request, response: Response) -> HTTPStatusError:
    return HTTPStatusError(message, request=request, response=response)


class StreamConsumed(WarmwireError, RuntimeError):
    """The body was read before, or the response is closed."""


_KINDS: dict[int, type[RequestError]] = {}
for _kind, _numbers in (
    (UnsupportedProtocol, (1,)),
    (InvalidURL, (3,)),
    (OptionError, (4, 43, 48)),
    (ResolveError, (5, 6)),
    (ConnectError, (7, 45)),
    (TLSError, (35, 51, 53, 54, 58, 59, 60, 66, 77, 80, 82, 83, 90, 91, 96, 98, 101)),
    (ProxyError, (97,)),
    (TimeoutException, (28, 12)),
    (IncompleteBody, (18,)),
    (TransportError, (52, 55, 56)),
    (ProtocolError, (8, 10, 13, 14, 16, 30, 31, 71, 84, 85, 92, 95)),
    (DecodingError, (61,)),
    (TooManyRedirects, (47,)),
    (LoginError, (9, 67, 79, 86)),
    (RemoteFileNotFound, (19, 36, 37, 78)),
    (UploadError, (25, 26, 65, 70)),
    (WriteError, (23,)),
):
    for _number in _numbers:
        _KINDS[_number] = _kind


def failure(code: int, message: str, request: Request | None = None, kind: type[RequestError] | None = None) -> RequestError:
    """Returns the exception for one of curl's codes."""
    name, text = _CODES.get(code, ("", f"code {code}"))
    return (kind or _KINDS.get(code, RequestError))(f"({code} {name}) {message or text}", code, request)
