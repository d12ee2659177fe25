"""A file system for fsspec: http, https, ftp, ftps and sftp through Warmwire's engine.

>>> import fsspec
>>> files = fsspec.filesystem("warmwire")
>>> files.cat_ranges(["https://example.com/a", "https://example.com/a"], [0, 1000], [100, 1100])

After :func:`register` fsspec uses it for those schemes. Paths are whole URLs; those of ftp and sftp are not percent-encoded. Over
http a directory is the set of a page's links below its own URL, and only files can be created.
"""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import quote, urlsplit

import fsspec
from fsspec.callbacks import DEFAULT_CALLBACK
from fsspec.utils import stringify_path

from . import _native
from ._client import AsyncClient
from ._errors import HTTPStatusError, LoginError, RequestError, UploadError
from ._files import Files, Read, Span, Streamed, mirrored, planned, returned, waited
from ._html import links
from ._models import Request, Response, outcome_failure
from ._settings import fixed_proxy, refused

SCHEMES = ("http", "https", "ftp", "ftps", "sftp")
_MLSD_TIME = "%Y%m%d%H%M%S"
_NO_CWD = {"FTP_FILEMETHOD": 2}


def register(*schemes: str) -> None:
    """Makes fsspec use this file system for these schemes; all of :data:`SCHEMES` by default."""
    for scheme in schemes or SCHEMES:
        fsspec.register_implementation(scheme, WarmwireFileSystem, clobber=True)


