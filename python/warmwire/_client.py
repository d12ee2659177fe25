"""Clients: settings for all their requests, and running them on the caller's thread or in asyncio's loop."""

from __future__ import annotations

import asyncio
import os
import threading
import weakref
from collections.abc import AsyncIterator, Generator, Iterator, Mapping
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
"""Limit of a streamed body's buffer; beyond it the sender has to wait."""

_UNSET: Any = object()


class Pool:
    """Warm connections, resolved names and TLS sessions. Clients of any thread or loop can use a pool; default: the process's.

    After a fork, the child starts with an empty pool and does not use the parent's connections.
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
        for on in self._known_loops().values():
            on.engine.close_idle()
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
        # Queried once for each request, because it is a system call.
        loop = asyncio.get_running_loop()
        found = self._loops.get(loop)
        if found is None:
            # Loops that have ended return their connections for others.
            for known in self._known_loops():
                if known.is_closed():
                    del self._loops[known]
            found = self._loops[loop] = _Loop(_native.Engine(self._native, True), loop)
        return found

    def _known_loops(self) -> dict[asyncio.AbstractEventLoop, _Loop]:
        """Lists the loops of all threads in a copy, because the original changes meanwhile."""
        loops = [loop for reference in self._loops.keyrefs() if (loop := reference()) is not None]
        return {loop: on for loop in loops if (on := self._loops.get(loop)) is not None}


_pools: weakref.WeakSet[Pool] = weakref.WeakSet()
_parents: list[Any] = []
_default = Pool.__new__(Pool)


def _after_fork() -> None:
    _native.after_fork_in_child()
    for pool in list(_pools):
        # Never used again: another thread of the parent may have held their locks.
        _parents.append((pool._native, pool._free, pool._loops))
        pool._begin()


os.register_at_fork(after_in_child=_after_fork)
_default.__init__()  # type: ignore[misc]


def default_pool() -> Pool:
    """Returns the pool that is used by default."""
    return _default


class _Settings:
    """Common to both clients: defaults for requests, and the conversion of a request to a transfer."""

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
        self._plain: tuple[Any, list[Option]] = (None, [])
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
        """Builds a request with the client's defaults: params, headers, content, data, json and files as in :meth:`request`."""
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
        """Returns the client's options and those of one request."""
        if self.is_closed:
            raise RuntimeError("the client is closed")
        # The options of a request without settings of its own, cached while the client does not change.
        limits = self.timeout
        state = (self.follow_redirects, self.max_redirects, limits.connect, limits.read, limits.total)
        cookies = self.cookies
        is_plain = not (how or self.auth or cookies._plain or cookies._lines or request.headers._rows)
        if is_plain and self._plain[0] == state:
            return self._plain[1]
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
        if is_plain:
            self._plain = (state, options)
        return options

    def _took(self, outcome: _native.Outcome) -> None:
        if outcome.cookies:
            self.cookies._took((), outcome.cookies)


_FOR_REQUEST = ("params", "headers", "content", "data", "json", "files")


def _split(how: dict[str, Any]) -> dict[str, Any]:
    return {name: how.pop(name) for name in _FOR_REQUEST if name in how}


def _refused(error: RuntimeError, request: Request) -> Exception:
    """Converts the error of a transfer that could not start, (code, message)."""
    if len(error.args) == 2:
        return failure(error.args[0], error.args[1], request)
    return error


