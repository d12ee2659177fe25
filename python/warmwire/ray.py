"""URLs of a Ray dataset, fetched where its workers are.

>>> rows = warmwire.ray.fetch(dataset, per_host=8, concurrency=4)

Each row gets its reply as Arrow columns beside its own (:func:`warmwire.fetch_batches` says which); a failure is a row, too.
:class:`Fetch` is for ``map_batches`` by hand. Each worker process has one pool of warm connections. Ray's dashboard shows the rows
of ``Fetch`` as they come, and its metrics count ``warmwire_urls`` by outcome and ``warmwire_bytes``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow
from ray.data import Dataset
from ray.util.metrics import Counter

from . import _cluster


class Fetch:
    """Fetches the URLs in ``column`` of tables; what ``how`` says is as for :func:`warmwire.fetch_batches`.

    >>> dataset.map_batches(Fetch, batch_format="pyarrow", concurrency=4, fn_constructor_kwargs={"per_host": 8})

    The limit per host is each worker's own there; :func:`fetch` makes it the cluster's.
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
    """The rows of ``dataset`` with what became of the URLs in ``column``.

    They are parted by host into ``partitions`` blocks (four for each worker where that is not said), so that ``per_host`` holds over
    the whole cluster. ``concurrency`` is how many workers there are, as for ``map_batches``, and ``num_cpus`` what Ray sets aside for
    each: they wait for servers most of the time, and with a core each they would leave none on a small machine for what parts the rows.
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
    """The table with the hosts of its URLs."""
    _cluster.check(table.column_names, column)
    return table.append_column(_cluster.HOST, pyarrow.array(_cluster.hosts(table.column(column).to_pylist()), pyarrow.string()))


__all__ = ["Fetch", "fetch"]
