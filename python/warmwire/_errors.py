"""Exceptions, each with curl's number and name (https://curl.se/libcurl/c/libcurl-errors.html)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _native

if TYPE_CHECKING:
    from ._models import Request, Response

_CODES: dict[int, tuple[str, str]] = {number: (name, text) for number, name, text in _native.codes()}


class WarmwireError(Exception):
    """Everything that this package raises of itself."""


class RequestError(WarmwireError):
    """A transfer that failed.

    ``code`` is curl's number and ``name`` its name without ``CURLE_``.
    """

    def __init__(self, message: str, code: int = 0, request: Request | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.name = _CODES.get(code, ("", ""))[0]
        self.request = request

    def __reduce__(self) -> Any:
        return (type(self), (self.args[0], self.code))


class InvalidURL(RequestError, ValueError):
    """The URL is none, or of a scheme that is not spoken (codes 1 and 3)."""


class OptionError(RequestError, ValueError):
    """An option that there is not, or a value that it does not take (4, 43, 48)."""


class ConnectError(RequestError, ConnectionError):
    """No connection could be made (7, 45)."""


class ResolveError(ConnectError):
    """A host or a proxy has no address (5, 6)."""


class TLSError(ConnectError):
    """TLS failed: a certificate that is not trusted, a handshake that did not end, a file of certificates (35, 51 to 60, …)."""


class ProxyError(ConnectError):
    """A proxy would not (97)."""


class TimeoutException(RequestError, TimeoutError):
    """A time limit was reached (28)."""


class TransportError(RequestError, ConnectionError):
    """The connection broke while data was moved (18, 52, 55, 56)."""


class IncompleteBody(TransportError):
    """The body ended before it was whole (18)."""


class ProtocolError(RequestError):
    """The peer did not keep to its protocol (1st of all 8; HTTP/2's 16 and 92, HTTP/3's 95)."""


class DecodingError(RequestError, ValueError):
    """The body's coding is broken, or not known (61)."""


class TooManyRedirects(RequestError):
    """More redirects than were allowed (47)."""


class LoginError(RequestError, PermissionError):
    """A login was refused, or access to what was asked for (9, 67, 79, 86)."""


class RemoteFileNotFound(RequestError, FileNotFoundError):
    """There is no such file (19, 36, 37, 78)."""


class UploadError(RequestError):
    """What was sent was not taken (25, 26, 65, 70)."""


class WriteError(RequestError, OSError):
    """What came could not be written (23)."""


class HTTPStatusError(WarmwireError):
    """:meth:`Response.raise_for_status` met a status of 400 or above. ``code`` is curl's for that, 22."""

    code = 22
    name = "HTTP_RETURNED_ERROR"

    def __init__(self, message: str, *, request: Request, response: Response) -> None:
        super().__init__(message)
        self.request = request
        self.response = response


class StreamConsumed(WarmwireError, RuntimeError):
    """The body was read before, or the response is closed."""


_KINDS: dict[int, type[RequestError]] = {}
for _kind, _numbers in (
    (InvalidURL, (1, 3)),
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


def failure(code: int, message: str, request: Request | None = None) -> RequestError:
    """The exception for one of curl's codes."""
    name, text = _CODES.get(code, ("", f"code {code}"))
    kind = _KINDS.get(code, RequestError)
    return kind(f"({code} {name}) {message or text}", code, request)
