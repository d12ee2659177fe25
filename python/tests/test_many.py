"""fetch_many: the order, the limits, what is tried again, and what nobody waits for."""

import asyncio
import os
import time

import pytest
import warmwire
from conftest import Served
from patterns import pattern
from sites import NameServer, Site, answer, breaking
from warmwire._many import _Queue


def test_every_url_once_as_they_end(http):
    urls = [http.url(f"/bytes/{size}") for size in range(500)]
    urls[0] = http.url("/delay/1000/bytes/0")
    found = list(warmwire.fetch_many(urls))
    assert sorted(one.index for one in found) == list(range(500))
    assert all(one.content == pattern(one.index) and one.url == urls[one.index] for one in found)
    # Asked first, answered a second later: those behind it do not wait. On a busy machine some come later still.
    assert found[0].index != 0


def test_limits():
    def slow(handler):
        time.sleep(0.02)
        answer(handler, b"x")

    site, other = Site(slow), Site(slow)
    urls = [f"{one.root}/{number}" for number in range(40) for one in (site, other)]
    assert sum(one.ok for one in warmwire.fetch_many(urls, limit=6, per_host=4)) == 80
    # A host's first is ahead of the limit; what it counts is at most one more than it may.
    assert 1 < site.most <= 5 and 1 < other.most <= 5


def test_failures_are_results(http):
    urls = [http.url("/bytes/1"), http.url("/status/404"), "http://nowhere.invalid/", "nonsense://x/", http.url("/cut/300/bytes/1000")]
    found = sorted(warmwire.fetch_many(urls, retries=0), key=lambda one: one.index)
    assert [one.ok for one in found] == [True, False, False, False, False]
    assert found[1].status_code == 404 and found[1].error is None
    assert isinstance(found[2].error, warmwire.ResolveError)
    assert isinstance(found[3].error, warmwire.InvalidURL)
    assert isinstance(found[4].error, warmwire.IncompleteBody)
    with pytest.raises(warmwire.ResolveError):
        found[2].content  # noqa: B018


@pytest.mark.parametrize("to_file", [False, True])
def test_what_broke_goes_on_where_it_broke(tmp_path, to_file):
    body = pattern(300_000)

    site = Site(breaking(body, 120_000))
    where = {"to": tmp_path} if to_file else {}
    (found,) = warmwire.fetch_many([site.root + "/file.bin"], retries=3, **where)
    assert found.error is None and found.attempts == 3
    if to_file:
        assert os.path.basename(found.path) == "0-file.bin"
        with open(found.path, "rb") as file:
            assert file.read() == body
    else:
        assert found.content == body
    assert [row[1:] for row in site.seen] == [(None, None), ("bytes=120000-", '"one"'), ("bytes=240000-", '"one"')]


def test_a_file_that_changed_meanwhile_is_fetched_anew():
    bodies = [pattern(200_000), b"new" * 50_000]

    def changing(handler):
        turn = len(handler.server.seen)
        body = bodies[0] if turn == 1 else bodies[1]
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(body)))
        handler.send_header("ETag", f'"{turn}"')
        handler.end_headers()
        handler.wfile.write(body[: 100_000 if turn == 1 else len(body)])
        handler.close_connection = turn == 1

    (found,) = warmwire.fetch_many([Site(changing).root], retries=3)
    assert found.content == bodies[1]


def test_a_busy_server_is_asked_again_when_it_says():
    start = time.monotonic()

    def busy(handler):
        first = len(handler.server.seen) == 1
        answer(handler, b"busy" if first else b"done", 503 if first else 200, **({"Retry_After": "1"} if first else {}))

    (found,) = warmwire.fetch_many([Site(busy).root])
    assert (found.content, found.attempts) == (b"done", 2) and time.monotonic() - start >= 1


