"""img2dataset with one engine for each worker process, in place of a thread for each URL.

>>> warmwire.img2dataset.download("urls.txt", output_folder="images", processes_count=4)

On a shell: ``python -m warmwire.img2dataset --url_list=urls.txt --output_folder=images``. img2dataset reads the list, resizes,
writes and counts as always; only the fetching is replaced. Its arguments apply, and these come on top:

``deadline`` limits a URL with its redirects and body in seconds, ``max_bytes`` its body, ``per_host`` the requests to a host at a
time, ``max_redirects`` the redirects. A host that cannot be reached, or that answers ``silent_limit`` times in a row with nothing,
is given up: its other URLs fail at once, in all workers of the machine that write to this folder. ``options`` are curl's, by name.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import importlib.metadata
import inspect
import io
import json
import os
import resource
import threading
import time
import types
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import fsspec
import img2dataset.downloader
from img2dataset.main import download as _own_download

from . import _native
from ._client import Client
from ._errors import _CODES
from ._many import _NO_NAME, Results, _Host, _Job, _Many, _Queue, host_of
from ._models import Headers, Timeout
from ._name_servers import name_servers
from ._transfer import Pool

if TYPE_CHECKING:
    from typing_extensions import Self

_UNREACHABLE = frozenset({_NO_NAME, 7, 28})
_TIMED_OUT, _TOO_LARGE, _REDIRECTED = 28, 63, 47
_PATIENCE = 0.25
_TURN = 0.002
"""Seconds for which pictures that have arrived are returned before the transfers run again."""
_NAMES = 32
"""Unknown hosts that are tried in addition at a time. A name server may have no room for many more queries."""
_PACE = 0.01
"""Seconds between them, unless there is news."""
_NAME_AGE = 3600
"""Seconds for which an address is used at most; the name server may say less."""
_SPARE = 64
"""Descriptors that are left to the rest of the process."""

Row = tuple[int, str]
Sample = tuple[int, "io.BytesIO | None", "str | None"]


@dataclass(frozen=True)
class Bounds:
    """Limits of a URL and of a host; see the module."""

    deadline: float = 60.0
    max_bytes: int = 64 * 2**20
    per_host: int = 16
    max_redirects: int = 10
    silent_limit: int = 8
    user_agent: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.deadline <= 0 or self.max_redirects < 0 or min(self.max_bytes, self.per_host, self.silent_limit) < 1:
            raise ValueError(f"a limit is above 0: {self!r}")


def download(
    url_list: str,
    *args: Any,
    deadline: float = Bounds.deadline,
    max_bytes: int = Bounds.max_bytes,
    per_host: int = Bounds.per_host,
    max_redirects: int = Bounds.max_redirects,
    silent_limit: int = Bounds.silent_limit,
    user_agent: str | None = None,
    options: Mapping[str, Any] | None = None,
    **how: Any,
) -> None:
    """Runs ``img2dataset.download`` with :class:`Downloader` in place of its own; the other arguments are img2dataset's.

    >>> warmwire.img2dataset.download("urls.txt", output_folder="images", image_size=256)
    """
    bounds = Bounds(deadline, max_bytes, per_host, max_redirects, silent_limit, user_agent, dict(options or {}))
    given = inspect.signature(_own_download).bind(url_list, *args, **how)
    given.apply_defaults()
    # A run that was killed has left its list. What was dead then may be alive.
    _DeadHosts(given.arguments["output_folder"]).clear()
    run = _with_names(_own_download, Downloader=functools.partial(Downloader, bounds=bounds))
    run(url_list, *args, **how)


class Downloader(img2dataset.downloader.Downloader):
    """img2dataset's ``Downloader``, with an engine in place of its threads. ``thread_count`` is the number of transfers at a time."""

    def __init__(self, *args: Any, bounds: Bounds | None = None, **how: Any) -> None:
        super().__init__(*args, **how)
        self.bounds = bounds or Bounds()

    def download_shard(self, row: tuple[int, str]) -> None:
        """Fetches and writes the samples of a shard."""
        # Upstream reads twice as many URLs ahead as there are threads. More of them let one slow host hold up no other.
        shard = copy.copy(self)
        shard.thread_count = max(1, self.number_sample_per_shard)
        pool = functools.partial(_Pool, self)
        _with_names(img2dataset.downloader.Downloader.download_shard, ThreadPool=lambda threads: pool())(shard, row)

    def _reason(self, code: int, was_connected: bool, seconds: float = 0.0) -> str:
        """Describes a failure in words that are equal for equal failures, since img2dataset counts them."""
        bounds = self.bounds
        if code == _TIMED_OUT:
            if seconds >= bounds.deadline:
                return f"not complete within {bounds.deadline:g} seconds"
            return f"{'nothing received for' if was_connected else 'no connection within'} {self.timeout:g} seconds"
        if code == _TOO_LARGE:
            return f"larger than {bounds.max_bytes} bytes"
        if code == _REDIRECTED:
            return f"more than {bounds.max_redirects} redirects"
        return _CODES.get(code, ("", f"code {code}"))[1]


