"""The Autobahn suite's cases for WebSocket clients (kosoku): an echo client on libcurl's API, and the tool.

JUDGES_CURL names a curl with WebSocket support, and JUDGES_CURL_LIBRARY its library: then the tool's output and
exit codes must be that curl's.
"""

import asyncio
import concurrent.futures
import os
import subprocess
import sys

import pytest
from kosoku import FailureError, run_fuzzingserver

import conftest

# Messages of up to 16 MB, and thousands of KiB to be compressed, take many minutes in a debug build.
LARGE = ["9.1.4", "9.1.5", "9.1.6", "9.2.4", "9.2.5", "9.2.6", "9.3.*", "9.4.*", "9.5.*", "9.6.*"]
COMPRESSED = ["12.*", "13.*"]
LARGE_COMPRESSED = [f"{group}.*.{number}" for group in (12, 13) for number in range(6, 19)]
# The server sends these without waiting for an echo.
UNASKED = ["3.*", "4.*", "5.*", "7.*"]


async def results(cases, exclude, client):
    async with run_fuzzingserver(cases, exclude, port=0) as server:
        running = asyncio.create_task(client(f"ws://127.0.0.1:{server.port}"))
        ended = asyncio.create_task(server.get_result())
        # The server ends when the client has said so; a client that breaks down never does.
        await asyncio.wait({running, ended}, return_when=asyncio.FIRST_COMPLETED, timeout=900)
        if running.done():
            running.result()
        try:
            return await asyncio.wait_for(ended, 30)
        except FailureError as failure:
            return failure.results


def judged(cases, exclude, *words):
    async def client(url):
        library = os.environ["JUDGES_LIBRARY"]
        command = [sys.executable, conftest.RESULTS.with_name("ws_echo.py"), library, url, *words]
        process = await asyncio.create_subprocess_exec(*map(str, command), env=conftest.clean_environment())
        assert await process.wait() == 0

    return asyncio.run(results(cases, exclude, client))


def is_declined(row):
    """Whether the case is about parameters of compression that the client does not offer."""
    return row.behavior.value == "UNIMPLEMENTED" and row.behavior_close.value == "OK"


def failures(rows):
    failed = [row for row in rows if not row.passed and not is_declined(row)]
    return {row.case_id: (row.behavior.value, row.behavior_close.value, row.result) for row in failed}


@pytest.fixture(scope="module")
def counts():
    return {}


@pytest.mark.parametrize(
    "name, cases, exclude, words",
    [("plain", None, LARGE + COMPRESSED, []), ("compressed", COMPRESSED, LARGE_COMPRESSED, ["deflate"])],
)
def test_echo(name, cases, exclude, words, counts):
    rows = judged(cases, exclude, *words)
    assert len(rows) >= 15, "the suite has more cases than that"
    assert not failures(rows)
    passed = sum(row.passed for row in rows)
    assert words or passed == len(rows), "without extensions there is nothing to decline"
    counts[name] = (passed, len(rows) - passed)


def outputs(command, environment):
    """Returns what a command prints for each case that needs no echo, and how it ends."""
    found = {}

    def run(url):
        words = ["-q", "-s", "--max-time", "10", url]
        done = subprocess.run([*command, *words], capture_output=True, env=environment, timeout=60)
        return done.returncode, done.stdout

    async def client(url):
        loop = asyncio.get_running_loop()
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            # The number of cases is a message; the close frame's payload follows.
            code, text = await loop.run_in_executor(pool, run, f"{url}/getCaseCount")
            assert code == 0 and text.endswith(b"\x03\xe8"), text
            urls = [f"{url}/runCase?case={case}&agent=tool" for case in range(1, int(text[:-2]) + 1)]
            for case, task in enumerate([loop.run_in_executor(pool, run, url) for url in urls], 1):
                found[case] = await task

    async def serve():
        async with run_fuzzingserver(UNASKED, port=0) as server:
            await client(f"ws://127.0.0.1:{server.port}")

    asyncio.run(serve())
    assert len(found) > 50
    return found


def test_the_tool_beside_curl():
    curl = os.environ.get("JUDGES_CURL")
    if not curl:
        pytest.skip("left out: JUDGES_CURL names no curl with WebSocket support")
    library = os.environ.get("JUDGES_CURL_LIBRARY", "")
    clean = conftest.clean_environment()
    theirs = outputs([curl], {**clean, "LD_LIBRARY_PATH": library})
    assert outputs([conftest.TOOL], clean) == theirs


def test_the_tool_ends_each_case(tool):
    """A frame that breaks a rule is an error; a conversation that ends by a close frame is none."""
    found = outputs([conftest.TOOL], conftest.clean_environment())
    codes = {code for code, _ in found.values()}
    assert codes <= {0, 28, 56}, codes
    assert {0, 56} <= codes


def test_counted(counts, record):
    if len(counts) < 2:
        pytest.skip("left out: the suite did not pass as a whole")
    passed, declined = (sum(numbers) for numbers in zip(*counts.values()))
    about = (
        f"The Autobahn suite's cases on curl_ws_recv and curl_ws_send: {counts['plain'][0]} plain, "
        f"{counts['compressed'][0]} with permessage-deflate, {declined} about parameters that the client does not offer."
    )
    record("websocket", passed, 0, declined, about)
