"""Fetches the URLs of a Spark frame on its executors.

>>> rows = warmwire.spark.fetch(frame, per_host=8)

After :func:`register`, URLs are a data source of Spark 4, for one read or for a stream that asks again and again:

>>> warmwire.spark.register(session)
>>> session.read.format("warmwire").option("list", "https://example.com/urls.txt").option("per_host", 8).load()
>>> session.readStream.format("warmwire").option("urls", "https://example.com/state").option("interval", 10).load()

The columns of :func:`warmwire.fetch_batches` are added to each row; failures are rows, too. Rows are partitioned by
host, so that ``per_host`` is a limit for the whole cluster. Each Python worker has one pool of warm connections, which lasts as long
as the worker. Spark's own pages show the partitions as tasks.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from . import _batches, _cluster
from ._client import Client

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


def register(session: SparkSession) -> None:
    """Makes Spark know the format ``warmwire``. Its options are those of :class:`UrlSource`."""
    session.dataSource.register(UrlSource)


class UrlSource(DataSource):
    """URLs as a table: a row for each, with the columns of :func:`warmwire.fetch_batches`.

    The URLs are in ``urls`` (a line each, or a JSON list), in ``load(url)``, or in a file with a line each whose URL is ``list``.
    ``partitions`` (8) partitions are read at the same time, and all URLs of a host are in one of them. ``limit``, ``per_host``,
    ``retries``, ``rows`` and ``timeout`` are as for ``fetch_batches``; ``header.X-Key`` is a header. A stream fetches all URLs each
    ``interval`` seconds (60); a fetch that takes longer delays the next one, and none is made up for.
    """

    def __init__(self, options: Any) -> None:
        super().__init__(options)
        self.asked = _Asked(dict(options))

    @classmethod
    def name(cls) -> str:
        """The name of the format."""
        return "warmwire"

    def schema(self) -> str:
        """The columns, as text: the process that is asked has no session to parse it."""
        return "index bigint, url string, " + _ADDED

    def reader(self, schema: StructType) -> DataSourceReader:
        """Fetches the URLs once."""
        return _Reader(self.asked)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        """Fetches the URLs again and again."""
        return _StreamReader(self.asked)


_NUMBERS: dict[str, Callable[[str], Any]] = {"limit": int, "per_host": int, "retries": int, "rows": int, "timeout": float}


class _Asked:
    """The options of a data source."""

    def __init__(self, options: dict[str, str]) -> None:
        given = {name.lower(): value for name, value in options.items()}
        self.urls, self.list = given.pop("urls", None), given.pop("list", None)
        path = given.pop("path", None)
        if sum(each is not None for each in (self.urls, self.list, path)) != 1:
            raise ValueError("the URLs are in one of the options urls, list and load(url)")
        self.urls = path if path is not None else self.urls
        try:
            self.partitions = int(given.pop("partitions", "8"))
            self.interval = float(given.pop("interval", "60"))
            self.how = {name: read(given.pop(name)) for name, read in _NUMBERS.items() if name in given}
        except ValueError as error:
            raise ValueError(f"an option of the data source warmwire is no number: {error}") from error
        if self.partitions < 1 or not self.interval > 0:
            raise ValueError("partitions is at least 1, interval more than 0")
        names = [name for name in given if name.startswith("header.")]
        headers = {name.removeprefix("header."): given.pop(name) for name in names}
        if given:
            raise ValueError(f"the data source warmwire has no option {', '.join(sorted(given))}")
        if headers:
            self.how["headers"] = headers

    def parts(self) -> list[InputPartition]:
        """Returns the URLs in partitions."""
        text = self.urls if self.urls is not None else _text_at(self.list or "")
        urls = json.loads(text) if text.lstrip().startswith("[") else [line.strip() for line in text.splitlines() if line.strip()]
        return [InputPartition(part) for part in _cluster.parts_of(urls, self.partitions)]

    def rows(self, part: InputPartition) -> Iterator[pyarrow.RecordBatch]:
        """Yields the results of a partition, with the positions of its URLs in the whole."""
        for batch in _cluster.rows_of_part(part.value, self.how):
            yield from pyarrow.Table.from_batches([batch]).cast(_arrow_schema()).to_batches()


def _arrow_schema() -> pyarrow.Schema:
    """Returns the schema that Spark derives from its own: everything may be null, and an item of a list is an "element"."""

    def nullable(kind: Any) -> Any:
        if pyarrow.types.is_struct(kind):
            return pyarrow.struct([pyarrow.field(each.name, nullable(each.type)) for each in kind])
        if pyarrow.types.is_list(kind):
            return pyarrow.list_(pyarrow.field("element", nullable(kind.value_type)))
        return kind

    return pyarrow.schema([pyarrow.field(each.name, nullable(each.type)) for each in _batches.schema()])


class _Reader(DataSourceReader):
    """Fetches the URLs once."""

    def __init__(self, asked: _Asked) -> None:
        self._asked = asked

    def partitions(self) -> list[InputPartition]:
        return self._asked.parts()

    def read(self, partition: InputPartition) -> Iterator[Any]:
        return self._asked.rows(partition)


class _StreamReader(DataSourceStreamReader):
    """Fetches the URLs each interval. An offset is the number of the interval since 1970, so that it grows over restarts."""

    def __init__(self, asked: _Asked) -> None:
        self._asked = asked

    def _now(self, behind: int = 0) -> dict[str, int]:
        return {"interval": math.floor(time.time() / self._asked.interval) - behind}

    def initialOffset(self) -> dict[str, int]:
        return self._now(behind=1)

    def latestOffset(self, *_: Any) -> dict[str, int]:
        return self._now()

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> list[InputPartition]:
        return self._asked.parts() if start != end else []

    def read(self, partition: InputPartition) -> Iterator[Any]:
        return self._asked.rows(partition)


def _text_at(url: str) -> str:
    with Client(follow_redirects=True) as client:
        return client.get(url).raise_for_status().text


__all__ = ["UrlSource", "fetch", "register"]