class Client(_Settings):
    """Sends requests on the calling thread; any number of threads may use one client at once.

    ``timeout`` is seconds, a pair, or a :class:`Timeout`; ``verify`` is a bool or a file of certificates; ``cert`` is a file, or
    (certificate, key[, password]); ``options`` are curl's, by name: ``{"TCP_KEEPALIVE": 1}``.
    """

    def request(self, method: str, url: str, **how: Any) -> Response:
        """Sends one request and reads its body to the end.

        params, headers, cookies, content, data, json, files, auth, timeout, follow_redirects, proxy, verify, cert, http_version
        and options are as for the client, and apply to this request.
        """
        request = self.build_request(method, url, **_split(how))
        return self.send(request, **how)

    def send(self, request: Request, *, stream: bool = False, **how: Any) -> Response:
        """Sends a request that was built. With ``stream`` the caller reads the body and closes the response."""
        for hook in self.event_hooks["request"]:
            hook(request)
        options, upload = request.for_engine(self._options(request, how))
        pieces = _pieces_to_send(request.content)
        engine = self.pool._engine()
        try:
            transfer = engine.start(options, upload, WINDOW if stream else None)
        except RuntimeError as error:
            self.pool._leave(engine)
            raise _refused(error, request) from None
        response = (self._streamed if stream else self._whole)(engine, transfer, request, pieces)
        try:
            for hook in self.event_hooks["response"]:
                hook(response)
        except BaseException:
            response.close()
            raise
        return response

    def _whole(self, engine: _native.Engine, transfer: int, request: Request, upload: Any) -> Response:
        if upload is not None:
            outcome = _Stream(self.pool, engine, transfer).begun(upload, until_head=False)
        else:
            outcome = engine.fetch(transfer)
            self.pool._leave(engine)
        self._took(outcome)
        if outcome.code:
            raise outcome_failure(outcome, request)
        return Response(request, outcome)

    def _streamed(self, engine: _native.Engine, transfer: int, request: Request, upload: Any) -> Response:
        body = _Stream(self.pool, engine, transfer)
        outcome = body.begun(upload, until_head=True)
        self._took(outcome)
        if outcome.code > 0 and not outcome.body:
            raise outcome_failure(outcome, request)
        return Response(request, outcome, body)

    @contextmanager
    def stream(self, method: str, url: str, **how: Any) -> Iterator[Response]:
        """Sends a request whose body is read piece by piece. Leaving the block aborts what is left of it."""
        request = self.build_request(method, url, **_split(how))
        response = self.send(request, stream=True, **how)
        try:
            yield response
        finally:
            response.close()

    def get(self, url: str, **how: Any) -> Response:
        """Sends a GET request."""
        return self.request("GET", url, **how)

    def head(self, url: str, **how: Any) -> Response:
        """Sends a HEAD request."""
        return self.request("HEAD", url, **how)

    def options(self, url: str, **how: Any) -> Response:
        """Sends an OPTIONS request."""
        return self.request("OPTIONS", url, **how)

    def post(self, url: str, **how: Any) -> Response:
        """Sends a POST request."""
        return self.request("POST", url, **how)

    def put(self, url: str, **how: Any) -> Response:
        """Sends a PUT request, or uploads a file by FTP or SFTP."""
        return self.request("PUT", url, **how)

    def patch(self, url: str, **how: Any) -> Response:
        """Sends a PATCH request."""
        return self.request("PATCH", url, **how)

    def delete(self, url: str, **how: Any) -> Response:
        """Sends a DELETE request."""
        return self.request("DELETE", url, **how)

    def close(self) -> None:
        """Ends the client. Its own pool, if it has one, is closed."""
        if not self.is_closed and self.pool is not _default:
            self.pool.close()
        self.is_closed = True

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _pieces_to_send(content: Any) -> Iterator[bytes] | None:
    """Returns an iterator if the body is sent piece by piece."""
    if content is None or isinstance(content, bytes):
        return None
    if hasattr(content, "read"):
        return iter(lambda: content.read(256 * 1024) or b"", b"")
    if hasattr(content, "__iter__"):
        return iter(content)
    raise TypeError(f"a body cannot be made of {type(content).__name__}")


def _feed(engine: _native.Engine, transfer: int, piece: bytes | str | None) -> None:
    engine.feed(transfer, piece.encode() if isinstance(piece, str) else piece)


_NEWS = object()
"""A step of a transfer: wait until there is news."""
_MORE = object()
"""A step of a transfer: provide the next piece to send; None is the end."""


_END = object()


