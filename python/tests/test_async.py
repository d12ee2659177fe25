"""AsyncClient: on asyncio's loop, without threads."""

import asyncio
import gc
import os
import threading
import time

import pytest
import warmwire
from patterns import pattern
from sites import Site
from test_client import Sender


def run(work):
    return asyncio.run(work)


def test_many_at_once_on_one_thread(http):
    async def main():
        async with warmwire.AsyncClient() as client:
            replies = await asyncio.gather(*(client.get(http.url(f"/bytes/{size}")) for size in range(200)))
        return [reply.content for reply in replies], threading.active_count()

    before = threading.active_count()
    bodies, threads = run(main())
    assert bodies == [pattern(size) for size in range(200)]
    assert threads == before


def test_connections_are_kept_between_clients_and_loops(http):
    pool = warmwire.Pool()
    warmwire.Client(pool=pool).get(http.url("/bytes/1"))

    async def main():
        client = warmwire.AsyncClient(pool=pool)
        return [(await client.get(http.url("/bytes/1"))).new_connections for _ in range(3)]

    assert run(main()) == [0, 0, 0]
    assert run(main()) == [0, 0, 0]


def test_a_loop_keeps_its_connections(http, counters):
    """All of a crowd's, for the next crowd, and until its pool is closed."""

    async def main():
        pool = warmwire.Pool()
        client = warmwire.AsyncClient(pool=pool)
        for wanted in (30, 0):
            replies = await asyncio.gather(*(client.get(http.url("/delay/200/bytes/1")) for _ in range(30)))
            assert sum(reply.new_connections for reply in replies) == wanted
            assert (await client.get(http.url("/bytes/1"))).new_connections == 0
        before = counters()["open"]
        await client.aclose()
        deadline = time.monotonic() + 20
        while before - counters()["open"] < 30:
            assert time.monotonic() < deadline, "they are not closed"
            await asyncio.sleep(0.05)

    run(main())


def test_a_timer_does_not_keep_its_loop(http):
    """What an ended loop had is there again for others, although it waited for a time limit."""
    pool = warmwire.Pool()

    async def main():
        client = warmwire.AsyncClient(pool=pool, timeout=60)
        return (await client.get(http.url("/bytes/1"))).new_connections

    made = [run(main()) for _ in range(3)]
    gc.collect()
    assert made == [1, 0, 0] and len(pool._loops) == 0
    assert warmwire.get(http.url("/bytes/1"), pool=pool).new_connections == 0


def test_a_body_in_pieces(http):
    async def main():
        async with warmwire.AsyncClient() as client:
            async with client.stream("GET", http.url("/bytes/5000000")) as reply:
                whole = b"".join([piece async for piece in reply.aiter_bytes()])
            async with client.stream("GET", http.url("/bytes/1000")) as reply:
                sizes = [len(piece) async for piece in reply.aiter_bytes(300)]
            async with client.stream("GET", http.url("/drip/1/500/bytes/60")) as reply:
                first = await anext(reply.aiter_bytes())
            async with client.stream("GET", http.url("/cut/600/bytes/1000")) as reply:
                with pytest.raises(warmwire.IncompleteBody):
                    await reply.aread()
        return whole, sizes, first

    assert run(main()) == (pattern(5000000), [300, 300, 300, 100], b"a")


def test_uploads_from_async_iterators(http):
    async def pieces():
        for letter in b"abc":
            await asyncio.sleep(0.01)
            yield bytes([letter]) * 70_000

    async def main():
        async with warmwire.AsyncClient() as client:
            one = await client.post(http.url("/body"), content=pieces())
            async with client.stream("PUT", http.url("/body"), content=pieces()) as other:
                return one.content, await other.aread()

    wanted = b"a" * 70_000 + b"b" * 70_000 + b"c" * 70_000
    assert run(main()) == (wanted, wanted)


def test_errors_and_timeouts(http):
    async def main():
        async with warmwire.AsyncClient(timeout=warmwire.Timeout(total=0.3)) as client:
            with pytest.raises(warmwire.TimeoutException):
                await client.get(http.url("/delay/60000/bytes/1"))
            with pytest.raises(warmwire.ResolveError):
                await client.get("http://nowhere.invalid/", timeout=None)
            with pytest.raises(warmwire.HTTPStatusError):
                (await client.get(http.url("/status/503"))).raise_for_status()

    run(main())


def test_cancelling_closes_at_once():
    """The server hears of it without anything else being asked of the loop."""
    sent = Sender()

    async def main():
        client = warmwire.AsyncClient()
        task = asyncio.create_task(client.get(sent.url))
        while sent.count == 0:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        sent.join()

    run(main())


