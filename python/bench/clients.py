"""One contender and one row of the bench, in a process of its own: `clients.py ROW NAME ROOT` prints seconds and CPU seconds.

Each is written as its own documentation shows it to who wants it fast: one session, kept connections, 64 at a time. The
environment's BENCH_PART is how much of each row is done, 1 being all of it.
"""

import asyncio
import importlib
import json
import os
import resource
import sys
import time
from concurrent.futures import ThreadPoolExecutor

PART = float(os.environ.get("BENCH_PART", "1"))
AT_ONCE = 64
SMALL, FILES, BIG_FILES, RANGES = (max(1, round(count * PART)) for count in (2_000, 20_000, 64, 1_000))
BIG, RANGE = 10 * 2**20, 8 * 2**10
"""Ranges lie so far apart that none is fetched together with another."""


def small_urls(root):
    return [f"{root}/small/{n}" for n in range(FILES)]


def big_urls(root):
    return [f"{root}/big/{n}" for n in range(BIG_FILES)]


def requests_get(root):
    import requests

    with requests.Session() as session:
        return sum(len(session.get(f"{root}/small/0").content) for _ in range(SMALL))


def httpx_get(root):
    import httpx

    with httpx.Client() as client:
        return sum(len(client.get(f"{root}/small/0").content) for _ in range(SMALL))


def niquests_get(root):
    import niquests

    with niquests.Session() as session:
        return sum(len(session.get(f"{root}/small/0").content) for _ in range(SMALL))


def aiohttp_get(root):
    import aiohttp

    async def main():
        total = 0
        async with aiohttp.ClientSession() as session:
            for _ in range(SMALL):
                async with session.get(f"{root}/small/0") as reply:
                    total += len(await reply.read())
        return total

    return asyncio.run(main())


def pycurl_get(root):
    from io import BytesIO

    import pycurl

    handle, total = pycurl.Curl(), 0
    for _ in range(SMALL):
        body = BytesIO()
        handle.setopt(pycurl.URL, f"{root}/small/0")
        handle.setopt(pycurl.WRITEDATA, body)
        handle.perform()
        total += len(body.getvalue())
    return total


def warmwire_get(root):
    import warmwire

    with warmwire.Client() as client:
        return sum(len(client.get(f"{root}/small/0").content) for _ in range(SMALL))


def warmwire_easy_get(root):
    from warmwire.easy import Easy

    handle, total = Easy(), 0
    for _ in range(SMALL):
        handle.setopt("URL", f"{root}/small/0")
        handle.perform()
        total += len(handle.body)
    return total


def warmwire_async_get(root):
    import warmwire

    async def main():
        async with warmwire.AsyncClient() as client:
            return sum([len((await client.get(f"{root}/small/0")).content) for _ in range(SMALL)])

    return asyncio.run(main())


def in_threads(get, urls):
    with ThreadPoolExecutor(AT_ONCE) as threads:
        return sum(threads.map(get, urls))


def requests_big(root):
    import requests
    from requests.adapters import HTTPAdapter

    with requests.Session() as session:
        session.mount("http://", HTTPAdapter(pool_maxsize=AT_ONCE))
        return in_threads(lambda url: len(session.get(url).content), big_urls(root))


def niquests_threads(urls):
    import niquests
    from niquests.adapters import HTTPAdapter

    with niquests.Session() as session:
        session.mount("http://", HTTPAdapter(pool_maxsize=AT_ONCE))
        return in_threads(lambda url: len(session.get(url).content), urls)


def niquests_big(root):
    return niquests_threads(big_urls(root))


def httpx_big(root):
    return asyncio.run(httpx_all(big_urls(root)))


async def obstore_all(root, paths):
    import obstore
    from obstore.store import HTTPStore

    store, room = HTTPStore.from_url(root, client_options={"allow_http": True}), asyncio.Semaphore(AT_ONCE)

    async def get(path):
        async with room:
            return len(await (await obstore.get_async(store, path)).bytes_async())

    return sum(await asyncio.gather(*(get(path) for path in paths)))


def obstore_big(root):
    return asyncio.run(obstore_all(root, [f"big/{n}" for n in range(BIG_FILES)]))


def obstore_many(root):
    return asyncio.run(obstore_all(root, [f"small/{n}" for n in range(FILES)]))


async def httpx_all(urls):
    import httpx

    limits, room = httpx.Limits(max_connections=AT_ONCE, max_keepalive_connections=AT_ONCE), asyncio.Semaphore(AT_ONCE)
    async with httpx.AsyncClient(limits=limits, timeout=60) as client:

        async def get(url):
            async with room:
                return len((await client.get(url)).content)

        return sum(await asyncio.gather(*(get(url) for url in urls)))


def httpx_many(root):
    return asyncio.run(httpx_all(small_urls(root)))


def niquests_many(root):
    return niquests_threads(small_urls(root))


async def aiohttp_all(urls):
    import aiohttp

    room = asyncio.Semaphore(AT_ONCE)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=AT_ONCE)) as session:

        async def get(url):
            async with room, session.get(url) as reply:
                return len(await reply.read())

        return sum(await asyncio.gather(*(get(url) for url in urls)))


def aiohttp_big(root):
    return asyncio.run(aiohttp_all(big_urls(root)))


def aiohttp_many(root):
    return asyncio.run(aiohttp_all(small_urls(root)))