def _with_names(function: Callable[..., Any], **names: Any) -> Callable[..., Any]:
    """Returns a function that runs the code of another one with other objects under these global names.

    Nothing of its module changes, so that img2dataset itself may run beside it.
    """
    unknown = [name for name in names if name not in function.__code__.co_names]
    if unknown:
        version = importlib.metadata.version("img2dataset")
        raise RuntimeError(f"img2dataset {version} has no {', '.join(unknown)} to replace; 1.47.0 has")
    code, module = function.__code__, {**function.__globals__, **names}
    found = types.FunctionType(code, module, function.__name__, function.__defaults__, function.__closure__)
    found.__kwdefaults__ = function.__kwdefaults__
    return found


class _DeadHosts:
    """Hosts that are given up, with the reason: one list for each output folder.

    Workers of one machine share it as lines of a file beside img2dataset's temporary files, which is removed with them.
    """

    _known: dict[str, _DeadHosts] = {}

    def __init__(self, folder: str) -> None:
        self.reasons: dict[str, str] = {}
        self._path: str | None = None
        self._read = 0
        files, path = fsspec.core.url_to_fs(folder)
        if "file" in (files.protocol if isinstance(files.protocol, tuple) else (files.protocol,)):
            self._path = os.path.join(path, "_tmp", "warmwire-dead-hosts.jsonl")

    @classmethod
    def of(cls, folder: str) -> _DeadHosts:
        """Returns the list of a folder, with what other workers have added."""
        found = cls._known.get(folder)
        if found is None:
            found = cls._known[folder] = cls(folder)
        found.update()
        return found

    def clear(self) -> None:
        """Removes the list for all workers."""
        if self._path is not None:
            with contextlib.suppress(FileNotFoundError):
                os.remove(self._path)

    def update(self) -> None:
        """Reads what other workers have added."""
        if self._path is None:
            return
        try:
            with open(self._path, "rb") as file:
                # A shorter file is of another run.
                if os.fstat(file.fileno()).st_size < self._read:
                    self._read = 0
                    self.reasons.clear()
                file.seek(self._read)
                lines = file.read()
        except FileNotFoundError:
            if self._read:
                self._read = 0
                self.reasons.clear()
            return
        for line in lines.splitlines(keepends=True):
            if not line.endswith(b"\n"):
                break
            self._read += len(line)
            try:
                host, reason = json.loads(line)
            except ValueError:
                continue
            if isinstance(host, str) and isinstance(reason, str):
                self.reasons.setdefault(host, reason)

    def add(self, host: str, reason: str) -> None:
        """Adds a host."""
        if host in self.reasons:
            return
        self.reasons[host] = reason
        if self._path is None:
            return
        try:
            file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError:  # no folder of temporary files: this worker is alone
            return
        try:
            os.write(file, json.dumps([host, reason]).encode() + b"\n")
        finally:
            os.close(file)


