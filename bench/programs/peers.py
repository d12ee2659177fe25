"""peers.py MODULE get|parallel URL COUNT: as many GETs with one of Python's clients, one after the other over a kept
connection, or 50 at once. Prints microseconds of CPU and of wall time per request and bytes per request."""
import asyncio
import concurrent.futures
import resource
import sys
import time

module, task, url, count = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
PARALLEL = 50


def cpu():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def report(start_cpu, start, received):
    spent, wall = cpu() - start_cpu, time.monotonic() - start
    print("%.3f %.3f %d" % (spent * 1e6 / count, wall * 1e6 / count, received // count))


def blocking(get):
    """`get` answers a body; threads ask for many at once."""
    get()
    start_cpu, start = cpu(), time.monotonic()
    if task == "get":
        received = sum(len(get()) for _ in range(count))
    else:
        with concurrent.futures.ThreadPoolExecutor(PARALLEL) as pool:
            received = sum(len(body) for body in pool.map(lambda _: get(), range(count)))
    report(start_cpu, start, received)


async def cooperative(get):
    """The same for those that await."""
    await get()
    start_cpu, start = cpu(), time.monotonic()
    received, left = 0, count

    async def some():
        nonlocal received, left
        while left > 0:
            left -= 1
            received += len(await get())

    await asyncio.gather(*[some() for _ in range(1 if task == "get" else PARALLEL)])
    report(start_cpu, start, received)


if module == "requests":
    import requests
    from requests.adapters import HTTPAdapter

    session = requests.Session()
    session.mount("http://", HTTPAdapter(pool_maxsize=PARALLEL))
    blocking(lambda: session.get(url).content)
elif module == "urllib3":
    import urllib3

    manager = urllib3.PoolManager(maxsize=PARALLEL)
    blocking(lambda: manager.request("GET", url).data)
elif module == "httpx":
    import httpx

    async def with_httpx():
        async with httpx.AsyncClient() as client:
            async def get():
                return (await client.get(url)).content

            await cooperative(get)

    asyncio.run(with_httpx())
else:
    import aiohttp

    async def with_aiohttp():
        async with aiohttp.ClientSession() as session:
            async def get():
                async with session.get(url) as reply:
                    return await reply.read()

            await cooperative(get)

    asyncio.run(with_aiohttp())
