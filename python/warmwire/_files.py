"""Common parts of the file systems: blocking methods, ranges fetched together, files opened for reading."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import inspect
import os
import re
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, TypeVar

from fsspec.asyn import AbstractAsyncStreamedFile, AsyncFileSystem, async_methods, sync
from fsspec.callbacks import DEFAULT_CALLBACK
from fsspec.spec import AbstractBufferedFile, AbstractFileSystem

GAP = 64 * 1024
_Class = TypeVar("_Class", bound=type)
_Result = TypeVar("_Result")
Span = tuple[str, int, int, list[int]]
"""A range to fetch: path, start, end, and the places of the ranges that it contains."""


def planned(
    paths: list[str], starts: Any, ends: Any, max_gap: int | None
) -> tuple[list[int | None], list[int | None], list[Span], list[int]]:
    """Returns starts and ends for each path, the spans to fetch, and the places of ranges that are fetched on their own."""
    if not isinstance(paths, list):
        raise TypeError("paths is a list")
    starts = list(starts) if hasattr(starts, "__iter__") else [starts] * len(paths)
    ends = list(ends) if hasattr(ends, "__iter__") else [ends] * len(paths)
    if not len(starts) == len(ends) == len(paths):
        raise ValueError("paths, starts and ends differ in length")
    gap = GAP if max_gap is None else max_gap
    plain, alone = [], []
    for n, (path, start, end) in enumerate(zip(paths, starts, ends)):
        if start is not None and end is not None and 0 <= start < end:
            plain.append((path, start, end, n))
        else:
            alone.append(n)
    spans: list[Span] = []
    for path, start, end, n in sorted(plain):
        if spans:
            before, first, last, members = spans[-1]
            if before == path and start <= last + gap:
                spans[-1] = (path, first, max(last, end), [*members, n])
                continue
        spans.append((path, start, end, [n]))
    return starts, ends, spans, alone


def returned(found: list[Any], on_error: str) -> list[Any]:
    """Returns the results, or raises the first error among them."""
    if on_error == "raise":
        for each in found:
            if isinstance(each, Exception):
                raise each
    return found


class Files(AsyncFileSystem):
    """A file system on the engine; subclasses fetch pieces."""

    async def _limits_of(self, path: str, start: int | None, end: int | None) -> tuple[int, int]:
        size = await self._size(path)
        if size is None:
            raise ValueError(f"{path}: a place counted from the end, and the size is not known")
        start = 0 if start is None else max(0, size + start) if start < 0 else start
        end = size if end is None else max(0, size + end) if end < 0 else end
        return start, end

    async def _cat_ranges(
        self,
        paths: list[str],
        starts: Any,
        ends: Any,
        max_gap: int | None = None,
        batch_size: int | None = None,
        on_error: str = "return",
        **kwargs: Any,
    ) -> list[Any]:
        """Fetches ranges at the same time. Those at most ``max_gap`` bytes apart (64 KiB) are fetched as one."""
        starts, ends, spans, alone = planned(paths, starts, ends, max_gap)
        found: list[Any] = [None] * len(paths)
        room = asyncio.Semaphore(batch_size or self.batch_size or 64)

        async def fetch(path: str, start: Any, end: Any) -> Any:
            async with room:
                try:
                    return await self._cat_file(path, start, end)
                except Exception as error:
                    return error

        async def span(path: str, first: int, last: int, members: list[int]) -> None:
            body = await fetch(path, first, last)
            for n in members:
                found[n] = body if isinstance(body, Exception) else body[starts[n] - first : ends[n] - first]

        async def one(n: int) -> None:
            found[n] = await fetch(paths[n], starts[n], ends[n])

        await asyncio.gather(*(span(*each) for each in spans), *(one(n) for n in alone))
        return returned(found, on_error)

    async def _exists(self, path: str, **kwargs: Any) -> bool:
        try:
            await self._info(path)
            return True
        except FileNotFoundError:
            return False

    async def _isfile(self, path: str) -> bool:
        return await self._is_type(path, "file")

    async def _is_type(self, path: str, kind: str) -> bool:
        """Returns whether there is a file or directory of this type."""
        try:
            found: str = (await self._info(path))["type"]
        except OSError:
            return False
        return found == kind

    async def _stored(self, rpath: str, lpath: Any, callback: Any) -> None:
        """Writes a file to a local one, or to an open file. A failure leaves no local file."""
        if hasattr(lpath, "write"):
            async for piece in self._pieces(rpath, callback):
                lpath.write(piece)
            return
        os.makedirs(os.path.dirname(os.path.abspath(lpath)), exist_ok=True)
        with open(lpath, "wb") as file:
            try:
                async for piece in self._pieces(rpath, callback):
                    file.write(piece)
            except BaseException:
                file.close()
                if os.path.isfile(lpath):  # a device or a pipe was there before and stays
                    os.unlink(lpath)
                raise

    async def _pieces(self, path: str, callback: Any) -> AsyncIterator[bytes]:
        """Yields the body of a file as it arrives."""
        raise NotImplementedError
        yield b""


def waited(
    fs: AsyncFileSystem, work: Callable[..., Awaitable[_Result]], *args: Any, timeout: float | None = None, **kwargs: Any
) -> _Result:
    """Runs a coroutine on the file system's loop, in another thread, and returns its result.

    An interrupt (Ctrl-C) cancels the coroutine and waits for its end; fsspec's own function leaves it running.
    """
    ended, is_given_up = threading.Event(), False
    tasks: list[asyncio.Task[Any]] = []

    async def run() -> _Result | None:
        if is_given_up:
            ended.set()
            return None
        if (task := asyncio.current_task()) is not None:
            tasks.append(task)
        try:
            return await work(*args, **kwargs)
        finally:
            ended.set()

    def give_up() -> None:
        nonlocal is_given_up
        is_given_up = True
        for task in tasks:
            task.cancel()

    loop = fs.loop
    try:
        found: _Result = sync(loop, run, timeout=timeout)
        return found
    except (Exception, asyncio.CancelledError):
        raise
    except BaseException:
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(give_up)
            ended.wait(10)
        raise


def _mirror(owner: Any, name: str) -> Any:
    """Returns a blocking version of a coroutine method, like fsspec's but with :func:`waited`."""

    @functools.wraps(getattr(owner, name))
    def call(self: AsyncFileSystem, *args: Any, **kwargs: Any) -> Any:
        return waited(self, getattr(self, name), *args, **kwargs)

    call.__name__ = name[1:]
    call.__doc__ = call.__doc__ or getattr(AbstractFileSystem, name[1:]).__doc__
    return call


