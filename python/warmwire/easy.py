"""Transfers with all of curl's options: :class:`Easy` is one, :class:`Multi` runs many in your own loop.

>>> easy = warmwire.easy.Easy(URL="https://example.com/", FOLLOWLOCATION=1)
>>> easy.perform()
>>> easy.getinfo("RESPONSE_CODE")
200

Options are curl's without ``CURLOPT_`` (:func:`options` lists all, with the kind of value that each takes), infos without
``CURLINFO_``. Callbacks are called between the engine's turns, never from inside one: they may use any handle.
"""

from __future__ import annotations

import collections
import time
from collections.abc import Callable
from typing import Any

from . import _native
from ._settings import named_option
from ._transfer import WINDOW, Pool, _feed, default_pool
from ._errors import RequestError, failure
from ._models import OPTIONS, Request

_INFOS: dict[str, Callable[[_native.Outcome], Any]] = {
    "RESPONSE_CODE": lambda outcome: outcome.status,
    "EFFECTIVE_URL": lambda outcome: outcome.url,
    "HTTP_VERSION": lambda outcome: outcome.http_version,
    "REDIRECT_COUNT": lambda outcome: outcome.redirects,
    "NUM_CONNECTS": lambda outcome: outcome.connects,
    "SIZE_DOWNLOAD": lambda outcome: outcome.downloaded,
    "SIZE_UPLOAD": lambda outcome: outcome.uploaded,
    "CONTENT_LENGTH_DOWNLOAD": lambda outcome: outcome.announced,
    "FILETIME": lambda outcome: outcome.file_time,
    "PRIMARY_IP": lambda outcome: outcome.peer[0],
    "PRIMARY_PORT": lambda outcome: outcome.peer[1],
    "NAMELOOKUP_TIME": lambda outcome: outcome.times[0],
    "CONNECT_TIME": lambda outcome: outcome.times[1],
    "APPCONNECT_TIME": lambda outcome: outcome.times[2],
    "PRETRANSFER_TIME": lambda outcome: outcome.times[3],
    "STARTTRANSFER_TIME": lambda outcome: outcome.times[4],
    "TOTAL_TIME": lambda outcome: outcome.times[5],
    "COOKIELIST": lambda outcome: outcome.cookies or [],
}


def options() -> dict[str, str]:
    """Returns all options, with the kind of value that each takes.

    >>> warmwire.easy.options()["URL"]
    'String'
    """
    return {name: kind for name, _, kind in _native.known_options()}


class Easy:
    """The options of a transfer, and the results of its last run.

    ``write`` is called with pieces of the body, ``header`` with the head. ``read`` takes no argument and returns more to send
    (``b""`` is the end). Without ``write`` the body is in ``body``, without ``header`` the head is in ``head``. A slow ``write``
    makes the sender wait.

    >>> easy = warmwire.easy.Easy(URL="https://example.com/", NOBODY=True)
    >>> easy.perform()
    >>> easy.body
    b''
    """

    def __init__(self, *, pool: Pool | None = None, **values: Any) -> None:
        self.pool = pool if pool is not None else default_pool()
        self.write: Callable[[bytes], Any] | None = None
        self.header: Callable[[bytes], Any] | None = None
        self.read: Callable[[], bytes] | None = None
        self.body = self.head = b""
        self._options: dict[int, Any] = {}
        self._outcome: _native.Outcome | None = None
        for name, value in values.items():
            self.setopt(name, value)

    def setopt(self, name: str, value: Any) -> None:
        """Sets an option: a number, a switch, text, bytes, a list of them; None is curl's default. Values are checked when the
        transfer begins."""
        number, value = named_option(name, value)
        # The order of setting is kept, because some options depend on it.
        self._options.pop(number, None)
        self._options[number] = value

    def reset(self) -> None:
        """Resets all options to their defaults."""
        self._options.clear()

    def getinfo(self, name: str) -> Any:
        """Returns an info of the last run, by curl's name; None before the first run."""
        read = _INFOS.get(name.upper().removeprefix("CURLINFO_"))
        if read is None:
            raise ValueError(f"{name} is none of the infos {', '.join(_INFOS)}")
        return read(self._outcome) if self._outcome is not None else None

    def perform(self) -> None:
        """Runs the transfer on this thread; raises the error if it fails."""
        engine = self.pool._engine()
        try:
            number = self._start(engine)
            if self.write is None and self.header is None and self.read is None:
                outcome = engine.fetch(number)
            else:
                try:
                    while not self._moved(engine, number):
                        engine.advance(number)
                    outcome = engine.take(number)
                finally:
                    engine.release(number)
        finally:
            self.pool._leave(engine)
        error = self._ended(outcome)
        if error is not None:
            raise error

    def _start(self, engine: _native.Engine) -> int:
        self.body = self.head = b""
        self._outcome = None
        streams = self.write is not None or self.header is not None
        try:
            return engine.start(list(self._options.items()), True if self.read is not None else None, WINDOW if streams else None)
        except RuntimeError as error:
            if len(error.args) != 2:
                raise
            raise failure(error.args[0], error.args[1], self._request()) from None

    def _moved(self, engine: _native.Engine, number: int) -> bool:
        """Delivers what has arrived. Returns whether the transfer has ended."""
        _, hungry, ended = engine.state(number)
        if hungry and not ended and self.read is not None:
            _feed(engine, number, self.read() or None)
        if not ended and self.write is not None and engine.waiting_body(number):
            self.write(engine.take_body(number))
        return ended

    def _ended(self, outcome: _native.Outcome) -> RequestError | None:
        self._outcome = outcome
        if self.header is not None:
            self.header(outcome.head)
        else:
            self.head = outcome.head
        if self.write is None:
            self.body = outcome.body
        elif outcome.body:
            self.write(outcome.body)
        return failure(outcome.code, outcome.message, self._request()) if outcome.code else None

    def _request(self) -> Request:
        return Request("GET", str(self._options.get(OPTIONS["URL"], "")))


