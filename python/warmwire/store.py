"""A store of objects below a URL, in the shape of obspec and obstore: for VirtualiZarr, zarr and whatever reads through them.

>>> import warmwire.store
>>> store = warmwire.store.HTTPStore("https://example.com/data")
>>> store.get_range("a.nc", start=0, length=4)
b'some'

``warmwire.zarr.ZarrStore(store)`` is a store for zarr. https://developmentseed.org/obspec
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from datetime import datetime, timezone
from email.utils import format_datetime, parsedate_to_datetime
from typing import Any, List, TypedDict
from urllib.parse import quote, unquote, urlsplit

from ._client import AsyncClient, Client
from ._errors import RequestError
from ._html import links
from ._models import Request, Response
from ._retry import BUSY, is_transient, pause

_GAP = 2**20
_AT_ONCE = 64
_FIELDS = ("Content-Disposition", "Content-Encoding", "Content-Language", "Content-Type", "Cache-Control")


class ObjectMeta(TypedDict):
    """Facts of an object. ``last_modified`` is the current time if the server does not report it."""

    path: str
    last_modified: datetime
    size: int
    e_tag: str | None
    version: str | None


class NotFoundError(FileNotFoundError):
    """There is no such object."""


class PermissionDeniedError(PermissionError):
    """Access is denied (403)."""


class UnauthenticatedError(PermissionError):
    """Credentials are missing or wrong (401)."""


class AlreadyExistsError(FileExistsError):
    """``put`` with mode ``create`` found an object."""


class PreconditionError(OSError):
    """The object is not in the state that was asked for (412)."""


class NotModifiedError(OSError):
    """The object was not modified (304)."""


class NotSupportedError(OSError):
    """The server, or HTTP, cannot do this."""


class InvalidPathError(ValueError):
    """A path with a segment ``.`` or ``..``."""


class GenericError(OSError):
    """Another status of 400 or above."""


class GetResult:
    """A reply: read it with :meth:`bytes`, or iterate over its pieces as they arrive.

    >>> result = warmwire.store.HTTPStore("https://example.com/").get("a.nc")
    >>> result.meta["size"], result.range
    (12, (0, 12))
    >>> sum(len(piece) for piece in result)
    12
    """

    def __init__(self, path: str, reply: Response) -> None:
        self._reply = reply
        self.meta = _meta(path, reply)
        self.range = _range_of(reply, self.meta["size"])

    @property
    def attributes(self) -> dict[str, str]:
        """The fields of the reply that describe the content."""
        return {name: self._reply.headers[name] for name in _FIELDS if name in self._reply.headers}

    def bytes(self) -> bytes:
        """Returns the whole body."""
        return self._reply.read()

    buffer = bytes

    def stream(self, min_chunk_size: int = 10 * 2**20) -> Iterator[Any]:
        """Yields pieces of this size; the last one may be smaller."""
        return self._reply.iter_bytes(min_chunk_size)

    def __iter__(self) -> Iterator[Any]:
        return self._reply.iter_bytes()


class GetResultAsync(GetResult):
    """A reply that is read in asyncio's loop."""

    async def bytes_async(self) -> Any:
        """Returns the whole body."""
        return await self._reply.aread()

    buffer_async = bytes_async

    def stream(self, min_chunk_size: int = 10 * 2**20) -> Any:
        """Yields pieces of this size; the last one may be smaller."""
        return self._reply.aiter_bytes(min_chunk_size)

    def __aiter__(self) -> AsyncIterator[Any]:
        return self._reply.aiter_bytes()


class _Ask:
    """A request, and how its reply becomes a result."""

    __slots__ = ("headers", "method", "path")

    def __init__(self, method: str, path: str, headers: dict[str, str] | None = None) -> None:
        self.method, self.path, self.headers = method, path, headers or {}


