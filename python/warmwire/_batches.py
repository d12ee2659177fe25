"""The results of many URLs as Arrow record batches. The native half writes the columns: no Python object for each row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from . import _native
from ._client import Client
from ._many import Results, Where, _Ending, _Job, _Many, _queue
from ._types import signed

if TYPE_CHECKING:
    import pyarrow
    from typing_extensions import Unpack

    from ._types import RequestOptions

_TIMES = ("name", "connect", "tls", "request", "first_byte", "total")
_LARGEST = 2**31 - 1 - 2**26


def schema() -> pyarrow.Schema:
    """Returns the schema of :func:`fetch_batches`.

    ``index`` is the position of the URL; ``status`` is null without a reply, ``body`` without a complete one; ``path`` is the file of
    a body that was written to one; ``code`` is curl's, 0 for success, and ``error`` describes the failure.
    ``timings`` are seconds from the start to the end of each step.
    """
    import pyarrow as pa

    field = pa.struct([pa.field("name", pa.string(), False), pa.field("value", pa.string(), False)])
    return pa.schema(
        [
            pa.field("index", pa.int64(), False),
            pa.field("url", pa.string(), False),
            pa.field("status", pa.int32()),
            pa.field("headers", pa.list_(pa.field("item", field, False)), False),
            pa.field("body", pa.binary()),
            pa.field("path", pa.string()),
            pa.field("code", pa.int32(), False),
            pa.field("error", pa.string()),
            pa.field("attempts", pa.int32(), False),
            pa.field("timings", pa.struct([pa.field(name, pa.float64(), False) for name in _TIMES]), False),
        ]
    )


class _Batches(Results):
    """The rows of a batch until it is full."""

    def __init__(self, rows: int, size: int) -> None:
        if rows < 1 or not 0 < size <= _LARGEST:
            raise ValueError(f"rows is at least 1, size between 1 and {_LARGEST}")
        self._rows, self._size = rows, size
        self._columns = _native.Columns()
        self._written, self._bytes = 0, 0  # rows of the columns, and bytes of their bodies
        self._full: list[pyarrow.RecordBatch] = []

    def run(self, engine: _native.Engine, seconds: float) -> list[_Ending]:
        """Runs transfers, and waits at most so long for news. What has ended stays in the engine."""
        return engine.endings(seconds)

    def ending(self, engine: _native.Engine, number: int) -> tuple[int, int, None] | None:
        """Returns code and status of a transfer that has ended; the rest stays in the engine."""
        ending = engine.ending(number)
        return None if ending is None else (*ending, None)

    def ended(self, many: _Many, job: _Job, number: int, status: int, outcome: None) -> None:
        """Records a result that is final."""
        engine = many.engine
        coming = len(job.held) + engine.waiting_body(number)
        if coming > _LARGEST:
            engine.release(number)
            self.lost(many, job, 63, "the body is too large for a column; to= writes it to a file")
            return
        if self._written and self._bytes + coming > self._size:
            self._full.append(self.rest())
        path = job.path
        if path is not None:
            try:
                path = many.store(job, status)
            except OSError as error:
                engine.release(number)
                self.lost(many, job, 23, str(error))
                return
        self._columns.take(engine, number, (job.index, job.url, job.attempts, path), job.held)
        self._end_of_row(coming)

    def lost(self, many: _Many, job: _Job, code: int, message: str) -> None:
        """Records a job that could not start, or that failed with another."""
        many.discard(job)
        self._columns.fail((job.index, job.url, job.attempts, None), code, message)
        self._end_of_row(0)

    def ready(self, is_end: bool) -> list[pyarrow.RecordBatch]:
        """Returns full batches, and at the end the last one."""
        if is_end and self._written:
            self._full.append(self.rest())
        full, self._full = self._full, []
        return full

    def rest(self) -> pyarrow.RecordBatch:
        """Returns the rows so far as a batch."""
        import pyarrow as pa

        given = self._columns.hand_over()
        self._written, self._bytes = 0, 0
        wanted, rows = schema(), given["rows"]

        def buffer(given: bytes | _native.Buffer | None) -> Any:
            if isinstance(given, _native.Buffer):
                return pa.foreign_buffer(given.address, len(given), given) if len(given) else pa.py_buffer(b"")
            return None if given is None else pa.py_buffer(given)

        def column(kind: Any, count: int, *buffers: bytes | _native.Buffer | None) -> Any:
            return pa.Array.from_buffers(kind, count, [buffer(each) for each in buffers])

        def values(name: str, kind: Any, count: int = rows) -> Any:
            return column(kind, count, *given[name])

        words = [values(name, pa.string(), given["fields"]) for name in ("name", "value")]
        kind = wanted.field("headers").type
        fields = pa.StructArray.from_arrays(words, fields=list(kind.value_type))
        times = [column(pa.float64(), rows, None, each) for name, each in zip(_TIMES, given["timings"])]
        columns = {
            "index": column(pa.int64(), rows, None, given["index"]),
            "url": values("url", pa.string()),
            "status": column(pa.int32(), rows, *given["status"]),
            "headers": pa.Array.from_buffers(kind, rows, [None, pa.py_buffer(given["headers"])], children=[fields]),
            "body": values("body", pa.binary()),
            "path": values("path", pa.string()),
            "code": column(pa.int32(), rows, None, given["code"]),
            "error": values("error", pa.string()),
            "attempts": column(pa.int32(), rows, None, given["attempts"]),
            "timings": pa.StructArray.from_arrays(times, fields=list(wanted.field("timings").type)),
        }
        return pa.RecordBatch.from_arrays([columns[name] for name in wanted.names], schema=wanted)

    def _end_of_row(self, size: int) -> None:
        self._written += 1
        self._bytes += size
        if self._written >= self._rows or self._bytes >= self._size:
            self._full.append(self.rest())


@signed
def fetch_batches(
    urls: Iterable[str],
    *,
    rows: int = 1024,
    size: int = 64 * 2**20,
    limit: int = 64,
    per_host: int = 16,
    retries: int = 2,
    to: Where | str | None = None,
    store_errors: bool = False,
    client: Client | None = None,
    **how: Unpack[RequestOptions],
) -> Iterator[pyarrow.RecordBatch]:
    """As :func:`fetch_many`, in Arrow record batches of :func:`schema`: rows in the order of completion.

    A batch has at most ``rows`` rows, and at most ``size`` bytes of bodies (a single body may be larger). Needs pyarrow.

    >>> [batch.num_rows for batch in warmwire.fetch_batches(["https://example.com/"] * 3)]
    [3]
    """
    batches = _Batches(rows, size)
    own = client if client is not None else Client()
    own._needs_engine("fetch_batches")
    many = _Many(_native.Engine(own.pool._native, True), _queue(urls, to, limit, per_host, retries), own, dict(how), batches, store_errors)
    return many.drive(batches.run, batches.ready)