def test_nobody_waits_for_dead_names(http):
    """Half of the URLs have one of a hundred dead names; each name is looked up once, for both families."""
    names = NameServer()
    client = warmwire.Client(options={"DNS_SERVERS": names.address})
    urls = [http.url(f"/bytes/{n % 50}") if n % 2 else f"http://dead{n // 40}.invalid/{n}" for n in range(4000)]
    found = list(warmwire.fetch_many(urls, limit=16, client=client))
    assert len({one.index for one in found}) == len(found) == 4000
    assert all(one.ok == bool(one.index % 2) for one in found)
    assert {one.error.code for one in found if one.error} == {6} and names.questions == 200


def test_thousands_of_dead_names_hold_nobody_up(http):
    """A name server that takes its time for each name, as most do for those that are dead."""
    names = NameServer(seconds=0.01)
    client = warmwire.Client(options={"DNS_SERVERS": names.address})
    urls = [http.url(f"/bytes/{n % 50}") if n % 2 else f"http://dead{n}.invalid/" for n in range(4000)]
    start, living = time.monotonic(), 0
    many = warmwire.fetch_many(urls, limit=16, client=client)
    for one in many:
        assert one.ok == bool(one.index % 2)
        living += one.ok
        if living == 2000:
            break
    many.close()
    # One name after the other would take 40 seconds.
    assert time.monotonic() - start < 30


def test_leaving_early_breaks_off(http):
    before = len(os.listdir("/proc/self/fd"))
    pool = warmwire.Pool()
    many = warmwire.fetch_many([http.url("/drip/1/1000/bytes/600")] * 10 + [http.url("/bytes/1")], client=warmwire.Client(pool=pool))
    assert next(many).content == b"a"
    many.close()
    pool.close()
    del many, pool
    deadline = time.monotonic() + 20
    while len(os.listdir("/proc/self/fd")) > before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(os.listdir("/proc/self/fd")) <= before


def test_urls_are_read_as_needed():
    taken = 0

    def endless():
        nonlocal taken
        while True:
            taken += 1
            yield f"http://host{taken % 7}.invalid/"

    queue = _Queue(endless(), None, 4, 2, 0)
    assert queue.next(0.0) is not None and taken < 30_000


def test_failures_leave_no_file(http, tmp_path):
    urls = [http.url("/bytes/9"), http.url("/status/404"), http.url("/status/503"), "http://nowhere.invalid/a", http.url("/bytes/0")]
    kept = tmp_path / "kept"
    kept.write_text("before")
    names = dict(zip(urls, [tmp_path / "a", kept, tmp_path / "b", tmp_path / "c", tmp_path / "empty"]))
    found = sorted(warmwire.fetch_many(urls, to=names.__getitem__, retries=0), key=lambda one: one.index)
    assert [one.path and os.path.basename(one.path) for one in found] == ["a", None, None, None, "empty"]
    assert [one.status_code for one in found] == [200, 404, 503, 0, 200]
    assert sorted(os.listdir(tmp_path)) == ["a", "empty", "kept"] and kept.read_text() == "before"
    (page,) = warmwire.fetch_many([urls[1]], to=tmp_path, store_errors=True)
    assert page.path and os.path.isfile(page.path)


def test_breaking_off_leaves_no_file(http, tmp_path):
    many = warmwire.fetch_many([http.url("/bytes/1"), http.url("/drip/1/1000/bytes/600")], to=tmp_path)
    next(many)
    many.close()
    assert [name for name in os.listdir(tmp_path) if name.endswith(".part")] == []


def test_a_full_disk(http):
    (found,) = warmwire.fetch_many([http.url("/bytes/100000")], to=lambda url: "/dev/full", retries=0)
    assert isinstance(found.error, warmwire.WriteError) and "space" in str(found.error)


def test_on_a_loop(http, tmp_path):
    async def main():
        urls = [http.url(f"/bytes/{size}") for size in range(300)] + ["http://nowhere.invalid/"]
        found = [one async for one in warmwire.afetch_many(urls, to=tmp_path)]
        return sorted(found, key=lambda one: one.index)

    found = asyncio.run(main())
    assert len(found) == 301 and isinstance(found[300].error, warmwire.ResolveError)
    for one in found[:300]:
        with open(one.path, "rb") as file:
            assert file.read() == pattern(one.index)