@mirrored
class WarmwireFileSystem(Files):
    """Files at URLs.

    ``client`` has arguments of :class:`~warmwire.AsyncClient` (headers, auth, verify, options, pool and so on).
    ``block_size`` and ``cache_type`` are fsspec's, for opened files.
    """

    protocol = ("warmwire", *SCHEMES)
    root_marker = ""
    sep = "/"

    def __init__(
        self,
        client: dict[str, Any] | None = None,
        block_size: int = 5 * 2**20,
        cache_type: str = "readahead",
        asynchronous: bool = False,
        loop: Any = None,
        **more: Any,
    ) -> None:
        super().__init__(asynchronous=asynchronous, loop=loop, **more)
        self.block_size, self.cache_type = block_size, cache_type
        self.client = AsyncClient(**{"follow_redirects": True, **(client or {})})

    def __repr__(self) -> str:
        return f"<WarmwireFileSystem {self.client!r}>"

    @classmethod
    def _strip_protocol(cls, path: Any) -> Any:
        if isinstance(path, list):
            return [cls._strip_protocol(one) for one in path]
        path = stringify_path(path)
        if path.startswith("warmwire://"):
            path = path[len("warmwire://") :]
        return path.rstrip("/") if not path.startswith("http") else path

    @classmethod
    def _parent(cls, path: str) -> str:
        path = path.rstrip("/")
        head = path.rsplit("/", 1)[0]
        return head if "://" in head else path

    async def _request(self, method: str, path: str, options: dict[str, Any] | None = None, **how: Any) -> Response:
        # No directory is entered (CWD): a kept connection might be in one that was replaced since.
        options = options or {} if _is_http(path) else {**_NO_CWD, **(options or {})}
        return _checked(path, await _answered(path, self.client.request(method, _url(path), options=options, **how)))

    async def _send(self, path: str, content: Callable[[], Any], **how: Any) -> None:
        """Uploads a new file and creates its directories."""
        try:
            await self._request("PUT", path, content=content(), **how)
        except (UploadError, FileNotFoundError):
            if _is_http(path):
                raise
            await self._makedirs(self._parent(path), exist_ok=True)
            await self._request("PUT", path, content=content(), **how)

    async def _cat_file(self, path: str, start: int | None = None, end: int | None = None, **kwargs: Any) -> bytes:
        path = self._strip_protocol(path)
        if (start is not None and start < 0) or (end is not None and end < 0):
            start, end = await self._limits_of(path, start, end)
        if start is not None and end is not None and start >= end:
            return b""
        if start is None and end is None:
            return (await self._request("GET", path)).content
        return await self._piece(path, start or 0, end)

    async def _piece(self, path: str, start: int, end: int | None) -> bytes:
        """Fetches a range; if the server sends the whole file, cuts it out."""
        last = "" if end is None else str(end - 1)
        options = {"RANGE": f"{start}-{last}", "ACCEPT_ENCODING": None, **_NO_CWD}
        reply = await _answered(path, self.client.get(_url(path), options=options))
        if reply.status_code == 416:
            return b""
        body = _checked(path, reply).content
        return body[start:end] if reply.status_code == 200 else body

    def cat_ranges(
        self,
        paths: list[str],
        starts: Any,
        ends: Any,
        max_gap: int | None = None,
        on_error: str = "return",
        batch_size: int | None = None,
        **kwargs: Any,
    ) -> list[Any]:
        """Fetches ranges at the same time. Those at most ``max_gap`` bytes apart (64 KiB) are fetched as one.

        Ranges of files over http are fetched on the calling thread, without an event loop.
        """
        is_plain = isinstance(paths, list) and all(_is_http(path) for path in paths) and self.client._is_direct()
        if is_plain and not kwargs:
            all_starts, all_ends, spans, alone = planned(paths, starts, ends, max_gap)
            if not alone:
                found = _ranges(self.client, all_starts, all_ends, spans, batch_size or self.batch_size or 64)
                return returned(found, on_error)
        how = {"max_gap": max_gap, "batch_size": batch_size, "on_error": on_error, **kwargs}
        return waited(self, self._cat_ranges, paths, starts, ends, **how)

    async def _get_file(self, rpath: str, lpath: Any, callback: Any = DEFAULT_CALLBACK, **kwargs: Any) -> None:
        rpath = self._strip_protocol(rpath)
        if not _is_http(rpath) and await self._isdir(rpath):
            os.makedirs(lpath, exist_ok=True)
            return
        await self._stored(rpath, lpath, callback)

    async def _pieces(self, path: str, callback: Any) -> AsyncIterator[bytes]:
        request = self.client.build_request("GET", _url(path))
        options = {} if _is_http(path) else _NO_CWD
        reply = await _answered(path, self.client.send(request, stream=True, options=options))
        try:
            _checked(path, reply)
            if reply._outcome.announced >= 0:
                callback.set_size(reply._outcome.announced)
            async for piece in reply.aiter_bytes():
                callback.relative_update(len(piece))
                yield piece
        except RequestError as error:
            raise _as_os_error(path, error) from error
        finally:
            reply.close()

    async def _pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **kwargs: Any) -> None:
        path = self._strip_protocol(path)
        if mode == "create" and await self._exists(path):
            raise FileExistsError(path)
        await self._send(path, lambda: bytes(value))

    async def _put_file(
        self, lpath: Any, rpath: str, callback: Any = DEFAULT_CALLBACK, mode: str = "overwrite", **kwargs: Any
    ) -> None:
        rpath = self._strip_protocol(rpath)
        if os.path.isdir(lpath):
            await self._makedirs(rpath, exist_ok=True)
            return
        if mode == "create" and await self._exists(rpath):
            raise FileExistsError(rpath)
        size = os.path.getsize(lpath)
        callback.set_size(size)
        with open(lpath, "rb") as file:

            def pieces() -> Any:
                file.seek(0)
                while piece := file.read(256 * 1024):
                    callback.relative_update(len(piece))
                    yield piece

            headers = {"Content-Length": str(size)}
            await self._send(rpath, pieces, headers=headers)

    async def _info(self, path: str, **kwargs: Any) -> dict[str, Any]:
        path = self._strip_protocol(path)
        if _is_http(path):
            return await self._info_http(path)
        if not urlsplit(path).path.strip("/"):
            return {"name": path, "size": 0, "type": "directory"}
        for entry in await self._list(self._parent(path)):
            if entry["name"] == path:
                return entry
        raise FileNotFoundError(path)

    async def _info_http(self, path: str) -> dict[str, Any]:
        """Sends HEAD; if the server refuses it or reports no size, requests the first byte."""
        plain = {"ACCEPT_ENCODING": None}
        reply = await _answered(path, self.client.head(_url(path), options=plain))
        size = reply._outcome.announced if reply.is_success and "content-length" in reply.headers else None
        if size is None and reply.status_code != 404:
            request = self.client.build_request("GET", _url(path), headers={"Range": "bytes=0-0"})
            reply = await _answered(path, self.client.send(request, stream=True, options=plain))
            reply.close()
            total = reply.headers.get("content-range", "").rpartition("/")[2]
            if reply.status_code == 206 and total.isdigit():
                size = int(total)
            elif reply.status_code == 416:
                return {"name": path, "size": 0, "type": "file"}
            elif "content-length" in reply.headers:
                size = int(reply.headers["content-length"])
        _checked(path, reply)
        info: dict[str, Any] = {"name": path, "size": size, "type": "file", "url": reply.url}
        for field, name in (("content-type", "mimetype"), ("etag", "ETag"), ("last-modified", "Last-Modified")):
            if field in reply.headers:
                info[name] = reply.headers[field]
        if "mimetype" in info:
            info["mimetype"] = info["mimetype"].split(";")[0]
        return info

    async def _isdir(self, path: str) -> bool:
        path = self._strip_protocol(path)
        try:
            if _is_http(path):
                return path.endswith("/") and bool(await self._list(path))
        except OSError:
            return False
        return await self._is_type(path, "directory")

    async def _ls(self, path: str, detail: bool = True, **kwargs: Any) -> Any:
        path = self._strip_protocol(path)
        if not _is_http(path) and (info := await self._info(path))["type"] == "file":
            found = [info]
        else:
            found = await self._list(path)
        return found if detail else sorted(entry["name"] for entry in found)

    async def _list(self, path: str) -> list[dict[str, Any]]:
        if _is_http(path):
            reply = await self._request("GET", path)
            return _links(reply.url, reply.content)
        folder = path.rstrip("/")
        if path.startswith("sftp"):
            rows = (await self._request("GET", folder + "/")).text
            return _unix_rows(folder, rows)
        try:
            rows = (await self._request("GET", folder + "/", options={"CUSTOMREQUEST": "MLSD"})).text
            return _mlsd_rows(folder, rows)
        except (RequestError, OSError) as error:
            cause = error if isinstance(error, RequestError) else error.__cause__
            # The error of a server without MLSD: no transfer takes place.
            if not isinstance(cause, RequestError) or cause.code not in (19, 78):
                raise
        return _unix_rows(folder, (await self._request("GET", folder + "/", options=None)).text)

    async def _command(self, path: str, ftp: str, sftp: str, other: str | None = None) -> None:
        """Sends commands with the path (and another one) in them, one per line."""
        if _is_http(path):
            raise NotImplementedError(f"{path}: http has no such command")
        is_sftp = path.startswith("sftp")
        names = {"path": _name(path, is_sftp), "other": _name(other, is_sftp) if other else ""}
        lines = [line.format(**names) for line in (sftp if is_sftp else ftp).split("\n")]
        root = "{0.scheme}://{0.netloc}/".format(urlsplit(path))
        options = {"QUOTE": lines, "NOBODY": 1, **_NO_CWD}
        try:
            await self.client.get(root, options=options)
        except RequestError as error:
            if error.code == 21:
                raise FileNotFoundError(f"{path}: {error}") from error
            raise _as_os_error(path, error) from error

    async def _mkdir(self, path: str, create_parents: bool = True, **kwargs: Any) -> None:
        path = self._strip_protocol(path)
        if await self._exists(path):
            raise FileExistsError(path)
        if create_parents:
            await self._makedirs(path, exist_ok=True)
        else:
            await self._command(path, "MKD {path}", "mkdir {path}")

    async def _makedirs(self, path: str, exist_ok: bool = False) -> None:
        path = self._strip_protocol(path)
        if _is_http(path) or not urlsplit(path).path.strip("/"):
            return
        if await self._exists(path):
            if not exist_ok:
                raise FileExistsError(path)
            return
        await self._makedirs(self._parent(path), exist_ok=True)
        # Another process may create it at the same time.
        await self._command(path, "*MKD {path}", "*mkdir {path}")

    async def _rmdir(self, path: str) -> None:
        await self._command(self._strip_protocol(path), "RMD {path}", "rmdir {path}")

    async def _rm_file(self, path: str, **kwargs: Any) -> None:
        path = self._strip_protocol(path)
        if _is_http(path):
            await self._request("DELETE", path)
        elif await self._isdir(path):
            await self._rmdir(path)
        else:
            await self._command(path, "DELE {path}", "rm {path}")

    async def _rm(self, path: Any, recursive: bool = False, batch_size: int | None = None, **kwargs: Any) -> None:
        paths = await self._expand_path(path, recursive=recursive)
        # Deeper entries come first.
        for one in sorted(paths, key=len, reverse=True):
            await self._rm_file(one)

    async def _mv_file(self, path1: str, path2: str) -> None:
        path1, path2 = self._strip_protocol(path1), self._strip_protocol(path2)
        await self._command(path1, "RNFR {path}\nRNTO {other}", "rename {path} {other}", path2)

    async def _cp_file(self, path1: str, path2: str, **kwargs: Any) -> None:
        if await self._isdir(path1):
            await self._makedirs(path2, exist_ok=True)
            return
        path2 = self._strip_protocol(path2)
        await self._send(path2, lambda: self._pieces(path1, DEFAULT_CALLBACK))

    def rmdir(self, path: str) -> None:
        """Removes an empty directory."""
        waited(self, self._rmdir, path)

    def created(self, path: str) -> datetime:
        """Not available: these protocols do not report it."""
        raise NotImplementedError("these protocols do not tell when a file was made")

    def modified(self, path: str) -> datetime:
        """Returns when the file was last changed.

        If the server does not report it, returns the current time: the file may have changed until now. Programs that cache pieces
        of files (DuckDB calls this for each) then never mistake an old piece for a current one.
        """
        return waited(self, self._modified, path)

    async def _modified(self, path: str) -> datetime:
        path = self._strip_protocol(path)
        info = await self._info(path)
        if "mtime" in info:
            moment: datetime = info["mtime"]
            return moment
        with contextlib.suppress(ValueError, TypeError):
            # A zone of "-0000" would yield a naive datetime.
            found = parsedate_to_datetime(info.get("Last-Modified", ""))
            return found if found.tzinfo else found.replace(tzinfo=timezone.utc)
        seconds = -1
        if not _is_http(path) and info["type"] == "file":
            # MDTM, or the attributes that SFTP reports beside the row of its listing.
            seconds = (await self._request("HEAD", path, options={"FILETIME": 1}))._outcome.file_time
        return datetime.fromtimestamp(seconds, timezone.utc) if seconds >= 0 else datetime.now(timezone.utc)

    def _open(
        self,
        path: str,
        mode: str = "rb",
        block_size: int | None = None,
        autocommit: bool = True,
        cache_type: str | None = None,
        cache_options: dict[str, Any] | None = None,
        size: int | None = None,
        **kwargs: Any,
    ) -> Any:
        if mode in ("xb", "wb", "ab"):
            if mode == "xb" and self.exists(path):
                raise FileExistsError(path)
            return _Written(self, path, append=mode == "ab", autocommit=autocommit)
        if mode != "rb":
            raise ValueError(f"{mode!r} is no way to open a file")
        if size is None:
            info = self.info(path)
            if info["type"] == "directory":
                raise IsADirectoryError(path)
            size = info["size"]
        if size is None:
            # The size is unknown: the file is not seekable.
            return io.BytesIO(self.cat_file(path))
        return Read(
            self, path, "rb", block_size or self.block_size, cache_type=cache_type or self.cache_type,
            cache_options=cache_options, size=size, **kwargs,
        )  # fmt: skip

    async def open_async(self, path: str, mode: str = "rb", **kwargs: Any) -> Streamed:
        """Opens the file for one read from beginning to end."""
        if mode != "rb":
            raise NotImplementedError("only reading is asynchronous")
        return Streamed(self, self._strip_protocol(path), "rb")


