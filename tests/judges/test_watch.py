"""Event streams of aiohttp-sse, watched by the tool: each event once, also over cut connections."""

import asyncio
import json
import signal
import subprocess
import threading

import pytest
from aiohttp import web
from aiohttp_sse import sse_response

from conftest import TOOL, clean_environment

# Values that the package writes on several lines, or could write wrongly.
DATA = ["one", "two\nlines", " a blank first", "", "ä € 漢", "a:b", "data: x", "tail\n", "x" * 70_000]


class Server:
    """Sends each connection the events after the one that Last-Event-ID names."""

    def __init__(self, cut_after=None):
        self.cut_after = cut_after
        self.asked = []
        self.ready = threading.Event()
        self.thread = threading.Thread(target=lambda: asyncio.run(self.serve()), daemon=True)
        self.thread.start()
        assert self.ready.wait(30)

    async def serve(self):
        app = web.Application()
        app.router.add_get("/", self.answer)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self.port = site._server.sockets[0].getsockname()[1]
        self.ready.set()
        await asyncio.Event().wait()

    async def answer(self, request):
        last = request.headers.get("Last-Event-ID")
        self.asked.append(last)
        begin = 0 if last is None else int(last) + 1
        async with sse_response(request) as response:
            for number in range(begin, len(DATA)):
                if self.cut_after and number == begin + self.cut_after:
                    return response
                name = "odd" if number % 2 else None
                await response.send(DATA[number], id=str(number), event=name, retry=50)
            await asyncio.sleep(60)
        return response


def watched(server, count):
    """Runs the tool until it has printed so many messages; returns them."""
    words = ["env", "--default-signal=INT", TOOL, "-q", "-sS", "--watch", "100ms"]
    url = f"http://127.0.0.1:{server.port}/"
    process = subprocess.Popen(
        [*words, url], stdout=subprocess.PIPE, env=clean_environment(), text=True
    )
    messages = []
    try:
        for line in process.stdout:
            event = json.loads(line)
            if event["event"] == "message":
                messages.append(event)
            if len(messages) == count:
                break
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30)
    return messages


@pytest.mark.parametrize("cut_after", [None, 1, 3])
def test_every_event_arrives_once_and_in_order(cut_after):
    server = Server(cut_after)
    messages = watched(server, len(DATA))
    assert [message["data"] for message in messages] == DATA
    assert [message["id"] for message in messages] == [str(n) for n in range(len(DATA))]
    kinds = ["odd" if number % 2 else "message" for number in range(len(DATA))]
    assert [message["type"] for message in messages] == kinds
    assert server.asked[0] is None
    if cut_after:
        assert server.asked[1] == str(cut_after - 1), "each connection continues the last one"