def _step(steps: Generator[Any, Any, None], given: Any) -> Any:
    try:
        return steps.send(given)
    except StopIteration:
        return _END


class _Transfer:
    """A transfer as a sequence of steps, independent of the loop: wait, get more to send, deliver a piece of the body.

    The consumer of the steps waits: :class:`_Stream` on its thread, :class:`_AsyncTransfer` in asyncio's loop.
    """

    engine: _native.Engine
    number: int
    is_open = True
    _first: _native.Outcome | None = None
    _upload: Any = None

    def close(self) -> None:
        """Releases the transfer; one that has not ended is aborted."""
        raise NotImplementedError

    def _begin(self) -> _native.Outcome:
        """Returns what arrived with the head, and possibly the end."""
        outcome = self._first = self.engine.take(self.number)
        if outcome.code >= 0:
            self.close()
        return outcome

    def _sending(self, until_head: bool) -> Generator[Any, Any, None]:
        """Steps up to the head, or the end."""
        while True:
            headed, hungry, ended = self.engine.state(self.number)
            if ended or until_head and headed:
                return
            if hungry and self._upload is not None:
                yield from self._feeding()
            else:
                yield _NEWS

    def _feeding(self) -> Generator[Any, Any, None]:
        piece = yield _MORE
        while piece is not None and not piece:
            piece = yield _MORE
        if piece is None:
            self._upload = None
        if self.is_open:
            _feed(self.engine, self.number, piece)

    def _reading(self, request: Request) -> Generator[Any, Any, None]:
        """Steps of the body, after :meth:`_begin`. The rest of the upload is sent while nothing is to be read."""
        first, self._first = self._first, None
        if first is not None:
            if first.body:
                yield first.body
            if first.code > 0:
                raise outcome_failure(first, request)
        while self.is_open:
            _, hungry, ended = self.engine.state(self.number)
            outcome = self.engine.take(self.number) if ended else None
            piece = self.engine.take_body(self.number) if outcome is None else outcome.body
            if outcome is not None:
                self.close()
            if piece:
                yield piece
            elif outcome is None and hungry and self._upload is not None:
                yield from self._feeding()
            elif outcome is None:
                yield _NEWS
            if outcome is not None and outcome.code:
                raise outcome_failure(outcome, request)


class _Stream(_Transfer):
    """A transfer on its own engine, which the calling thread runs."""

    def __init__(self, pool: Pool, engine: _native.Engine, number: int) -> None:
        self._pool, self.engine, self.number = pool, engine, number
        self._lock = threading.Lock()

    def close(self) -> None:
        with self._lock:
            was_open, self.is_open = self.is_open, False
        if was_open:
            self.engine.release(self.number)
            self._pool._leave(self.engine)

    def begun(self, upload: Iterator[bytes] | None, until_head: bool) -> _native.Outcome:
        """Sends the upload up to the head or the end, and returns the outcome so far."""
        self._upload = upload
        for _ in self._taken(self._sending(until_head)):
            pass
        return self._begin()

    def pieces(self, response: Response) -> Iterator[bytes]:
        return self._taken(self._reading(response.request))

    async def apieces(self, response: Response) -> AsyncIterator[bytes]:
        for piece in self.pieces(response):
            yield piece

    def _taken(self, steps: Generator[Any, Any, None]) -> Iterator[bytes]:
        try:
            given = None
            while (step := _step(steps, given)) is not _END:
                given = None
                if step is _NEWS:
                    self.engine.advance(self.number)
                elif step is _MORE:
                    given = next(self._upload, None)
                else:
                    yield step
        except BaseException:
            self.close()
            raise

    def __del__(self) -> None:
        self.close()


