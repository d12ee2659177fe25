"""What the READMEs show of Python, as printed but for the server's name."""

import os
import re
import subprocess
import sys

import pytest
from conftest import Served
from sites import Site, folder

ROOT = os.path.join(os.path.dirname(__file__), "..", "..")
# Arrow's own threads may still let go of a file while the interpreter goes down, and end the process by that: nothing of it is
# asked here.
END = "import os, sys\nsys.stdout.flush()\nos._exit(0)\n"


def examples():
    """Number, file and text of each block of Python."""
    for name in ("README.md", "python/README.md"):
        with open(os.path.join(ROOT, name), encoding="utf-8") as file:
            text = file.read()
        yield from ((name, block) for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL))


WANTED = {
    # What only one of the examples has: the first word that it prints, and whether it takes minutes.
    'warmwire.get("https://example.com/part-0.parquet")': ("200", False),
    "import pandas, warmwire.filesystem": (str(sum(range(1000))), False),
    "import dask.dataframe, dask.distributed": (str(sum(range(2000))), False),
    "AsyncClient": ("[200, 200, 200]", False),
    "warmwire.MockTransport": ("{'path': '/items'}", False),
    "warmwire.compat": ("200 200", False),
    "fetch_many": ("", False),
    "warmwire.store.HTTPStore": ("b'PAR1'", False),
    "fetch_batches": ("3 ['index',", False),
    "readinto": ("b'PAR1'", False),
    "warmwire.dask.fetch": ("200 3", False),
    "warmwire.ray.fetch": ("200 3", True),
    "warmwire.spark.fetch": ("200 3", True),
}


def named(mark, words, slow):
    return pytest.param(mark, words, marks=[pytest.mark.deep] if slow else [], id=re.sub(r"\W+", "-", mark)[:40])


@pytest.mark.parametrize("mark, printed", [named(mark, *wanted) for mark, wanted in WANTED.items()])
def test_what_is_shown_runs(table, tmp_path, mark, printed):
    found = [(name, code) for name, code in examples() if mark in code]
    assert found, f"no README shows {mark} any more"
    lists = [line for _, code in examples() for line in code.splitlines() if line.startswith("urls = ")]
    for name, code in found:
        # Blocks that go on with the URLs of one above have that line before them.
        code = code if "urls = " in code or "urls" not in code else f"{lists[0]}\n{code}"
        code = (code + END).replace("https://example.com", table.root)
        script = tmp_path / "example.py"
        # Workers import the program that starts them.
        script.write_text("if __name__ == '__main__':\n" + "".join(f"    {line}\n" for line in code.splitlines()))
        environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
        environment["PYTHONPATH"] = os.pathsep.join(sys.path)
        done = subprocess.run(
            [sys.executable, script], capture_output=True, text=True, timeout=300, check=False, cwd=tmp_path, env=environment
        )
        assert done.returncode == 0, f"{name}: {done.stderr}"
        assert printed in " ".join(re.sub(r"[|+-]", " ", done.stdout).split()), f"{name}: {done.stdout}"


def test_every_example_is_run():
    unknown = [code for _, code in examples() if not any(mark in code for mark in WANTED)]
    assert not unknown