def test_wait_for_cancels(http):
    async def main():
        client = warmwire.AsyncClient()
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(client.get(http.url("/delay/60000/bytes/1")), 0.3)
        return (await client.get(http.url("/bytes/3"))).content

    assert run(main()) == pattern(3)


def test_hooks_may_be_coroutines(http):
    async def mark(request):
        await asyncio.sleep(0)
        request.headers["X-Mark"] = "1"

    async def main():
        async with warmwire.AsyncClient(event_hooks={"request": [mark]}) as client:
            return (await client.get(http.url("/echo"))).text

    assert "X-Mark: 1" in run(main())


def test_who_reads_slowly_stops_the_sender():
    sent = Sender()

    async def main():
        async with warmwire.AsyncClient() as client:
            async with client.stream("GET", sent.url) as reply:
                await anext(reply.aiter_bytes())
                deadline = time.monotonic() + 30
                while not (sent.count and sent.stuck()):
                    assert time.monotonic() < deadline, "the sender never stops"
                    await asyncio.sleep(0.05)
                count = sent.count
        return count

    assert run(main()) < 64 << 20
    sent.join()


def test_the_loop_sleeps_while_nothing_moves(http):
    async def main():
        async with warmwire.AsyncClient() as client:
            task = asyncio.create_task(client.get(http.url("/delay/2000/bytes/1")))
            await asyncio.sleep(0.5)
            before = time.process_time()
            await task
            return time.process_time() - before

    assert run(main()) < 0.5


def test_nothing_is_left(http):
    async def main():
        async with warmwire.AsyncClient(pool=warmwire.Pool()) as client:
            await asyncio.gather(*(client.get(http.url("/bytes/10")) for _ in range(20)))
            async with client.stream("GET", http.url("/bytes/9000000")) as reply:
                await anext(reply.aiter_bytes())

    def rounds():
        run(main())
        gc.collect()
        return len(os.listdir("/proc/self/fd"))

    before = rounds()
    assert max(rounds() for _ in range(3)) <= before


def test_a_forgotten_reply_is_broken_off():
    """Nobody closes it, and nobody has it any more."""
    sent = Sender()

    async def main():
        client = warmwire.AsyncClient()
        reply = await client.send(client.build_request("GET", sent.url), stream=True)
        assert await anext(reply.aiter_bytes())
        del reply
        gc.collect()
        # Its iterator is closed by the loop, which has to have its turn.
        await asyncio.to_thread(sent.join)

    run(main())


def test_pieces_go_both_ways(http):
    """What is left of an upload is sent while the reply is read: here the server says something to each line."""
    site = Site(chat)

    async def lines():
        for word in ("one", "two", "three"):
            yield f"{word}\n".encode()

    async def main():
        async with warmwire.AsyncClient() as client:
            async with client.stream("POST", site.root, content=lines()) as reply:
                return [line async for line in reply.aiter_lines()]

    assert run(main()) == ["ready", "ONE", "TWO", "THREE"]
    with warmwire.stream("POST", site.root, content=iter([b"four\n", b"five\n"])) as reply:
        assert list(reply.iter_lines()) == ["ready", "FOUR", "FIVE"]


def chat(handler):
    """Answers a body in chunks, line by line."""
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()

    def say(text):
        handler.wfile.write(b"%x\r\n%s\r\n" % (len(text), text))
        handler.wfile.flush()

    say(b"ready\n")
    while size := int(handler.rfile.readline(), 16):
        say(handler.rfile.read(size).upper())
        handler.rfile.readline()
    handler.rfile.readline()
    handler.wfile.write(b"0\r\n\r\n")


def test_a_child_of_a_fork_has_a_loop_of_its_own(http):
    async def main():
        client = warmwire.AsyncClient()
        held = await client.send(client.build_request("GET", http.url("/bytes/3000000")), stream=True)
        assert (await client.get(http.url("/bytes/10"))).status_code == 200
        child = os.fork()
        if child == 0:
            done = 1
            try:
                asyncio._set_running_loop(None)
                made = [asyncio.run(client.get(http.url("/bytes/10"))).new_connections for _ in range(2)]
                done = 0 if made == [1, 0] else 2
            finally:
                os._exit(done)
        status = await asyncio.to_thread(os.waitpid, child, 0)
        return status[1], await held.aread(), (await client.get(http.url("/bytes/10"))).new_connections

    assert run(main()) == (0, pattern(3_000_000), 0)