def test_a_host_that_is_busy_gets_fewer_at_a_time():
    queue = _Queue([f"http://a/{number}" for number in range(99)], None, 64, 8, 0)
    scout = queue.next(0.0)
    queue.connected(scout)

    def fill():
        jobs = []
        while (job := queue.next(0.0)) is not None:
            jobs.append(job)
        return jobs

    running = [scout, *fill()]
    assert len(running) == 8
    for left, status in ((4, 429), (2, 503), (1, 429), (1, 429)):
        assert not queue.ended(running.pop(), 0, status)
        while len(running) >= max(left, 1):
            # A transfer that broke says nothing of the host's load.
            queue.ended(running.pop(), 56)
        running += fill()
        assert len(running) == left
    for most in (2, 3, 4, 5, 6, 7, 8):
        for _ in range(most - 1):
            queue.ended(running.pop(0), 0, 200)
            running += fill()
        assert len(running) == most
    for _ in range(20):
        queue.ended(running.pop(0), 0, 200)
        running += fill()
        assert len(running) == 8


def test_all_of_a_busy_host_comes_at_last():
    def few_at_once(handler):
        is_busy = handler.server.now > 3
        time.sleep(0.01)
        answer(handler, b"x", 503 if is_busy else 200)

    site = Site(few_at_once)
    found = list(warmwire.fetch_many([f"{site.root}/{number}" for number in range(60)], per_host=16, retries=6))
    assert len(found) == 60 and all(one.ok for one in found)


class Squid(Served):
    """A proxy that is no part of this project, with its log."""

    def __init__(self):
        super().__init__("squid")
        self._seen = 0

    def requests(self, count):
        """Waits until so many requests since the last call have ended. Returns their methods and URLs."""
        deadline = time.monotonic() + 20
        while True:
            with open(self.rest[0], encoding="ascii") as log:
                # A connection that ends without a request has the method "-".
                found = [tuple(words[5:7]) for words in map(str.split, log) if words[5] != "-"]
            if len(found) >= self._seen + count or time.monotonic() > deadline:
                new, self._seen = found[self._seen :], len(found)
                return new
            time.sleep(0.02)


@pytest.fixture(scope="module")
def squids():
    servers = []
    try:
        servers += [Squid(), Squid()]
        yield servers
    finally:
        for server in servers:
            server.stop()


async def _all_of(results):
    return [one async for one in results]


@pytest.mark.parametrize("on_a_loop", [False, True])
def test_each_url_has_the_proxy_of_its_scheme_and_host(http, https, squids, monkeypatch, on_a_loop):
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    direct, whole = Site(lambda handler: answer(handler, b"direct")), pattern(200_000)
    cut = Site(breaking(whole, 120_000))
    urls = [http.url("/bytes/7"), https.url("/bytes/8"), direct.root + "/", cut.root + "/", http.url("/bytes/9"), https.url("/bytes/10")]
    pool = warmwire.Pool()
    client = warmwire.Client(proxy={"http": squids[0].root, "https": squids[1].root, direct.root: ""}, verify=https.ca, pool=pool)
    if on_a_loop:
        found = asyncio.run(_all_of(warmwire.afetch_many(urls, client=client)))
    else:
        found = list(warmwire.fetch_many(urls, client=client))
    found.sort(key=lambda one: one.index)
    assert [one.error for one in found] == [None] * 6
    assert [one.content for one in found] == [pattern(7), pattern(8), b"direct", whole, pattern(9), pattern(10)]
    assert found[3].attempts == 2, "the rest of a body comes by the same proxy"
    del found
    pool.close()  # squid logs a tunnel when it ends
    assert set(squids[0].requests(4)) == {("GET", url) for url in (urls[0], urls[3], urls[4])}
    assert set(squids[1].requests(1)) == {("CONNECT", https.root.removeprefix("https://"))}


def test_the_proxy_is_that_of_the_whole_url(http, squids):
    client = warmwire.Client(base_url=http.root)
    (found,) = warmwire.fetch_many(["bytes/11"], client=client, proxy={http.root: squids[0].root})
    assert found.content == pattern(11) and squids[0].requests(1) == [("GET", http.url("/bytes/11"))]


