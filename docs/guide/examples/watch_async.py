"""Prints what changes at URLs, in asyncio's loop: polls go on while a change is handled."""

import asyncio
import sys

import warmwire


async def main(count: int, urls: list[str]) -> None:
    async with warmwire.watch(urls, every=0.2, contents=True) as changes:
        async for change in changes:
            print(change.kind, change.url, change.error or change.content, flush=True)
            count -= 1
            if count == 0:
                break


asyncio.run(main(int(sys.argv[1]), sys.argv[2:]))
