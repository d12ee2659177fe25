"""The interface of requests on Warmwire's engine: ``import warmwire.compat.requests as requests``.

>>> import warmwire.compat.requests as requests
>>> requests.get("https://example.com/", params={"a": "1"}).status_code
200
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from ..._native import __version__
from . import adapters, auth, cookies, exceptions, models, sessions, structures
from .exceptions import (
    ConnectionError,
    ConnectTimeout,
    HTTPError,
    JSONDecodeError,
    ReadTimeout,
    RequestException,
    Timeout,
    TooManyRedirects,
    URLRequired,
)
from .models import PreparedRequest, Request, Response
from .sessions import Session, session
from .structures import LookupDict

codes = LookupDict({each.name.lower(): each.value for each in HTTPStatus})
codes.update({each.name: each.value for each in HTTPStatus})
codes.update(okay=200, all_good=200, moved=301, teapot=418, server_error=500, unavailable=503, too_many=429)


def request(method: str, url: Any, **kwargs: Any) -> Response:
    """Sends a request."""
    return Session().request(method=method, url=url, **kwargs)


def get(url: Any, params: Any = None, **kwargs: Any) -> Response:
    """Sends a GET request."""
    return request("get", url, params=params, **kwargs)


def options(url: Any, **kwargs: Any) -> Response:
    """Sends an OPTIONS request."""
    return request("options", url, **kwargs)


def head(url: Any, **kwargs: Any) -> Response:
    """Sends a HEAD request; redirects are not followed."""
    kwargs.setdefault("allow_redirects", False)
    return request("head", url, **kwargs)


def post(url: Any, data: Any = None, json: Any = None, **kwargs: Any) -> Response:
    """Sends a POST request."""
    return request("post", url, data=data, json=json, **kwargs)


def put(url: Any, data: Any = None, **kwargs: Any) -> Response:
    """Sends a PUT request."""
    return request("put", url, data=data, **kwargs)


def patch(url: Any, data: Any = None, **kwargs: Any) -> Response:
    """Sends a PATCH request."""
    return request("patch", url, data=data, **kwargs)


def delete(url: Any, **kwargs: Any) -> Response:
    """Sends a DELETE request."""
    return request("delete", url, **kwargs)


__all__ = [
    "ConnectTimeout",
    "ConnectionError",
    "HTTPError",
    "JSONDecodeError",
    "PreparedRequest",
    "ReadTimeout",
    "Request",
    "RequestException",
    "Response",
    "Session",
    "Timeout",
    "TooManyRedirects",
    "URLRequired",
    "__version__",
    "adapters",
    "auth",
    "codes",
    "cookies",
    "delete",
    "exceptions",
    "get",
    "head",
    "models",
    "options",
    "patch",
    "post",
    "put",
    "request",
    "session",
    "sessions",
    "structures",
]
