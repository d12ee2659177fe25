"""Transports that answer requests in place of the engine: for tests, and for replies that were recorded."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Protocol, Union

from ._errors import ConnectError
from ._models import Headers, Request, Response, _Stored

if TYPE_CHECKING:
    from ._client import Client

Handler = Callable[[Request], Union[Response, Awaitable[Response]]]


class Transport(Protocol):
    """An object that answers requests: ``Client(transport=...)`` or ``Client(mounts={"https://example.com": ...})``."""

    def handle_request(self, request: Request) -> Any:
        """Returns the response, or an awaitable of it for an :class:`AsyncClient`."""


class MockTransport:
    """Answers each request by a function; no connection is opened.

    >>> def handler(request):
    ...     return warmwire.Response(200, json={"path": request.url.path})
    >>> client = warmwire.Client(transport=warmwire.MockTransport(handler))
    >>> client.get("https://example.com/hello").json()
    {'path': '/hello'}
    """

    def __init__(self, handler: Handler) -> None:
        self.handler = handler

    def handle_request(self, request: Request) -> Any:
        """Returns what the function returns."""
        if request.content is not None and not isinstance(request.content, (bytes, str)) and not hasattr(request.content, "__aiter__"):
            content = request.content
            request.content = content.read() if hasattr(content, "read") else b"".join(content)
        return self.handler(request)


class ReplayTransport:
    """Answers requests with the replies in a file. With ``record``, a request that is not in it is sent, and its reply is added.

    A request is known by method, URL and body. The file is JSON; it keeps no request headers, so no secret of theirs.

    >>> recorder = warmwire.ReplayTransport("replies.json", record=True)
    >>> warmwire.Client(transport=recorder).get("https://example.com/").status_code
    200
    >>> replay = warmwire.ReplayTransport("replies.json")
    >>> warmwire.Client(transport=replay).get("https://example.com/").status_code
    200
    """

    def __init__(self, path: str | os.PathLike[str], *, record: bool = False, client: Client | None = None) -> None:
        self.path, self.record, self._client = os.fspath(path), record, client
        self._known: dict[str, dict[str, Any]] = {}
        if not record or os.path.exists(self.path):
            with open(self.path, encoding="utf-8") as file:
                self._known = json.load(file)

    def handle_request(self, request: Request) -> Response:
        """Returns the recorded reply."""
        content = request.content if isinstance(request.content, bytes) else b""
        key = f"{request.method} {request.url} {base64.b64encode(content).decode()}".strip()
        known = self._known.get(key)
        if known is None:
            if not self.record:
                raise ConnectError(f"{self.path} has no reply to {request.method} {request.url}", 7, request)
            known = self._known[key] = self._sent(request)
            draft = f"{self.path}.part"
            with open(draft, "w", encoding="utf-8") as file:
                json.dump(self._known, file, indent=1)
            os.replace(draft, self.path)
        head, body = (base64.b64decode(known[name]) for name in ("head", "body"))
        facts = _Stored(status=known["status"], head=head, url=known["url"], downloaded=len(body), redirects=known["redirects"])
        found = Response._of(request, facts)
        found._content = body
        return found

    def _sent(self, request: Request) -> dict[str, Any]:
        from ._client import Client

        reply = (self._client or Client()).send(request)
        outcome = reply._outcome
        head, body = (base64.b64encode(each).decode() for each in (outcome.head, reply.content))
        return {"status": reply.status_code, "url": str(reply.url), "head": head, "body": body, "redirects": outcome.redirects}


def of_transport(request: Request, response: Any) -> Response:
    """Checks and completes the reply of a transport."""
    if not isinstance(response, Response):
        raise TypeError(f"a transport returns a warmwire.Response, not {type(response).__name__}")
    response._request = request
    if not response._outcome.url and isinstance(response._outcome, _Stored):
        response._outcome.url = str(request.url)
    return response


__all__ = ["Headers", "MockTransport", "ReplayTransport", "Transport", "of_transport"]
