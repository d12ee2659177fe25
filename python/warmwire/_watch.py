"""Watches URLs: polls them at a steady pace and yields what has changed."""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from . import _native
from ._client import AsyncClient, Client
from ._errors import RequestError, failure

if TYPE_CHECKING:
    from types import TracebackType

    from ._native import _Change

Kind = Literal["first", "changed", "gone", "appeared", "message", "failed", "recovered"]


class Message(NamedTuple):
    """An event of an event stream, or a line about a mailbox (type ``mailbox``).

    >>> warmwire.Message(type="message", data="text", id="7").data
    'text'
    """

    type: str
    data: str
    id: str


@dataclass(frozen=True)
class Change:
    """A change of a watched URL.

    ``kind`` is ``first`` (the first poll was answered; later ones are compared with it), ``changed``, ``gone``, ``appeared``,
    ``message`` (see :class:`Message`), ``failed`` (once, for the first failure of a series) or ``recovered``. ``index`` is the
    position of the URL. ``time`` is when the answer arrived, in seconds since 1970, and ``latency`` how long the poll took.
    ``modified``, ``size`` and ``etag`` are what the server says about the file; ``content`` is there with ``contents=True``.

    >>> with warmwire.watch(["https://example.com/"], every=0.05, contents=True) as changes:
    ...     change = next(changes)
    >>> change.kind, change.content
    ('first', b'some content')
    """

    index: int
    url: str
    kind: Kind
    time: float
    latency: float
    modified: int | None
    size: int | None
    etag: str | None
    content: bytes | None
    message: Message | None
    error: RequestError | None


class Watched(NamedTuple):
    """The state of a watched URL.

    ``exists`` is None before the first answer. ``in_time`` and ``missed`` count the intervals that ended with and without an
    answer. ``p50`` and ``p99`` are latencies of the last thousand polls, in seconds. ``error`` is that of the last poll.

    >>> with warmwire.watch(["https://example.com/"], every=0.05) as changes:
    ...     first = next(changes)
    ...     changes.status(0).exists
    True
    """

    url: str
    exists: bool | None
    streams: bool
    age: float | None
    since_change: float | None
    in_time: int
    missed: int
    p50: float | None
    p99: float | None
    error: RequestError | None


