"""Watched URLs: the changes, both ways of iterating, misuse, and the guide's programs."""

import asyncio
import functools
import http.server
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import pytest
import warmwire
from sites import Site

GUIDE = pathlib.Path(__file__).parents[2] / "docs" / "guide" / "examples"
EVERY = 0.05
PATIENCE = 30


class Files(http.server.ThreadingHTTPServer):
    """Python's web server over a folder: it compares times with If-Modified-Since."""

    def __init__(self, folder):
        super().__init__(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
        self.folder, self.statuses = folder, []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def url(self, name):
        return f"http://127.0.0.1:{self.server_address[1]}/{name}"


class Quiet(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_request(self, code="-", size="-"):
        self.server.statuses.append(int(code))

    def log_message(self, *_):
        pass


def write(folder, name, text):
    fresh = pathlib.Path(folder) / f".{name}.new"
    fresh.write_text(text)
    os.replace(fresh, pathlib.Path(folder) / name)


@pytest.fixture
def files(tmp_path):
    server = Files(tmp_path)
    yield server
    server.shutdown()


@pytest.fixture
def ftp(tmp_path):
    """pyftpdlib over a folder of its own, which it prints by a listing: URL."""
    pytest.importorskip("pyftpdlib", reason="is missing: pyftpdlib")
    command = [sys.executable, os.path.join(os.path.dirname(__file__), "ftp_server.py")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        yield f"ftp://me:secret@127.0.0.1:{server.stdout.readline().strip()}/"
        server.stdin.close()


def test_a_file_that_changes_goes_and_comes_back(files):
    write(files.folder, "f", "one")
    with warmwire.watch([files.url("f")], every=EVERY, contents=True) as changes:
        first = next(changes)
        assert (first.index, first.url, first.kind, first.content) == (0, files.url("f"), "first", b"one")
        assert first.size == 3 and first.modified and first.latency > 0 and abs(first.time - time.time()) < PATIENCE
        write(files.folder, "f", "three")
        assert next(changes).kind == "changed"
        os.remove(files.folder / "f")
        gone = next(changes)
        assert (gone.kind, gone.content, gone.size) == ("gone", None, None)
        assert changes.status(0).exists is False
        write(files.folder, "f", "four")
        assert next(changes).content == b"four"
    assert 304 in files.statuses


def test_ftp_with_the_settings_of_a_client(ftp):
    url = ftp.replace("me:secret@", "") + "f"
    client = warmwire.Client(auth=("me", "secret"))
    client.put(url, content=b"one")
    with warmwire.watch([url], every=EVERY, client=client) as changes:
        first = next(changes)
        assert (first.kind, first.size, first.content) == ("first", 3, None)
        client.put(url, content=b"three")
        # The server creates the file before it has its size.
        sizes = []
        while not sizes or sizes[-1] != 5:
            change = next(changes)
            assert change.kind == "changed"
            sizes.append(change.size)
        status = changes.status(0)
        assert status.exists and status.error is None and 0 < status.p50 <= status.p99


def test_a_server_that_fails_and_recovers(files):
    write(files.folder, "f", "one")
    dead = "http://127.0.0.1:1/"
    with warmwire.watch([dead, files.url("f")], every=EVERY) as changes:
        found = {change.index: change for change in (next(changes), next(changes))}
        assert found[1].kind == "first"
        assert found[0].kind == "failed" and isinstance(found[0].error, warmwire.ConnectError)
        assert isinstance(changes.status(0).error, warmwire.ConnectError)
        assert list(changes.until(0.3)) == []


def test_events_of_a_stream():
    def stream(handler):
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Connection", "close")
        handler.end_headers()
        handler.wfile.write(b"event: tick\nid: 7\ndata: one\n\n")
        time.sleep(0.5)

    site = Site(stream)
    with warmwire.watch([site.root + "/"], every=EVERY) as changes:
        assert next(changes).kind == "first"
        change = next(changes)
        assert (change.kind, change.message) == ("message", warmwire.Message("tick", "one", "7"))


def test_asyncio_goes_on_while_a_change_is_handled(files):
    write(files.folder, "f", "one")

    async def main():
        kinds = []
        async with warmwire.watch([files.url("f")], every=EVERY, contents=True) as changes:
            async for change in changes:
                kinds.append((change.kind, change.content))
                if len(kinds) == 1:
                    before = len(files.statuses)
                    write(files.folder, "f", "three")
                    await asyncio.sleep(EVERY * 10)
                    assert len(files.statuses) >= before + 3
                else:
                    break
        with pytest.raises(StopAsyncIteration):
            await changes.__anext__()
        return kinds

    assert asyncio.run(asyncio.wait_for(main(), PATIENCE)) == [("first", b"one"), ("changed", b"three")]


def test_close_ends_both_ways(files):
    write(files.folder, "f", "one")

    async def main():
        changes = warmwire.watch([files.url("f")], every=EVERY)
        asyncio.get_running_loop().call_later(0.3, changes.close)
        return [change.kind async for change in changes]

    assert asyncio.run(asyncio.wait_for(main(), PATIENCE)) == ["first"]
    changes = warmwire.watch([files.url("f")], every=EVERY)
    threading.Timer(0.3, changes.close).start()
    assert [change.kind for change in changes] == ["first"]
    changes.close()
    with pytest.raises(ValueError, match="closed"):
        changes.status(0)
    assert "closed" in repr(changes)


def test_a_task_that_is_cancelled_leaves_nothing_behind(files):
    write(files.folder, "f", "one")

    async def main():
        async def consume():
            async with warmwire.watch([files.url("f")], every=EVERY) as changes:
                async for _ in changes:
                    pass

        task = asyncio.ensure_future(consume())
        await asyncio.sleep(0.3)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.sleep(EVERY * 2)  # the server may still note a request that had been sent
        before = len(files.statuses)
        await asyncio.sleep(EVERY * 6)
        assert len(files.statuses) == before

    asyncio.run(main())


def test_ctrl_c_ends_the_wait(files):
    write(files.folder, "f", "one")
    with warmwire.watch([files.url("f")], every=EVERY) as changes:
        assert next(changes).kind == "first"
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            next(changes)


def test_misuse_is_an_error(files):
    good = files.url("f")
    for bad, kind in ((["http://a b/"], warmwire.InvalidURL), ([good, "nosuch://a/"], warmwire.UnsupportedProtocol)):
        with pytest.raises(kind):
            warmwire.watch(bad)
    with pytest.raises(TypeError):
        warmwire.watch(good)
    for how in ({"every": 0}, {"every": float("inf")}, {"every": -1}, {"deadline": 0}, {"per_server": 0}, {"content_limit": 0}):
        with pytest.raises(ValueError, match="above 0"):
            warmwire.watch([good], **how)
    with pytest.raises(ValueError, match="no URL"):
        warmwire.watch([])
    with warmwire.watch([good], every=EVERY) as changes:
        with pytest.raises(IndexError):
            changes.status(1)

        async def mixed():
            await changes.__anext__()
            next(changes)

        with pytest.raises(RuntimeError, match="asyncio"):
            asyncio.run(mixed())


def test_a_large_content_fails(files):
    write(files.folder, "f", "x" * 100)
    with warmwire.watch([files.url("f")], every=EVERY, contents=True, content_limit=10) as changes:
        change = next(changes)
        assert change.kind == "failed" and "larger than the limit" in str(change.error)


@pytest.mark.parametrize("name", ["watch.py", "watch_async.py"])
def test_the_programs_of_the_guide(files, name):
    write(files.folder, "f", "one")
    command = [sys.executable, GUIDE / name, "2", files.url("f")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout.readline() == f"first {files.url('f')} b'one'\n"
        write(files.folder, "f", "three")
        assert program.stdout.readline() == f"changed {files.url('f')} b'three'\n"
        assert program.wait(PATIENCE) == 0


PROGRAM = """
import asyncio
import warmwire

for change in warmwire.watch(["ftp://a.example/f"], every=0.2):
    text: str = change.url + change.kind
    size: int | None = change.size
    if change.error is not None:
        code: int = change.error.code

async def main() -> None:
    async with warmwire.watch(["ftp://a.example/f"], contents=True) as changes:
        async for change in changes:
            body: bytes | None = change.content
            if change.message is not None:
                data: str = change.message.data

asyncio.run(main())
"""


def test_mypy_knows_the_types(check_program):
    code, said = check_program(PROGRAM)
    assert code == 0, said
    for wrong in ('change.kind == "chnged"', "change.contents", 'warmwire.watch(["a"], evry=1)', "change.size + 1"):
        text = f'import warmwire\nfor change in warmwire.watch(["ftp://a/"]):\n    print({wrong})\n'
        assert check_program(text)[0] == 1, wrong