def run_of_guide(name, folder, *replaced, **environment):
    """What a program of docs/guide/examples prints; pairs of words are replaced in it."""
    with open(os.path.join(ROOT, "docs", "guide", "examples", name), encoding="utf-8") as file:
        code = file.read()
    for words, others in replaced:
        assert words in code
        code = code.replace(words, others)
    # Workers import the program that starts them, and must not end by that.
    (folder / name).write_text(code + "if __name__ == '__main__':\n" + "".join(f"    {line}\n" for line in END.splitlines()))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment}
    done = subprocess.run(
        [sys.executable, name], capture_output=True, text=True, timeout=300, check=False, cwd=folder, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_object_stores_of_the_guide(tmp_path):
    pytest.importorskip("moto", reason="is missing: moto")
    from test_s3 import Moto

    moto = Moto()
    try:
        keys = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_EC2_METADATA_DISABLED": "true"}
        from warmwire.s3 import S3FileSystem

        S3FileSystem(key="a", secret="b", endpoint_url=moto.root).mkdir("my-data")
        (tmp_path / "logs").mkdir()
        (tmp_path / "logs" / "today").write_text("a line\n")
        printed = run_of_guide("objects.py", tmp_path, ("https://storage.example.com", moto.root), **keys).splitlines()
        (tmp_path / "image.iso").write_bytes(b"i" * 1000)
        keys["XDG_STATE_HOME"] = os.fspath(tmp_path / "state")
        run_of_guide("s3_upload.py", tmp_path, ("S3FileSystem()", f"S3FileSystem(endpoint_url={moto.root!r})"), **keys)
        stored = S3FileSystem(key="a", secret="b", endpoint_url=moto.root).cat_file("my-data/image.iso")
    finally:
        moto.stop()
    assert stored == b"i" * 1000
    assert printed == [str(sum(range(1000))), "['my-data/logs/today', 'my-data/table.parquet']", "[b'PAR1', b'PAR1']"]


def test_an_upload_of_the_guide(tmp_path):
    server = Served("uploads", "proftpd")
    try:
        url = server.root.replace("user:secret@", "")
        (tmp_path / "image.iso").write_bytes(b"i" * 1000)
        replaced = (("ftp://server.example/incoming", url), ('("me", "secret")', '("user", "secret")'))
        printed = run_of_guide("upload.py", tmp_path, *replaced, XDG_STATE_HOME=os.fspath(tmp_path / "state"))
        with open(os.path.join(server.rest[0], "image.iso"), "rb") as stored:
            assert stored.read() == b"i" * 1000
    finally:
        server.stop()
    assert printed == "1000 bytes in 1 attempts\n"


def test_stores_of_the_guide(tmp_path):
    zarr = pytest.importorskip("zarr", reason="is missing: zarr")
    group = zarr.open_group(str(tmp_path / "measurements.zarr"), mode="w")
    group.create_array("temperature", shape=(10,), chunks=(5,), dtype="i4")[:] = range(10)
    site = Site(folder(tmp_path))
    printed = run_of_guide("store.py", tmp_path, ("https://example.com", site.root)).splitlines()
    assert int(printed[0]) == (tmp_path / "measurements.zarr" / "zarr.json").stat().st_size
    assert printed[1:] == ["[b'{', b'  \"a']", "[0 1 2]"]


def test_a_hundred_million_urls_of_the_guide(tmp_path):
    """A part with results is skipped, what a killed run has left is done anew, and failures are rows."""
    pandas = pytest.importorskip("pandas", reason="is missing: pandas")
    pytest.importorskip("distributed", reason="is missing: distributed")
    served = tmp_path / "served"
    served.mkdir()
    for number in range(20):
        (served / f"{number}").write_text("x" * number)
    site = Site(folder(served))
    (tmp_path / "urls").mkdir()
    urls = [f"{site.root}/{number}" for number in range(25)] + ["http://nowhere.invalid/1"]
    for part in ("a", "b", "c"):
        pandas.DataFrame({"url": urls}).to_parquet(tmp_path / "urls" / f"{part}.parquet")
    (tmp_path / "results" / "a").mkdir(parents=True)
    (tmp_path / "results" / "b.draft").mkdir()
    (tmp_path / "results" / "b.draft" / "part.0.parquet").write_text("half of a file")
    processes = ("Client()", "Client(n_workers=2, threads_per_worker=1, dashboard_address=None)")
    printed = run_of_guide("million.py", tmp_path, processes)
    assert printed.splitlines() == ["b {0: 25, 6: 1}", "c {0: 25, 6: 1}"]
    assert len(site.seen) == 2 * 25
    for part in ("b", "c"):
        rows = pandas.read_parquet(tmp_path / "results" / part).sort_values("url", key=lambda column: column.map(urls.index))
        assert [len(body) for body in rows["body"][:20]] == list(range(20))
        assert list(rows["status"][20:25]) == [404] * 5 and "nowhere.invalid" in rows["error"].iloc[25]
    assert run_of_guide("million.py", tmp_path, processes) == "" and len(site.seen) == 2 * 25
