"""Many URLs at a time: which may start now, which is retried, and the results.

:class:`_Queue` decides and does no I/O. The first URL of a host starts outside of the total limit, as a scout. So an unknown
host is resolved once, and delays no other URL. The other URLs of its host fail with it.
"""

from __future__ import annotations

import asyncio
import heapq
import os
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

from . import _native
from ._client import AsyncClient, Client, _call
from ._errors import RequestError, failure
from ._models import OPTIONS, Headers, Option, Request, Response
from ._settings import fixed_proxy, proxy_of, split
from ._transfer import _Loop
from ._transport import Transport, of_transport
from ._types import signed

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._types import RequestOptions

_RESUME = OPTIONS["RESUME_FROM_LARGE"]
_NO_NAME = 6
_NO_RANGE = 33
_BROKEN = frozenset({7, 18, 28, 52, 55, 56, 92, 95})
_BUSY = frozenset({429, 500, 502, 503, 504})
_TOO_FAST = frozenset({429, 503})
_SCOUTS = 1000
_AHEAD = 20_000
_AT_A_TIME = 500
_PROBE = "http://probe.invalid/"
_Result = TypeVar("_Result")

_Ending = tuple[int, int, int, "_native.Outcome | None"]
"""Number, curl's code (-1 if the transfer goes on), status, outcome."""

Where = Callable[[str], "str | os.PathLike[str]"]


class Fetched:
    """The outcome of one URL.

    ``index`` is the position of the URL. ``response`` is None without a reply, and ``error`` says why; a status of 400 or above is
    not an error. With ``to``, ``path`` is the file with the body. It is None if no file was written: after an error, and after a
    status of 400 or above unless ``store_errors`` is set.

    >>> one = next(warmwire.fetch_many(["https://example.com/"]))
    >>> one.ok, one.status_code, one.error
    (True, 200, None)
    """

    __slots__ = ("_outcome", "_request", "_response", "attempts", "error", "index", "path", "url")

    def __init__(
        self,
        index: int,
        url: str,
        response: Response | None,
        error: RequestError | None,
        path: str | None,
        attempts: int,
        outcome: _native.Outcome | None = None,
        request: Request | None = None,
    ) -> None:
        self.index, self.url, self._response, self.error = index, url, response, error
        self.path, self.attempts = path, attempts
        # Of a transfer whose response nobody has asked for yet; ``request`` is like that of this URL.
        self._outcome, self._request = outcome, request

    def __repr__(self) -> str:
        return f"<Fetched {self.index} {self.url} {self.error or self.response}>"

    def __reduce__(self) -> Any:
        return Fetched, (self.index, self.url, self.response, self.error, self.path, self.attempts)

    @property
    def response(self) -> Response | None:
        """The reply; None if there is none."""
        if self._response is None and self._outcome is not None and self._request is not None:
            self._response = Response._of(self._request.at(self.url), self._outcome)
        return self._response

    @property
    def ok(self) -> bool:
        """Whether there is a reply with a status below 400."""
        response = self.response
        return response is not None and not response.is_error

    @property
    def status_code(self) -> int:
        """The status; 0 without a reply."""
        return self.response.status_code if self.response else 0

    @property
    def content(self) -> bytes:
        """The body; raises the error if there is none."""
        if self._response is None and self._outcome is not None:
            return self._outcome.body
        if self._response is None:
            raise self.error or RuntimeError("nothing came")
        return self._response.content


def host_of(url: str) -> str:
    """Returns scheme, host and port of a URL, the key of limits per host."""
    scheme, mark, rest = url.partition("://")
    if not mark:
        return url
    authority = rest.partition("/")[0]
    if "?" in authority or "#" in authority:
        authority = authority.partition("?")[0].partition("#")[0]
    if "@" in authority:
        authority = authority.rpartition("@")[2]
    return f"{scheme}://{authority}".lower()


class _Job:
    """A URL in progress."""

    __slots__ = ("at", "attempts", "draft", "held", "host", "index", "is_scout", "path", "url", "validator")

    def __init__(self, index: int, url: str, path: str | None, host: _Host) -> None:
        self.index, self.url, self.path, self.draft, self.host = index, url, path, path, host
        self.attempts, self.at, self.held, self.validator, self.is_scout = 0, 0, b"", "", False
        if path is not None and (os.path.isfile(path) or not os.path.exists(path)):
            # The body gets its name when it is complete. A device or a pipe is written to directly.
            self.draft = f"{path}.{index}.part"