def pycurl_all(urls):
    from io import BytesIO

    import pycurl

    multi, waiting, total = pycurl.CurlMulti(), list(reversed(urls)), 0
    free = [pycurl.Curl() for _ in range(AT_ONCE)]
    running = 0
    while waiting or running:
        while waiting and free:
            handle = free.pop()
            handle.body = BytesIO()
            handle.setopt(pycurl.URL, waiting.pop())
            handle.setopt(pycurl.WRITEDATA, handle.body)
            multi.add_handle(handle)
            running += 1
        multi.perform()
        _, done, failed = multi.info_read()
        if failed:
            raise RuntimeError(failed)
        for handle in done:
            multi.remove_handle(handle)
            total += len(handle.body.getvalue())
            free.append(handle)
            running -= 1
        if not done:
            multi.select(1.0)
    return total


def pycurl_big(root):
    return pycurl_all(big_urls(root))


def pycurl_many(root):
    return pycurl_all(small_urls(root))


def warmwire_all(urls):
    import warmwire

    return sum(len(one.content) for one in warmwire.fetch_many(urls, limit=AT_ONCE, per_host=AT_ONCE))


def warmwire_big(root):
    return warmwire_all(big_urls(root))


def warmwire_many(root):
    return warmwire_all(small_urls(root))


def warmwire_async_many(root):
    import warmwire

    async def main():
        found = warmwire.afetch_many(small_urls(root), limit=AT_ONCE, per_host=AT_ONCE)
        return sum([len(one.content) async for one in found])

    return asyncio.run(main())


def warmwire_batches_many(root):
    import warmwire
    from pyarrow import compute

    batches = warmwire.fetch_batches(small_urls(root), limit=AT_ONCE, per_host=AT_ONCE)
    return sum(compute.sum(compute.binary_length(batch.column("body"))).as_py() for batch in batches)


def ranges(files, root):
    paths = [f"{root}/big/{n % BIG_FILES}" for n in range(RANGES)]
    step = (BIG - RANGE) // (RANGES // BIG_FILES + 1)
    starts = [n // BIG_FILES * step for n in range(RANGES)]
    return sum(len(part) for part in files.cat_ranges(paths, starts, [start + RANGE for start in starts]))


def fsspec_ranges(root):
    from fsspec.implementations.http import HTTPFileSystem

    return ranges(HTTPFileSystem(), root)


def obstore_ranges(root):
    import obstore
    from obstore.store import HTTPStore

    store = HTTPStore.from_url(root, client_options={"allow_http": True})
    step = (BIG - RANGE) // (RANGES // BIG_FILES + 1)

    async def of(file):
        starts = [n // BIG_FILES * step for n in range(file, RANGES, BIG_FILES)]
        parts = await obstore.get_ranges_async(store, f"big/{file}", starts=starts, lengths=[RANGE] * len(starts), coalesce=0)
        return sum(len(part) for part in parts)

    async def main():
        return sum(await asyncio.gather(*(of(file) for file in range(min(BIG_FILES, RANGES)))))

    return asyncio.run(main())


def warmwire_ranges(root):
    from warmwire.filesystem import WarmwireFileSystem

    return ranges(WarmwireFileSystem(), root)


ROWS = {
    "get": ["warmwire", "warmwire_easy", "warmwire_async", "requests", "httpx", "aiohttp", "niquests", "pycurl"],
    "big": ["warmwire", "requests", "httpx", "aiohttp", "niquests", "obstore", "pycurl"],
    "ranges": ["warmwire", "fsspec", "obstore"],
    "many": ["warmwire", "warmwire_batches", "warmwire_async", "httpx", "aiohttp", "niquests", "obstore", "pycurl"],
}
"""Contenders of each row."""

BYTES = {"get": SMALL * 1024, "big": BIG_FILES * BIG, "ranges": RANGES * RANGE, "many": FILES * 1024}
"""What each row brings."""

TITLES = {
    "get": f"{SMALL:,} GETs of 1 KB, one after the other",
    "big": f"{BIG_FILES} files of 10 MB at once",
    "ranges": f"cat_ranges: {RANGES:,} ranges of 8 KB in {BIG_FILES} files",
    "many": f"{FILES:,} files of 1 KB, 64 at a time",
}

COUNTS = {"get": SMALL, "big": BIG_FILES, "ranges": RANGES, "many": FILES}


IMPORTS = {
    "warmwire": ["asyncio", "warmwire", "warmwire.easy"],
    "warmwire_ranges": ["asyncio", "warmwire.filesystem"],
    "warmwire_batches_many": ["warmwire", "pyarrow.compute"],
    "fsspec": ["asyncio", "fsspec.implementations.http"],
    **{name: ["asyncio", name] for name in ("requests", "httpx", "aiohttp", "niquests", "obstore", "pycurl")},
}
"""What is imported before the clock runs: by everybody what it uses, for numpy, which comes with pyarrow, has threads of its own that spin."""


def main(row, name, root):
    def cpu():
        used = resource.getrusage(resource.RUSAGE_SELF)
        return used.ru_utime + used.ru_stime

    run = globals()[f"{name}_{row}"]
    for module in IMPORTS.get(f"{name}_{row}") or IMPORTS[name.partition("_")[0]]:
        importlib.import_module(module)
    began, cpu_began = time.perf_counter(), cpu()
    got = run(root)
    seconds, cpu_seconds = time.perf_counter() - began, cpu() - cpu_began
    if got != BYTES[row]:
        raise SystemExit(f"{name} brought {got} bytes of {BYTES[row]}")
    print(json.dumps([seconds, cpu_seconds]))


if __name__ == "__main__":
    main(*sys.argv[1:])
