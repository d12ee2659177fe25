#!/bin/sh
# tests/cargo.sh ARGUMENTS: cargo with clippy as the compiler of the workspace's crates, so that compiling the tests is the run of
# the lints, too. Cargo keeps what clippy has compiled apart: all commands that build for the tests of the whole workspace go
# through this script. Without clippy they compile without lints.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
# Cargo names itself to what it starts, in CARGO: tests and callers may choose another than that of the search path.
cargo=${CARGO:-cargo}
# rustup has a program of this name for a toolchain that lacks clippy, too.
if clippy-driver --version >/dev/null 2>&1 && command -v bash >/dev/null; then
	# No variable of the environment: the tests run other cargo commands.
	exec "$cargo" --config "build.rustc-workspace-wrapper = '$root/tests/clippy.sh'" "$@"
fi
exec "$cargo" "$@"