class _Loop:
    """An engine in asyncio's loop: one watched descriptor, and one timer.

    The pool's connections stay with it between requests, watched all the time, and return when it ends. It ends with its loop, so it
    must not keep the loop alive. A timer would; it therefore has a weak reference to the engine.
    """

    def __init__(self, engine: _native.Engine, loop: asyncio.AbstractEventLoop) -> None:
        self.engine = engine
        self.waiting: dict[int, _Bell] = {}
        self._loop = weakref.ref(loop)
        self._timer: weakref.ref[asyncio.TimerHandle] | None = None
        loop.add_reader(engine.fileno(), self.run)

    def begin(self, options: list[Option], upload: Any, window: int | None, bell: _Bell) -> int:
        """Starts a transfer and runs it as far as possible."""
        number, news, left = self.engine.begin(options, upload, window)
        self.waiting[number] = bell
        self._tell(news, left)
        return number

    def run(self) -> None:
        """Runs the engine: the descriptor is readable, or a timer has expired."""
        self._tell(*self.engine.drive())

    def _tell(self, news: list[int], left: float | None) -> None:
        for number in news:
            bell = self.waiting.get(number)
            if bell is not None:
                bell.news()
        if left is not None or self._timer is not None:
            self._set_timer(left)

    def _set_timer(self, left: float | None) -> None:
        timer, loop = self._timer() if self._timer is not None else None, self._loop()
        if loop is None:
            return
        if left is None:
            if timer is not None:
                timer.cancel()
                self._timer = None
            return
        when = loop.time() + left
        if timer is not None:
            # A timer that fires early finds nothing due and is set again; one that would fire late is replaced.
            if not timer.cancelled() and timer.when() <= when and timer.when() > loop.time():
                return
            timer.cancel()
        self._timer = weakref.ref(loop.call_at(when, self._due))

    def _due(self) -> None:
        self._timer = None
        self.run()


class _Bell:
    """The waiter for news of a transfer. The loop refers to this and not to the transfer, so that an unused transfer ends."""

    __slots__ = ("_future", "_loop", "_rang")

    def __init__(self, loop: weakref.ref[asyncio.AbstractEventLoop]) -> None:
        self._loop = loop
        self._future: asyncio.Future[None] | None = None
        self._rang = False

    def news(self) -> None:
        future = self._future
        if future is None:
            self._rang = True
        elif not future.done():
            future.set_result(None)

    async def wait(self) -> None:
        """Waits for news, or returns at once if there was some since the last wait."""
        if self._rang:
            self._rang = False
            return
        loop = self._loop()
        assert loop is not None  # it is what runs this
        self._future = loop.create_future()
        try:
            await self._future
        finally:
            self._future = None


class _AsyncTransfer(_Transfer):
    """A transfer on an asyncio loop."""

    def __init__(self, on: _Loop, options: list[Option], upload: Any, window: int | None) -> None:
        self.on, self.engine, self._bell = on, on.engine, _Bell(on._loop)
        self.is_open = False
        self.number = on.begin(options, upload, window, self._bell)
        self.is_open = True

    async def wait(self) -> None:
        """Waits for news. Cancellation aborts the transfer."""
        try:
            await self._bell.wait()
        except asyncio.CancelledError:
            self.close()
            raise

    async def end(self) -> _native.Outcome:
        """Waits for the end, which is always reported, and releases the transfer."""
        outcome = None
        while outcome is None:
            await self.wait()
            outcome = self.engine.finish(self.number)
        self.is_open = False
        del self.on.waiting[self.number]
        return outcome

    def close(self) -> None:
        if self.is_open:
            self.is_open = False
            del self.on.waiting[self.number]
            self.engine.release(self.number)

    async def begun(self, upload: Any, until_head: bool) -> _native.Outcome:
        """As :meth:`_Stream.begun`."""
        self._upload = upload
        async for _ in self._taken(self._sending(until_head)):
            pass
        return self._begin()

    def pieces(self, response: Response) -> Iterator[bytes]:
        raise StreamConsumed("a response of an AsyncClient is read by aread and aiter_bytes")

    def apieces(self, response: Response) -> AsyncIterator[bytes]:
        return self._taken(self._reading(response.request))

    async def _taken(self, steps: Generator[Any, Any, None]) -> AsyncIterator[bytes]:
        try:
            given = None
            while (step := _step(steps, given)) is not _END:
                given = None
                if step is _NEWS:
                    await self.wait()
                elif step is _MORE:
                    given = await _anext_of(self._upload)
                else:
                    yield step
        except BaseException:
            self.close()
            raise

    def __del__(self) -> None:
        # Without its loop nothing can run the engine, and there is nothing to abort.
        if self.is_open and self.on._loop() is not None:
            self.close()


