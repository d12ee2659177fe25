"""Containers of requests."""

from __future__ import annotations

from typing import Any

from ..._models import Headers


class CaseInsensitiveDict(Headers):
    """Header fields by name in any case."""

    def __init__(self, data: Any = None, **more: Any) -> None:
        super().__init__(data)
        for name, value in more.items():
            self[name] = value

    def __iter__(self) -> Any:
        return iter({name.lower(): name for name, _ in self._rows}.values())

    def lower_items(self) -> Any:
        """Yields the fields with names in lower case."""
        return ((name.lower(), value) for name, value in self.items())

    def copy(self) -> CaseInsensitiveDict:
        """Returns a copy."""
        return CaseInsensitiveDict(self)

    def __repr__(self) -> str:
        return str(dict(self.items()))


class LookupDict(dict):  # type: ignore[type-arg]
    """Names of status codes as attributes."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None
