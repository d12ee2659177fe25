"""Fetches the URLs of a Ray dataset on its workers.

>>> rows = warmwire.ray.fetch(dataset, per_host=8, concurrency=4)

The columns of :func:`warmwire.fetch_batches` are added to each row; failures are rows, too.
Ray's own readers and ``download`` expressions take :class:`FileSystem`:

>>> dataset.with_column("body", ray.data.expressions.download("url", filesystem=warmwire.ray.FileSystem()))

Use :class:`Fetch` to call ``map_batches`` yourself. Each worker process has one pool of warm connections. Ray's dashboard shows the
rows of ``Fetch`` as they arrive, and its metrics count ``warmwire_urls`` by outcome and ``warmwire_bytes``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow
from fsspec.implementations.http import HTTPFileSystem
from ray.data import Dataset
from ray.util.metrics import Counter

from . import _cluster
from .filesystem import WarmwireFileSystem


class FileSystem(WarmwireFileSystem, HTTPFileSystem):
    """Files at URLs for Ray, which leaves the scheme in a path for a subclass of fsspec's own class alone.

    >>> ray.data.read_parquet("https://example.com/part-0.parquet", filesystem=FileSystem())
    """


class Fetch:
    """Fetches the URLs in ``column`` of tables; ``how`` is as for :func:`warmwire.fetch_batches`.

    >>> dataset.map_batches(Fetch, batch_format="pyarrow", concurrency=4, fn_constructor_kwargs={"per_host": 8})

    The limit per host then applies to each worker; with :func:`fetch` it applies to the cluster.
    """

    def __init__(self, column: str = "url", **how: Any) -> None:
        self._column, self._how = column, how
        self._urls = Counter("warmwire_urls", "URLs that have ended.", ("outcome",))
        self._bytes = Counter("warmwire_bytes", "Bytes of bodies.")

    def __call__(self, table: pyarrow.Table) -> Iterator[pyarrow.Table]:
        if _cluster.HOST in table.column_names:
            table = table.drop_columns(_cluster.HOST)
        _cluster.check(table.column_names, self._column)
        for rows in _cluster.fetch_table(table, self._column, self._how):
            failed = _cluster.failed(rows)
            for outcome, count in (("fetched", rows.num_rows - failed), ("failed", failed)):
                if count:
                    self._urls.inc(count, {"outcome": outcome})
            if rows.column("body").nbytes:
                self._bytes.inc(rows.column("body").nbytes)
            yield rows


def fetch(
    dataset: Dataset,
    column: str = "url",
    *,
    partitions: int | None = None,
    concurrency: Any = 2,
    num_cpus: float = 0.25,
    **how: Any,
) -> Dataset:
    """Returns the rows of ``dataset`` with the results of the URLs in ``column``.

    They are partitioned by host into ``partitions`` blocks (default: four for each worker), so that ``per_host`` is a limit for the
    whole cluster. ``concurrency`` is the number of workers, as for ``map_batches``, and ``num_cpus`` the CPUs that Ray reserves for
    each. Workers mostly wait for servers; with a core each, a small machine would have none left to partition the rows.
    """
    workers = concurrency if isinstance(concurrency, int) else concurrency[1]
    hosted = dataset.map_batches(add_host, batch_format="pyarrow", fn_kwargs={"column": column})
    parted = hosted.repartition(partitions or 4 * workers, keys=[_cluster.HOST])
    given = {"column": column, **how}
    return parted.map_batches(
        Fetch,
        batch_format="pyarrow",
        batch_size=None,
        concurrency=concurrency,
        num_cpus=num_cpus,
        fn_constructor_kwargs=given,
    )


def add_host(table: pyarrow.Table, column: str) -> pyarrow.Table:
    """Adds the hosts of the URLs to a table."""
    _cluster.check(table.column_names, column)
    return table.append_column(_cluster.HOST, pyarrow.array(_cluster.hosts(table.column(column).to_pylist()), pyarrow.string()))


__all__ = ["Fetch", "FileSystem", "fetch"]
