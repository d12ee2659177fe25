#!/bin/sh
# The tests for Windows, on Wine: those of these crates, then of warmwire.exe, the C programs of tests/abi on the built DLL, the
# Rust crate `curl`'s own tests on it, and the zip that `make windows-zip` made, unpacked. tests/windows/apart.sh goes before it.
# Usage: tests/windows/run.sh [--quick | CRATE ...]   with --quick: warmwire.exe and tests/abi; with crates: their tests alone
set -eu
cd "$(dirname "$0")/../.."
. tests/windows/wine.sh
quick= limit=1200
[ "${1:-}" != --quick ] || { quick=yes limit=600 && shift; }

# One run reports all that it can. Wine's processes, beside much else, end without a word now and then, or do not end: a step
# has as long as it ever needs. What did not end is run once more, and so are the tests that failed, alone; which is said. A compiler's
# error names no test and fails at once.
failed=
log=${CARGO_TARGET_DIR:-target}/wine-step.log
limited() {
	code=0
	timeout -k 10 $limit "$@" >"$log" 2>&1 || code=$?
	cat "$log"
	return $code
}
# The names below the last "failures:" of cargo's test programs.
failures() { awk '/^failures:$/ { names = "" } /^    [a-z_0-9:]+$/ { names = names " " $1 } END { print names }' "$log"; }
step() {
	name=$1
	shift
	begun=$(date +%s)
	result=held code=0
	limited "$@" || code=$?
	if [ $code != 0 ]; then
		again=$(failures)
		case "$again:$*" in :* | *":cargo "* | *":sh tests/cargo.sh "*) ;; *) again=all ;; esac
		# This one runs each program that failed once more by itself.
		[ "$name" != abi ] || again=
		case $code in 124 | 137) again=all ;; esac
		echo "$name: failed after $(($(date +%s) - begun)) s${again:+, once more: $again}" >&2
		wineserver -k || :
		# shellcheck disable=SC2086 # words: `cargo test ... -- --ignored` takes names of tests
		case $again in
		'') false ;;
		all) limited "$@" ;;
		*) limited "$@" $again ;;
		esac || result=FAILED failed="$failed $name"
	fi
	echo "$name: $result in $(($(date +%s) - begun)) s"
}
[ -n "$quick" ] || step units sh tests/windows/units.sh "$@"
if [ $# -eq 0 ]; then
	step build cargo build --quiet --target x86_64-pc-windows-gnu -p warmwire-tool
	WARMWIRE_EXE=$(cd "$CARGO_TARGET_DIR" && pwd)/x86_64-pc-windows-gnu/debug/warmwire.exe
	export WARMWIRE_EXE
	step tool sh tests/cargo.sh test --quiet --workspace --test windows -- --ignored
	step abi sh tests/cargo.sh test --quiet --workspace --test abi -- --ignored --nocapture
	if [ -z "$quick" ]; then
		step curl-crate sh tests/windows/curl-crate.sh "$CARGO_TARGET_DIR/x86_64-pc-windows-gnu/debug/lib"
		step zip sh tests/windows/zip.sh "$CARGO_TARGET_DIR"/x86_64-pc-windows-gnu/zip/*.zip
	fi
fi
[ -z "$failed" ] || { echo "run.sh: failed:$failed" >&2 && exit 1; }
