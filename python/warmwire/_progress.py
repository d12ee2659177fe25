"""Showing how far a body has come."""

from __future__ import annotations

import importlib
from typing import Any

from ._errors import OptionError
from ._models import Request, Response
from ._types import OnProgress


class Meter:
    """Counts the bytes of a body and reports them."""

    def __init__(self, on_progress: OnProgress | None, bar: Any) -> None:
        self._on_progress, self._bar, self._received = on_progress, bar, 0

    def __enter__(self) -> Meter:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def count(self, piece: bytes, response: Response) -> bytes:
        """Reports a piece and returns it. The total is None if it is unknown, or if the body is compressed."""
        self._received += len(piece)
        headers = response.headers
        length = headers.get("content-length", "")
        total = int(length) if length.isdigit() and "content-encoding" not in headers else None
        if self._on_progress is not None:
            self._on_progress(self._received, total)
        if self._bar is not None:
            self._bar.show(len(piece), total)
        return piece


class _Tqdm:
    def __init__(self, tqdm: Any, name: str) -> None:
        self._bar = tqdm(unit="B", unit_scale=True, unit_divisor=1024, desc=name)

    def show(self, more: int, total: int | None) -> None:
        if total is not None:
            self._bar.total = total
        self._bar.update(more)

    def close(self) -> None:
        self._bar.close()


class _Rich:
    def __init__(self, progress: Any, name: str) -> None:
        self._progress = progress()
        self._progress.start()
        self._task = self._progress.add_task(name, total=None)

    def show(self, more: int, total: int | None) -> None:
        self._progress.update(self._task, advance=more, total=total)

    def close(self) -> None:
        self._progress.stop()


def meter(on_progress: OnProgress | None, progress: bool, request: Request) -> Meter | None:
    """Returns a meter if one is wanted; ``progress`` needs tqdm or rich."""
    if on_progress is None and not progress:
        return None
    name = request.url.path.rsplit("/", 1)[-1] or request.url.host
    return Meter(on_progress, _bar(name) if progress else None)


def _bar(name: str) -> Any:
    for module, item, kind in (("tqdm.auto", "tqdm", _Tqdm), ("rich.progress", "Progress", _Rich)):
        try:
            return kind(getattr(importlib.import_module(module), item), name)
        except ImportError:
            continue
    raise OptionError("progress=True needs tqdm or rich: pip install tqdm", 48)