def _mocked():
    """Returns a transport, and the requests that it has answered. It has no reply for one URL, and is busy at first for another."""
    seen = []

    def handler(request):
        seen.append(request)
        if request.url.path == "/lost":
            raise warmwire.ConnectError("the mock is down", 7, request)
        if request.url.path == "/busy" and len([one for one in seen if one.url.path == "/busy"]) < 3:
            return warmwire.Response(503, headers={"Retry-After": "0"})
        if request.url.path == "/missing":
            return warmwire.Response(404, text="nothing is here")
        return warmwire.Response(200, text=f"mocked {request.url.path} {request.headers.get('x-a')}")

    return warmwire.MockTransport(handler), seen


def test_transports_and_mounts_answer_their_urls(http, tmp_path):
    mock, seen = _mocked()
    names = ["/a", "/lost", "/busy", "/missing", "/"]
    urls = [f"https://mock.example{name}" for name in names] + [http.url("/bytes/5")]
    client = warmwire.Client(mounts={"https://mock.example": mock})
    found = sorted(warmwire.fetch_many(urls, client=client, headers={"X-A": "1"}, to=tmp_path), key=lambda one: one.index)
    assert [one.status_code for one in found] == [200, 0, 200, 404, 200, 200]
    assert isinstance(found[1].error, warmwire.ConnectError) and found[1].attempts == 3
    assert found[2].attempts == 3 and len(seen) == 9 and all(request.method == "GET" for request in seen)
    assert found[0].response.request.url == urls[0] and found[0].response.text == "mocked /a 1"
    kept = {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)}
    assert kept == {"0-a": b"mocked /a 1", "2-busy": b"mocked /busy 1", "4": b"mocked / 1", "5-5": pattern(5)}
    assert [found[place].path is None for place in range(6)] == [False, True, False, True, False, False]


def test_a_transport_answers_while_urls_are_read(http):
    mock, seen = _mocked()

    def endless():
        number = 0
        while True:
            yield f"https://mock.example/{number}"
            number += 1

    client = warmwire.Client(transport=mock)
    some = [one.content for one, _ in zip(warmwire.fetch_many(endless(), client=client), range(50))]
    assert sorted(some) == sorted(f"mocked /{number} None".encode() for number in range(50))
    assert len(seen) <= 52


def test_a_transport_of_an_asynchronous_client_may_be_awaited(http):
    mock, _ = _mocked()

    async def handler(request):
        await asyncio.sleep(0)
        return mock.handle_request(request)

    async def main():
        async with warmwire.AsyncClient(mounts={"https://": warmwire.MockTransport(handler)}) as client:
            urls = ["https://mock.example/a", http.url("/bytes/3"), "https://mock.example/lost"]
            found = [one async for one in warmwire.afetch_many(urls, client=client, retries=0)]
            return {one.index: one.error or one.content for one in found}

    found = asyncio.run(main())
    assert found[0] == b"mocked /a None" and found[1] == pattern(3) and isinstance(found[2], warmwire.ConnectError)
    waiting = warmwire.Client(transport=warmwire.MockTransport(handler))
    with pytest.raises(TypeError, match=r"returns a warmwire\.Response, not coroutine"):
        list(warmwire.fetch_many(["https://mock.example/"], client=waiting))


def test_what_runs_in_the_engine_alone_refuses_transports(tmp_path):
    mock, _ = _mocked()
    (tmp_path / "file").write_bytes(b"x")
    for client in (warmwire.Client(transport=mock), warmwire.Client(mounts={"https://": mock})):
        for name, call in {
            "fetch_batches": lambda one: list(warmwire.fetch_batches(["https://mock.example/"], client=one)),
            "watch": lambda one: warmwire.watch(["https://mock.example/"], client=one),
            "upload": lambda one: warmwire.upload("https://mock.example/file", tmp_path / "file", client=one),
        }.items():
            with pytest.raises(TypeError, match=f"{name} works without transports"):
                call(client)
