"""The store in obspec's shape: its protocols, ranges, listings, writes, and zarr on it."""

import asyncio
import io
import pickle
from datetime import datetime, timezone

import pytest
import warmwire
from patterns import pattern
from sites import Site, answer, folder
from warmwire.store import (
    AlreadyExistsError,
    HTTPStore,
    InvalidPathError,
    NotFoundError,
    NotModifiedError,
    NotSupportedError,
    PermissionDeniedError,
    PreconditionError,
    UnauthenticatedError,
)

DATED = "Fri, 27 Nov 2026 10:00:00 GMT"


class Objects:
    """A server with objects in memory: ranges, conditions, PUT, DELETE, index pages."""

    def __init__(self, objects=None, knows_ranges=True, knows_head=True):
        self.objects, self.knows_ranges, self.knows_head = dict(objects or {}), knows_ranges, knows_head
        self.rows = []
        self.site = Site(self.reply)
        self.root = self.site.root

    def reply(self, handler):
        path, headers = handler.path, handler.headers
        body = body_of(handler)
        self.rows.append((handler.command, path, headers.get("Range")))
        if handler.command == "PUT":
            if headers.get("If-None-Match") == "*" and path in self.objects or headers.get("If-Match", '"1"') != '"1"':
                return answer(handler, b"", 412)
            self.objects[path] = body
            return answer(handler, b"", 201, ETag='"2"')
        if handler.command == "DELETE":
            return answer(handler, b"", 404 if self.objects.pop(path, None) is None else 204)
        if path.endswith("/"):
            return self.index(handler, path)
        if path not in self.objects:
            return answer(handler, b"", 404)
        if handler.command == "HEAD" and not self.knows_head:
            return answer(handler, b"", 405)
        fields = {"ETag": '"1"', "Last_Modified": DATED, "Content_Type": "application/x-test"}
        if headers.get("If-None-Match") == '"1"':
            return answer(handler, b"", 304, **fields)
        if headers.get("If-Match", '"1"') != '"1"':
            return answer(handler, b"", 412)
        whole, given = self.objects[path], headers.get("Range")
        if not given or not self.knows_ranges:
            return answer(handler, whole, **fields)
        first, last = given.removeprefix("bytes=").split("-")
        start, end = (int(first), int(last) + 1 if last else len(whole)) if first else (max(0, len(whole) - int(last)), len(whole))
        if start >= len(whole):
            return answer(handler, b"", 416)
        part = whole[start:end]
        return answer(handler, part, 206, Content_Range=f"bytes {start}-{start + len(part) - 1}/{len(whole)}", **fields)

    def index(self, handler, path):
        names = sorted({name[len(path) :].partition("/")[0] + ("/" if "/" in name[len(path) :] else "") for name in self.objects if name.startswith(path)})
        if not names:
            return answer(handler, b"", 404)
        links = "".join(f'<a href="{name}">x</a>' for name in ["../", *names])
        return answer(handler, links.encode(), Content_Type="text/html; charset=utf-8")


def body_of(handler):
    """The body of a request, of a known length or in chunks."""
    body = handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
    if "chunked" in handler.headers.get("Transfer-Encoding", ""):
        while size := int(handler.rfile.readline(), 16):
            body += handler.rfile.read(size)
            handler.rfile.readline()
        handler.rfile.readline()
    return body


def both(store, name, *words, **how):
    """The result of a method and of its asynchronous twin, which must be equal."""

    async def one():
        return await getattr(store, name + "_async")(*words, **how)

    first, second = getattr(store, name)(*words, **how), asyncio.run(one())
    assert first == second
    return first


