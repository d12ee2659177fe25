"""reqwest's documented behaviours and programs, compiled with reqwest and with the Rust crate.

The program is `tests/judges/reqwest`. It prints a line for each row: `same`, `known` (differs for the
reason that the program names) or `DIFFERS`.
"""

import os
import pathlib
import subprocess

import conftest

MANIFEST = pathlib.Path(__file__).with_name("reqwest") / "Cargo.toml"
ABOUT = "reqwest's behaviours and small programs, compiled with both crates; {known} rows differ for a reason."


def test_reqwest(record):
    target = conftest.target() / "judges/reqwest"
    ran = subprocess.run(
        ["cargo", "run", "--quiet", "--locked", "--manifest-path", MANIFEST],
        capture_output=True,
        text=True,
        timeout=1800,
        env={**conftest.clean_environment(), "CARGO_TARGET_DIR": os.fspath(target)},
    )
    lines = [line.split("\t") for line in ran.stdout.splitlines()]
    of = {kind: [line for line in lines if line[0] == kind] for kind in ("same", "known", "DIFFERS")}
    assert lines, ran.stderr
    assert not of["DIFFERS"] and ran.returncode == 0, f"{of['DIFFERS']}\n{ran.stderr}"
    record("reqwest", len(of["same"]), 0, 0, ABOUT.format(known=len(of["known"])))
