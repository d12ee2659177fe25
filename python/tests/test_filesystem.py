"""The file system: fsspec's own tests on FTP and SFTP, ranges and listings over HTTP, and others that read through it."""

import asyncio
import os
import subprocess
import sys
import time

import fsspec
import pytest
import warmwire
from conftest import Served
from fsspec.tests import abstract
from patterns import pattern
from sites import Site, answer, folder
from warmwire.filesystem import WarmwireFileSystem, register


def ftp_server(*words):
    command = [sys.executable, os.path.join(os.path.dirname(__file__), "ftp_server.py"), *words]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        scheme = "ftps" if "tls" in words else "ftp"
        yield f"{scheme}://me:secret@127.0.0.1:{int(server.stdout.readline())}"
        server.stdin.close()
        server.wait(20)


@pytest.fixture(scope="module")
def ftp():
    yield from ftp_server()


@pytest.fixture(scope="module")
def old_ftp():
    """It has no MLSD: listings are those of ls."""
    yield from ftp_server("no-mlsd")


@pytest.fixture(scope="module")
def ftps(certificate):
    yield from ftp_server("tls", str(certificate))


@pytest.fixture(scope="module")
def sftp():
    server = Served("sftp")
    yield server
    server.stop()


class OverFtp(abstract.AbstractFixtures):
    @pytest.fixture
    def fs(self):
        return WarmwireFileSystem()

    @pytest.fixture
    def fs_path(self, ftp, fs):
        yield ftp + "/tests"
        if fs.exists(ftp + "/tests"):
            fs.rm(ftp + "/tests", recursive=True)


class OverSftp(abstract.AbstractFixtures):
    @pytest.fixture
    def fs(self, sftp):
        key, known = sftp.rest
        return WarmwireFileSystem(client={"options": {"SSH_PRIVATE_KEYFILE": key, "SSH_KNOWNHOSTS": known}})

    @pytest.fixture
    def fs_path(self, sftp, fs):
        yield sftp.root + "/tests"
        if fs.exists(sftp.root + "/tests"):
            fs.rm(sftp.root + "/tests", recursive=True)


@pytest.mark.deep
class TestCopyFtp(abstract.AbstractCopyTests, OverFtp):
    pass


class TestGetFtp(abstract.AbstractGetTests, OverFtp):
    pass


@pytest.mark.deep
class TestPutFtp(abstract.AbstractPutTests, OverFtp):
    pass


class TestOpenFtp(abstract.AbstractOpenTests, OverFtp):
    pass


class TestPipeFtp(abstract.AbstractPipeTests, OverFtp):
    pass


@pytest.mark.deep
class TestCopySftp(abstract.AbstractCopyTests, OverSftp):
    pass


@pytest.mark.deep
class TestGetSftp(abstract.AbstractGetTests, OverSftp):
    pass


@pytest.mark.deep
class TestPutSftp(abstract.AbstractPutTests, OverSftp):
    pass


class TestOpenSftp(abstract.AbstractOpenTests, OverSftp):
    pass


class TestPipeSftp(abstract.AbstractPipeTests, OverSftp):
    pass


def test_ftps(ftps, certificate, tmp_path):
    fs = WarmwireFileSystem(client={"verify": f"{certificate}.crt"})
    folder, body = ftps + "/tests/sub", pattern(300_000)
    fs.pipe({f"{folder}/{n}": body for n in range(8)})
    assert fs.find(ftps + "/tests") == [f"{folder}/{n}" for n in range(8)]
    assert fs.cat_ranges([f"{folder}/{n}" for n in range(8)], 1000, 2000) == [body[1000:2000]] * 8
    fs.get(folder, str(tmp_path / "got"), recursive=True)
    assert {path.read_bytes() for path in (tmp_path / "got").iterdir()} == {body}
    with fs.open(f"{folder}/0", block_size=1000) as file:
        file.seek(-5, 2)
        assert file.read() == body[-5:]
    fs.rm(ftps + "/tests", recursive=True)
    assert not fs.exists(ftps + "/tests")
    with pytest.raises(warmwire.TLSError):
        WarmwireFileSystem().cat_file(f"{folder}/0")


@pytest.mark.parametrize("which", ["ftp", "old_ftp"])
def test_names_as_they_are(which, request):
    ftp = request.getfixturevalue(which)
    fs = WarmwireFileSystem()
    fs.makedirs(ftp + "/tests", exist_ok=True)
    ftp += "/tests"
    odd = ftp + "/a b%20c#d?e.txt"
    fs.pipe_file(odd, b"odd")
    assert fs.ls(ftp, detail=False) == [odd]
    assert fs.cat_file(odd) == b"odd" and fs.info(odd)["size"] == 3
    fs.mv(odd, ftp + "/plain")
    assert fs.ls(ftp, detail=False) == [ftp + "/plain"]
    fs.makedirs(ftp + "/one/two")
    assert fs.isdir(ftp + "/one") and fs.ls(ftp + "/one", detail=False) == [ftp + "/one/two"]
    fs.rm([ftp + "/plain", ftp + "/one"], recursive=True)
    assert fs.ls(ftp) == []
    with pytest.raises(FileNotFoundError):
        fs.cat_file(odd)
    with pytest.raises(ValueError, match="line end"):
        fs.rm_file(ftp + "/x\r\nDELE y")


