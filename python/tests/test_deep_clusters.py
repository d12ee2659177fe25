"""Ray, Spark and Daft: two worker processes, one of which is killed in the middle; every URL is there once."""

import os
import signal
import sys
import threading
import time

import pytest
from patterns import pattern
from sites import Site, answer
from test_dask import slow

pytestmark = pytest.mark.deep


def children(words):
    """Processes below this one with these words in their command line."""
    import psutil

    found = []
    for process in psutil.Process().children(recursive=True):
        try:
            if words in " ".join(process.cmdline()):
                found.append(process.pid)
        except psutil.Error:
            pass
    return found


class Sites:
    """Servers, and URLs of them and of a host that is none."""

    def __init__(self):
        self.sites = [Site(slow) for _ in range(6)]
        roots = [site.root for site in self.sites] + ["http://nowhere.invalid"]
        self.killed = None
        self.urls = [f"{roots[n % 7]}/{n}" for n in range(700)]

    def kill_in_the_middle(self, words):
        def kill():
            while sum(len(site.seen) for site in self.sites) < 150:
                time.sleep(0.01)
            self.killed = children(words)[0]
            os.kill(self.killed, signal.SIGKILL)

        thread = threading.Thread(target=kill)
        thread.start()
        return thread

    def check(self, rows):
        rows = sorted(rows, key=lambda row: row["number"])
        assert [(row["number"], row["url"]) for row in rows] == list(enumerate(self.urls))
        for row in rows:
            if ".invalid" in row["url"]:
                assert row["code"] == 6 and row["status"] is None and row["body"] is None
            else:
                assert (row["code"], row["status"]) == (0, 404 if row["number"] % 10 == 9 else 200), row["error"]
                assert row["body"] == pattern(row["number"])


@pytest.fixture(scope="module")
def ray_here():
    """A machine of two cores: the workers that fetch must leave something for what parts the rows."""
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


@pytest.mark.parametrize("killed", [False, True])
def test_ray(ray_here, killed):
    import pyarrow
    import ray.data
    import warmwire.ray

    sites = Sites()
    rows = pyarrow.table({"number": range(700), "url": sites.urls})
    dataset = warmwire.ray.fetch(ray.data.from_arrow(rows), concurrency=2, per_host=4, rows=10)
    if killed:
        killer = sites.kill_in_the_middle("Fetch")
    sites.check(dataset.take_all())
    if killed:
        killer.join()
        assert sites.killed
    else:
        assert all(site.most <= 5 for site in sites.sites)


@pytest.fixture(scope="module")
def spark():
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.executorEnv.PYTHONPATH", os.pathsep.join(sys.path))
        .config("spark.executor.memory", "512m")
        .getOrCreate()
    )
    yield session
    session.stop()


@pytest.mark.parametrize("killed", [False, True])
def test_spark(spark, killed):
    import warmwire.spark

    sites = Sites()
    frame = spark.createDataFrame(list(enumerate(sites.urls)), "number int, url string")
    rows = warmwire.spark.fetch(frame, partitions=6, per_host=4, rows=10)
    if killed:
        killer = sites.kill_in_the_middle("CoarseGrainedExecutorBackend")
    sites.check([row.asDict(recursive=True) for row in rows.collect()])
    if killed:
        killer.join()
        assert sites.killed
    else:
        assert all(site.most <= 5 for site in sites.sites)


def test_spark_reads_urls_as_a_table(spark):
    import json

    import warmwire.spark

    sites = Sites()
    warmwire.spark.register(spark)
    frame = spark.read.format("warmwire").option("urls", "\n".join(sites.urls)).option("per_host", 4).option("partitions", 6).load()
    rows = [{**row.asDict(recursive=True), "number": row["index"]} for row in frame.collect()]
    sites.check(rows)
    assert all(site.most <= 5 for site in sites.sites)
    listed = Site(lambda handler: answer(handler, "\n".join(sites.urls[:7]).encode()))
    few = spark.read.format("warmwire").option("list", listed.root + "/urls").option("header.X-Key", "1").load()
    assert few.groupBy("status").count().count() == 2
    assert spark.read.format("warmwire").option("urls", json.dumps([])).load().count() == 0
    for how, words in (({"urls": "x", "colour": "red"}, "no option colour"), ({}, "one of"), ({"urls": "x", "limit": "y"}, "no number")):
        with pytest.raises(Exception, match=words):
            spark.read.format("warmwire").options(**how).load().count()


