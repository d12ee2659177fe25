"""ssh-audit in its client mode: the algorithms that the tool offers, and Terrapin.

A finding of the level "fail" is an error, except for the NIST curves: OpenSSH offers them, and
servers with a FIPS 140 module have nothing else.
"""

import json
import pathlib
import socket
import subprocess
import sys
import time

import pytest

from conftest import run_tool

AUDIT = pathlib.Path(sys.executable).with_name("ssh-audit")
SCHEMES = ["sftp", "scp"]
KINDS = ["kex", "key", "enc", "mac"]
# Warnings that hold for each algorithm that OpenSSH itself keeps for older servers.
TOLERATED_WARNINGS = (
    "does not provide protection against post-quantum attacks",
    "2048-bit modulus only provides 112-bits of symmetric strength",
    "using weak random number generator could reveal the key",
    "using encrypt-and-MAC mode",
)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def listens(port):
    """Looks in the kernel's table: a connection would be the one client that is audited."""
    for name in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in pathlib.Path(name).read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and int(fields[1].rsplit(":", 1)[1], 16) == port:
                return True
    return False


@pytest.fixture(scope="module", params=SCHEMES)
def audit(request):
    port = free_port()
    command = [AUDIT, "--client-audit", "--port", str(port), "--timeout", "30", "-jj"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as judge:
        try:
            deadline = time.monotonic() + 20
            while not listens(port):
                assert judge.poll() is None and time.monotonic() < deadline, judge.stderr.read()
                time.sleep(0.05)
            run_tool("-k", "-u", "user:word", f"{request.param}://127.0.0.1:{port}/file", seconds=20)
            out, err = judge.communicate(timeout=60)
        finally:
            judge.kill()
    assert out, err
    return json.loads(out)


def offered(audit, kind):
    return [row["algorithm"] for row in audit[kind]]


@pytest.mark.parametrize("kind", KINDS)
def test_no_algorithm_fails(audit, kind):
    assert audit[kind]
    bad = {row["algorithm"]: row["notes"].get("fail") for row in audit[kind] if "nistp" not in row["algorithm"]}
    assert not {name: why for name, why in bad.items() if why}


@pytest.mark.parametrize("kind", KINDS)
def test_warnings_are_those_of_openssh(audit, kind):
    rows = [(row["algorithm"], why) for row in audit[kind] for why in row["notes"].get("warn", [])]
    assert not [row for row in rows if row[1] not in TOLERATED_WARNINGS]


def test_terrapin_is_countered(audit):
    # CVE-2023-48795: with strict key exchange nothing can be removed from the beginning.
    assert "kex-strict-c-v00@openssh.com" in offered(audit, "kex")
    assert not any(name.endswith("-cbc") for name in offered(audit, "enc"))
    assert not audit["cves"]


def test_the_best_methods_come_first(audit):
    kex = offered(audit, "kex")
    assert kex[0] == "mlkem768x25519-sha256"
    assert offered(audit, "key")[0].startswith("ssh-ed25519")
    assert offered(audit, "mac")[0].endswith("-etm@openssh.com")


def test_nothing_is_compressed_unasked(audit):
    assert audit["compression"] == ["none"]
