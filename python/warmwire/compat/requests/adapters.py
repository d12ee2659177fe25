"""The adapter of requests: only its number of retries has an effect."""

from __future__ import annotations

from typing import Any

from .exceptions import ConnectionError, ConnectTimeout


class BaseAdapter:
    """An object that sends prepared requests."""

    def send(self, request: Any, **how: Any) -> Any:
        """Returns the response."""
        raise NotImplementedError

    def close(self) -> None:
        """Ends the adapter."""


class HTTPAdapter(BaseAdapter):
    """Sends by the engine. ``max_retries`` is a number: how often a failed connection is tried again."""

    def __init__(self, pool_connections: int = 10, pool_maxsize: int = 10, max_retries: Any = 0, pool_block: bool = False) -> None:
        if not isinstance(max_retries, int):
            raise TypeError("max_retries is a number; urllib3's Retry cannot be honoured")
        self.max_retries = max_retries

    def _retried(self, run: Any) -> Any:
        for _ in range(self.max_retries):
            try:
                return run()
            except (ConnectTimeout, ConnectionError):
                continue
        return run()
