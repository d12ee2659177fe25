"""Fetches the URLs of a Daft frame, and reads URLs as a Daft frame.

>>> rows = warmwire.daft.fetch(frame, column="url", per_host=8)

The columns of :func:`warmwire.fetch_batches` are added to each row; failures are rows, too. ``daft.read_parquet`` and its kin have
readers of their own, for which no other file system can be set.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import TYPE_CHECKING, Any

import daft
import pyarrow
from daft.io.source import DataSource, DataSourceTask
from daft.recordbatch import RecordBatch

from . import _batches, _cluster

if TYPE_CHECKING:
    from daft.io.pushdowns import Pushdowns

_FIELDS = [_batches.schema().field(name) for name in _cluster.ADDED]


def fetch(frame: daft.DataFrame, column: str = "url", *, partitions: int | None = None, rows: int = 10_000, **how: Any) -> daft.DataFrame:
    """Returns ``frame`` with the results of the URLs in ``column``.

    Up to ``rows`` URLs are fetched together. ``how`` is as for :func:`warmwire.fetch_batches`; its limits apply to each such batch.
    On a cluster, give ``partitions``: rows are then partitioned by host.
    """
    _cluster.check(frame.column_names, column)
    if rows < 1 or partitions is not None and partitions < 1:
        raise ValueError("rows and partitions are at least 1")
    kind = daft.DataType.from_arrow_type(pyarrow.struct(_FIELDS))

    @daft.func.batch(return_dtype=kind, unnest=True, batch_size=rows)
    def fetch_urls(urls: daft.Series) -> pyarrow.Array:
        return fetch_column(urls.to_arrow(), how)

    if partitions is not None:
        hosted = frame.with_column(_cluster.HOST, _hosts(daft.col(column)))
        frame = hosted.repartition(partitions, _cluster.HOST).exclude(_cluster.HOST)
    return frame.select(*(daft.col(name) for name in frame.column_names), fetch_urls(daft.col(column)))


@daft.func.batch(return_dtype=daft.DataType.string())
def _hosts(urls: daft.Series) -> list[str]:
    return _cluster.hosts(urls.to_pylist())


def fetch_column(urls: Any, how: dict[str, Any]) -> pyarrow.StructArray:
    """Returns the results of a column of URLs, in its order."""
    if not len(urls):
        return pyarrow.array([], pyarrow.struct(_FIELDS))
    found = pyarrow.Table.from_batches(list(_cluster.rows_of(urls.to_pylist(), how)))
    found = found.sort_by("index").select(list(_cluster.ADDED)).combine_chunks()
    return pyarrow.StructArray.from_arrays([column.chunk(0) for column in found.columns], fields=_FIELDS)


def read(urls: Iterable[str], *, partitions: int = 8, **how: Any) -> daft.DataFrame:
    """Returns a frame with a row for each URL and the columns of :func:`warmwire.fetch_batches`; rows come as transfers end.

    ``partitions`` are fetched at a time, and a host is in one of them.

    >>> warmwire.daft.read(["https://example.com/"]).select("url", "status").to_pydict()
    {'url': ['https://example.com/'], 'status': [200]}
    """
    return UrlSource(urls, partitions, how).read()


class UrlSource(DataSource):
    """URLs as a source of data; see :func:`read`."""

    def __init__(self, urls: Iterable[str], partitions: int, how: dict[str, Any]) -> None:
        if partitions < 1:
            raise ValueError("partitions is at least 1")
        self._parts = _cluster.parts_of(urls, partitions)
        self._how = how

    @property
    def name(self) -> str:
        """The name of the source."""
        return "warmwire"

    @property
    def schema(self) -> daft.Schema:
        """The columns of :func:`warmwire.fetch_batches`."""
        return daft.Schema.from_pyarrow_schema(_batches.schema())

    async def get_tasks(self, pushdowns: Pushdowns) -> AsyncIterator[DataSourceTask]:
        """Yields a task for each partition."""
        for part in self._parts:
            yield _Task(part, self._how)


class _Task(DataSourceTask):
    """Fetches the URLs of a partition."""

    def __init__(self, part: list[tuple[int, str]], how: dict[str, Any]) -> None:
        self._part, self._how = part, how

    @property
    def schema(self) -> daft.Schema:
        return daft.Schema.from_pyarrow_schema(_batches.schema())

    async def read(self) -> AsyncIterator[RecordBatch]:
        batches = _cluster.rows_of_part(self._part, self._how)
        # Daft runs the tasks of a process in one loop, which must not wait for servers.
        while (batch := await asyncio.to_thread(next, batches, None)) is not None:
            yield RecordBatch.from_arrow_record_batches([batch], batch.schema)


__all__ = ["UrlSource", "fetch", "read"]