class _ShardQueue(_Queue):
    """Gives hosts up that cannot be reached, or say nothing."""

    def __init__(self, urls: Iterable[str], of: Downloader, dead: _DeadHosts) -> None:
        super().__init__(urls, None, max(1, of.thread_count), of.bounds.per_host, max(0, of.retries))
        self._of, self._dead = of, dead
        self._silent: dict[str, int] = {}
        self._failed: set[str] = set()
        self._all_scouts = _free_descriptors(self._limit + _idle_limit(of))
        self._most_scouts = 0

    def allow_names(self) -> None:
        """Lets some more unknown hosts be tried."""
        self._most_scouts = min(self._all_scouts, self._scouts + _NAMES)

    def pause(self, now: float) -> float:
        pause = super().pause(now)
        return min(pause, _PACE) if self._unknown and self._scouts < self._all_scouts else pause

    def heard(self, host: _Host, is_silent: bool) -> None:
        """Counts transfers in a row that brought no head of a reply."""
        if is_silent:
            self._silent[host.name] = self._silent.get(host.name, 0) + 1
        elif self._silent:
            self._silent.pop(host.name, None)

    def ended(self, job: _Job, code: int, status: int = 0) -> list[_Job]:
        host = job.host
        is_unreachable = job.is_scout and code in _UNREACHABLE
        lost = super().ended(job, code, status)
        if is_unreachable or self._silent.get(host.name, 0) >= self._of.bounds.silent_limit:
            self._failed.add(host.name)
            self._dead.add(host.name, self._of._reason(code, not is_unreachable))
            lost += host.queue
            self._queued -= len(host.queue)
            host.queue.clear()
        return lost

    def again(self, job: _Job, code: int, status: int, retry_after: str, now: float) -> bool:
        return job.host.name not in self._failed and super().again(job, code, status, retry_after, now)


class _Samples(Results):
    """Collects the results in the form that img2dataset takes from its own function."""

    def __init__(self, of: Downloader, dead: _DeadHosts, keys: list[int]) -> None:
        self._of, self._dead, self._keys = of, dead, keys
        self.done: deque[Sample] = deque()

    def ended(self, many: _Many, job: _Job, number: int, status: int, outcome: _native.Outcome) -> None:
        """Records a result that is final."""
        error = self._error(job, outcome)
        body = job.held + outcome.body if job.held else outcome.body
        self.done.append((self._keys[job.index], None if error else io.BytesIO(body), error))

    def lost(self, many: _Many, job: _Job, code: int, message: str) -> None:
        """Records a job that could not start, or whose host was given up."""
        reason = self._dead.reasons.get(job.host.name) or self._of._reason(code, False)
        self.done.append((self._keys[job.index], None, reason))

    def _error(self, job: _Job, outcome: _native.Outcome) -> str | None:
        code, status = outcome.code, outcome.status
        if code:
            return self._of._reason(code, True, outcome.times[5])
        # Other than HTTP's replies have no status, or one of their own.
        is_http = outcome.http_version > 0
        if is_http and not 200 <= status < 300:
            # The words of urllib, so that reports of both can be compared.
            return f"HTTP Error {status}: {_native.parse_heads(outcome.head)[-1][2]}"
        directives = self._of.disallowed_header_directives
        if directives and is_http and b"x-robots-tag" in outcome.head.lower():
            fields = _Fields(Headers(_native.parse_heads(outcome.head)[-1][3]))
            if img2dataset.downloader.is_disallowed(fields, self._of.user_agent_token, directives):
                return "Use of image disallowed by X-Robots-Tag directive"
        return None


class _Fields:
    """Header fields with the method that img2dataset asks them by."""

    def __init__(self, headers: Headers) -> None:
        self._headers = headers

    def get_all(self, name: str, default: Any) -> Any:
        return self._headers.get_list(name) or default


