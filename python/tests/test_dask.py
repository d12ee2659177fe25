"""Two worker processes, one of which is killed in the middle: every URL is there once."""

import os
import signal
import threading
import time

import pytest
from patterns import pattern
from sites import Site, answer

pandas = pytest.importorskip("pandas", reason="is missing: pandas")
pytest.importorskip("dask", reason="is missing: dask")
import warmwire.dask  # noqa: E402
from dask import bag, dataframe  # noqa: E402
from distributed import Client, LocalCluster  # noqa: E402


@pytest.fixture(scope="module")
def cluster():
    with LocalCluster(n_workers=2, threads_per_worker=2, dashboard_address=None) as cluster, Client(cluster) as client:
        yield client


def slow(handler):
    time.sleep(0.02)
    size = int(handler.path.rsplit("/", 1)[1])
    answer(handler, pattern(size), 404 if size % 10 == 9 else 200)


def check(rows, urls):
    rows = rows.sort_values("number").reset_index(drop=True)
    assert list(rows["number"]) == list(range(len(urls))) and list(rows["url"]) == urls
    for row in rows.itertuples():
        if ".invalid" in row.url:
            assert row.code == 6 and pandas.isna(row.status) and pandas.isna(row.body)
        else:
            assert (row.code, row.status) == (0, 404 if row.number % 10 == 9 else 200), row.error
            assert row.body == pattern(row.number)


@pytest.mark.parametrize("killed", [False, True])
def test_every_url_once(cluster, killed):
    sites = [Site(slow) for _ in range(6)]
    roots = [site.root for site in sites] + ["http://nowhere.invalid"]
    urls = [f"{roots[n % 7]}/{n}" for n in range(700)]
    frame = dataframe.from_pandas(pandas.DataFrame({"number": range(700), "url": urls}), npartitions=5)
    rows = warmwire.dask.fetch(frame, partitions=6, per_host=4, rows=10)

    def kill():
        while sum(len(site.seen) for site in sites) < 150:
            time.sleep(0.01)
        os.kill(next(iter(cluster.run(os.getpid).values())), signal.SIGKILL)

    killer = threading.Thread(target=kill)
    if killed:
        killer.start()
    check(cluster.compute(rows).result(timeout=120), urls)
    assert sum(len(site.seen) for site in sites) >= 600
    if killed:
        killer.join()
    else:
        # One worker has all of a host: its limit, and the scout ahead of it, is the cluster's.
        assert all(site.most <= 5 for site in sites)
        deadline = time.monotonic() + 30
        while (counts := counted(cluster)) != {"fetched": 600, "failed": 100} and time.monotonic() < deadline:
            time.sleep(0.2)  # they come with the workers' heartbeats
        assert counts == {"fetched": 600, "failed": 100}


def counted(cluster):
    """What the dashboard's metrics say of URLs."""
    found = {}
    for key, value in cluster.run_on_scheduler(lambda dask_scheduler: dict(dask_scheduler.cumulative_worker_metrics)).items():
        if key[-1] == "urls":
            found[key[-2]] = found.get(key[-2], 0) + value
    return found


def test_a_bag_and_a_series(cluster, http):
    urls = [http.url(f"/bytes/{n}") for n in range(20)]
    for given in (bag.from_sequence(urls, npartitions=3), dataframe.from_pandas(pandas.Series(urls), npartitions=3)):
        rows = warmwire.dask.fetch(given).compute()
        assert sorted(len(body) for body in rows["body"]) == list(range(20))
    with pytest.raises(ValueError, match="no column"):
        warmwire.dask.fetch(dataframe.from_pandas(pandas.DataFrame({"a": urls})))
    with pytest.raises(ValueError, match="to be added"):
        warmwire.dask.fetch(dataframe.from_pandas(pandas.DataFrame({"url": urls, "status": urls})))