class _Written(io.BytesIO):
    """A buffer that is uploaded when the file is closed."""

    def __init__(self, fs: WarmwireFileSystem, path: str, append: bool, autocommit: bool) -> None:
        super().__init__(fs.cat_file(path) if append and fs.exists(path) else b"")
        self.seek(0, io.SEEK_END)
        self.fs, self.path, self._autocommit, self._sent = fs, path, autocommit, False

    def commit(self) -> None:
        """Uploads the buffer."""
        self._sent = True
        self.fs.pipe_file(self.path, self.getvalue())

    def discard(self) -> None:
        """Discards the buffer."""
        self._sent = True

    def close(self) -> None:
        if not self.closed and self._autocommit and not self._sent:
            self.commit()
        if self._autocommit or self._sent:
            super().close()

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is not None:
            self.discard()
        self.close()


def _ranges(client: AsyncClient, starts: list[Any], ends: list[Any], spans: list[Span], limit: int) -> list[Any]:
    """Fetches spans on this thread, ``limit`` at a time. Returns the bytes of each range, or its error."""
    found: list[Any] = [None] * len(starts)
    engine = _native.Engine(client.pool._native, True)
    probe = client.build_request("GET", "http://probe.invalid/")
    options, _ = probe.for_engine(client._options(probe, {"options": {"ACCEPT_ENCODING": None}}))
    template = engine.prepare([*options[1:], *fixed_proxy(options, client.trust_env)])
    running: dict[int, Span] = {}
    waiting = spans[::-1]
    urls = {path: _url(path) for path, *_ in spans}
    try:
        while waiting or running:
            while waiting and len(running) < limit:
                span = waiting.pop()
                try:
                    number = engine.start_like(template, urls[span[0]], None, False, f"{span[1]}-{span[2] - 1}")
                except RuntimeError as error:
                    _place(refused(error, probe.at(urls[span[0]])), span, found, starts, ends)
                else:
                    running[number] = span
            for number, code, _, outcome in engine.results(1.0) if running else ():
                if code >= 0 and outcome is not None:
                    span = running.pop(number)
                    client._took(outcome, options)
                    _place(_body(span, outcome, probe, urls[span[0]]), span, found, starts, ends)
    finally:
        for number in running:
            engine.release(number)
    return found


