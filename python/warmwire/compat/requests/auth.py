"""Logins of requests."""

from __future__ import annotations

import base64
from typing import Any

from ... import _models as ours


class AuthBase:
    """A callable that changes the prepared request."""

    def __call__(self, request: Any) -> Any:
        raise NotImplementedError("Auth hooks must be callable.")


class HTTPBasicAuth(AuthBase):
    """User and password with the first request."""

    def __init__(self, username: str, password: str) -> None:
        self.username, self.password = username, password

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HTTPBasicAuth) and (self.username, self.password) == (other.username, other.password)

    __hash__ = None  # type: ignore[assignment]

    def __call__(self, request: Any) -> Any:
        word = base64.b64encode(f"{self.username}:{self.password}".encode()).decode()
        request.headers["Authorization"] = f"Basic {word}"
        return request


class HTTPProxyAuth(HTTPBasicAuth):
    """User and password for the proxy."""

    def __call__(self, request: Any) -> Any:
        word = base64.b64encode(f"{self.username}:{self.password}".encode()).decode()
        request.headers["Proxy-Authorization"] = f"Basic {word}"
        return request


class HTTPDigestAuth(HTTPBasicAuth):
    """User and password by a digest, which the engine computes."""

    def __call__(self, request: Any) -> Any:
        request._auth = ours.DigestAuth(self.username, self.password)
        return request