class HTTPStore:
    """Objects below a URL. Methods that end in ``_async`` are for asyncio's loop; the others may be called by any thread.

    ``client`` has arguments of :class:`~warmwire.Client`. Requests that break, or that a busy server refuses, are sent again up to
    ``retries`` times, after pauses of random length.

    >>> store = warmwire.store.HTTPStore("https://example.com/data", client={"timeout": 10})
    >>> store.head("a.nc")["size"]
    12
    """

    def __init__(self, url: str, *, client: dict[str, Any] | None = None, retries: int = 3) -> None:
        if urlsplit(url).scheme not in ("http", "https"):
            raise ValueError(f"a URL of http or https, not {url!r}")
        if retries < 0:
            raise ValueError("retries is at least 0")
        self.url, self._given, self._retries = url.rstrip("/"), dict(client or {}), retries
        how = {"follow_redirects": True, **self._given}
        self._client, self._async = Client(**how), AsyncClient(**how)

    @classmethod
    def from_url(cls, url: str, **how: Any) -> HTTPStore:
        """Returns the store of a URL; arguments are those of the class."""
        return cls(url, **how)

    def __repr__(self) -> str:
        return f"HTTPStore({self.url!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HTTPStore) and (self.url, self._given) == (other.url, other._given)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> Any:
        return (_restored, (self.url, self._given, self._retries))

    # Whole objects

    def get(self, path: str, *, options: dict[str, Any] | None = None) -> GetResult:
        """Starts to read an object; ``options`` are those of obspec: ``range``, ``if_match``, ``head`` and so on."""
        ask = self._get_ask(path, options)
        return GetResult(path, self._sent(ask, stream=True))

    async def get_async(self, path: str, *, options: dict[str, Any] | None = None) -> GetResultAsync:
        """As :meth:`get`."""
        ask = self._get_ask(path, options)
        return GetResultAsync(path, await self._asent(ask, stream=True))

    # Ranges

    def get_range(self, path: str, *, start: int, end: int | None = None, length: int | None = None) -> Any:
        """Returns the bytes from ``start`` to ``end`` (exclusive), or ``length`` bytes."""
        end = _end_of(start, end, length)
        return _cut(path, self._sent(_range_ask(path, start, end)), start, end)

    async def get_range_async(self, path: str, *, start: int, end: int | None = None, length: int | None = None) -> Any:
        """As :meth:`get_range`."""
        end = _end_of(start, end, length)
        return _cut(path, await self._asent(_range_ask(path, start, end)), start, end)

    def get_ranges(
        self, path: str, *, starts: Sequence[int], ends: Sequence[int] | None = None, lengths: Sequence[int] | None = None
    ) -> List[Any]:
        """Returns several ranges, fetched at the same time. Those at most 1 MiB apart are fetched as one.

        >>> warmwire.store.HTTPStore("https://example.com/").get_ranges("a.nc", starts=[0, 5], lengths=[4, 7])
        [b'some', b'content']
        """
        wanted, spans = _spans(starts, ends, lengths)
        replies = self._batch([_range_ask(path, first, last) for first, last in spans])
        return _parts(wanted, spans, [_cut(path, reply, *span) for reply, span in zip(replies, spans)])

    async def get_ranges_async(
        self, path: str, *, starts: Sequence[int], ends: Sequence[int] | None = None, lengths: Sequence[int] | None = None
    ) -> List[Any]:
        """As :meth:`get_ranges`."""
        wanted, spans = _spans(starts, ends, lengths)
        replies = await self._abatch([_range_ask(path, first, last) for first, last in spans])
        return _parts(wanted, spans, [_cut(path, reply, *span) for reply, span in zip(replies, spans)])

    # Facts and listings

    def head(self, path: str) -> ObjectMeta:
        """Returns the facts of an object."""
        return self._heads([path])[0]

    async def head_async(self, path: str) -> ObjectMeta:
        """As :meth:`head`."""
        return (await self._aheads([path]))[0]

    def list(self, prefix: str | None = None, *, offset: str | None = None) -> Iterator[List[ObjectMeta]]:
        """Yields the objects below a prefix, a list for each directory. Needs a server with index pages.

        ``offset`` leaves out paths up to this one.
        """
        waiting = [_folder(prefix)]
        while waiting:
            folders, files = self._index(waiting.pop(), self._sent_index)
            waiting += folders
            if files := [path for path in files if offset is None or path > offset]:
                yield self._heads(files)

    async def list_async(self, prefix: str | None = None, *, offset: str | None = None) -> AsyncIterator[List[ObjectMeta]]:
        """As :meth:`list`."""
        waiting = [_folder(prefix)]
        while waiting:
            folder = waiting.pop()
            folders, files = self._indexed(folder, await self._asent_index(folder))
            waiting += folders
            if files := [path for path in files if offset is None or path > offset]:
                yield await self._aheads(files)

    def list_with_delimiter(self, prefix: str | None = None) -> dict[str, Any]:
        """Returns the objects (``objects``) and directories (``common_prefixes``) directly below a prefix."""
        folders, files = self._index(_folder(prefix), self._sent_index)
        return {"common_prefixes": [each.rstrip("/") for each in folders], "objects": self._heads(files)}

    async def list_with_delimiter_async(self, prefix: str | None = None) -> dict[str, Any]:
        """As :meth:`list_with_delimiter`."""
        folder = _folder(prefix)
        folders, files = self._indexed(folder, await self._asent_index(folder))
        return {"common_prefixes": [each.rstrip("/") for each in folders], "objects": await self._aheads(files)}

    # Writing

    def put(
        self,
        path: str,
        file: Any,
        *,
        attributes: dict[str, str] | None = None,
        tags: dict[str, str] | None = None,
        mode: Any = None,
        use_multipart: bool | None = None,
        chunk_size: int = 5 * 2**20,
        max_concurrency: int = 12,
    ) -> dict[str, str | None]:
        """Writes an object by PUT: bytes, a buffer, a path, an open file, or an iterator of these pieces.

        ``mode`` is ``overwrite``, ``create`` (fails if the object exists), or ``{"e_tag": ...}`` (fails if it is not that version).
        """
        ask = self._put_ask(path, attributes, tags, mode, use_multipart)
        with _opened(file) as content:
            return _put_result(self._sent(ask, content=content))

    async def put_async(
        self,
        path: str,
        file: Any,
        *,
        attributes: dict[str, str] | None = None,
        tags: dict[str, str] | None = None,
        mode: Any = None,
        use_multipart: bool | None = None,
        chunk_size: int = 5 * 2**20,
        max_concurrency: int = 12,
    ) -> dict[str, str | None]:
        """As :meth:`put`; ``file`` may be an asynchronous iterator as well."""
        ask = self._put_ask(path, attributes, tags, mode, use_multipart)
        with _opened(file) as content:
            return _put_result(await self._asent(ask, content=content))

    def delete(self, paths: str | Sequence[str]) -> None:
        """Removes objects by DELETE."""
        self._batch([_Ask("DELETE", path) for path in ([paths] if isinstance(paths, str) else paths)])

    async def delete_async(self, paths: str | Sequence[str]) -> None:
        """As :meth:`delete`."""
        await self._abatch([_Ask("DELETE", path) for path in ([paths] if isinstance(paths, str) else paths)])

    # Requests

    async def _body_async(self, path: str, options: dict[str, Any] | None) -> bytes:
        """Returns an object, or a range of it; of a server that knows no ranges, too."""
        ask = self._get_ask(path, options)
        reply = await self._asent(ask)
        body = reply.content
        if "Range" not in ask.headers or reply.status_code != 200:
            return body
        first, _, last = ask.headers["Range"].removeprefix("bytes=").partition("-")
        return body[int(first) : int(last) + 1 if last else None] if first else body[-int(last) :]

    def _url_of(self, path: str) -> str:
        names = path.strip("/").split("/") if not path.endswith("/") else path.lstrip("/").split("/")
        if any(name in (".", "..") for name in names):
            raise InvalidPathError(f"{path!r}: a segment is . or ..")
        return f"{self.url}/{quote('/'.join(names), safe='/~!$&()*+,;=:@')}"

    def _get_ask(self, path: str, options: dict[str, Any] | None) -> _Ask:
        given = dict(options or {})
        headers = {}
        for name in ("if_match", "if_none_match"):
            if value := given.pop(name, None):
                headers[name.replace("_", "-").title()] = value
        for name in ("if_modified_since", "if_unmodified_since"):
            if moment := given.pop(name, None):
                headers[name.replace("_", "-").title()] = format_datetime(moment.astimezone(timezone.utc), usegmt=True)
        if (wanted := given.pop("range", None)) is not None:
            headers["Range"] = _range_field(wanted)
        method = "HEAD" if given.pop("head", False) else "GET"
        if given.pop("version", None) is not None:
            raise NotSupportedError("HTTP has no versions of an object")
        if given:
            raise TypeError(f"unknown option: {', '.join(given)}")
        return _Ask(method, path, headers)

    def _put_ask(self, path: str, attributes: Any, tags: Any, mode: Any, use_multipart: Any) -> _Ask:
        if tags or use_multipart:
            raise NotSupportedError("HTTP has neither tags nor uploads in parts")
        headers = {name if name in _FIELDS else f"x-meta-{name}": value for name, value in (attributes or {}).items()}
        if mode == "create":
            headers["If-None-Match"] = "*"
        elif isinstance(mode, dict):
            if not mode.get("e_tag"):
                raise NotSupportedError("a version of HTTP is its e_tag")
            headers["If-Match"] = mode["e_tag"]
        elif mode not in (None, "overwrite"):
            raise ValueError(f"mode is 'overwrite', 'create' or a version, not {mode!r}")
        return _Ask("PUT", path, headers)

    def _request(self, ask: _Ask, content: Any = None) -> Request:
        return self._client.build_request(ask.method, self._url_of(ask.path), headers=ask.headers, content=content)

    def _sent(self, ask: _Ask, stream: bool = False, content: Any = None) -> Response:
        for attempt in range(1, self._retries + 2):
            is_last = attempt > self._retries or not (content is None or isinstance(content, bytes))
            try:
                reply = self._client.send(self._request(ask, content), stream=stream, options=_PLAIN)
            except RequestError as error:
                if is_last or not is_transient(error):
                    raise
                time.sleep(pause(attempt))
                continue
            if reply.status_code not in BUSY or is_last:
                return _checked(ask, reply)
            reply.close()
            time.sleep(pause(attempt, reply.headers.get("retry-after", "")))
        raise AssertionError("the last attempt returns or raises")

    async def _asent(self, ask: _Ask, stream: bool = False, content: Any = None) -> Response:
        for attempt in range(1, self._retries + 2):
            is_last = attempt > self._retries or not (content is None or isinstance(content, bytes))
            try:
                reply = await self._async.send(self._request(ask, content), stream=stream, options=_PLAIN)
            except RequestError as error:
                if is_last or not is_transient(error):
                    raise
                await asyncio.sleep(pause(attempt))
                continue
            if reply.status_code not in BUSY or is_last:
                return _checked(ask, reply)
            reply.close()
            await asyncio.sleep(pause(attempt, reply.headers.get("retry-after", "")))
        raise AssertionError("the last attempt returns or raises")

    def _batch(self, asks: List[_Ask]) -> List[Response]:
        """Sends requests at the same time, on this thread. One that fails is sent again alone."""
        if len(asks) < 2:
            return [self._sent(ask) for ask in asks]
        found: List[Response | None] = [None] * len(asks)
        for at in range(0, len(asks), _AT_ONCE):
            requests = [self._request(ask) for ask in asks[at : at + _AT_ONCE]]
            found[at : at + _AT_ONCE] = self._client._send_all(requests, _PLAIN)
        ended = []
        for ask, reply in zip(asks, found):
            ended.append(self._sent(ask) if reply is None or reply.status_code in BUSY else _checked(ask, reply))
        return ended

    async def _abatch(self, asks: List[_Ask]) -> List[Response]:
        room = asyncio.Semaphore(_AT_ONCE)

        async def one(ask: _Ask) -> Response:
            async with room:
                return await self._asent(ask)

        return await asyncio.gather(*(one(ask) for ask in asks))

    def _heads(self, paths: List[str]) -> List[ObjectMeta]:
        replies = self._batch([_Ask("HEAD", path) for path in paths])
        lost = [n for n, reply in enumerate(replies) if _size_of(reply) is None]
        for n, reply in zip(lost, [self._sent(_first_byte(paths[n]), stream=True) for n in lost]):
            reply.close()
            replies[n] = reply
        return [_meta(path, reply) for path, reply in zip(paths, replies)]

    async def _aheads(self, paths: List[str]) -> List[ObjectMeta]:
        replies = await self._abatch([_Ask("HEAD", path) for path in paths])
        for n, reply in enumerate(replies):
            if _size_of(reply) is None:
                replies[n] = await self._asent(_first_byte(paths[n]), stream=True)
                replies[n].close()
        return [_meta(path, reply) for path, reply in zip(paths, replies)]

    def _sent_index(self, folder: str) -> Response | None:
        try:
            return self._sent(_Ask("GET", folder))
        except NotFoundError:
            return None

    async def _asent_index(self, folder: str) -> Response | None:
        try:
            return await self._asent(_Ask("GET", folder))
        except NotFoundError:
            return None

    def _index(self, folder: str, ask: Any) -> tuple[List[str], List[str]]:
        return self._indexed(folder, ask(folder))

    def _indexed(self, folder: str, reply: Response | None) -> tuple[List[str], List[str]]:
        """Returns the directories and files that an index page links to."""
        if reply is None:
            return [], []
        kind = reply.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind not in ("text/html", "application/xhtml+xml"):
            raise NotSupportedError(f"{reply.url} is no index page but {kind or 'of no known type'}: nothing can be listed")
        base = str(reply.url) if str(reply.url).endswith("/") else f"{reply.url}/"
        names = [unquote(url[len(base) :]) for url, _ in links(base, reply.content)]
        # A link to something deeper appears in the page of its own directory.
        names = [name for name in names if name.rstrip("/") and "/" not in name.rstrip("/")]
        return [folder + name for name in names if name.endswith("/")], [folder + name for name in names if not name.endswith("/")]


