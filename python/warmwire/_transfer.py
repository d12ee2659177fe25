"""Pools and running transfers: on the caller's thread, or in asyncio's loop."""

from __future__ import annotations

import asyncio
import os
import threading
import weakref
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from typing import Any

from . import _native
from ._errors import StreamConsumed
from ._models import Option, Request, Response, outcome_failure

WINDOW = 512 * 1024
"""Limit of a streamed body's buffer; beyond it the sender has to wait."""

class Pool:
    """Warm connections, resolved names and TLS sessions. Clients of any thread or loop can use a pool; default: the process's.

    ``max_idle`` limits its idle connections. After a fork, the child starts with an empty pool and does not use the parent's
    connections.

    >>> client = warmwire.Client(pool=warmwire.Pool())
    """

    def __repr__(self) -> str:
        return "<Pool of the process>" if self is _default else f"<Pool at {id(self):#x}>"

    def __init__(self, max_idle: int | None = None) -> None:
        if max_idle is not None and max_idle < 0:
            raise ValueError("max_idle is at least 0, or None for the default")
        self._max_idle = max_idle
        self._begin()
        _pools.add(self)

    def _begin(self) -> None:
        self._native = _native.Pool(self._max_idle)
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
                    self._loops.pop(known, None)
            found = self._loops[loop] = _Loop(_native.Engine(self._native, self._max_idle is None), loop)
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
    """Returns the pool that is used by default.

    >>> warmwire.default_pool()
    <Pool of the process>
    """
    return _default



def _pieces_to_send(content: Any) -> Iterator[bytes] | None:
    """Returns an iterator if the body is sent piece by piece."""
    if content is None or isinstance(content, bytes):
        return None
    if hasattr(content, "read"):
        return iter(lambda: content.read(256 * 1024) or b"", b"")
    if hasattr(content, "__iter__"):
        pieces: Iterator[bytes] = iter(content)
        return pieces
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
    leave: Callable[[], None] | None = None
    """Called once, when the transfer is released."""
    _first: _native.Outcome | None = None
    _upload: Any = None

    def close(self) -> None:
        """Releases the transfer; one that has not ended is aborted."""
        raise NotImplementedError

    def _left(self) -> None:
        leave, self.leave = self.leave, None
        if leave is not None:
            leave()

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
                raise outcome_failure(first, request, self._upload is not None)
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
                raise outcome_failure(outcome, request, self._upload is not None)


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
            self._left()

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
        self._left()
        return outcome

    def close(self) -> None:
        if self.is_open:
            self.is_open = False
            del self.on.waiting[self.number]
            self.engine.release(self.number)
            self._left()

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


