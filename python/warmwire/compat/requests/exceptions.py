"""The exceptions of requests; each has curl's number in ``code``."""

from __future__ import annotations

import json
from typing import Any

from ... import _errors as ours


class RequestException(OSError):
    """The base of all."""

    code = 0

    def __init__(self, *args: Any, request: Any = None, response: Any = None) -> None:
        super().__init__(*args)
        self.response = response
        self.request = request if request is not None else getattr(response, "request", None)


class InvalidJSONError(RequestException):
    """Something is no JSON."""


class JSONDecodeError(InvalidJSONError, json.JSONDecodeError):
    """The body is no JSON."""

    def __init__(self, msg: str, doc: str, pos: int) -> None:
        json.JSONDecodeError.__init__(self, msg, doc, pos)
        self.request = self.response = None


class HTTPError(RequestException):
    """``raise_for_status`` found a status of 400 or above."""

    code = 22


class ConnectionError(RequestException):
    """No connection, or a broken one."""


class ProxyError(ConnectionError):
    """The proxy refused."""


class SSLError(ConnectionError):
    """TLS failed."""


class Timeout(RequestException):
    """A time limit was reached."""


class ConnectTimeout(ConnectionError, Timeout):
    """No connection in time."""


class ReadTimeout(Timeout):
    """No data in time."""


class URLRequired(RequestException):
    """There is no URL."""


class TooManyRedirects(RequestException):
    """More redirects than allowed."""


class MissingSchema(RequestException, ValueError):
    """The URL has no scheme."""


class InvalidSchema(RequestException, ValueError):
    """The scheme is not supported."""


class InvalidURL(RequestException, ValueError):
    """The URL is malformed."""


class InvalidProxyURL(InvalidURL):
    """The proxy's URL is malformed."""


class InvalidHeader(RequestException, ValueError):
    """A header field is malformed."""


class ChunkedEncodingError(RequestException):
    """The body ended early."""


class ContentDecodingError(RequestException):
    """The body's coding is broken."""


class StreamConsumedError(RequestException, TypeError):
    """The body was read before."""


class RetryError(RequestException):
    """Retries are used up."""


class UnrewindableBodyError(RequestException):
    """A body cannot be sent again."""


_KINDS: tuple[tuple[type[Exception], type[RequestException]], ...] = (
    (ours.ConnectTimeout, ConnectTimeout),
    (ours.TimeoutException, ReadTimeout),
    (ours.TLSError, SSLError),
    (ours.ProxyError, ProxyError),
    (ours.ConnectError, ConnectionError),
    (ours.IncompleteBody, ChunkedEncodingError),
    (ours.TransportError, ConnectionError),
    (ours.TooManyRedirects, TooManyRedirects),
    (ours.UnsupportedProtocol, InvalidSchema),
    (ours.InvalidURL, InvalidURL),
    (ours.DecodingError, ContentDecodingError),
    (ours.StreamConsumed, StreamConsumedError),
    (ours.ProtocolError, ConnectionError),
)


def translated(error: ours.WarmwireError, request: Any = None) -> RequestException:
    """Returns the exception of requests for one of ours."""
    for kind, theirs in _KINDS:
        if isinstance(error, kind):
            break
    else:
        theirs = RequestException
    found = theirs(str(error), request=request)
    found.code = error.code
    return found