def _body(span: Span, outcome: Any, probe: Request, url: str) -> Any:
    """Returns the bytes of a span, or the error."""
    path, start, end, _ = span
    if outcome.code:
        return _as_os_error(path, outcome_failure(outcome, probe.at(url)))
    if outcome.status == 206:
        return outcome.body
    if outcome.status == 416:
        return b""
    try:
        body = _checked(path, Response._of(probe.at(url), outcome)).content
    except OSError as error:
        return error
    return body[start:end] if outcome.status == 200 else body


def _place(body: Any, span: Span, found: list[Any], starts: list[Any], ends: list[Any]) -> None:
    for n in span[3]:
        found[n] = body if isinstance(body, Exception) else body[starts[n] - span[1] : ends[n] - span[1]]


def _is_http(path: str) -> bool:
    return path.startswith("http")


def _url(path: str) -> str:
    """Percent-encodes a file name. An http URL is encoded already, except for characters that are never allowed."""
    if _is_http(path):
        return quote(path, safe="%/:?#[]@!$&'()*+,;=~")
    scheme, _, rest = path.partition("://")
    host, slash, name = rest.partition("/")
    return f"{scheme}://{host}{slash}{quote(name)}"


def _name(path: str, is_sftp: bool) -> str:
    """Returns the path for a command: SFTP's from the root, FTP's from the login directory."""
    name = path.partition("://")[2].partition("/")[2]
    if "\r" in name or "\n" in name:
        raise ValueError(f"{path!r}: a line end in a name")
    if not is_sftp:
        return name
    return '"/{}"'.format(name.replace("\\", "\\\\").replace('"', '\\"'))


