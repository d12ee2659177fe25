"""Common to Dask, Ray and Spark: the URLs of one host are one partition, which one process fetches with its pool."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow

from ._batches import fetch_batches, schema
from ._many import host_of

HOST = "__warmwire_host"
"""The column by which rows are partitioned."""

ADDED = tuple(name for name in schema().names if name not in ("index", "url"))
"""The columns that are added to a row."""


def check(names: list[str], column: str) -> None:
    """Raises an error if rows with these columns cannot be fetched."""
    if column not in names:
        raise ValueError(f"there is no column {column!r}: {', '.join(names)}")
    twice = [name for name in names if name in (*ADDED, HOST)]
    if twice:
        raise ValueError(f"the rows have what is to be added: {', '.join(twice)}")


def hosts(urls: Any) -> list[str]:
    """Returns the host of each URL."""
    return [host_of(url or "") for url in urls]


def rows_of(urls: Any, how: dict[str, Any]) -> Iterator[pyarrow.RecordBatch]:
    """Yields batches of results; a row without a URL gets an error."""
    return fetch_batches((url or "" for url in urls), **how)


def parts_of(urls: Iterable[str], count: int) -> list[list[tuple[int, str]]]:
    """Returns the URLs with their positions in at most ``count`` parts: those of a host are in one, and large hosts are apart."""
    hosts: dict[str, list[tuple[int, str]]] = {}
    for index, url in enumerate(urls):
        hosts.setdefault(host_of(url), []).append((index, url))
    parts: list[list[tuple[int, str]]] = [[] for _ in range(min(count, len(hosts)) or 1)]
    for rows in sorted(hosts.values(), key=len, reverse=True):
        min(parts, key=len).extend(rows)
    return [sorted(part) for part in parts]


def rows_of_part(part: list[tuple[int, str]], how: dict[str, Any]) -> Iterator[pyarrow.RecordBatch]:
    """Yields the results of a part, with the positions of its URLs in the whole."""
    places = [index for index, _ in part]
    for batch in rows_of([url for _, url in part], how):
        index = pyarrow.array([places[at] for at in batch.column("index").to_pylist()], pyarrow.int64())
        yield pyarrow.RecordBatch.from_arrays([index, *batch.columns[1:]], schema=batch.schema)


def fetch_table(table: pyarrow.Table, column: str, how: dict[str, Any]) -> Iterator[pyarrow.Table]:
    """Yields the rows with their results, in the order of completion."""
    for batch in rows_of(table.column(column).to_pylist(), how):
        rows = table.take(batch.column("index"))
        for name in ADDED:
            rows = rows.append_column(batch.schema.field(name), batch.column(name))
        yield rows


def failed(batch: Any) -> int:
    """Returns how many rows have an error."""
    column = batch.column("error")
    nulls: int = column.null_count
    return len(column) - nulls