def test_files_and_ranges_over_http(http):
    fs = fsspec.filesystem("warmwire")
    assert isinstance(fs, WarmwireFileSystem)
    path, whole = http.url("/bytes/100000"), pattern(100_000)
    assert fs.info(path)["size"] == 100_000 and fs.exists(path) and fs.isfile(path)
    assert fs.cat_file(path) == whole
    assert fs.cat_file(path, 10, 20) == whole[10:20]
    assert fs.cat_file(path, -5) == whole[-5:]
    assert fs.cat_file(path, 99_990, 200_000) == whole[99_990:]
    assert fs.cat_file(path, 200_000, 200_010) == b""
    with fs.open(path, block_size=1000) as file:
        file.seek(50_000)
        assert file.read(10) == whole[50_000:50_010]
        file.seek(-3, 2)
        assert file.read() == whole[-3:]
    assert fs.cat_file(http.url("/chunked/5000/100"), 10, 20) == pattern(5000)[10:20]
    with fs.open(http.url("/chunked/5000/100")) as file:
        assert file.read() == pattern(5000)
    assert not fs.exists(http.url("/status/404"))
    with pytest.raises(FileNotFoundError):
        fs.cat_file(http.url("/status/404"))
    with pytest.raises(PermissionError):
        fs.cat_file(http.url("/basic/a/b"))
    with pytest.raises(OSError, match="500"):
        fs.cat_file(http.url("/status/500"))
    with pytest.raises(warmwire.ResolveError):
        fs.cat_file("http://nowhere.invalid/")


def test_ranges_are_coalesced():
    body = pattern(1_000_000)

    def ranged(handler):
        first, last = (int(place) for place in handler.headers["Range"].removeprefix("bytes=").split("-"))
        answer(handler, body[first : last + 1], 206, Content_Range=f"bytes {first}-{last}/{len(body)}")

    site = Site(ranged)
    fs = WarmwireFileSystem()
    path = site.root + "/file"
    starts = [900_000, 0, 100, 5000, 500_000, 499_000]
    ends = [900_010, 10, 200, 6000, 500_010, 500_005]
    assert fs.cat_ranges([path] * 6, starts, ends) == [body[a:b] for a, b in zip(starts, ends)]
    assert sorted(row[1] for row in site.seen) == ["bytes=0-5999", "bytes=499000-500009", "bytes=900000-900009"]
    site.seen.clear()
    fs.cat_ranges([path] * 6, starts, ends, max_gap=0)
    assert len(site.seen) == 5
    found = fs.cat_ranges([path, "http://nowhere.invalid/"], 0, 10)
    assert found[0] == body[:10] and isinstance(found[1], warmwire.ResolveError)
    with pytest.raises(warmwire.ResolveError):
        fs.cat_ranges(["http://nowhere.invalid/"], 0, 10, on_error="raise")


def test_folders_over_http():
    pages = {
        "/data/": b'<a href="../">up</a> <A HREF="a.txt">a</A> <a class=x href="sub/">s</a> <a href="/else">e</a> <a href="?C=N">n</a>',
        "/data/sub/": b'<a href="b%20c.txt">b</a>',
    }

    def pages_or_redirect(handler):
        if handler.path + "/" in pages:
            answer(handler, b"", 301, Location=handler.path + "/")
        else:
            answer(handler, pages.get(handler.path, b"x"))

    site = Site(pages_or_redirect)
    fs = WarmwireFileSystem()
    assert fs.ls(site.root + "/data/", detail=False) == [site.root + "/data/a.txt", site.root + "/data/sub/"]
    assert fs.find(site.root + "/data/") == [site.root + "/data/a.txt", site.root + "/data/sub/b%20c.txt"]
    assert fs.glob(site.root + "/data/*.txt") == [site.root + "/data/a.txt"]


def test_get_and_put(http, tmp_path):
    fs = WarmwireFileSystem()
    fs.get_file(http.url("/bytes/300000"), tmp_path / "new" / "file")
    assert (tmp_path / "new" / "file").read_bytes() == pattern(300_000)
    with pytest.raises(warmwire.IncompleteBody):
        fs.get_file(http.url("/cut/300/bytes/1000"), tmp_path / "broken")
    assert not (tmp_path / "broken").exists()
    fs.put_file(tmp_path / "new" / "file", http.url("/sum"))


