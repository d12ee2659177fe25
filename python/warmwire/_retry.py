"""Which failures are worth another attempt, and how long to wait for it."""

from __future__ import annotations

import random

from ._errors import ConnectError, RequestError, ResolveError, TimeoutException, TLSError, TransportError

BUSY = frozenset({429, 500, 502, 503, 504})
"""Statuses of a server that may answer later."""
_LONGEST_PAUSE = 20.0


def is_transient(error: RequestError) -> bool:
    """Whether a transfer failed in a way that may not happen again."""
    if isinstance(error, (ResolveError, TLSError)):
        return False
    return isinstance(error, (ConnectError, TimeoutException, TransportError))


def pause(attempt: int, retry_after: str = "") -> float:
    """Returns seconds to wait: as the server asks, or a random time up to a limit that doubles.

    Clients that were refused together then do not return together.
    """
    if retry_after.isdigit():
        return min(_LONGEST_PAUSE, float(retry_after))
    return random.uniform(0, min(_LONGEST_PAUSE, 0.1 * 2.0**attempt))  # noqa: S311


__all__ = ["BUSY", "is_transient", "pause"]