_PLAIN = {"ACCEPT_ENCODING": None}


def _restored(url: str, client: dict[str, Any], retries: int) -> HTTPStore:
    return HTTPStore(url, client=client, retries=retries)


def _folder(prefix: str | None) -> str:
    prefix = (prefix or "").strip("/")
    return prefix + "/" if prefix else ""


def _first_byte(path: str) -> _Ask:
    """Asks for what HEAD did not report: the size is in the reply to a range."""
    return _Ask("GET", path, {"Range": "bytes=0-0"})


def _range_ask(path: str, start: int, end: int) -> _Ask:
    return _Ask("GET", path, {"Range": f"bytes={start}-{end - 1}"})


def _range_field(wanted: Any) -> str:
    if isinstance(wanted, dict):
        if "offset" in wanted:
            return f"bytes={wanted['offset']}-"
        if "suffix" in wanted:
            return f"bytes=-{wanted['suffix']}"
        raise ValueError(f"a range is (start, end), an offset or a suffix, not {wanted!r}")
    start, end = wanted
    return f"bytes={start}-{_end_of(start, end, None) - 1}"


def _end_of(start: int, end: int | None, length: int | None) -> int:
    if (end is None) == (length is None):
        raise ValueError("either end or length is given")
    end = start + length if length is not None else end
    assert end is not None  # one of them was given
    if start < 0 or end <= start:
        raise ValueError(f"the range {start} to {end} is empty or before the beginning")
    return end


