"""Warmwire beside requests, httpx, aiohttp, niquests, obstore, pycurl and fsspec's own http, against nginx on the loopback.

usage: bench.py [--runs N] [ROW...]; the contenders of a row run in turn, each time in a fresh process. Writes RESULTS.md beside it
when all of all rows was run (BENCH_PART in the environment, a number below 1, has less of it done). What a process imports is not
counted, for none.
"""

import argparse
import contextlib
import importlib.metadata
import json
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import tempfile
import time

import clients

HERE = pathlib.Path(__file__).parent
LONGEST = 120
"""Seconds that a contender may take; the slowest takes ten."""
CONFIG = """
daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/errors;
events {{ worker_connections 1024; }}
http {{
    access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000;
    client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3;
    uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
    server {{ listen 127.0.0.1:{port} backlog=1024; root {folder}/files; }}
}}
"""


@contextlib.contextmanager
def site():
    """nginx over the files."""
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        os.chmod(name, 0o755)
        folder = pathlib.Path(name)
        (folder / "files" / "small").mkdir(parents=True)
        (folder / "files" / "big").mkdir()
        for n in range(clients.FILES):
            (folder / "files" / "small" / str(n)).write_bytes(b"%1024d" % n)
        whole = bytes(range(256)) * (clients.BIG // 256)
        for n in range(clients.BIG_FILES):
            (folder / "files" / "big" / str(n)).write_bytes(whole)
        with socket.create_server(("127.0.0.1", 0)) as probe:
            port = probe.getsockname()[1]
        config = folder / "config"
        config.write_text(CONFIG.format(folder=folder, port=port))
        server = subprocess.Popen(["nginx", "-c", str(config), "-p", name, "-e", f"{name}/errors"])
        try:
            for _ in range(100):
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                    break
                time.sleep(0.05)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait()


class Contender:
    """What one client did in one row: seconds and CPU seconds of each run, or why it has none."""

    def __init__(self, row, name):
        self.row, self.name, self.times, self.fault = row, name, [], ""
        self.is_ours = name.startswith("warmwire")

    def run(self, root):
        words = [sys.executable, HERE / "clients.py", self.row, self.name, root]
        try:
            done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=LONGEST)
        except subprocess.TimeoutExpired:
            self.fault = f"was not done after {LONGEST} seconds"
            return
        if done.returncode:
            self.fault = (done.stderr.strip().splitlines() or [f"ended with {done.returncode}"])[-1]
            return
        self.times.append(json.loads(done.stdout))

    @property
    def title(self):
        return self.name.replace("_", ", ")

    def each(self, column):
        """How many a second (0), or a CPU second (1): the median."""
        return clients.COUNTS[self.row] / statistics.median(times[column] for times in self.times)


def compete(row, runs, root):
    """All of one row in turn, each turn in the other direction."""
    all_of_it = [Contender(row, name) for name in clients.ROWS[row]]
    for turn in range(runs):
        for each in all_of_it[:: -1 if turn % 2 else 1]:
            if not each.fault:
                each.run(root)
    return all_of_it


def table(row, contenders):
    """Lines of one row's table; its contenders by CPU."""
    there = sorted((each for each in contenders if not each.fault), key=lambda each: -each.each(1))
    lines = [f"## {clients.TITLES[row]}", "", "| | a second | a CPU second |", "|---|---:|---:|"]
    lines += [f"| {each.title} | {each.each(0):,.0f} | {each.each(1):,.0f} |" for each in there]
    lines += [f"| {each.title} | {each.fault.replace('|', ' ')} | |" for each in contenders if each.fault]
    return [*lines, ""]


def aims(found):
    """Whether ours is first in each row, and does twice what aiohttp does with a CPU second."""
    lines = ["## What was aimed at", "", "| | the first of ours | the first of the others | beside aiohttp, a CPU second |"]
    lines.append("|---|---:|---:|---:|")
    for row, contenders in found.items():
        there = [each for each in contenders if not each.fault]
        for column, per in ((1, "a CPU second"), (0, "a second")):
            best = {
                ours: max((each for each in there if each.is_ours == ours), key=lambda each: each.each(column), default=None)
                for ours in (True, False)
            }
            figures = [f"{each.title} {each.each(column):,.0f}" if each else "" for each in (best[True], best[False])]
            aiohttp = [each for each in there if each.name == "aiohttp"] if column else []
            beside = [f"{each.title} {each.each(1) / one.each(1):.1f}" for one in aiohttp for each in there if each.is_ours]
            lines.append(f"| {clients.TITLES[row]}, {per} | {figures[0]} | {figures[1]} | {'; '.join(beside)} |")
    return [*lines, ""]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("rows", nargs="*", choices=[[], *clients.ROWS])
    given = parser.parse_args()
    used = ("warmwire", "requests", "httpx", "aiohttp", "niquests", "obstore", "pycurl", "fsspec")
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in used)
    of_runs = "one run" if given.runs == 1 else f"medians of {given.runs} runs in turn"
    text = ["# Beside others", "", f"`make bench-python`; {of_runs}, against nginx on the loopback with"]
    text += [f"{os.cpu_count()} cores for both. {versions}; Python {sys.version.split()[0]}.", ""]
    text += ["CPU is the client's alone, all its threads, without its imports.", ""]
    found = {}
    with site() as root:
        for row in given.rows or clients.ROWS:
            found[row] = compete(row, given.runs, root)
            lines = table(row, found[row])
            print("\n".join(lines), flush=True)
            text += lines
    lines = aims(found)
    print("\n".join(lines), flush=True)
    if not given.rows and clients.PART == 1:
        (HERE / "RESULTS.md").write_text("\n".join(text + lines))
    faults = [f"{each.row} {each.name}: {each.fault}" for row in found.values() for each in row if each.fault]
    sys.exit("\n".join(faults) or 0)


if __name__ == "__main__":
    main()