def test_whole_objects_and_ranges():
    whole = pattern(3_000_000)
    server = Objects({"/data/a%20b%25c": whole, "/data/empty": b""})
    store = HTTPStore(server.root + "/data/")
    found = store.get("a b%c")
    assert found.bytes() == whole and found.range == (0, len(whole)) and found.attributes == {"Content-Type": "application/x-test"}
    assert found.meta == {
        "path": "a b%c", "size": len(whole), "e_tag": '"1"', "version": None,
        "last_modified": datetime(2026, 11, 27, 10, tzinfo=timezone.utc),
    }  # fmt: skip
    assert b"".join(store.get("a b%c")) == whole
    assert [len(piece) for piece in store.get("a b%c").stream(2_000_000)] == [2_000_000, 1_000_000]

    async def read():
        result = await store.get_async("a b%c", options={"range": {"offset": 2_999_990}})
        pieces = [piece async for piece in await store.get_async("a b%c")]
        return result.range, await result.bytes_async(), b"".join(pieces)

    assert asyncio.run(read()) == ((2_999_990, 3_000_000), whole[-10:], whole)
    assert store.get("a b%c", options={"range": (5, 9)}).bytes() == whole[5:9]
    assert store.get("a b%c", options={"range": {"suffix": 7}}).bytes() == whole[-7:]
    assert store.get("empty").bytes() == b""
    assert both(store, "get_range", "a b%c", start=10, length=5) == whole[10:15]
    assert both(store, "get_range", "a b%c", start=2_999_998, end=4_000_000) == whole[-2:]
    server.rows.clear()
    starts = [2_900_000, 0, 5, 500_000, 100]
    lengths = [10, 4, 4, 50, 100]
    wanted = [whole[start : start + length] for start, length in zip(starts, lengths)]
    assert store.get_ranges("a b%c", starts=starts, lengths=lengths) == wanted
    # Ranges less than 1 MiB apart are one request.
    assert sorted(row[2] for row in server.rows) == ["bytes=0-500049", "bytes=2900000-2900009"]
    assert both(store, "get_ranges", "a b%c", starts=starts, ends=[a + b for a, b in zip(starts, lengths)]) == wanted
    assert both(store, "head", "a b%c")["size"] == len(whole)
    old = Objects({"/x": whole}, knows_ranges=False, knows_head=False)
    assert both(HTTPStore(old.root), "get_range", "x", start=10, length=5) == whole[10:15]
    with pytest.raises(NotSupportedError):
        HTTPStore(old.root).head("x")


def test_what_goes_wrong():
    server = Objects({"/x": b"content"})
    store = HTTPStore(server.root)
    with pytest.raises(NotFoundError):
        store.get("none")
    with pytest.raises(FileNotFoundError):
        asyncio.run(store.get_ranges_async("none", starts=[0], lengths=[1]))
    with pytest.raises(NotModifiedError):
        store.get("x", options={"if_none_match": '"1"'})
    with pytest.raises(PreconditionError):
        store.get("x", options={"if_match": '"other"'})
    for wrong in ({"start": 5, "end": 5}, {"start": 0}, {"start": -1, "length": 2}, {"start": 0, "end": 1, "length": 1}):
        with pytest.raises(ValueError):
            store.get_range("x", **wrong)
    with pytest.raises(ValueError, match="behind the end"):
        store.get_range("x", start=100, length=1)
    for path in ("../x", "a/./b"):
        with pytest.raises(InvalidPathError):
            store.get(path)
    with pytest.raises(NotSupportedError, match="no versions"):
        store.get("x", options={"version": "1"})
    with pytest.raises(TypeError, match="colour"):
        store.get("x", options={"colour": 1})
    with pytest.raises(ValueError):
        HTTPStore("ftp://127.0.0.1/")
    for status, kind in ((401, UnauthenticatedError), (403, PermissionDeniedError), (405, NotSupportedError), (400, OSError)):
        with pytest.raises(kind, match=str(status)):
            HTTPStore(Site(lambda handler, status=status: answer(handler, b"", status)).root).get("x")


def test_busy_servers_are_asked_again():
    left = [503, 429, 200]

    def busy(handler):
        answer(handler, b"content", left.pop(0) if left else 503, Retry_After="0")

    site = Site(busy)
    assert HTTPStore(site.root).get("x").bytes() == b"content"
    left[:] = [503, 200, 200]
    assert HTTPStore(site.root).get_ranges("x", starts=[0, 3_000_000], lengths=[3, 3]) == [b"con", b""]
    with pytest.raises(OSError, match="503"):
        HTTPStore(site.root, retries=0).get("x")


