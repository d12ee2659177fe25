"""Clients: what holds for all their requests, and how those are run, on the caller's thread or by asyncio's loop."""

from __future__ import annotations

import asyncio
import os
import threading
import weakref
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from . import _native
from ._errors import OptionError, RequestError, StreamConsumed, failure
from ._models import (
    _AGENT,
    _COOKIE,
    _COOKIE_FILE,
    _COOKIE_LIST,
    _ENCODING,
    _FOLLOW,
    _MAX_REDIRS,
    _NOSIGNAL,
    _OBEY_CODE,
    _VERSIONS,
    OPTIONS,
    USER_AGENT,
    Auth,
    Cookies,
    Headers,
    Option,
    Request,
    Response,
    Timeout,
    outcome_failure,
)

WINDOW = 512 * 1024
"""How much of a streamed body may lie untaken before the sender has to wait."""

_UNSET: Any = object()


class Pool:
    """Warm connections, looked-up names and TLS sessions. Clients of any threads and loops use one; by default the process's.

    A child of a fork begins with an empty one and leaves the parent's connections alone.
    """

    def __init__(self) -> None:
        self._begin()
        _pools.add(self)

    def _begin(self) -> None:
        self._native = _native.Pool()
        self._free: list[_native.Engine] = []
        self._loops: weakref.WeakKeyDictionary[Any, _Loop] = weakref.WeakKeyDictionary()

    def close(self) -> None:
        """Closes the idle connections."""
        self._free = []
        self._native.close()

    def _engine(self) -> _native.Engine:
        try:
            return self._free.pop()
        except IndexError:
            return _native.Engine(self._native)

    def _leave(self, engine: _native.Engine) -> None:
        if len(self._free) < 32:
            self._free.append(engine)

    def _loop(self) -> _Loop:
        loop = asyncio.get_running_loop()
        found = self._loops.get(loop)
        if found is None:
            found = self._loops[loop] = _Loop(_native.Engine(self._native), loop)
        return found


_pools: weakref.WeakSet[Pool] = weakref.WeakSet()
_parents: list[Any] = []
_default = Pool.__new__(Pool)


def _after_fork() -> None:
    _native.after_fork_in_child()
    for pool in list(_pools):
        # Never touched again: another thread of the parent may have had their locks.
        _parents.append((pool._native, pool._free, pool._loops))
        pool._begin()


os.register_at_fork(after_in_child=_after_fork)
_default.__init__()  # type: ignore[misc]


def default_pool() -> Pool:
    """The pool that is used where none is named."""
    return _default