def test_what_is_no_file_stays(http, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    with pytest.raises(warmwire.IncompleteBody):
        WarmwireFileSystem().get_file(http.url("/cut/300/bytes/1000"), tmp_path / "pipe")
    os.close(reader)
    assert (tmp_path / "pipe").is_fifo()


def test_asynchronous(http):
    async def main():
        fs = WarmwireFileSystem(asynchronous=True)
        bodies = await asyncio.gather(*(fs._cat_file(http.url(f"/bytes/{n}")) for n in range(50)))
        file = await fs.open_async(http.url("/bytes/100000"))
        parts = [await file.read(10), await file.read(1000), await file.read()]
        await file.close()
        return bodies, parts

    bodies, parts = asyncio.run(main())
    assert bodies == [pattern(n) for n in range(50)]
    assert [len(part) for part in parts] == [10, 1000, 98_990] and b"".join(parts) == pattern(100_000)


def test_pandas(table):
    import pandas

    frame = pandas.read_parquet(table.root + "/part-1.parquet", filesystem=WarmwireFileSystem(), columns=["n"])
    assert list(frame["n"]) == list(range(1000, 2000))


def test_pyarrow(table):
    from pyarrow import dataset

    paths = [f"{table.root}/part-{part}.parquet" for part in range(3)]
    rows = dataset.dataset(paths, filesystem=WarmwireFileSystem()).to_table(columns=["n"])
    assert sorted(rows["n"].to_pylist()) == list(range(3000))


def test_duckdb(table):
    import duckdb

    with duckdb.connect() as database:
        database.register_filesystem(WarmwireFileSystem())
        paths = [f"warmwire://{table.root}/part-{part}.parquet" for part in range(3)]
        found = database.execute("select count(*), sum(n) from read_parquet(?)", [paths]).fetchone()
    assert found == (3000, sum(range(3000)))


def test_when_a_file_was_changed(table, ftp, sftp, tmp_path):
    fs = WarmwireFileSystem()
    assert abs(fs.modified(table.root + "/part-0.parquet").timestamp() - time.time()) < 3600
    key, known = sftp.rest
    over_sftp = WarmwireFileSystem(client={"options": {"SSH_PRIVATE_KEYFILE": key, "SSH_KNOWNHOSTS": known}})
    places, before = ((fs, ftp + "/dated"), (over_sftp, sftp.root + "/dated")), time.time()
    for files, path in places:
        files.pipe_file(path, b"1")
    after = time.time()
    time.sleep(2)
    for files, path in places:
        assert before - 1 <= files.modified(path).timestamp() <= after + 1
        files.rm_file(path)
    # Where a server does not tell, it may have been now; DuckDB asks it of each file.
    (tmp_path / "table.parquet").write_bytes(fs.cat_file(table.root + "/part-0.parquet"))
    site = Site(folder(tmp_path, dated=False))
    before = time.time()
    assert before <= fs.modified(site.root + "/table.parquet").timestamp() <= time.time()
    with pytest.raises(FileNotFoundError):
        fs.modified(site.root + "/missing")
    import duckdb

    with duckdb.connect() as database:
        database.register_filesystem(fs)
        path = f"warmwire://{site.root}/table.parquet"
        assert database.execute("select count(*) from read_parquet(?)", [path]).fetchone() == (1000,)


def test_zarr_and_xarray(tmp_path):
    import numpy
    import xarray
    import zarr

    numbers = numpy.arange(10_000.0).reshape(100, 100)
    xarray.Dataset({"numbers": (("x", "y"), numbers)}).chunk({"x": 10}).to_zarr(tmp_path / "store.zarr")
    site = Site(folder(tmp_path))
    fs = WarmwireFileSystem()
    found = xarray.open_zarr(fs.get_mapper(site.root + "/store.zarr"))["numbers"]
    assert numpy.array_equal(found[:, 7], numbers[:, 7])
    store = zarr.storage.FsspecStore(WarmwireFileSystem(asynchronous=True), path=site.root + "/store.zarr", read_only=True)
    assert numpy.array_equal(zarr.open_group(store, mode="r")["numbers"][5:25, 3], numbers[5:25, 3])


def test_dask(table):
    import dask
    from dask import dataframe

    register()
    paths = [f"{table.root}/part-{part}.parquet" for part in range(3)]
    with dask.config.set(scheduler="threads"):
        assert int(dataframe.read_parquet(paths, filesystem=WarmwireFileSystem())["n"].sum().compute()) == sum(range(3000))
    assert isinstance(fsspec.url_to_fs(paths[0])[0], WarmwireFileSystem)
