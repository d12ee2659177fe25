"""Fetches the URLs of a Dask frame or bag on its workers.

>>> rows = warmwire.dask.fetch(frame, per_host=8)

The columns of :func:`warmwire.fetch_batches` are added to each row; failures are rows, too. Rows are partitioned by
host, so that ``per_host`` is a limit for the whole cluster. Each worker process has one pool of warm connections. Dask's dashboard
shows running partitions as ``fetch_urls`` and counts URLs and body bytes among its fine performance metrics.
"""

from __future__ import annotations

from typing import Any

import pandas
import pyarrow
from dask import bag, dataframe

from . import _batches, _cluster


def fetch(urls: Any, column: str = "url", *, partitions: int | None = None, **how: Any) -> dataframe.DataFrame:
    """Returns a frame with the results of ``urls``: a frame with URLs in ``column``, a series or a bag of URLs.

    ``partitions`` is the number of partitions of hosts, by default that of ``urls``. ``how`` is as for
    :func:`warmwire.fetch_batches`; its limits apply to one partition.
    """
    if isinstance(urls, bag.Bag):
        frame = urls.map(lambda url: {column: url}).to_dataframe(meta={column: "string[pyarrow]"})
    elif isinstance(urls, dataframe.DataFrame):
        frame = urls
    else:
        frame = urls.to_frame(column)
    _cluster.check(list(frame.columns), column)
    hosted = frame.map_partitions(add_host, column)
    parted = hosted.shuffle(on=_cluster.HOST, npartitions=partitions or frame.npartitions)
    return parted.map_partitions(fetch_urls, column, how, meta=_joined(hosted._meta, _none()))


def add_host(part: pandas.DataFrame, column: str) -> pandas.DataFrame:
    """Adds the hosts of the URLs to a partition."""
    hosts = _cluster.hosts(None if url is pandas.NA else url for url in part[column])
    return part.assign(**{_cluster.HOST: pandas.array(hosts, dtype="string[pyarrow]")})


def fetch_urls(part: pandas.DataFrame, column: str, how: dict[str, Any]) -> pandas.DataFrame:
    """Fetches all URLs of one partition."""
    urls = (None if url is pandas.NA else url for url in part[column])
    batches = []
    for batch in _cluster.rows_of(urls, how):
        _tell(batch)
        batches.append(batch)
    return _joined(part, pyarrow.Table.from_batches(batches) if batches else _none())


def _none() -> pyarrow.Table:
    return _batches.schema().empty_table()


def _joined(part: pandas.DataFrame, found: pyarrow.Table) -> pandas.DataFrame:
    rows = part.drop(columns=_cluster.HOST).take(found.column("index").to_numpy())
    for name in _cluster.ADDED:
        rows[name] = pandas.arrays.ArrowExtensionArray(found.column(name))
    return rows


def _tell(batch: pyarrow.RecordBatch) -> None:
    """Reports to the dashboard, if there is one."""
    try:
        from distributed.metrics import context_meter
    except ImportError:
        return
    failed = _cluster.failed(batch)
    context_meter.digest_metric("fetched", batch.num_rows - failed, "urls")
    context_meter.digest_metric("failed", failed, "urls")
    context_meter.digest_metric("fetched", batch.column("body").nbytes, "bytes")


__all__ = ["fetch"]
