"""Tries the installed package: wheel.py URL, the address of a file that greets."""

import asyncio
import sys
import tempfile

import warmwire

url = sys.argv[1]
hello = "hello from the server\n"
assert warmwire.get(url).text == hello


async def many():
    async with warmwire.AsyncClient() as client:
        return await asyncio.gather(*(client.get(url) for _ in range(10)))


assert [reply.text for reply in asyncio.run(many())] == [hello] * 10
with tempfile.NamedTemporaryFile("w+") as file:
    file.write(hello)
    file.flush()
    assert warmwire.get(f"file://{file.name}").text == hello
try:
    warmwire.get("http://127.0.0.1:1/")
except warmwire.ConnectError:
    pass
else:
    raise AssertionError("a closed port answers")
print("Python", sys.version.split()[0])