async def _answered(path: str, request: Awaitable[Response]) -> Response:
    try:
        return await request
    except RequestError as error:
        raise _as_os_error(path, error) from error


def _as_os_error(path: str, error: RequestError) -> Exception:
    """Returns an OSError. FTP has one code for a missing directory and for one without permission."""
    if isinstance(error, LoginError) and error.code == 9:
        return FileNotFoundError(f"{path}: {error}")
    return error


def _checked(path: str, reply: Response) -> Response:
    if reply.status_code in (404, 410) and reply.is_error:
        raise FileNotFoundError(path)
    if reply.status_code in (401, 403) and reply.is_error:
        raise PermissionError(f"{path}: {reply.status_code} {reply.reason_phrase}")
    try:
        return reply.raise_for_status()
    except HTTPStatusError as error:
        raise OSError(f"{path}: {error}") from error


def _links(path: str, page: bytes) -> list[dict[str, Any]]:
    """Returns the links of a page below its own URL."""
    return [{"name": url, "size": None, "type": "directory" if is_folder else "file"} for url, is_folder in links(path, page)]


def _mlsd_rows(folder: str, rows: str) -> list[dict[str, Any]]:
    """Parses lines of MLSD (RFC 3659 section 7)."""
    found = []
    for row in rows.splitlines():
        facts, space, name = row.partition(" ")
        values = dict(fact.lower().split("=", 1) for fact in facts.split(";") if "=" in fact)
        kind = values.get("type", "file")
        if not space or kind in ("cdir", "pdir") or name in (".", ".."):
            continue
        entry: dict[str, Any] = {"name": f"{folder}/{name}", "type": "directory" if kind == "dir" else "file"}
        entry["size"] = int(values["size"]) if kind == "file" and values.get("size", "").isdigit() else 0
        if "modify" in values:
            moment = datetime.strptime(values["modify"][:14], _MLSD_TIME)
            entry["mtime"] = moment.replace(tzinfo=timezone.utc)
        found.append(entry)
    return found


def _unix_rows(folder: str, rows: str) -> list[dict[str, Any]]:
    """Parses lines of ls -l, as FTP servers and SFTP write them."""
    found = []
    for row in rows.splitlines():
        words = row.split(None, 8)
        if len(words) < 9 or row[0] not in "-dlbcps":
            continue
        name = words[8].split(" -> ")[0] if row[0] == "l" else words[8]
        if name not in (".", ".."):
            kind = "directory" if row[0] == "d" else "link" if row[0] == "l" else "file"
            size = int(words[4]) if words[4].isdigit() and kind == "file" else 0
            found.append({"name": f"{folder}/{name}", "type": kind, "size": size})
    return found


__all__ = ["SCHEMES", "WarmwireFileSystem", "register"]