def test_listings():
    names = ["/top/a", "/top/b/c", "/top/b/d/e%20f", "/top/z"]
    server = Objects({name: b"x" * n for n, name in enumerate(names)})
    store = HTTPStore(server.root + "/top")
    found = {each["path"]: each["size"] for rows in store.list() for each in rows}
    assert found == {"a": 0, "b/c": 1, "b/d/e f": 2, "z": 3}
    assert [each["path"] for rows in store.list("b", offset="b/c") for each in rows] == ["b/d/e f"]
    assert list(store.list("none")) == []

    async def listed():
        return [each["path"] async for rows in store.list_async("b") for each in rows]

    assert asyncio.run(listed()) == ["b/c", "b/d/e f"]
    found = both(store, "list_with_delimiter", "b")
    assert found["common_prefixes"] == ["b/d"] and [each["path"] for each in found["objects"]] == ["b/c"]
    plain = Site(lambda handler: answer(handler, b"{}", Content_Type="application/json"))
    with pytest.raises(NotSupportedError, match="no index page but application/json"):
        list(HTTPStore(plain.root).list())


def test_writing(tmp_path):
    server = Objects()
    store = HTTPStore(server.root)
    assert both(store, "put", "a", b"1") == {"e_tag": '"2"', "version": None}
    (tmp_path / "file").write_bytes(b"of a file")
    for given, wanted in (
        (bytearray(b"array"), b"array"), (memoryview(b"view"), b"view"), (tmp_path / "file", b"of a file"), (io.BytesIO(b"io"), b"io"),
        ([b"p", b"q"], b"pq"),
    ):  # fmt: skip
        store.put("x", given)
        assert server.objects["/x"] == wanted
    with pytest.raises(AlreadyExistsError):
        store.put("a", b"2", mode="create")
    store.put("new", b"2", mode="create")
    store.put("a", b"3", mode={"e_tag": '"1"'})
    with pytest.raises(PreconditionError):
        store.put("a", b"4", mode={"e_tag": '"0"'})
    assert server.objects["/a"] == b"3"
    with pytest.raises(NotSupportedError):
        store.put("a", b"", tags={"a": "b"})
    store.delete(["a", "new"])
    with pytest.raises(NotFoundError):
        store.delete("a")


def test_a_store_travels():
    store = HTTPStore.from_url("http://127.0.0.1:1/x/", client={"timeout": 5}, retries=0)
    twin = pickle.loads(pickle.dumps(store))
    assert twin == store and repr(twin) == "HTTPStore('http://127.0.0.1:1/x')" and twin != HTTPStore("http://127.0.0.1:1/y")
    with pytest.raises(warmwire.ConnectError):
        twin.get_ranges("x", starts=[0, 3_000_000], lengths=[1, 1])


def test_zarr(tmp_path):
    zarr = pytest.importorskip("zarr", reason="is missing: zarr")
    import numpy
    import warmwire.zarr

    numbers = numpy.arange(10_000.0).reshape(100, 100)
    group = zarr.open_group(str(tmp_path / "store.zarr"), mode="w")
    group.create_array("numbers", shape=(100, 100), chunks=(10, 100), shards=(20, 100), dtype="f8")[:] = numbers
    site = Site(folder(tmp_path))
    store = warmwire.zarr.ZarrStore(HTTPStore(site.root + "/store.zarr"))
    assert numpy.array_equal(zarr.open_group(store, mode="r")["numbers"][5:25, 3], numbers[5:25, 3])
    # Shards are read by ranges: of the end, and of a chunk.
    assert any((row[1] or "").startswith("bytes=-") for row in site.seen)
    server = Objects()
    written = warmwire.zarr.ZarrStore(server.root + "/w.zarr", read_only=False)
    new = zarr.create_array(written, shape=(20,), chunks=(5,), dtype="i4")
    new[:] = numpy.arange(20)
    assert list(zarr.open_array(written, mode="r")[:]) == list(range(20))
    assert written == pickle.loads(pickle.dumps(written))
    with pytest.raises(ValueError):
        zarr.create_array(store, shape=(1,), dtype="i4")
