# A WebSocket server by hypercorn that says everything back, on streams of HTTP/2 (RFC 8441) and by HTTP/1.1; replies to
# other requests contain their version. Arguments: the file for the port, certificate, key.
import asyncio
import os
import socket
import sys

from hypercorn.asyncio import serve
from hypercorn.config import Config


async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        while (await receive())["type"] != "lifespan.shutdown":
            await send({"type": "lifespan.startup.complete"})
        return await send({"type": "lifespan.shutdown.complete"})
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200, "headers": []})
        return await send({"type": "http.response.body", "body": scope["http_version"].encode()})
    await receive()
    if scope["path"] == "/no":
        return await send({"type": "websocket.close", "code": 1000})
    await send({"type": "websocket.accept"})
    while True:
        event = await receive()
        if event["type"] == "websocket.disconnect":
            return
        said = {"text": event["text"]} if event.get("text") is not None else {"bytes": event["bytes"]}
        await send({"type": "websocket.send", **said})


listener = socket.socket()
listener.bind(("127.0.0.1", 0))
port = listener.getsockname()[1]
config = Config()
config.bind = [f"fd://{os.dup(listener.fileno())}"]
config.certfile, config.keyfile = sys.argv[2], sys.argv[3]
config.alpn_protocols = ["h2", "http/1.1"]
with open(sys.argv[1] + ".new", "w") as port_file:
    port_file.write(f"{port}\n")
os.rename(sys.argv[1] + ".new", sys.argv[1])
asyncio.run(serve(app, config))