class Multi:
    """Runs transfers at the same time, in your own loop.

    Watch :meth:`fileno` for reading, call :meth:`perform` when it is readable or :meth:`timeout` seconds have passed, and get the
    handles that have ended from :meth:`info_read`. :meth:`wait` does this if you have nothing else to watch.

    >>> multi = warmwire.easy.Multi()
    >>> multi.add(warmwire.easy.Easy(URL="https://example.com/"))
    >>> while multi.wait(1):
    ...     pass
    >>> [(easy.getinfo("RESPONSE_CODE"), error) for easy, error in multi.info_read()]
    [(200, None)]
    """

    def __init__(self, *, pool: Pool | None = None, max_host: int = 0, max_total: int = 0) -> None:
        self._engine = _native.Engine((pool if pool is not None else default_pool())._native)
        self._engine.set_limits(max_host, max_total)
        self._running: dict[int, Easy] = {}
        self._messages: collections.deque[tuple[Easy, RequestError | None]] = collections.deque()

    def __len__(self) -> int:
        return len(self._running)

    def add(self, easy: Easy) -> None:
        """Starts the transfer of a handle."""
        if easy in self._running.values():
            raise ValueError("it is under way")
        self._running[easy._start(self._engine)] = easy

    def remove(self, easy: Easy) -> None:
        """Aborts the transfer of a handle."""
        for number, known in list(self._running.items()):
            if known is easy:
                del self._running[number]
                self._engine.release(number)

    def perform(self) -> int:
        """Runs what is ready, without waiting. Returns the number of transfers in progress."""
        for number in self._engine.run():
            self._news(number)
        return len(self._running)

    def wait(self, seconds: float) -> int:
        """As :meth:`perform`, but waits for news first, at most ``seconds``."""
        end = time.monotonic() + seconds
        while self._running and not self._messages:
            for number in self._engine.run_for(max(0.0, end - time.monotonic())):
                self._news(number)
            if time.monotonic() >= end:
                break
        return len(self._running)

    def info_read(self) -> list[tuple[Easy, RequestError | None]]:
        """Returns the handles that have ended since the last call, with their errors."""
        found = list(self._messages)
        self._messages.clear()
        return found

    def fileno(self) -> int:
        """Returns a descriptor that is readable when there is something to :meth:`perform`: one for all connections."""
        return self._engine.fileno()

    def timeout(self) -> float | None:
        """Returns after how many seconds to :meth:`perform` even if nothing is readable."""
        return self._engine.timeout()

    def close(self) -> None:
        """Aborts all transfers."""
        for number in self._running:
            self._engine.release(number)
        self._running.clear()

    def _news(self, number: int) -> None:
        easy = self._running.get(number)
        if easy is not None and easy._moved(self._engine, number):
            del self._running[number]
            outcome = self._engine.take(number)
            self._engine.release(number)
            self._messages.append((easy, easy._ended(outcome)))


__all__ = ["Easy", "Multi", "options"]
