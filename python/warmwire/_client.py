"""Clients: sending requests on the caller's thread or in asyncio's loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any

from ._errors import PoolTimeout, failure
from ._models import UNSET, Request, Response, Timeout, outcome_failure
from ._progress import meter
from ._settings import Settings, refused, split
from ._transfer import WINDOW, Pool, _AsyncTransfer, _default, _pieces_to_send, _Stream, default_pool
from ._transport import of_transport
from ._types import signed

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from ._models import Option
    from ._types import RequestOptions, SendOptions, URLTypes


def _waited(request: Request, seconds: float | None) -> PoolTimeout:
    text = f"no connection became free within {seconds} seconds (Limits(max_connections=...))"
    return failure(28, text, request, PoolTimeout)  # type: ignore[return-value]


def _pool_limit(settings: Settings, how: Any) -> float | None:
    given = how.get("timeout", UNSET)
    return (settings.timeout if given is UNSET else Timeout.of(given)).pool


class Client(Settings):
    """Sends requests on the calling thread; any number of threads may use one client at once.

    ``timeout`` is seconds, a pair, a :class:`Timeout`, or None for no limit; the default is 30 seconds to connect, and 30 without a
    byte. ``verify`` is a bool, a file or folder of certificates, or an :class:`ssl.SSLContext`; ``cert`` is a file, or
    (certificate, key[, password]); ``proxy`` is a URL or a mapping of patterns; ``access_policy`` is a
    file that says what transfers may reach; with ``follow_names`` a connection is left when its host's name has moved to other
    addresses; ``options`` are curl's, by name: ``{"TCP_KEEPALIVE": 1}``.

    >>> with warmwire.Client(headers={"X-Key": "1"}, follow_redirects=True) as client:
    ...     client.get("https://example.com/").status_code
    200
    """

    _gate: threading.BoundedSemaphore | None = None

    def _limited(self) -> None:
        if self.limits.max_connections is not None:
            self._gate = threading.BoundedSemaphore(self.limits.max_connections)

    @signed
    def request(self, method: str, url: URLTypes, **how: Unpack[RequestOptions]) -> Response:
        """Sends one request and reads its body to the end.

        params, headers, cookies, content, data, json, files, auth, timeout, follow_redirects, proxy, verify, cert, http_version,
        access_policy and options are as for the client, and apply to this request. ``on_progress(received, total)`` is called as the body
        arrives; ``progress=True`` shows a bar (tqdm or rich).

        >>> warmwire.Client().request("GET", "https://example.com/").status_code
        200
        """
        request = self.build_request(method, url, **split(how))  # type: ignore[arg-type]
        return self.send(request, **how)  # type: ignore[misc]

    @signed
    def send(self, request: Request, *, stream: bool = False, **how: Unpack[SendOptions]) -> Response:
        """Sends a request that was built. With ``stream`` the caller reads the body and closes the response.

        >>> client = warmwire.Client()
        >>> request = client.build_request("GET", "https://example.com/")
        >>> client.send(request).status_code
        200
        """
        for hook in self.event_hooks["request"]:
            hook(request)
        transport = self._mounted(request)
        if transport is not None:
            response = of_transport(request, transport.handle_request(request))
        else:
            response = self._sent(request, stream, dict(how))
        self._ended(response)
        try:
            for hook in self.event_hooks["response"]:
                hook(response)
        except BaseException:
            response.close()
            raise
        return response

    def _sent(self, request: Request, stream: bool, how: dict[str, Any]) -> Response:
        shown = meter(how.pop("on_progress", None), how.pop("progress", False), request)
        leave = self._enter(request, how) if self._gate is not None else None
        try:
            options, upload = request.for_engine(self._options(request, how))
            pieces = _pieces_to_send(request.content)
            engine = self.pool._engine()
            try:
                transfer = engine.start(options, upload, WINDOW if stream or shown else None)
            except Exception as error:
                # An option of a wrong type, too, leaves the engine with its connections to the pool.
                self.pool._leave(engine)
                if isinstance(error, RuntimeError):
                    raise refused(error, request) from None
                raise
            if not stream and not shown and pieces is None:
                outcome = engine.fetch(transfer)
                self.pool._leave(engine)
                self._took(outcome, options)
                if outcome.code:
                    raise outcome_failure(outcome, request)
                return Response._of(request, outcome)
            held = _Stream(self.pool, engine, transfer)
            held.leave, leave = leave, None
            return self._streamed(held, request, pieces, stream, shown, options)
        finally:
            if leave is not None:
                leave()

    def _send_all(self, requests: list[Request], options: dict[str, Any]) -> list[Response | None]:
        """Sends requests at the same time, on this thread. None stands for one that failed."""
        if self._transport is not None or self._mounts or self._gate is not None or any(self.event_hooks.values()):
            return [self.send(request, options=options) for request in requests]
        engine, running = self.pool._engine(), {}
        found: list[Response | None] = [None] * len(requests)
        try:
            for place, request in enumerate(requests):
                settings, upload = request.for_engine(self._options(request, {"options": options}))
                try:
                    running[engine.start(settings, upload)] = place, settings
                except RuntimeError as error:
                    raise refused(error, request) from None
            while running:
                for number in engine.run_for(1.0):
                    outcome = engine.finish(number) if number in running else None
                    if outcome is None:
                        continue
                    place, settings = running.pop(number)
                    self._took(outcome, settings)
                    if not outcome.code:
                        found[place] = self._ended(Response._of(requests[place], outcome))
        finally:
            for number in running:
                engine.release(number)
            self.pool._leave(engine)
        return found

    def _streamed(
        self, body: _Stream, request: Request, upload: Any, stream: bool, shown: Any, options: list[Option]
    ) -> Response:
        outcome = body.begun(upload, until_head=stream or shown is not None)
        self._took(outcome, options)
        if outcome.code > 0 and (not stream or not outcome.body):
            raise outcome_failure(outcome, request, body._upload is not None)
        if not stream and shown is None:
            return Response._of(request, outcome)
        response = Response._of(request, outcome, body)
        if shown is not None:
            with shown:
                response._content = b"".join(shown.count(piece, response) for piece in response.iter_bytes())
        return response

    def _enter(self, request: Request, how: dict[str, Any]) -> Any:
        """Waits for one of the client's connections; returns the function that gives it back."""
        gate, limit = self._gate, _pool_limit(self, how)
        assert gate is not None
        if not gate.acquire(timeout=limit):
            raise _waited(request, limit)
        return gate.release

    @contextmanager
    def stream(self, method: str, url: URLTypes, **how: Unpack[RequestOptions]) -> Iterator[Response]:
        """Sends a request whose body is read piece by piece. Leaving the block aborts what is left of it.

        >>> with warmwire.Client().stream("GET", "https://example.com/") as reply:
        ...     size = sum(len(piece) for piece in reply.iter_bytes())
        """
        request = self.build_request(method, url, **split(how))  # type: ignore[arg-type]
        response = self.send(request, stream=True, **how)  # type: ignore[misc]
        try:
            yield response
        finally:
            response.close()

    @signed
    def get(self, url: URLTypes, **how: Unpack[RequestOptions]) -> Response:
        """Sends a GET request.

        >>> client = warmwire.Client()
        >>> client.get("https://example.com/", params={"q": "x"}).status_code
        200
        """
        return self.request("GET", url, **how)

    @signed
    def head(self, url: URLTypes, **how: Unpack[RequestOptions]) -> Response:
        """Sends a HEAD request.

        >>> client = warmwire.Client()
        >>> client.head("https://example.com/").content
        b''
        """
        return self.request("HEAD", url, **how)

    @signed
    def options(self, url: URLTypes, **how: Unpack[RequestOptions]) -> Response:
        """Sends an OPTIONS request.

        >>> client = warmwire.Client()
        >>> client.options("https://example.com/").request.method
        'OPTIONS'
        """
        return self.request("OPTIONS", url, **how)

    @signed
    def post(self, url: URLTypes, **how: Unpack[RequestOptions]) -> Response:
        """Sends a POST request.

        >>> client = warmwire.Client()
        >>> client.post("https://example.com/echo", json={"a": 1}).json()
        {'a': 1}
        """
        return self.request("POST", url, **how)

    @signed
    def put(self, url: URLTypes, **how: Unpack[RequestOptions]) -> Response:
        """Sends a PUT request, or uploads a file by FTP or SFTP.

        >>> client = warmwire.Client()
        >>> client.put("https://example.com/echo", content=b"body").content
        b'body'
        """
        return self.request("PUT", url, **how)

    @signed
    def patch(self, url: URLTypes, **how: Unpack[RequestOptions]) -> Response:
        """Sends a PATCH request.

        >>> client = warmwire.Client()
        >>> client.patch("https://example.com/echo", content=b"part").content
        b'part'
        """
        return self.request("PATCH", url, **how)

    @signed
    def delete(self, url: URLTypes, **how: Unpack[RequestOptions]) -> Response:
        """Sends a DELETE request.

        >>> client = warmwire.Client()
        >>> client.delete("https://example.com/").status_code
        200
        """
        return self.request("DELETE", url, **how)

    def close(self) -> None:
        """Ends the client. Its own pool, if it has one, is closed."""
        if not self.is_closed and self.pool is not _default:
            self.pool.close()
        self.is_closed = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncClient(Settings):
    """Sends requests in asyncio's loop: it watches one descriptor for all of them, and creates no threads.

    Takes the arguments of :class:`Client`. Cancelling a task that waits for a reply aborts its transfer at once.

    >>> async def main():
    ...     async with warmwire.AsyncClient() as client:
    ...         return await client.get("https://example.com/")
    >>> asyncio.run(main()).status_code
    200
    """

    _gate: asyncio.Semaphore | None = None

    @signed
    async def request(self, method: str, url: URLTypes, **how: Unpack[RequestOptions]) -> Response:
        """Sends one request and reads its body to the end."""
        request = self.build_request(method, url, **split(how))  # type: ignore[arg-type]
        return await self.send(request, **how)  # type: ignore[misc]

    @signed
    async def send(self, request: Request, *, stream: bool = False, **how: Unpack[SendOptions]) -> Response:
        """Sends a request that was built. With ``stream`` the caller reads the body and closes the response."""
        for hook in self.event_hooks["request"]:
            await _call(hook, request)
        transport = self._mounted(request)
        if transport is not None:
            response = of_transport(request, await _call(transport.handle_request, request))
        else:
            response = await self._sent(request, stream, dict(how))
        self._ended(response)
        try:
            for hook in self.event_hooks["response"]:
                await _call(hook, response)
        except BaseException:
            response.close()
            raise
        return response

    async def _sent(self, request: Request, stream: bool, how: dict[str, Any]) -> Response:
        shown = meter(how.pop("on_progress", None), how.pop("progress", False), request)
        leave = await self._enter(request, how) if self.limits.max_connections is not None else None
        try:
            options, upload = request.for_engine(self._options(request, how))
            content = request.content
            pieces = content.__aiter__() if hasattr(content, "__aiter__") else _pieces_to_send(content)
            try:
                transfer = _AsyncTransfer(self.pool._loop(), options, upload, WINDOW if stream or shown else None)
            except RuntimeError as error:
                raise refused(error, request) from None
            transfer.leave, leave = leave, None
        finally:
            if leave is not None:
                leave()
        if not stream and not shown:
            outcome = await (transfer.end() if pieces is None else transfer.begun(pieces, until_head=False))
            self._took(outcome, options)
            if outcome.code:
                raise outcome_failure(outcome, request, transfer._upload is not None)
            return Response._of(request, outcome)
        outcome = await transfer.begun(pieces, until_head=True)
        self._took(outcome, options)
        if outcome.code > 0 and not outcome.body:
            raise outcome_failure(outcome, request, transfer._upload is not None)
        response = Response._of(request, outcome, transfer)
        if shown is not None:
            with shown:
                response._content = b"".join([shown.count(piece, response) async for piece in response.aiter_bytes()])
        return response

    async def _enter(self, request: Request, how: dict[str, Any]) -> Any:
        """Waits for one of the client's connections; returns the function that gives it back."""
        if self._gate is None:
            self._gate = asyncio.Semaphore(self.limits.max_connections or 1)
        limit = _pool_limit(self, how)
        try:
            await asyncio.wait_for(self._gate.acquire(), limit)
        except asyncio.TimeoutError:
            raise _waited(request, limit) from None
        return self._gate.release

    @asynccontextmanager
    async def stream(self, method: str, url: URLTypes, **how: Unpack[RequestOptions]) -> AsyncIterator[Response]:
        """Sends a request whose body is read piece by piece. Leaving the block aborts what is left of it."""
        request = self.build_request(method, url, **split(how))  # type: ignore[arg-type]
        response = await self.send(request, stream=True, **how)  # type: ignore[misc]
        try:
            yield response
        finally:
            response.close()

    @signed
    async def get(self, url: URLTypes, **how: Unpack[RequestOptions]) -> Response:
        """Sends a GET request."""
        return await self.request("GET", url, **how)

    @signed
    async def head(self, url: URLTypes, **how: Unpack[RequestOptions]) -> Response:
        """Sends a HEAD request."""
        return await self.request("HEAD", url, **how)

    @signed
    async def options(self, url: URLTypes, **how: Unpack[RequestOptions]) -> Response:
        """Sends an OPTIONS request."""
        return await self.request("OPTIONS", url, **how)

    @signed
    async def post(self, url: URLTypes, **how: Unpack[RequestOptions]) -> Response:
        """Sends a POST request."""
        return await self.request("POST", url, **how)

    @signed
    async def put(self, url: URLTypes, **how: Unpack[RequestOptions]) -> Response:
        """Sends a PUT request, or uploads a file by FTP or SFTP."""
        return await self.request("PUT", url, **how)

    @signed
    async def patch(self, url: URLTypes, **how: Unpack[RequestOptions]) -> Response:
        """Sends a PATCH request."""
        return await self.request("PATCH", url, **how)

    @signed
    async def delete(self, url: URLTypes, **how: Unpack[RequestOptions]) -> Response:
        """Sends a DELETE request."""
        return await self.request("DELETE", url, **how)

    async def aclose(self) -> None:
        """Ends the client. Its own pool, if it has one, is closed."""
        if not self.is_closed and self.pool is not _default:
            self.pool.close()
        self.is_closed = True

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


async def _call(hook: Any, value: Any) -> Any:
    found = hook(value)
    return await found if hasattr(found, "__await__") else found


__all__ = ["AsyncClient", "Client", "Pool", "default_pool"]
