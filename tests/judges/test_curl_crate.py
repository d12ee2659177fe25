"""The Rust crate `curl`'s own tests, with our stand-in for `curl-sys` (crates/curl-sys) patched in.

One more test uses each constant, type and function of the published `curl-sys`, so that the compiler compares them with
ours, and another compares our structures with the C headers.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess

import conftest
import pytest

ROOT = pathlib.Path(__file__).parents[2]
STAND_IN = ROOT / "crates/curl-sys"
PINNED = ROOT / "tests/servers/curl-crate/Cargo.toml"
ABOUT = "The crate curl's own tests on crates/curl-sys, and each constant and type of the published curl-sys beside ours."
# `atexit` asks a server of the Internet; `dns_servers` wants a libcurl without c-ares, which refuses name servers.
LEFT_OUT = ("atexit", "dns_servers")


def cargo(*arguments, cwd, seconds=1800):
    own = {
        "CARGO_TARGET_DIR": os.fspath(conftest.target() / "judges/curl-crate/target"),
        "WARMWIRE_INCLUDE": os.fspath(ROOT / "include"),
    }
    environment = {**conftest.clean_environment(), **own}
    return subprocess.run(
        ["cargo", *arguments], cwd=cwd, capture_output=True, text=True, timeout=seconds, env=environment
    )


@pytest.fixture(scope="module")
def sources():
    """Returns the folders of the published crates `curl` and `curl-sys`, of the versions that tests/servers pins."""
    done = cargo("metadata", "--quiet", "--locked", "--format-version=1", "--manifest-path", PINNED, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    packages = json.loads(done.stdout)["packages"]
    return {package["name"]: pathlib.Path(package["manifest_path"]).parent for package in packages}


@pytest.fixture(scope="module")
def patched(sources):
    """Returns a copy of the crate `curl` whose manifest patches `curl-sys`."""
    copy = conftest.target() / "judges/curl-crate/curl"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(sources["curl"], copy)
    # That of the stand-in: each crate of the engine has the version that is tested there.
    shutil.copy(STAND_IN / "Cargo.lock", copy / "Cargo.lock")
    manifest = copy / "Cargo.toml"
    manifest.chmod(0o644)
    patch = f'\n[workspace]\n\n[patch.crates-io]\ncurl-sys = {{ path = "{STAND_IN}" }}\n'
    manifest.write_text(manifest.read_text() + patch)
    return copy


def interface(source):
    """Returns a Rust test that uses each constant, type and function of a `curl-sys` by its name and type."""
    # Items that other systems or releases have stand under an attribute.
    items = re.sub(r"#\[cfg\([^]]*\)\]\s*pub (?:const|type|fn) [^;{]*[;{]", "", source)
    constants = re.findall(r"^pub const (\w+): (\w+) =", items, re.M)
    types = re.findall(r"^pub (?:type|struct|enum) (\w+)", items, re.M)
    functions = re.findall(r"^\s+pub fn (curl_\w+)\(", items, re.M)
    c_types = {"c_int", "c_uint", "c_long", "c_ulong", "c_short", "size_t"}
    lines = ["#![allow(non_upper_case_globals, unused, deprecated)]", "use libc::*;", "#[test]", "fn names() {"]
    for name, kind in constants:
        kind = kind if kind in c_types or kind == "usize" else f"curl_sys::{kind}"
        lines.append(f"    const {name}: {kind} = curl_sys::{name};")
    lines += [f"    let _ = size_of::<*const curl_sys::{name}>();" for name in types]
    lines += [f"    let _ = curl_sys::{name} as *const ();" for name in functions]
    return len(constants), len(types), len(functions), "\n".join([*lines, "}"])


def test_curl_crate(record, sources, patched):
    constants, types, functions, text = interface((sources["curl-sys"] / "lib.rs").read_text())
    assert constants > 400 and types > 50 and functions > 40, (constants, types, functions)
    (patched / "tests/interface.rs").write_text(text)
    shutil.copy(STAND_IN / "tests/layout.rs", patched / "tests")
    manifest = patched / "Cargo.toml"
    rows = [f'\n[[test]]\nname = "{name}"\npath = "tests/{name}.rs"\n' for name in ("interface", "layout")]
    manifest.write_text(manifest.read_text() + "".join(rows))
    files = ("easy", "multi", "post", "protocols", "interface", "layout")
    chosen = [word for name in files for word in ("--test", name)]
    # The feature of its own that says that libcurl is compiled in.
    features = ["--features", "static-curl,protocol-ftp,http2,ntlm,upkeep_7_62_0,poll_7_68_0"]
    skipped = [word for name in LEFT_OUT for word in ("--skip", name)]
    done = cargo("test", "--no-fail-fast", *features, *chosen, "--", *skipped, cwd=patched)
    results = re.findall(r"^test result: \w+\. (\d+) passed; (\d+) failed", done.stdout, re.M)
    failed = re.findall(r"^test (\S+) \.\.\. FAILED", done.stdout, re.M)
    assert len(results) == len(files) and not failed and done.returncode == 0, f"{failed}\n{done.stdout}\n{done.stderr}"
    record("curl-crate", sum(int(passed) for passed, _ in results), 0, len(LEFT_OUT), ABOUT)