async def _anext_of(pieces: Any) -> Any:
    """Returns the next item of either kind of iterator; None at the end."""
    if not hasattr(pieces, "__anext__"):
        return next(pieces, None)
    try:
        return await pieces.__anext__()
    except StopAsyncIteration:
        return None


class AsyncClient(_Settings):
    """Sends requests in asyncio's loop: it watches one descriptor for all of them, and creates no threads.

    Takes the arguments of :class:`Client`. Cancelling a task that waits for a reply aborts its transfer at once.
    """

    async def request(self, method: str, url: str, **how: Any) -> Response:
        """Sends one request and reads its body to the end."""
        request = self.build_request(method, url, **_split(how))
        return await self.send(request, **how)

    async def send(self, request: Request, *, stream: bool = False, **how: Any) -> Response:
        """Sends a request that was built. With ``stream`` the caller reads the body and closes the response."""
        for hook in self.event_hooks["request"]:
            await _call(hook, request)
        options, upload = request.for_engine(self._options(request, how))
        content = request.content
        pieces = content.__aiter__() if hasattr(content, "__aiter__") else _pieces_to_send(content)
        try:
            transfer = _AsyncTransfer(self.pool._loop(), options, upload, WINDOW if stream else None)
        except RuntimeError as error:
            raise _refused(error, request) from None
        response = await (self._streamed if stream else self._whole)(transfer, request, pieces)
        try:
            for hook in self.event_hooks["response"]:
                await _call(hook, response)
        except BaseException:
            response.close()
            raise
        return response

    async def _whole(self, transfer: _AsyncTransfer, request: Request, upload: Any) -> Response:
        outcome = await (transfer.end() if upload is None else transfer.begun(upload, until_head=False))
        self._took(outcome)
        if outcome.code:
            raise outcome_failure(outcome, request)
        return Response(request, outcome)

    async def _streamed(self, transfer: _AsyncTransfer, request: Request, upload: Any) -> Response:
        outcome = await transfer.begun(upload, until_head=True)
        self._took(outcome)
        if outcome.code > 0 and not outcome.body:
            raise outcome_failure(outcome, request)
        return Response(request, outcome, transfer)

    @asynccontextmanager
    async def stream(self, method: str, url: str, **how: Any) -> AsyncIterator[Response]:
        """Sends a request whose body is read piece by piece. Leaving the block aborts what is left of it."""
        request = self.build_request(method, url, **_split(how))
        response = await self.send(request, stream=True, **how)
        try:
            yield response
        finally:
            response.close()

    async def get(self, url: str, **how: Any) -> Response:
        """Sends a GET request."""
        return await self.request("GET", url, **how)

    async def head(self, url: str, **how: Any) -> Response:
        """Sends a HEAD request."""
        return await self.request("HEAD", url, **how)

    async def options(self, url: str, **how: Any) -> Response:
        """Sends an OPTIONS request."""
        return await self.request("OPTIONS", url, **how)

    async def post(self, url: str, **how: Any) -> Response:
        """Sends a POST request."""
        return await self.request("POST", url, **how)

    async def put(self, url: str, **how: Any) -> Response:
        """Sends a PUT request, or uploads a file by FTP or SFTP."""
        return await self.request("PUT", url, **how)

    async def patch(self, url: str, **how: Any) -> Response:
        """Sends a PATCH request."""
        return await self.request("PATCH", url, **how)

    async def delete(self, url: str, **how: Any) -> Response:
        """Sends a DELETE request."""
        return await self.request("DELETE", url, **how)

    async def aclose(self) -> None:
        """Ends the client. Its own pool, if it has one, is closed."""
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