class _Run:
    """Runs transfers on the thread that asks for results; on one of its own while that thread is busy with a picture.

    Otherwise the time limits would be over before what has arrived meanwhile is read.
    """

    def __init__(self, many: _Many, queue: _ShardQueue, has_room: Callable[[], bool]) -> None:
        self._many, self._queue, self._has_room = many, queue, has_room
        self._lock, self._over = threading.Lock(), threading.Event()
        self._last = time.monotonic()
        self._thread = threading.Thread(target=self._stand_in, name="warmwire-img2dataset", daemon=True)
        self._thread.start()

    def step(self, seconds: float) -> bool:
        """Starts and runs transfers, and waits at most so long for news. Returns whether all have ended."""
        with self._lock:
            many, queue = self._many, self._queue
            if self._has_room():
                queue.allow_names()
                many.begin_all()
            is_end = not many.running and queue.is_empty()
            if not is_end:
                for number, code, status, outcome in many.engine.results(min(seconds, queue.pause(time.monotonic()))):
                    if code >= 0:
                        queue.heard(many.running[number].host, bool(code and not status))
                    many.took(number, code, status, outcome)
            self._last = time.monotonic()
            return is_end

    def is_due(self) -> bool:
        """Returns whether the transfers have not run for a turn."""
        return time.monotonic() - self._last >= _TURN

    def end(self) -> None:
        """Aborts the transfers in progress."""
        self._over.set()
        self._thread.join()
        self._many.close()

    def _stand_in(self) -> None:
        while not self._over.wait(_PATIENCE):
            if time.monotonic() - self._last >= _PATIENCE and not self._lock.locked():
                self.step(0.0)


class _Pool:
    """Stands for ``ThreadPool``: runs the transfers whenever img2dataset asks for a result, on its thread.

    No transfer starts while ``thread_count`` bodies wait to be resized, so that memory stays bounded if the network is faster.
    """

    _pools: dict[int, Pool] = {}

    def __init__(self, of: Downloader) -> None:
        self._of = of
        self._limit = max(1, of.thread_count)
        self._dead = _DeadHosts.of(of.output_folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.terminate()

    def terminate(self) -> None:
        """Does nothing: transfers end with the iterator of results."""

    def join(self) -> None:
        """Does nothing: there are no threads."""

    def imap_unordered(self, fetch: object, rows: Iterable[Row]) -> Iterator[Sample]:
        """Yields key, body and error of each row, as they complete. ``fetch`` is img2dataset's function, which is not called."""
        keys: list[int] = []
        dead = self._dead
        refused: deque[Sample] = deque()

        def urls() -> Iterator[str]:
            for key, url in rows:
                url = url if isinstance(url, str) else ""
                reason = dead.reasons.get(host_of(url)) if dead.reasons else None
                if reason is None:
                    keys.append(key)
                    yield url
                else:
                    refused.append((key, None, reason))

        queue = _ShardQueue(urls(), self._of, dead)
        samples = _Samples(self._of, dead, keys)
        client = self._client()
        many = _Many(_native.Engine(client.pool._native, True), queue, client, {}, samples)
        done = samples.done
        run = _Run(many, queue, lambda: len(done) < self._limit)
        try:
            is_end = False
            while not is_end:
                is_end = run.step(0.0 if done or refused else 1.0)
                while (done or refused) and (is_end or not run.is_due()):
                    yield done.popleft() if done else refused.popleft()
        finally:
            run.end()

    def _client(self) -> Client:
        of, bounds = self._of, self._of.bounds
        pool = self._pools.get(self._limit)
        if pool is None:
            pool = self._pools[self._limit] = Pool(max_idle=_idle_limit(of))
        agent = bounds.user_agent or (
            f"Mozilla/5.0 (compatible; {of.user_agent_token or 'img2dataset'}; +https://github.com/rom1504/img2dataset)"
        )
        # Bodies are wanted as they are stored; and URLs of strangers read no files of this machine.
        options = {"ACCEPT_ENCODING": None, "PROTOCOLS_STR": "http,https,ftp,ftps", "MAXFILESIZE_LARGE": bounds.max_bytes}
        servers = name_servers()
        if servers is not None:
            options.update(DNS_SERVERS=servers, DNS_CACHE_TIMEOUT=_NAME_AGE)
        return Client(
            headers={"User-Agent": agent, "Accept-Encoding": "identity"},
            timeout=Timeout(of.timeout, total=bounds.deadline),
            follow_redirects=True,
            max_redirects=bounds.max_redirects,
            pool=pool,
            options={**options, **bounds.options},
        )


def _idle_limit(of: Downloader) -> int:
    threads: int = of.thread_count
    return max(1, threads)


def _free_descriptors(taken: int) -> int:
    """Returns how many connections may be tried beside those that are counted."""
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return max(16, min(1000, soft - _SPARE - taken))


def _main() -> None:
    import fire

    fire.Fire(download)


__all__ = ["Bounds", "Downloader", "download"]

if __name__ == "__main__":
    _main()
