"""Threads share clients, cookies, pools, streams and engines."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import warmwire
from patterns import pattern
from sites import Site, answer
from warmwire import _native

NUMBERS = {name: number for name, number, _ in _native.known_options()}
THREADS, TIMES = 8, 40


def together(work, threads=THREADS):
    """Runs ``work(number)`` in threads that begin at once, and returns the results."""
    gate = threading.Barrier(threads)

    def begin(number):
        gate.wait(20)
        return work(number)

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(begin, range(threads)))


def test_one_client_serves_all_threads(http):
    with warmwire.Client(pool=warmwire.Pool()) as client:

        def work(number):
            sizes = [number * 1000 + time for time in range(TIMES)]
            return all(client.get(http.url(f"/bytes/{size}")).content == pattern(size) for size in sizes)

        assert together(work) == [True] * THREADS


def test_connections_are_those_of_few_threads(http, counters):
    pool, before = warmwire.Pool(), counters()["accepts"]
    together(lambda _: [warmwire.get(http.url("/bytes/10"), pool=pool) for _ in range(TIMES)])
    # The counters ask on one more connection.
    assert counters()["accepts"] - before <= THREADS + 1


def test_threads_change_and_read_the_cookies_of_one_client():
    def reply(handler):
        answer(handler, handler.headers.get("Cookie", "").encode(), Set_Cookie=f"c{handler.path[1:]}=1; Path=/")

    site = Site(reply)
    with warmwire.Client(pool=warmwire.Pool()) as client:

        def work(number):
            for time in range(TIMES):
                client.get(f"{site.root}/{number}x{time}").raise_for_status()
                client.cookies.set(f"own{number}", str(time), domain="other.test")
                assert client.cookies[f"own{number}"] == str(time)
                if time % 8 == 7:
                    del client.cookies[f"own{number}"]

        together(work)
        got = set(client.cookies)
        assert got == {f"c{number}x{time}" for number in range(THREADS) for time in range(TIMES)}
    site.shutdown()
    site.server_close()


def test_settings_may_change_while_others_send(http):
    with warmwire.Client(pool=warmwire.Pool()) as client:

        def work(number):
            for time in range(TIMES):
                if number == 0:
                    client.follow_redirects, client.timeout = bool(time % 2), warmwire.Timeout(10 + time)
                assert client.get(http.url("/bytes/10")).content == pattern(10)

        together(work)


def test_a_pool_may_be_closed_while_others_use_it(http):
    pool = warmwire.Pool()

    async def gather():
        async with warmwire.AsyncClient(pool=pool) as client:
            replies = await asyncio.gather(*(client.get(http.url("/bytes/100")) for _ in range(TIMES)))
        return {reply.content for reply in replies}

    def work(number):
        if number == 0:
            return [pool.close() for _ in range(TIMES)] and {pattern(100)}
        if number % 2:
            return asyncio.run(gather())
        return {warmwire.get(http.url("/bytes/100"), pool=pool).content for _ in range(TIMES)}

    assert together(work) == [{pattern(100)}] * THREADS


def test_a_stream_may_be_closed_by_another_thread(http):
    for _ in range(TIMES):
        with warmwire.Client(pool=warmwire.Pool()) as client, client.stream("GET", http.url("/bytes/3000000")) as reply:

            def work(number, reply=reply):
                if number:
                    return reply.close()
                try:
                    return sum(map(len, reply.iter_raw()))
                except Exception as error:  # noqa: BLE001 which one depends on where it is
                    return error

            taken = together(work, 2)[0]
            ended = isinstance(taken, (warmwire.RequestError, RuntimeError, KeyError))
            assert ended or taken <= 3000000, repr(taken)


def test_one_engine_may_be_run_by_several_threads(http):
    engine = _native.Engine(None)
    url = (NUMBERS["URL"], http.url("/bytes/5000"))
    lock, left, codes = threading.Lock(), set(), []

    def work(_):
        for _ in range(TIMES):
            number = engine.start([url])
            with lock:
                left.add(number)
        while True:
            with lock:
                if not left:
                    return
            for number in engine.run_for(0.05):
                outcome = engine.finish(number)
                if outcome is not None:
                    with lock:
                        left.discard(number)
                        codes.append(outcome.code)

    together(work)
    assert codes == [0] * (THREADS * TIMES)


def test_results_of_many_urls_go_to_the_thread_that_asks(http):
    urls = [http.url(f"/bytes/{size}") for size in range(TIMES)]

    def work(_):
        return sorted(len(one.content) for one in warmwire.fetch_many(urls, per_host=4))

    assert together(work) == [list(range(TIMES))] * THREADS


def test_threads_that_share_an_iterator_get_each_result_once_or_an_error(http):
    pytest.importorskip("pyarrow", reason="is missing: pyarrow")
    rows = warmwire.fetch_batches([http.url("/bytes/9")] * 400, rows=10)

    def work(_):
        taken = 0
        while True:
            try:
                taken += next(rows).num_rows
            except StopIteration:
                return taken
            except (ValueError, RuntimeError):
                continue  # another thread is inside

    assert sum(together(work)) == 400