def mirrored(owner: _Class) -> _Class:
    """Gives a class blocking versions of its coroutine methods."""
    for name in {*async_methods, *dir(AsyncFileSystem)}:
        default = getattr(AbstractFileSystem, name[1:], None) if re.match("_[^_]", name) else None
        if default is not None and inspect.iscoroutinefunction(getattr(owner, name, None)) and getattr(owner, name[1:]) is default:
            setattr(owner, name[1:], _mirror(owner, name))
    return owner


class Read(AbstractBufferedFile):
    """A file whose pieces are fetched on demand."""

    def _fetch_range(self, start: int, end: int) -> bytes:
        found: bytes = self.fs.cat_file(self.path, start, end)
        return found


class Streamed(AbstractAsyncStreamedFile):
    """A file that is read once, as it arrives."""

    def __init__(self, fs: Files, path: str, mode: str) -> None:
        self.fs, self.path, self.mode, self.loc = fs, path, mode, 0
        self._pieces: AsyncIterator[bytes] | None = None
        self._held = b""

    async def read(self, num: int = -1) -> bytes:
        """Reads that many bytes, fewer at the end; all by default."""
        if self._pieces is None:
            self._pieces = self.fs._pieces(self.path, DEFAULT_CALLBACK)
        parts, have = [self._held], len(self._held)
        while num < 0 or have < num:
            piece = await _next_of(self._pieces)
            if piece is None:
                break
            parts.append(piece)
            have += len(piece)
        whole = b"".join(parts)
        found, self._held = (whole, b"") if num < 0 else (whole[:num], whole[num:])
        self.loc += len(found)
        return found

    async def close(self) -> None:
        """Aborts the transfer."""
        if self._pieces is not None:
            await self._pieces.aclose()  # type: ignore[attr-defined]


async def _next_of(pieces: AsyncIterator[bytes]) -> bytes | None:
    try:
        return await pieces.__anext__()
    except StopAsyncIteration:
        return None


__all__ = ["Files", "Read", "Streamed", "mirrored", "waited"]