class Watch(Iterator[Change], AsyncIterator[Change]):
    """The changes of watched URLs: an iterator, and an asynchronous one. Made by :func:`watch`.

    Iterate in one of the two ways. ``for`` polls while it waits for the next change; ``async for`` goes on polling in asyncio's
    loop while your code handles a change. ``close`` ends either, also from another thread or task; ``with`` does it for you.

    >>> with warmwire.watch(["https://example.com/"], every=0.05) as changes:
    ...     [change.kind for change in changes.until(0.3)]
    ['first']
    """

    def __init__(self, native: _native.Watcher, urls: list[str]) -> None:
        self._native, self._urls = native, urls
        self._closed = False
        self._ready: deque[Change] = deque()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._descriptor = -1
        self._timer: asyncio.TimerHandle | None = None
        self._woken: asyncio.Event | None = None
        self._error: BaseException | None = None

    def __repr__(self) -> str:
        return f"<Watch of {len(self._urls)} URLs{', closed' if self._closed else ''}>"

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    async def __aenter__(self) -> Watch:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __iter__(self) -> Watch:
        return self

    def __next__(self) -> Change:
        change = self._next(math.inf)
        if change is None:
            raise StopIteration
        return change

    def until(self, seconds: float) -> Iterator[Change]:
        """Yields changes for so many seconds."""
        end = time.monotonic() + seconds
        while (change := self._next(end)) is not None:
            yield change

    def _next(self, end: float) -> Change | None:
        if self._loop is not None:
            raise RuntimeError("the watch runs in asyncio's loop")
        while not self._closed:
            left = min(60.0, end - time.monotonic())
            if left <= 0:
                return None
            try:
                found = self._native.next(left)
            except ValueError:
                if self._closed:
                    return None
                raise
            if found is not None:
                return self._change(found)
        return None

    def __aiter__(self) -> Watch:
        return self

    async def __anext__(self) -> Change:
        if self._loop is None and not self._closed:
            self._loop = asyncio.get_running_loop()
            self._woken = asyncio.Event()
            self._descriptor = self._native.fileno()
            self._loop.add_reader(self._descriptor, self._turn)
            self._turn()
        elif not self._closed and self._loop is not asyncio.get_running_loop():
            raise RuntimeError("the watch runs in another loop")
        while not self._ready:
            if self._error is not None:
                error, self._error = self._error, None
                raise error
            if self._closed or self._woken is None:
                raise StopAsyncIteration
            self._woken.clear()
            await self._woken.wait()
        return self._ready.popleft()

    def _turn(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._closed or self._loop is None or self._woken is None:
            return
        try:
            found, left = self._native.perform()
        except Exception as error:
            self._error = error
            self.close()
            return
        self._ready.extend(map(self._change, found))
        if self._ready:
            self._woken.set()
        if left is not None:
            self._timer = self._loop.call_later(left, self._turn)

    def status(self, index: int) -> Watched:
        """Returns the state of the URL with this position."""
        if self._closed:
            raise ValueError("the watch is closed")
        exists, streams, age, since_change, in_time, missed, p50, p99, failed = self._native.status(index)
        error = None if failed is None else failure(*failed)
        return Watched(self._urls[index], exists, streams, age, since_change, in_time, missed, p50, p99, error)

    def close(self) -> None:
        """Ends the iteration and closes the connections."""
        if self._closed:
            return
        self._closed = True
        loop, self._loop = self._loop, None
        if loop is None:
            self._native.close()
            return
        try:
            running: asyncio.AbstractEventLoop | None = asyncio.get_running_loop()
        except RuntimeError:
            running = None
        if running is loop or loop.is_closed():
            self._leave(loop)
        else:
            loop.call_soon_threadsafe(self._leave, loop)

    def _leave(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if not loop.is_closed():
            loop.remove_reader(self._descriptor)
        self._native.close()
        if self._woken is not None and not loop.is_closed():
            self._woken.set()

    def _change(self, found: _Change) -> Change:
        index, kind, at, latency, modified, size, etag, content, message, failed = found
        error = None if failed is None else failure(*failed)
        news = None if message is None else Message(*message)
        return Change(index, self._urls[index], kind, at, latency, modified, size, etag, content, news, error)


def watch(
    urls: Iterable[str],
    *,
    every: float = 1.0,
    contents: bool = False,
    deadline: float | None = None,
    per_server: int = 4,
    content_limit: int = 64 << 20,
    client: Client | AsyncClient | None = None,
) -> Watch:
    """Polls each URL once in ``every`` seconds, on connections that stay open, and yields what changes.

    FTP is asked by MDTM and SIZE, HTTP by a conditional GET, SFTP by the attributes of the file; mailboxes (IMAP) and event
    streams report by themselves. A server that hangs holds up no other one, and one that fails is asked less often.

    With ``contents`` a change comes with the new content, which then decides whether something has changed; one of more than
    ``content_limit`` bytes is a failure. ``deadline`` limits a poll, by default to ten intervals, at least 5 and at most 60
    seconds. ``client`` has the settings: headers, login, TLS, proxies. A wrong URL raises at once, and nothing is watched.

    >>> for change in warmwire.watch(["https://example.com/"], every=0.2):
    ...     print(change.url, change.kind)
    ...     break
    https://example.com/ first
    """
    if isinstance(urls, (str, bytes)):
        raise TypeError("urls is a list of URLs")
    if not every > 0 or not math.isfinite(every):
        raise ValueError("every is a number of seconds above 0")
    if per_server < 1 or content_limit < 1 or (deadline is not None and not deadline > 0):
        raise ValueError("per_server, content_limit and deadline are above 0")
    all_urls = [str(url) for url in urls]
    if not all_urls:
        raise ValueError("there is no URL to watch")
    own = client if client is not None else Client()
    own._needs_engine("watch")
    native = _native.Watcher(every, deadline or 0.0, contents, content_limit, per_server)
    for url in all_urls:
        request = own.build_request("GET", url)
        options, _ = request.for_engine(own._options(request, {}))
        try:
            native.add(str(request.url), options)
        except RuntimeError as error:
            if len(error.args) != 2:
                raise
            raise failure(error.args[0], error.args[1], request) from None
    return Watch(native, all_urls)
