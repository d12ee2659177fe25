# A WebSocket server by Python's websockets that says everything back. Arguments: the file for the port, and "deflate" or
# "plain".
import asyncio
import os
import sys

import websockets


async def echo(connection, path=None):
    async for message in connection:
        if connection.path == "/close":
            code, _, reason = message.partition(" ")
            await connection.close(int(code), reason)
            return
        await connection.send(message)


async def main():
    compression = "deflate" if sys.argv[2] == "deflate" else None
    server = await websockets.serve(
        echo, "127.0.0.1", 0, max_size=None, max_queue=None, compression=compression, ping_interval=None,
        close_timeout=0.3
    )
    with open(sys.argv[1] + ".new", "w") as port_file:
        port_file.write(f"{server.sockets[0].getsockname()[1]}\n")
    os.rename(sys.argv[1] + ".new", sys.argv[1])
    await asyncio.Future()


asyncio.run(main())