class _Host:
    """Waiting URLs of one host, the number of those in progress, and how many of them there may be."""

    __slots__ = ("is_known", "most", "name", "queue", "running", "successes", "waits")

    def __init__(self, name: str, most: int) -> None:
        self.name, self.most = name, most
        self.queue: deque[_Job] = deque()
        self.running, self.successes, self.is_known, self.waits = 0, 0, False, False

    def room(self) -> int:
        """Returns how many more URLs may start now, 0 or less if none: of an unknown host one at a time."""
        left, waiting = (self.most if self.is_known else 1) - self.running, len(self.queue)
        return left if left < waiting else waiting


class _Queue:
    """Decides which URL may start."""

    def __init__(self, urls: Iterable[str], to: Where | str | None, limit: int, per_host: int, retries: int) -> None:
        if limit < 1 or per_host < 1 or retries < 0:
            raise ValueError("limit and per_host are at least 1, retries at least 0")
        self._urls, self._to = enumerate(urls), to
        self._limit, self._per_host, self._retries = limit, per_host, retries
        self._hosts: dict[str, _Host] = {}
        self._ready: deque[_Host] = deque()  # known hosts that may have another one begun
        self._unknown: deque[_Host] = deque()
        self._later: list[tuple[float, int, _Job]] = []
        self._queued = self._running = self._scouts = 0
        self._most_scouts = _SCOUTS
        self._low = _AHEAD - _AT_A_TIME
        self._prefix, self._host = "", _Host("", per_host)  # of the URL read last
        self.is_read = False

    def next(self, now: float) -> _Job | None:
        """Returns the next job to start; None if none may start now."""
        if self._queued <= self._low:
            self._read()
        while self._later and self._later[0][0] <= now:
            due = heapq.heappop(self._later)[2]
            # Its host may have been dropped meanwhile, and created anew.
            due.host = self._hosts.setdefault(due.host.name, due.host)
            self._put(due, first=True)
        if self._running < self._limit and (job := self._next_of(self._ready)) is not None:
            self._running += 1
            return job
        if self._scouts < self._most_scouts and (job := self._next_of(self._unknown)) is not None:
            self._scouts += 1
            job.is_scout = True
            return job
        return None

    def _next_of(self, hosts: deque[_Host]) -> _Job | None:
        """Takes a job of the first host that may start one, and offers the host for its next one."""
        while hosts:
            host = hosts.popleft()
            room = host.room()
            if room > 1:
                hosts.append(host)
            else:
                host.waits = False
            if room > 0:
                host.running += 1
                self._queued -= 1
                return host.queue.popleft()
        return None

    def connected(self, job: _Job) -> None:
        """The host of a scout has answered: it is now like any other host."""
        if job.is_scout:
            job.is_scout = False
            self._scouts -= 1
            self._running += 1
            job.host.is_known = True
            self._offer(job.host)

    def ended(self, job: _Job, code: int, status: int = 0) -> list[_Job]:
        """Removes a job that is no longer in progress. Returns the jobs that fail with it."""
        host = job.host
        host.running -= 1
        if status in _TOO_FAST and not code:
            host.most, host.successes = max(1, host.most // 2), 0
        elif host.most < self._per_host and not code:
            # One more at a time after as many successes as there are at a time.
            host.successes += 1
            if host.successes >= host.most:
                host.most, host.successes = host.most + 1, 0
        lost: list[_Job] = []
        if job.is_scout:
            job.is_scout = False
            self._scouts -= 1
            if code == _NO_NAME:
                lost = list(host.queue)
                self._queued -= len(lost)
                host.queue.clear()
            else:
                host.is_known = True
        else:
            self._running -= 1
        if not host.waits:  # saves the call for most URLs
            self._offer(host)
        if not host.queue and not host.running and not host.is_known:
            del self._hosts[host.name]
        return lost

    def again(self, job: _Job, code: int, status: int, retry_after: str, now: float) -> bool:
        """Returns whether a job is retried, later."""
        if job.attempts > self._retries or code not in _BROKEN and not (code == 0 and status in _BUSY) and code != _NO_RANGE:
            return False
        pause = min(30.0, float(retry_after)) if retry_after.isdigit() else min(10.0, 0.1 * 2**job.attempts)
        heapq.heappush(self._later, (now if code == _NO_RANGE else now + pause, job.index, job))
        return True

    def waiting(self) -> list[_Job]:
        """Returns the jobs that wait for a retry."""
        return [job for _, _, job in self._later]

    def is_empty(self) -> bool:
        """Returns whether no job is left to start."""
        return self.is_read and not self._queued and not self._later

    def pause(self, now: float) -> float:
        """Returns how long to wait until a job is due for a retry."""
        return max(0.0, self._later[0][0] - now) if self._later else 60.0

    def _read(self) -> None:
        """Reads URLs until enough of them wait."""
        to = self._to
        while self._queued < _AHEAD:
            found = next(self._urls, None)
            if found is None:
                self.is_read, self._low = True, -1
                return
            index, url = found
            host = self._host
            if not host.name or not url.startswith(self._prefix) or self._hosts.get(host.name) is not host:
                host = self._host_of(url)
            job = _Job(index, url, _path_of(to, index, url) if to is not None else None, host)
            host.queue.append(job)
            self._queued += 1
            if not host.waits:  # saves the call for most URLs
                self._offer(host)

    def _host_of(self, url: str) -> _Host:
        """Returns the host of a URL, and notes its part of the URL: most URLs have the host of the one before."""
        name = host_of(url)
        host = self._hosts.get(name)
        if host is None:
            host = self._hosts[name] = _Host(name, self._per_host)
        start = url.find("/", url.find("://") + 3) if "://" in url else -1
        self._prefix, self._host = (url[: start + 1], host) if start > 0 else ("", _Host("", 1))
        return host

    def _put(self, job: _Job, first: bool = False) -> None:
        host = job.host
        host.queue.appendleft(job) if first else host.queue.append(job)
        self._queued += 1
        self._offer(host)

    def _offer(self, host: _Host) -> None:
        if not host.waits and host.room() > 0:
            host.waits = True
            (self._ready if host.is_known else self._unknown).append(host)


def _path_of(to: Where | str, index: int, url: str) -> str:
    if callable(to):
        return os.fspath(to(url))
    name = urlsplit(url).path.rsplit("/", 1)[-1]
    return os.path.join(to, f"{index}-{name}" if name else str(index))


class Results:
    """Where the results of many URLs go. mypy compares the methods of those that extend it."""

    def ending(self, engine: _native.Engine, number: int) -> tuple[int, int, Any] | None:
        """Returns code and status of a transfer that has ended, and its outcome if that is taken already."""
        raise NotImplementedError

    def ended(self, many: _Many, job: _Job, number: int, status: int, outcome: Any) -> None:
        """Records a result that is final."""
        raise NotImplementedError

    def answered(self, many: _Many, job: _Job, reply: Response | RequestError) -> None:
        """Records the result of a transport that is final."""
        raise NotImplementedError

    def lost(self, many: _Many, job: _Job, code: int, message: str) -> None:
        """Records a job that could not start, or that failed with another."""
        raise NotImplementedError


class _Replies(Results):
    """Collects the results as :class:`Fetched`."""

    def __init__(self) -> None:
        self.done: list[Fetched] = []

    def run(self, engine: _native.Engine, seconds: float) -> list[_Ending]:
        """Runs transfers, and waits at most so long for news. Those that have ended are released."""
        return engine.results(seconds)

    def ending(self, engine: _native.Engine, number: int) -> tuple[int, int, _native.Outcome | None] | None:
        """Returns code, status and outcome of a transfer that has ended, and releases it."""
        outcome = engine.finish(number)
        return None if outcome is None else (outcome.code, outcome.status, outcome)

    def ended(self, many: _Many, job: _Job, number: int, status: int, outcome: _native.Outcome) -> None:
        """Records a result that is final."""
        if outcome.code:
            self.lost(many, job, outcome.code, outcome.message)
            return
        path = job.path
        if path is not None:
            try:
                path = many.store(job, status)
            except OSError as error:
                self.lost(many, job, 23, str(error))
                return
        if many.is_plain and not job.held:
            self.done.append(Fetched(job.index, job.url, None, None, path, job.attempts, outcome, many.probe))
            return
        response = Response._of(many.request(job.url), outcome)
        if job.held:
            response._content = job.held + response.content
        self.done.append(Fetched(job.index, job.url, response, None, path, job.attempts))

    def answered(self, many: _Many, job: _Job, reply: Response | RequestError) -> None:
        """Records the result of a transport that is final."""
        if not isinstance(reply, Response):
            self.done.append(Fetched(job.index, job.url, None, reply, None, job.attempts))
            return
        path = None
        if job.path is not None:
            try:
                with open(job.draft or job.path, "wb") as file:
                    file.write(reply.content)
                path = many.store(job, reply.status_code)
            except OSError as error:
                self.lost(many, job, 23, str(error))
                return
        self.done.append(Fetched(job.index, job.url, reply, None, path, job.attempts))

    def ready(self, is_end: bool) -> list[Fetched]:
        """Returns the results since the last call."""
        done, self.done = self.done, []
        return done

    def lost(self, many: _Many, job: _Job, code: int, message: str) -> None:
        """Records a job that could not start, or that failed with another."""
        many.discard(job)
        request = many.request(job.url)
        self.done.append(Fetched(job.index, job.url, None, failure(code, message, request), None, job.attempts))


class _Asked(NamedTuple):
    """A job whose URL a transport answers in place of the engine."""

    job: _Job
    request: Request
    transport: Transport


class _Prepared(NamedTuple):
    """The settings of requests that take the same proxy, and the engine's template of them; -1 if there is none."""

    settings: list[Option]
    template: int


class _Many:
    """A queue and the engine that runs its jobs. Results go to ``into``."""

    def __init__(
        self,
        engine: _native.Engine,
        queue: _Queue,
        client: Client | AsyncClient,
        how: dict[str, Any],
        into: Results,
        store_errors: bool = False,
    ) -> None:
        self.engine, self.queue, self.client, self.into = engine, queue, client, into
        self._store_errors = store_errors
        self.request_how = split(how)
        self.is_plain = False
        self.probe = self.request(_PROBE)
        self.is_plain = self.probe.url == _PROBE and not client.base_url
        self._how = how
        proxy = how.get("proxy", client._proxies)
        self._proxies: Mapping[str, str | None] | None = proxy if isinstance(proxy, Mapping) else None
        self._has_transports = client._transport is not None or bool(client._mounts)
        self._by_proxy: dict[str | None, _Prepared] = {}
        prepared = self._prepared(_PROBE)  # arguments that are wrong are refused at once
        # The template of all URLs, if there is only one.
        self._template = prepared.template if self._proxies is None else -1
        self.running: dict[int, _Job] = {}

    def _prepared(self, url: str) -> _Prepared:
        """Returns the settings of a URL, which are converted once for each proxy."""
        proxy = None if self._proxies is None else proxy_of(url, self._proxies)
        found = self._by_proxy.get(proxy)
        if found is None:
            found = self._by_proxy[proxy] = self._prepare(self._how if self._proxies is None else {**self._how, "proxy": proxy})
        return found

    def _prepare(self, how: dict[str, Any]) -> _Prepared:
        settings = self.client._options(self.probe, dict(how))
        common, upload = self.probe.for_engine(settings)
        if upload is True:
            raise TypeError("a body that is read once cannot be sent with each request")
        if not self.is_plain or self.probe.body:
            return _Prepared(settings, -1)
        common += fixed_proxy(common, self.client.trust_env)
        return _Prepared(settings, self.engine.prepare(common[1:], upload))

    def begin_all(self, began: Callable[[int], Any] | None = None) -> _Asked | None:
        """Starts the jobs that may start. Returns the first one that is for a transport: the others are still to be started."""
        queue, now = self.queue, time.monotonic()
        while (job := queue.next(now)) is not None:
            job.attempts += 1
            if self._has_transports:
                request = self.request(job.url)
                transport = self.client._mounted(request)
                if transport is not None:
                    return _Asked(job, request, transport)
            try:
                number = self._start(job)
            except (RuntimeError, OSError) as error:
                code, text = error.args if isinstance(error, RuntimeError) and len(error.args) == 2 else (23, str(error))
                self._lose(job, code, text, queue.ended(job, code))
                continue
            self.running[number] = job
            if began is not None:
                began(number)
        return None

    def answered(self, asked: _Asked, answer: Any) -> None:
        """Handles what a transport has returned, or the error that it has raised."""
        job = asked.job
        reply: Response | RequestError = answer if isinstance(answer, RequestError) else of_transport(asked.request, answer)
        code, status, retry_after = 0, 0, ""
        if isinstance(reply, Response):
            status, retry_after = reply.status_code, reply.headers.get("retry-after", "")
        else:
            code = reply.code
        lost = self.queue.ended(job, code, status)
        if not self.queue.again(job, code, status, retry_after, time.monotonic()):
            self.into.answered(self, job, reply)
        for one in lost:
            self.into.lost(self, one, code, str(reply))

    def _start(self, job: _Job) -> int:
        """Starts the transfer of a job: by a template, or like any request if it has options of its own. Returns its number."""
        if self.is_plain and not job.at:
            template = self._template if self._template >= 0 else self._prepared(job.url).template
            if template >= 0:
                return self.engine.start_like(template, job.url, job.draft, job.is_scout)
        options, upload = self._options(job)
        return self.engine.start(options, upload, None, job.draft, job.at, job.is_scout)

    def news(self, number: int) -> None:
        """Handles news of a transfer, possibly its end."""
        if number in self.running:
            self.took(number, *(self.into.ending(self.engine, number) or (-1, 0, None)))

    def took(self, number: int, code: int, status: int, outcome: _native.Outcome | None) -> None:
        """Handles the end of a transfer: curl's code, status, and the outcome if it is taken already. -1: it goes on."""
        if code < 0:
            job = self.running.get(number)
            if job is not None and job.is_scout and self.engine.is_connected(number):
                self.queue.connected(job)
            return
        job = self.running.pop(number, None)
        if job is None:
            return
        lost = self.queue.ended(job, code, status)
        if not code and not lost and status not in _BUSY:
            self.into.ended(self, job, number, status, outcome)
            return
        head = outcome.head if outcome is not None else self.engine.head(number)
        if self.queue.again(job, code, status, _retry_after(head, status), time.monotonic()):
            self._keep(job, self._taken(number, outcome))
        elif lost:
            self._lose(job, code, self._taken(number, outcome).message, lost)
        else:
            self.into.ended(self, job, number, status, outcome)

    def _taken(self, number: int, outcome: _native.Outcome | None) -> _native.Outcome:
        """Takes the outcome of a transfer that has ended, unless it is taken already."""
        found = outcome or self.engine.finish(number)
        assert found is not None  # the transfer has ended
        return found

    def close(self) -> None:
        """Aborts the transfers in progress."""
        for number, job in self.running.items():
            self.engine.release(number)
            self.discard(job)
        self.running.clear()
        for job in self.queue.waiting():
            self.discard(job)
        for prepared in self._by_proxy.values():
            if prepared.template >= 0:
                self.engine.forget(prepared.template)
        self._by_proxy.clear()

    def store(self, job: _Job, status: int) -> str | None:
        """Gives a complete body its file name and returns it; None if the body is not kept."""
        if job.path is None or job.draft is None or job.draft == job.path:
            return job.path
        if status >= 400 and not self._store_errors:
            self.discard(job)
            return None
        if not os.path.exists(job.draft):  # an empty body
            open(job.draft, "wb").close()
        os.replace(job.draft, job.path)
        return job.path

    def discard(self, job: _Job) -> None:
        """Removes the file of a body that is not kept."""
        if job.draft is not None and job.draft != job.path and os.path.isfile(job.draft):
            os.remove(job.draft)

    def request(self, url: str) -> Request:
        """Builds the request for a URL."""
        if self.is_plain:
            return self.probe.at(url)
        return self.client.build_request("GET", url, **self.request_how)

    def _options(self, job: _Job) -> tuple[list[Any], Any]:
        request = self.request(job.url)
        if job.validator:
            request.headers["If-Range"] = job.validator
        options, upload = request.for_engine(self._prepared(request._url).settings)
        if job.at:
            options.append((_RESUME, job.at))
        return options, upload

    def _lose(self, job: _Job, code: int, message: str, lost: list[_Job]) -> None:
        for one in (job, *lost):
            self.into.lost(self, one, code, message)

    def _keep(self, job: _Job, outcome: _native.Outcome) -> None:
        """Keeps the received part of a body if the server can be asked for the rest."""
        validator = ""
        if outcome.status in (200, 206) and outcome.code not in (0, _NO_RANGE):
            headers = Response._of(self.request(job.url), outcome).headers
            etag = headers.get("etag", "")
            if "content-encoding" not in headers:
                validator = etag if etag and not etag.startswith("W/") else headers.get("last-modified", "")
        if not validator or job.validator and job.validator != validator:
            job.at, job.held, job.validator = 0, b"", ""
            return
        job.validator = validator
        job.held = b"" if job.draft else job.held + outcome.body
        job.at = os.path.getsize(job.draft) if job.draft else len(job.held)

    def drive(self, run: Callable[[_native.Engine, float], list[_Ending]], ready: Callable[[bool], list[_Result]]) -> Iterator[_Result]:
        """Runs to the end on this thread by ``run``; yields what ``ready(is_end)`` returns whenever there may be results."""
        try:
            while True:
                while (asked := self.begin_all()) is not None:
                    try:
                        answer = asked.transport.handle_request(asked.request)
                    except RequestError as error:
                        answer = error
                    self.answered(asked, answer)
                    yield from ready(False)
                is_end = not self.running and self.queue.is_empty()
                yield from ready(is_end)
                if is_end:
                    return
                pause = self.queue.pause(time.monotonic())
                for number, code, status, outcome in run(self.engine, min(1.0, pause)):
                    self.took(number, code, status, outcome)
        finally:
            self.close()


def _retry_after(head: bytes, status: int) -> str:
    heads = _native.parse_heads(head) if status in _BUSY else []
    return Headers(heads[-1][3]).get("retry-after", "") if heads else ""


def _queue(urls: Iterable[str], to: Where | str | None, limit: int, per_host: int, retries: int) -> _Queue:
    if to is not None and not callable(to):
        to = os.fspath(to)
        os.makedirs(to, exist_ok=True)
    return _Queue(urls, to, limit, per_host, retries)


@signed
def fetch_many(
    urls: Iterable[str],
    *,
    limit: int = 64,
    per_host: int = 16,
    retries: int = 2,
    to: Where | str | None = None,
    store_errors: bool = False,
    client: Client | None = None,
    **how: Unpack[RequestOptions],
) -> Iterator[Fetched]:
    """Fetches URLs, at most ``limit`` at a time and ``per_host`` of one host, and yields the results as they complete.

    A failed URL does not raise: :attr:`Fetched.error` has the reason. A broken transfer is retried up to ``retries`` times; it
    resumes if the server can confirm that the file is unchanged. A host that answers 429 or 503 gets half as many requests at a time,
    and one more after as many successes. With ``to``, a directory (created if missing) or a function of the
    URL, bodies are written to files. A file gets its name when its body is complete: a failure leaves no file and replaces none. A
    reply of 400 or above is a failure in this sense, unless ``store_errors`` is set.
    ``urls`` is read as needed. ``how`` is as for :meth:`Client.request`. URLs of the client's ``transport`` and ``mounts`` are answered
    by these, one after the other.

    >>> for one in warmwire.fetch_many(["https://example.com/"], per_host=8):
    ...     print(one.url, len(one.content) > 0 if one.ok else one.error or one.status_code)
    https://example.com/ True
    """
    queue, replies = _queue(urls, to, limit, per_host, retries), _Replies()
    own = client if client is not None else Client()
    many = _Many(_native.Engine(own.pool._native, True), queue, own, dict(how), replies, store_errors)
    return many.drive(replies.run, replies.ready)


@signed
async def afetch_many(
    urls: Iterable[str],
    *,
    limit: int = 64,
    per_host: int = 16,
    retries: int = 2,
    to: Where | str | None = None,
    store_errors: bool = False,
    client: Client | AsyncClient | None = None,
    **how: Unpack[RequestOptions],
) -> AsyncIterator[Fetched]:
    """:func:`fetch_many` in asyncio's loop.

    >>> async def main():
    ...     return [one.status_code async for one in warmwire.afetch_many(["https://example.com/"])]
    >>> asyncio.run(main())
    [200]
    """
    queue, replies = _queue(urls, to, limit, per_host, retries), _Replies()
    own: Client | AsyncClient = client if client is not None else Client()
    loop: _Loop = own.pool._loop()
    many = _Many(loop.engine, queue, own, dict(how), replies, store_errors)
    woken = asyncio.Event()

    class Listener:
        """Handles a transfer's news from the loop."""

        def __init__(self, number: int) -> None:
            self.number = number

        def news(self) -> None:
            many.news(self.number)
            if self.number not in many.running:
                loop.waiting.pop(self.number, None)
            woken.set()

    def began(number: int) -> None:
        loop.waiting[number] = Listener(number)  # type: ignore[assignment]

    try:
        while True:
            while (asked := many.begin_all(began)) is not None:
                try:
                    answer = await _call(asked.transport.handle_request, asked.request)
                except RequestError as error:
                    answer = error
                many.answered(asked, answer)
                for one in replies.ready(False):
                    yield one
            for one in replies.ready(False):
                yield one
            if not many.running and queue.is_empty() and not replies.done:
                return
            try:
                await asyncio.wait_for(woken.wait(), min(60.0, queue.pause(time.monotonic())))
            except asyncio.TimeoutError:
                pass
            woken.clear()
    finally:
        for number in many.running:
            loop.waiting.pop(number, None)
        many.close()
