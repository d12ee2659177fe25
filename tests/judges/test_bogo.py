"""BoringSSL's test runner against the TLS filter, as the client.

The shim is crates/net/examples/bogo_shim.rs. `tests/bogo/rustls.json` lists the runner's tests that
differ, with reasons; `tests/bogo/unsupported.tsv` says why the shim does not support a flag. What
OpenSSL does differs with its version: the run writes that list, `tests/bogo/openssl.tsv`, itself.
"""

import collections
import json
import os
import pathlib
import shutil
import subprocess

import pytest

import conftest

BOGO = pathlib.Path(__file__).parent.parent / "bogo"
ABOUT = {
    "rustls": "BoringSSL's runner on our handshake by rustls, record layer and verifier.",
    "openssl": "BoringSSL's runner on the filter by the system's OpenSSL.",
}


def reasons():
    lines = BOGO.joinpath("unsupported.tsv").read_text().splitlines()
    return dict(line.split("\t") for line in lines if line and not line.startswith("#"))


@pytest.mark.parametrize("backend", ABOUT)
def test_bogo(backend, record, tmp_path):
    runner, shim = conftest.target() / "bogo/runner", conftest.target() / "debug/examples/bogo_shim"
    for program in (runner, shim):
        if not os.access(program, os.X_OK):
            pytest.skip(f"left out: {program.name} is missing")
    unsupported = tmp_path / "unsupported"
    unsupported.touch()
    (tmp_path / "none.json").write_text("{}")
    command = [
        runner,
        f"-shim-path={shim}",
        f"-shim-config={BOGO / 'rustls.json' if backend == 'rustls' else tmp_path / 'none.json'}",
        f"-shim-extra-flags=-backend;{backend}",
        f"-json-output={tmp_path / 'out.json'}",
        "-allow-unimplemented",
        "-loose-errors",
        "-pipe",
    ]
    ran = subprocess.run(
        command,
        cwd=runner.parent / "ssl/test/runner",
        capture_output=True,
        text=True,
        timeout=1500,
        env={**conftest.clean_environment(), "BOGO_UNSUPPORTED": str(unsupported)},
    )
    shutil.copy(tmp_path / "out.json", conftest.target() / f"bogo-{backend}.json")
    conftest.target().joinpath(f"bogo-{backend}.log").write_text(ran.stdout + ran.stderr)
    outcomes = json.loads((tmp_path / "out.json").read_text())["tests"]
    counts = collections.Counter(row["actual"] for row in outcomes.values())
    failed = sorted(name for name, row in outcomes.items() if row["actual"] not in ("PASS", "SKIP"))
    if backend == "openssl":
        BOGO.joinpath("openssl.tsv").write_text(
            "# The runner's tests that OpenSSL answers in another way, or not. Written by make judges.\n"
            + "".join(f"{name}\n" for name in failed)
        )
        counts["SKIP"] += len(failed)
        failed = []
    disabled = 0 if backend == "openssl" else len(json.loads((BOGO / "rustls.json").read_text())["DisabledTests"])
    about = f"{ABOUT[backend]} {disabled} patterns are disabled." if disabled else ABOUT[backend]
    assert not failed
    record(f"bogo-{backend}", counts["PASS"], len(failed), counts["SKIP"], about)
    unknown = set(unsupported.read_text().splitlines()) - reasons().keys()
    assert not unknown, "say in unsupported.tsv why these are not supported"
