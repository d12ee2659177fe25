#!/bin/sh
# The tests for Windows, on Wine: those of these crates, then of warmwire.exe, the C programs of tests/abi on the built DLL, the
# Rust crate `curl`'s own tests on it, and the zip that `make windows-zip` made, unpacked. tests/windows/apart.sh goes before it.
# Usage: tests/windows/run.sh [--quick | CRATE ...]   with --quick: warmwire.exe and tests/abi; with crates: their tests alone
set -eu
cd "$(dirname "$0")/../.."
. tests/windows/wine.sh
quick=
[ "${1:-}" != --quick ] || { quick=yes && shift; }

# What one run can tell is told in one run.
failed=
step() {
	name=$1
	shift
	begun=$(date +%s)
	if "$@"; then result=held; else result=FAILED failed="$failed $name"; fi
	echo "$name: $result in $(($(date +%s) - begun)) s"
}
[ -n "$quick" ] || step units sh tests/windows/units.sh "$@"
if [ $# -eq 0 ]; then
	step build cargo build --quiet --target x86_64-pc-windows-gnu -p warmwire-tool
	WARMWIRE_EXE=$(cd "$CARGO_TARGET_DIR" && pwd)/x86_64-pc-windows-gnu/debug/warmwire.exe
	export WARMWIRE_EXE
	step tool cargo test --quiet -p warmwire-tool --test windows -- --ignored
	step abi cargo test --quiet -p warmwire-capi --test abi windows -- --ignored --nocapture
	if [ -z "$quick" ]; then
		step curl-crate sh tests/windows/curl-crate.sh "$CARGO_TARGET_DIR/x86_64-pc-windows-gnu/debug/lib"
		step zip sh tests/windows/zip.sh "$CARGO_TARGET_DIR"/x86_64-pc-windows-gnu/zip/*.zip
	fi
fi
[ -z "$failed" ] || { echo "run.sh: failed:$failed" >&2 && exit 1; }