class _Settings:
    """What both clients have: defaults for requests, and how a request becomes a transfer."""

    def __init__(
        self,
        *,
        base_url: str = "",
        params: Any = None,
        headers: Any = None,
        cookies: Mapping[str, str] | None = None,
        auth: Any = None,
        timeout: Any = None,
        follow_redirects: bool = False,
        max_redirects: int = 20,
        proxy: str | None = None,
        verify: bool | str | os.PathLike[str] = True,
        cert: Any = None,
        http_version: str | None = None,
        trust_env: bool = True,
        event_hooks: Mapping[str, Any] | None = None,
        pool: Pool | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.base_url = base_url
        self.params = dict(params or {})
        self.headers = Headers(headers)
        self.cookies = cookies if isinstance(cookies, Cookies) else Cookies(cookies)
        self.auth = auth
        self.timeout = Timeout.of(timeout)
        self.follow_redirects = follow_redirects
        self.max_redirects = max_redirects
        self.event_hooks: dict[str, list[Any]] = {"request": [], "response": [], **(event_hooks or {})}
        self.pool = pool if pool is not None else _default
        self.is_closed = False
        self._fixed = [
            (_NOSIGNAL, 1),
            (_COOKIE_FILE, b""),
            (_ENCODING, b""),
            *_proxy(proxy, trust_env),
            *_tls(verify, cert),
            *_version(http_version),
            *(_named(name, value) for name, value in (options or {}).items()),
        ]

    def build_request(self, method: str, url: str, **how: Any) -> Request:
        """A request with the client's defaults: params, headers, content, data, json and files as in :meth:`request`."""
        url = url if "://" in url or not self.base_url else self.base_url.rstrip("/") + "/" + url.lstrip("/")
        params = how.pop("params", None)
        if self.params:
            params = params if isinstance(params, str) else {**self.params, **dict(params or {})}
        headers = how.pop("headers", None)
        if len(self.headers._rows):
            merged = Headers(self.headers)
            for name, value in Headers(headers).multi_items():
                merged[name] = value
            headers = merged
        return Request(method, url, params=params, headers=headers, **how)

    def _options(self, request: Request, how: dict[str, Any]) -> list[Option]:
        """The client's options, and those of one request."""
        if self.is_closed:
            raise RuntimeError("the client is closed")
        options = list(self._fixed)
        if "user-agent" not in request.headers:
            options.append((_AGENT, USER_AGENT))
        follow = how.pop("follow_redirects", _UNSET)
        if self.follow_redirects if follow is _UNSET or follow is None else follow:
            options += [(_FOLLOW, _OBEY_CODE), (_MAX_REDIRS, how.pop("max_redirects", self.max_redirects))]
        timeout = how.pop("timeout", _UNSET)
        options += (self.timeout if timeout is _UNSET else Timeout.of(timeout)).options()
        auth = how.pop("auth", _UNSET)
        options += _auth(self.auth if auth is _UNSET else auth)
        plain = {**self.cookies._plain, **(how.pop("cookies", None) or {})}
        options += [(_COOKIE_LIST, line) for line in self.cookies._lines.values()]
        if plain:
            options.append((_COOKIE, "; ".join(f"{name}={value}" for name, value in plain.items())))
        if "proxy" in how:
            options += _proxy(how.pop("proxy"), True)
        if "verify" in how or "cert" in how:
            options += _tls(how.pop("verify", True), how.pop("cert", None))
        if "http_version" in how:
            options += _version(how.pop("http_version"))
        options += [_named(name, value) for name, value in how.pop("options", {}).items()]
        if how:
            raise TypeError(f"unknown argument: {', '.join(how)}")
        return options

    def _took(self, outcome: _native.Outcome) -> None:
        if outcome.cookies:
            self.cookies._took((), outcome.cookies)


_FOR_REQUEST = ("params", "headers", "content", "data", "json", "files")


def _split(how: dict[str, Any]) -> dict[str, Any]:
    return {name: how.pop(name) for name in _FOR_REQUEST if name in how}


def _refused(error: RuntimeError, request: Request) -> Exception:
    """A transfer that was not begun is told as (code, message)."""
    if len(error.args) == 2:
        return failure(error.args[0], error.args[1], request)
    return error


class Client(_Settings):
    """Requests on the calling thread; any number of threads may use one client at once.

    ``timeout`` is seconds, a pair, or a :class:`Timeout`; ``verify`` is a switch or a file of certificates; ``cert`` a file, or
    (certificate, key[, password]); ``options`` are curl's own, by name: ``{"TCP_KEEPALIVE": 1}``.
    """

    def request(self, method: str, url: str, **how: Any) -> Response:
        """One request, to the end of its body.

        params, headers, cookies, content, data, json, files, auth, timeout, follow_redirects, proxy, verify, cert, http_version
        and options are as the client's own, for this request.
        """
        request = self.build_request(method, url, **_split(how))
        return self.send(request, **how)

    def send(self, request: Request, *, stream: bool = False, **how: Any) -> Response:
        """Sends a request that was built. With ``stream`` the body is left to be read, and the response to be closed."""
        for hook in self.event_hooks["request"]:
            hook(request)
        options, upload = request.for_engine(self._options(request, how))
        engine = self.pool._engine()
        try:
            transfer = engine.start(options, upload, WINDOW if stream else None)
        except RuntimeError as error:
            self.pool._leave(engine)
            raise _refused(error, request) from None
        response = self._streamed(engine, transfer, request) if stream else self._whole(engine, transfer, request)
        try:
            for hook in self.event_hooks["response"]:
                hook(response)
        except BaseException:
            response.close()
            raise
        return response

    def _whole(self, engine: _native.Engine, transfer: int, request: Request) -> Response:
        if upload := _pieces_to_send(request):
            _send_pieces(engine, transfer, upload)
        outcome = engine.fetch(transfer)
        self.pool._leave(engine)
        self._took(outcome)
        if outcome.code:
            raise outcome_failure(outcome, request)
        return Response(request, outcome)

    def _streamed(self, engine: _native.Engine, transfer: int, request: Request) -> Response:
        body = _Stream(self.pool, engine, transfer)
        try:
            upload = _pieces_to_send(request)
            while True:
                headed, hungry, ended = engine.state(transfer)
                if headed or ended:
                    break
                if hungry and upload:
                    _feed(engine, transfer, upload)
                else:
                    engine.advance(transfer)
            outcome = engine.take(transfer)
        except BaseException:
            body.close()
            raise
        self._took(outcome)
        if outcome.code > 0 and not outcome.body:
            body.close()
            raise outcome_failure(outcome, request)
        body.begin(outcome)
        return Response(request, outcome, body)

    @contextmanager
    def stream(self, method: str, url: str, **how: Any) -> Iterator[Response]:
        """A request whose body is read piece by piece; at the end of the block what is left of it is given up."""
        request = self.build_request(method, url, **_split(how))
        response = self.send(request, stream=True, **how)
        try:
            yield response
        finally:
            response.close()

    def get(self, url: str, **how: Any) -> Response:
        """GET."""
        return self.request("GET", url, **how)

    def head(self, url: str, **how: Any) -> Response:
        """HEAD."""
        return self.request("HEAD", url, **how)

    def options(self, url: str, **how: Any) -> Response:
        """OPTIONS."""
        return self.request("OPTIONS", url, **how)

    def post(self, url: str, **how: Any) -> Response:
        """POST."""
        return self.request("POST", url, **how)

    def put(self, url: str, **how: Any) -> Response:
        """PUT; an upload for FTP and SFTP."""
        return self.request("PUT", url, **how)

    def patch(self, url: str, **how: Any) -> Response:
        """PATCH."""
        return self.request("PATCH", url, **how)

    def delete(self, url: str, **how: Any) -> Response:
        """DELETE."""
        return self.request("DELETE", url, **how)

    def close(self) -> None:
        """No more requests; a pool of the client's own is closed."""
        if not self.is_closed and self.pool is not _default:
            self.pool.close()
        self.is_closed = True

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _pieces_to_send(request: Request) -> Iterator[bytes] | None:
    content = request.content
    if content is None or isinstance(content, bytes):
        return None
    if hasattr(content, "read"):
        return iter(lambda: content.read(256 * 1024) or b"", b"")
    if hasattr(content, "__iter__"):
        return iter(content)
    raise TypeError(f"a body cannot be made of {type(content).__name__}")


def _feed(engine: _native.Engine, transfer: int, pieces: Iterator[bytes]) -> None:
    piece = next(pieces, None)
    while piece is not None and not piece:
        piece = next(pieces, None)
    engine.feed(transfer, piece.encode() if isinstance(piece, str) else piece)


def _send_pieces(engine: _native.Engine, transfer: int, pieces: Iterator[bytes]) -> None:
    """Feeds a transfer until it has ended."""
    try:
        while True:
            _, hungry, ended = engine.state(transfer)
            if ended:
                return
            if hungry:
                _feed(engine, transfer, pieces)
            else:
                engine.advance(transfer)
    except BaseException:
        engine.release(transfer)
        raise


class _Stream:
    """The body of a streamed response, on an engine of its own as long as it lasts."""

    def __init__(self, pool: Pool, engine: _native.Engine, transfer: int) -> None:
        self._pool, self._transfer = pool, transfer
        self._engine: _native.Engine | None = engine
        self._first: _native.Outcome | None = None
        self._lock = threading.Lock()

    def begin(self, outcome: _native.Outcome) -> None:
        """What came with the head, and perhaps the end."""
        self._first = outcome
        if outcome.code >= 0:
            self.close()

    def close(self) -> None:
        with self._lock:
            engine, self._engine = self._engine, None
        if engine is not None:
            engine.release(self._transfer)
            self._pool._leave(engine)

    def pieces(self, response: Response) -> Iterator[bytes]:
        if self._first is not None:
            if self._first.body:
                yield self._first.body
            if self._first.code > 0:
                raise outcome_failure(self._first, response.request)
        while (engine := self._engine) is not None:
            try:
                _, _, ended = engine.state(self._transfer)
                if not ended:
                    engine.advance(self._transfer)
                    ended = engine.state(self._transfer)[2]
                if ended:
                    outcome = engine.take(self._transfer)
                    piece = outcome.body
                    self.close()
                    if outcome.code:
                        if piece:
                            yield piece
                        raise outcome_failure(outcome, response.request)
                else:
                    piece = engine.take_body(self._transfer)
            except KeyboardInterrupt:
                self.close()
                raise
            if piece:
                yield piece

    async def apieces(self, response: Response) -> AsyncIterator[bytes]:
        for piece in self.pieces(response):
            yield piece

    def __del__(self) -> None:
        self.close()


class _Loop:
    """An engine on asyncio's loop: one descriptor to be watched, and one timer."""

    def __init__(self, engine: _native.Engine, loop: asyncio.AbstractEventLoop) -> None:
        self.engine = engine
        self.waiting: dict[int, _AsyncTransfer] = {}
        self._loop = weakref.ref(loop)
        self._soon = False
        self._timer: asyncio.TimerHandle | None = None
        self._when = 0.0
        loop.add_reader(engine.fileno(), self.run)

    def start(self, transfer: _AsyncTransfer) -> None:
        self.waiting[transfer.number] = transfer
        self.run_soon()

    def run_soon(self) -> None:
        loop = self._loop()
        if not self._soon and loop is not None:
            self._soon = True
            loop.call_soon(self.run)

    def run(self) -> None:
        self._soon = False
        for number in self.engine.run():
            transfer = self.waiting.get(number)
            if transfer is not None:
                transfer.news()
        self._set_timer()

    def _set_timer(self) -> None:
        left = self.engine.timeout()
        timer, loop = self._timer, self._loop()
        if loop is None:
            return
        if left is None:
            if timer is not None:
                timer.cancel()
                self._timer = None
            return
        when = loop.time() + left
        if timer is not None:
            # One that comes too early finds nothing due and is set anew; one that would come too late is not kept.
            if not timer.cancelled() and timer.when() <= when and timer.when() > loop.time():
                return
            timer.cancel()
        self._timer = loop.call_at(when, self._due)

    def _due(self) -> None:
        self._timer = None
        self.run()


class _AsyncTransfer:
    """A transfer on a loop, and whoever waits for something new of it."""

    def __init__(self, on: _Loop, options: list[Option], upload: Any, window: int | None, **where: Any) -> None:
        self.on = on
        self.number = on.engine.start(options, upload, window, **where)
        self._future: asyncio.Future[None] | None = None
        self._open = True
        self._first: _native.Outcome | None = None
        on.start(self)

    def news(self) -> None:
        future = self._future
        if future is not None and not future.done():
            future.set_result(None)

    async def wait(self) -> None:
        """Until there is something new. Who is cancelled here breaks the transfer off."""
        self._future = asyncio.get_running_loop().create_future()
        try:
            await self._future
        except asyncio.CancelledError:
            self.close()
            raise

    async def end(self) -> _native.Outcome:
        """Waits for the end, and lets the transfer go."""
        engine, number = self.on.engine, self.number
        while not engine.state(number)[2]:
            await self.wait()
        outcome = engine.take(number)
        self.close()
        return outcome

    def close(self) -> None:
        if self._open:
            self._open = False
            self.on.waiting.pop(self.number, None)
            self.on.engine.release(self.number)
            self.on.run_soon()

    def begin(self, outcome: _native.Outcome) -> None:
        self._first = outcome
        if outcome.code >= 0:
            self.close()

    async def apieces(self, response: Response) -> AsyncIterator[bytes]:
        if self._first is not None:
            if self._first.body:
                yield self._first.body
            if self._first.code > 0:
                raise outcome_failure(self._first, response.request)
        engine, number = self.on.engine, self.number
        while self._open:
            ended = engine.state(number)[2]
            outcome = engine.take(number) if ended else None
            piece = outcome.body if outcome is not None else engine.take_body(number)
            if outcome is not None:
                self.close()
            if piece:
                yield piece
            if outcome is not None and outcome.code:
                raise outcome_failure(outcome, response.request)
            if not piece and outcome is None:
                await self.wait()

    def pieces(self, response: Response) -> Iterator[bytes]:
        raise StreamConsumed("a response of an AsyncClient is read by aread and aiter_bytes")

    def __del__(self) -> None:
        # Without its loop nobody can run the engine, and nothing is left to be broken off.
        if self._open and self.on._loop() is not None:
            self.close()


class AsyncClient(_Settings):
    """Requests on asyncio's loop: one descriptor is watched for all of them, and no thread is made.

    Takes what :class:`Client` takes. Cancelling a task that waits for a reply breaks its transfer off at once.
    """

    async def request(self, method: str, url: str, **how: Any) -> Response:
        """One request, to the end of its body."""
        request = self.build_request(method, url, **_split(how))
        return await self.send(request, **how)

    async def send(self, request: Request, *, stream: bool = False, **how: Any) -> Response:
        """Sends a request that was built. With ``stream`` the body is left to be read, and the response to be closed."""
        for hook in self.event_hooks["request"]:
            await _call(hook, request)
        options, upload = request.for_engine(self._options(request, how))
        try:
            transfer = _AsyncTransfer(self.pool._loop(), options, upload, WINDOW if stream else None)
        except RuntimeError as error:
            raise _refused(error, request) from None
        response = await (self._streamed if stream else self._whole)(transfer, request)
        try:
            for hook in self.event_hooks["response"]:
                await _call(hook, response)
        except BaseException:
            response.close()
            raise
        return response

    async def _whole(self, transfer: _AsyncTransfer, request: Request) -> Response:
        if request.content is not None and not isinstance(request.content, bytes):
            await _send_pieces_async(transfer, request, until_head=False)
        outcome = await transfer.end()
        self._took(outcome)
        if outcome.code:
            raise outcome_failure(outcome, request)
        return Response(request, outcome)

    async def _streamed(self, transfer: _AsyncTransfer, request: Request) -> Response:
        engine, number = transfer.on.engine, transfer.number
        if request.content is not None and not isinstance(request.content, bytes):
            await _send_pieces_async(transfer, request, until_head=True)
        while True:
            headed, _, ended = engine.state(number)
            if headed or ended:
                break
            await transfer.wait()
        outcome = engine.take(number)
        self._took(outcome)
        if outcome.code > 0 and not outcome.body:
            transfer.close()
            raise outcome_failure(outcome, request)
        transfer.begin(outcome)
        return Response(request, outcome, transfer)

    @asynccontextmanager
    async def stream(self, method: str, url: str, **how: Any) -> AsyncIterator[Response]:
        """A request whose body is read piece by piece; at the end of the block what is left of it is given up."""
        request = self.build_request(method, url, **_split(how))
        response = await self.send(request, stream=True, **how)
        try:
            yield response
        finally:
            response.close()

    async def get(self, url: str, **how: Any) -> Response:
        """GET."""
        return await self.request("GET", url, **how)

    async def head(self, url: str, **how: Any) -> Response:
        """HEAD."""
        return await self.request("HEAD", url, **how)

    async def options(self, url: str, **how: Any) -> Response:
        """OPTIONS."""
        return await self.request("OPTIONS", url, **how)

    async def post(self, url: str, **how: Any) -> Response:
        """POST."""
        return await self.request("POST", url, **how)

    async def put(self, url: str, **how: Any) -> Response:
        """PUT; an upload for FTP and SFTP."""
        return await self.request("PUT", url, **how)

    async def patch(self, url: str, **how: Any) -> Response:
        """PATCH."""
        return await self.request("PATCH", url, **how)

    async def delete(self, url: str, **how: Any) -> Response:
        """DELETE."""
        return await self.request("DELETE", url, **how)

    async def aclose(self) -> None:
        """No more requests; a pool of the client's own is closed."""
        if not self.is_closed and self.pool is not _default:
            self.pool.close()
        self.is_closed = True

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


async def _call(hook: Any, value: Any) -> None:
    found = hook(value)
    if hasattr(found, "__await__"):
        await found


async def _send_pieces_async(transfer: _AsyncTransfer, request: Request, until_head: bool) -> None:
    engine, number, content = transfer.on.engine, transfer.number, request.content
    given = None if hasattr(content, "__aiter__") else _pieces_to_send(request)
    pieces = content.__aiter__() if given is None else None
    try:
        while True:
            headed, hungry, ended = engine.state(number)
            if ended or until_head and headed:
                return
            if not hungry:
                await transfer.wait()
            elif given is not None:
                _feed(engine, number, given)
                transfer.on.run_soon()
            else:
                try:
                    piece = await pieces.__anext__()
                except StopAsyncIteration:
                    piece = None
                if piece != b"":
                    engine.feed(number, piece)
                    transfer.on.run_soon()
    except BaseException:
        transfer.close()
        raise


def _named(name: str, value: Any) -> Option:
    number = OPTIONS.get(name.upper().removeprefix("CURLOPT_"))
    if number is None:
        raise OptionError(f"{name} is no option", 48)
    return (number, value)


def _proxy(proxy: str | None, trust_env: bool) -> list[Option]:
    if proxy is not None:
        return [(OPTIONS["PROXY"], proxy)]
    return [] if trust_env else [(OPTIONS["PROXY"], "")]


def _tls(verify: Any, cert: Any) -> list[Option]:
    found: list[Option] = []
    if verify is False:
        found += [(OPTIONS["SSL_VERIFYPEER"], 0), (OPTIONS["SSL_VERIFYHOST"], 0)]
    elif isinstance(verify, (str, os.PathLike)):
        path = os.fspath(verify)
        found.append((OPTIONS["CAPATH" if os.path.isdir(path) else "CAINFO"], path))
    elif verify is not True:
        raise TypeError("verify is True, False, or where the certificates are")
    if cert is not None:
        parts = (cert,) if isinstance(cert, (str, os.PathLike)) else tuple(cert)
        for name, part in zip(("SSLCERT", "SSLKEY", "KEYPASSWD"), parts):
            found.append((OPTIONS[name], os.fspath(part)))
    return found


def _version(wanted: str | None) -> list[Option]:
    if wanted is None:
        return []
    if wanted not in _VERSIONS:
        raise OptionError(f"{wanted!r} is no version of HTTP: 1.0, 1.1, 2 or 3", 43)
    return [(OPTIONS["HTTP_VERSION"], _VERSIONS[wanted])]


def _auth(given: Any) -> list[Option]:
    if given is None:
        return []
    if isinstance(given, Auth):
        return given.options()
    user, password = given
    return Auth(user, password).options()


__all__ = ["AsyncClient", "Client", "Pool", "RequestError", "default_pool"]