def test_spark_polls(spark, tmp_path):
    import warmwire.spark

    count = []

    def state(handler):
        count.append(1)
        answer(handler, str(len(count)).encode())

    site = Site(state)
    warmwire.spark.register(spark)
    frame = spark.readStream.format("warmwire").option("interval", 2).load(site.root + "/state")
    bodies = frame.selectExpr("cast(body as string) as body")
    stream = bodies.writeStream.format("json").option("checkpointLocation", str(tmp_path / "at")).start(str(tmp_path / "rows"))
    try:
        deadline = time.monotonic() + 90
        while len(count) < 3 and time.monotonic() < deadline:
            time.sleep(0.1)
        stream.processAllAvailable() if stream.isActive else None
    finally:
        stream.stop()
    found = sorted(int(row["body"]) for row in spark.read.json(str(tmp_path / "rows")).collect())
    assert found[:3] == [1, 2, 3] and not stream.exception()


def test_ray_downloads_in_one_line(ray_here):
    import pyarrow
    import ray.data
    import warmwire.ray
    from ray.data.expressions import download

    sites = Sites()
    urls = [url for url in sites.urls if ".invalid" not in url and not url.endswith("9")][:200]
    dataset = ray.data.from_arrow(pyarrow.table({"url": urls}))
    rows = dataset.with_column("body", download("url", filesystem=warmwire.ray.FileSystem())).take_all()
    assert {row["url"]: row["body"] for row in rows} == {url: pattern(int(url.rpartition("/")[2])) for url in urls}


def test_daft_fetches_a_column():
    import daft
    import warmwire.daft

    sites = Sites()
    frame = daft.from_pydict({"number": list(range(700)), "url": sites.urls})
    rows = warmwire.daft.fetch(frame, rows=300, per_host=4)
    sites.check(rows.to_pylist())
    assert all(site.most <= 3 * 5 for site in sites.sites)  # three batches, each with its limit
    assert rows.where(daft.col("status") == 404).count_rows() == sum(row.endswith("9") and ".invalid" not in row for row in sites.urls)
    empty = daft.from_pydict({"url": [None]}).with_column("url", daft.col("url").cast(daft.DataType.string()))
    assert warmwire.daft.fetch(empty).select("status", "body").to_pydict() == {"status": [None], "body": [None]}
    for given, words in (({"column": "link"}, "no column"), ({"rows": 0}, "at least 1")):
        with pytest.raises(ValueError, match=words):
            warmwire.daft.fetch(frame, **given).collect()
    with pytest.raises(ValueError, match="to be added"):
        warmwire.daft.fetch(rows.select("url", "status"))


def test_daft_reads_urls_as_a_table():
    import warmwire.daft

    sites = Sites()
    table = warmwire.daft.read(sites.urls, partitions=7, per_host=4, rows=10)
    sites.check([{**row, "number": row["index"]} for row in table.to_pylist()])
    assert all(site.most <= 5 for site in sites.sites)
    assert table.limit(3).count_rows() == 3
    assert warmwire.daft.read([]).count_rows() == 0
    with pytest.raises(ValueError, match="partitions"):
        warmwire.daft.read(sites.urls, partitions=0)
    # A host whose replies take long holds up no other one.
    over = threading.Event()
    late = Site(lambda handler: (over.wait(30), answer(handler, b"late")))
    found = []

    def watch():
        deadline = time.monotonic() + 25
        while not found and time.monotonic() < deadline:
            time.sleep(0.01)
            if sum(len(site.seen) for site in sites.sites) == 2 * sum(".invalid" not in url for url in sites.urls):
                found.append(True)
        over.set()

    thread = threading.Thread(target=watch)
    for site in sites.sites:
        del site.seen[:]
    thread.start()
    assert warmwire.daft.read([late.root, *sites.urls, *sites.urls], partitions=3, per_host=4).count_rows() == 1401
    thread.join()
    assert found