def _spans(starts: Any, ends: Any, lengths: Any) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Returns the wanted ranges, and the ranges to fetch, in order."""
    if (ends is None) == (lengths is None):
        raise ValueError("either ends or lengths is given")
    limits = ends if ends is not None else lengths
    if len(starts) != len(limits):
        raise ValueError("starts and ends, or lengths, differ in their number")
    wanted = [
        (start, _end_of(start, limit if ends is not None else None, limit if ends is None else None)) for start, limit in zip(starts, limits)
    ]
    spans: list[tuple[int, int]] = []
    for start, end in sorted(wanted):
        if spans and start <= spans[-1][1] + _GAP:
            spans[-1] = (spans[-1][0], max(spans[-1][1], end))
        else:
            spans.append((start, end))
    return wanted, spans


def _parts(wanted: list[tuple[int, int]], spans: list[tuple[int, int]], bodies: list[bytes]) -> list[Any]:
    """Cuts the wanted ranges out of what was fetched, without copies of what was fetched for several."""
    found = []
    for start, end in wanted:
        at = next(n for n, (first, last) in enumerate(spans) if first <= start and end <= last)
        first, last = spans[at]
        found.append(bodies[at] if (start, end) == (first, last) else bodies[at][start - first : end - first])
    return found


def _cut(path: str, reply: Response, start: int, end: int) -> Any:
    """Returns the range; a server that knows none has sent everything."""
    body = reply.content
    return body[start:end] if reply.status_code == 200 else body


def _size_of(reply: Response) -> int | None:
    total = reply.headers.get("content-range", "").rpartition("/")[2]
    if reply.status_code == 206:
        return int(total) if total.isdigit() else None
    if "content-length" in reply.headers and reply.headers["content-length"].isdigit():
        return int(reply.headers["content-length"])
    return None


def _meta(path: str, reply: Response) -> ObjectMeta:
    size = _size_of(reply)
    if size is None:
        if reply._content is None:
            raise NotSupportedError(f"{reply.url}: the server does not report the size")
        size = len(reply.content)
    moment = None
    if "last-modified" in reply.headers:
        try:
            moment = parsedate_to_datetime(reply.headers["last-modified"])
        except (ValueError, TypeError):
            moment = None
    if moment is None:
        moment = datetime.now(timezone.utc)
    elif moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    return {"path": path, "last_modified": moment, "size": size, "e_tag": reply.headers.get("etag"), "version": None}


def _range_of(reply: Response, size: int) -> tuple[int, int]:
    place = reply.headers.get("content-range", "").removeprefix("bytes ").partition("/")[0]
    first, dash, last = place.partition("-")
    if reply.status_code == 206 and dash and first.isdigit() and last.isdigit():
        return (int(first), int(last) + 1)
    return (0, size)


def _put_result(reply: Response) -> dict[str, str | None]:
    return {"e_tag": reply.headers.get("etag"), "version": None}


def _checked(ask: _Ask, reply: Response) -> Response:
    status = reply.status_code
    if status < 300:
        return reply
    reply.close()
    place = f"{reply.url}: {status} {reply.reason_phrase}".rstrip()
    kinds: dict[int, type[OSError]] = {
        401: UnauthenticatedError, 403: PermissionDeniedError, 404: NotFoundError, 410: NotFoundError, 304: NotModifiedError,
        405: NotSupportedError, 501: NotSupportedError,
        412: AlreadyExistsError if ask.headers.get("If-None-Match") == "*" and ask.method == "PUT" else PreconditionError,
    }  # fmt: skip
    if status == 416:
        raise ValueError(f"{place}: the range is behind the end of the object")
    raise kinds.get(status, GenericError)(place)


class _opened:  # noqa: N801
    """The content of a put as bytes or pieces; a path is opened, and closed at the end."""

    def __init__(self, file: Any) -> None:
        self._given = file
        self._file: Any = None

    def __enter__(self) -> Any:
        given = self._given
        if isinstance(given, (bytes, bytearray, memoryview)):
            return bytes(given)
        if isinstance(given, os.PathLike):
            self._file = given = open(given, "rb")  # noqa: SIM115
        if hasattr(given, "read") or hasattr(given, "__aiter__"):
            return given
        try:
            return bytes(memoryview(given))
        except TypeError:
            return (bytes(piece) for piece in given)

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()


__all__ = [
    "AlreadyExistsError",
    "GenericError",
    "GetResult",
    "GetResultAsync",
    "HTTPStore",
    "InvalidPathError",
    "NotFoundError",
    "NotModifiedError",
    "NotSupportedError",
    "ObjectMeta",
    "PermissionDeniedError",
    "PreconditionError",
    "UnauthenticatedError",
]
