"""Fetches the URLs of a Spark frame on its executors.

>>> rows = warmwire.spark.fetch(frame, per_host=8)

The columns of :func:`warmwire.fetch_batches` are added to each row; failures are rows, too. Rows are partitioned by
host, so that ``per_host`` is a limit for the whole cluster. Each Python worker has one pool of warm connections, which lasts as long
as the worker. Spark's own pages show the partitions as tasks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from . import _cluster

_ADDED = (
    "status int, headers array<struct<name: string, value: string>>, body binary, path string, code int, error string, attempts int, "
    "timings struct<name: double, connect: double, tls: double, request: double, first_byte: double, total: double>"
)
_HOST = r"^([^:/?#]+://)(?:[^/?#@]*@)?([^/?#]*)"


def fetch(frame: DataFrame, column: str = "url", *, partitions: int | None = None, **how: Any) -> DataFrame:
    """Returns the rows of ``frame`` with the results of the URLs in ``column``, in ``partitions`` partitions."""
    _cluster.check(frame.columns, column)
    host = F.lower(F.concat(F.regexp_extract(column, _HOST, 1), F.regexp_extract(column, _HOST, 2)))
    count = partitions or frame.sparkSession.sparkContext.defaultParallelism

    def fetch_urls(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        given = list(batches)
        if given:
            for rows in _cluster.fetch_table(pyarrow.Table.from_batches(given), column, how):
                yield from rows.to_batches()

    wanted = StructType([*frame.schema.fields, *StructType.fromDDL(_ADDED).fields])
    return frame.repartition(count, host).mapInArrow(fetch_urls, wanted)


__all__ = ["fetch"]
