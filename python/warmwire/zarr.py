"""A store for zarr on :class:`warmwire.store.HTTPStore`.

>>> import zarr, warmwire.store, warmwire.zarr
>>> store = warmwire.zarr.ZarrStore(warmwire.store.HTTPStore("https://example.com/data.zarr"))
>>> zarr.open_group(store, mode="r")
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable
from typing import TYPE_CHECKING, Any

from zarr.abc.store import OffsetByteRequest, RangeByteRequest, Store, SuffixByteRequest

from .store import AlreadyExistsError, HTTPStore

if TYPE_CHECKING:
    from zarr.core.buffer import Buffer, BufferPrototype


class ZarrStore(Store):
    """Keys of zarr as objects of a store. ``read_only=False`` writes by PUT and removes by DELETE."""

    supports_writes = True
    supports_deletes = True
    supports_partial_writes = False
    supports_listing = True

    def __init__(self, store: HTTPStore | str, *, read_only: bool = True) -> None:
        super().__init__(read_only=read_only)
        self.store = HTTPStore(store) if isinstance(store, str) else store

    def with_read_only(self, read_only: bool = False) -> ZarrStore:
        """Returns the same store with other rights."""
        return ZarrStore(self.store, read_only=read_only)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ZarrStore) and self.read_only == other.read_only and self.store == other.store

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"ZarrStore({self.store!r})"

    __str__ = __repr__

    async def get(self, key: str, prototype: BufferPrototype, byte_range: Any = None) -> Buffer | None:
        """Returns a value, or a part of it; None if there is none."""
        if isinstance(byte_range, RangeByteRequest) and byte_range.end <= byte_range.start:
            return prototype.buffer.from_bytes(b"")
        if isinstance(byte_range, RangeByteRequest):
            options: Any = {"range": (byte_range.start, byte_range.end)}
        elif isinstance(byte_range, OffsetByteRequest):
            options = {"range": {"offset": byte_range.offset}}
        elif isinstance(byte_range, SuffixByteRequest):
            options = {"range": {"suffix": byte_range.suffix}}
        elif byte_range is None:
            options = None
        else:
            raise ValueError(f"an unknown range: {byte_range!r}")
        try:
            body = await self.store._body_async(key, options)
        except FileNotFoundError:
            return None
        return prototype.buffer.from_bytes(body)

    async def get_partial_values(self, prototype: BufferPrototype, key_ranges: Iterable[tuple[str, Any]]) -> list[Buffer | None]:
        """Returns several parts, fetched at the same time."""
        return list(await asyncio.gather(*(self.get(key, prototype, part) for key, part in key_ranges)))

    async def exists(self, key: str) -> bool:
        """Returns whether there is a value."""
        try:
            await self.store.head_async(key)
        except FileNotFoundError:
            return False
        return True

    async def set(self, key: str, value: Buffer) -> None:
        """Writes a value."""
        self._check_writable()
        await self.store.put_async(key, value.to_bytes())

    async def set_if_not_exists(self, key: str, value: Buffer) -> None:
        """Writes a value unless there is one."""
        self._check_writable()
        with contextlib.suppress(AlreadyExistsError):
            await self.store.put_async(key, value.to_bytes(), mode="create")

    async def delete(self, key: str) -> None:
        """Removes a value, if there is one."""
        self._check_writable()
        with contextlib.suppress(FileNotFoundError):
            await self.store.delete_async(key)

    async def list(self) -> AsyncIterator[str]:
        """Yields all keys."""
        async for name in self.list_prefix(""):
            yield name

    async def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        """Yields the keys below a prefix."""
        async for found in self.store.list_async(prefix):
            for each in found:
                yield each["path"]

    async def list_dir(self, prefix: str) -> AsyncIterator[str]:
        """Yields the names directly below a prefix."""
        folder = prefix.strip("/")
        found = await self.store.list_with_delimiter_async(folder)
        for path in [*found["common_prefixes"], *(each["path"] for each in found["objects"])]:
            yield path[len(folder) :].strip("/")

    async def getsize(self, key: str) -> int:
        """Returns the size of a value."""
        return (await self.store.head_async(key))["size"]


__all__ = ["ZarrStore"]
