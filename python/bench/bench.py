"""Warmwire beside requests, httpx, aiohttp, niquests, pycurl and fsspec's own http, against nginx on the loopback.

usage: bench.py [--runs N] [ROW...]; the contenders of a row run in turn, each time in a fresh process. Writes RESULTS.md beside it
when all rows were run. What a process imports is not
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
TITLES = {
    "get": "2,000 GETs of 1 KB, one after the other",
    "big": "64 files of 10 MB at once",
    "ranges": "cat_ranges: 1,000 ranges of 8 KB in 64 files",
    "many": "20,000 files of 1 KB, 64 at a time",
}
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


def measure(row, name, root):
    done = subprocess.run([sys.executable, HERE / "clients.py", row, name, root], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{row} {name}: {done.stderr}")
    return json.loads(done.stdout)


def table(row, runs, root):
    """Lines of one row's table; its contenders by CPU."""
    found = {name: [] for name in clients.ROWS[row]}
    for _ in range(runs):
        for name, times in found.items():
            times.append(measure(row, name, root))
    medians = {name: [statistics.median(column) for column in zip(*times)] for name, times in found.items()}
    count = clients.COUNTS[row]
    lines = [f"## {TITLES[row]}", "", "| | a second | a CPU second |", "|---|---:|---:|"]
    for name, (seconds, cpu) in sorted(medians.items(), key=lambda entry: entry[1][1]):
        lines.append(f"| {name.replace('_', ', ')} | {count / seconds:,.0f} | {count / cpu:,.0f} |")
    return [*lines, ""]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("rows", nargs="*", choices=[[], *clients.ROWS])
    given = parser.parse_args()
    used = ("warmwire", "requests", "httpx", "aiohttp", "niquests", "pycurl", "fsspec")
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in used)
    text = ["# Beside others", "", f"`make bench-python`; medians of {given.runs} runs in turn, against nginx on the loopback with"]
    text += [f"{os.cpu_count()} cores for both. {versions}; Python {sys.version.split()[0]}.", ""]
    with site() as root:
        for row in given.rows or clients.ROWS:
            lines = table(row, given.runs, root)
            print("\n".join(lines), flush=True)
            text += lines
    if not given.rows:
        (HERE / "RESULTS.md").write_text("\n".join(text))


if __name__ == "__main__":
    main()
