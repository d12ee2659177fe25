"""fetch_batches: Arrow's columns, written without Python's objects, and what stands in them."""

import sys

import pytest
import warmwire
from patterns import pattern
from sites import Site, answer, breaking

pyarrow = pytest.importorskip("pyarrow", reason="is missing: pyarrow")
compute = pytest.importorskip("pyarrow.compute", reason="is missing: pyarrow")


def rows_of(batches):
    batches = list(batches)
    for batch in batches:
        batch.validate(full=True)
    return sorted(pyarrow.Table.from_batches(batches).to_pylist(), key=lambda row: row["index"])


def test_rows(http):
    urls = [http.url(f"/bytes/{size}") for size in range(100)]
    for size, row in enumerate(rows_of(warmwire.fetch_batches(urls, rows=30))):
        assert (row["index"], row["url"], row["body"]) == (size, urls[size], pattern(size))
        assert (row["status"], row["code"], row["error"], row["path"], row["attempts"]) == (200, 0, None, None, 1)
        assert {"name": "Content-Length", "value": str(size)} in row["headers"]
        assert 0 < row["timings"]["first_byte"] <= row["timings"]["total"] < 100


def test_failures_are_rows(http):
    urls = [http.url("/bytes/1"), http.url("/status/404"), "http://nowhere.invalid/", "nonsense://x/", http.url("/cut/300/bytes/1000")]
    urls += ["http://nowhere.invalid/2", http.url("/status/503")]
    found = rows_of(warmwire.fetch_batches(urls, retries=0))
    assert [row["status"] for row in found] == [200, 404, None, None, 200, None, 503]
    assert [row["code"] for row in found] == [0, 0, 6, 1, 18, 6, 0]
    assert [row["body"] is None for row in found] == [False, False, True, True, True, True, False]
    assert "nowhere.invalid" in found[2]["error"] and found[0]["error"] is None


def test_sizes(http):
    urls = [http.url(f"/bytes/{size}") for size in [1000] * 50 + [200_000] * 3]
    batches = list(warmwire.fetch_batches(urls, rows=20, size=100_000))
    assert sum(batch.num_rows for batch in batches) == 53 and all(batch.num_rows <= 20 for batch in batches)
    sizes = [compute.sum(compute.binary_length(batch["body"])).as_py() for batch in batches]
    assert sum(sizes) == 650_000 and all(size <= 100_000 or batch.num_rows == 1 for size, batch in zip(sizes, batches))
    assert [batch.schema for batch in batches] == [batches[0].schema] * len(batches)
    assert list(warmwire.fetch_batches([])) == []
    for wrong in ({"rows": 0}, {"size": 0}, {"size": 2**31}, {"limit": 0}):
        with pytest.raises(ValueError, match="at least 1|between 1 and"):
            warmwire.fetch_batches(urls, **wrong)


def test_bodies_to_files(http, tmp_path):
    urls = [http.url(f"/bytes/{size}") for size in range(10)]
    for size, row in enumerate(rows_of(warmwire.fetch_batches(urls, to=tmp_path))):
        assert row["body"] is None and row["code"] == 0
        with open(row["path"], "rb") as file:
            assert file.read() == pattern(size)


def test_a_body_that_came_in_two_parts():
    body = pattern(200_000)
    (row,) = rows_of(warmwire.fetch_batches([Site(breaking(body, 120_000)).root]))
    assert row["body"] == body and row["attempts"] == 2


def test_fields_that_are_no_ascii():
    (row,) = rows_of(warmwire.fetch_batches([Site(lambda handler: answer(handler, b"x", X_Name="caf\xe9")).root]))
    assert {"name": "X-Name", "value": "caf\xe9"} in row["headers"]


def test_no_objects_for_rows(http):
    """What a URL took of Python's memory while it waited is given back, and nothing comes in its place."""
    blocks, batches = [], []
    for batch in warmwire.fetch_batches([http.url("/bytes/10")] * 2000, rows=100, per_host=4):
        batches.append(batch)
        blocks.append(sys.getallocatedblocks())
    assert sum(batch.num_rows for batch in batches) == 2000
    # A waiting one is two blocks: itself and its number.
    assert blocks[2] - blocks[-1] > 1.3 * 1700


def test_a_batch_outlives_its_engine(http):
    """Columns refer to memory of the native half: it stays as long as anything refers to it."""
    sizes = [0, 10, 100_000, 1_000_000]
    batches = warmwire.fetch_batches([http.url(f"/bytes/{size}") for size in sizes], rows=2)
    bodies = [batch.column("body") for batch in batches]
    del batches
    for _ in range(3):
        list(warmwire.fetch_batches([http.url("/bytes/1000001")]))
    assert sorted(len(body) for column in bodies for body in column.to_pylist()) == sizes
    assert all(body == pattern(len(body)) for column in bodies for body in column.to_pylist())
