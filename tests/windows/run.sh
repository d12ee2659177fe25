#!/bin/sh
# The tests for Windows, on Wine: those of these crates, then of warmwire.exe, the C programs of tests/abi on the built DLL, and
# the Rust crate `curl`'s own tests on it. tests/windows/apart.sh goes before it.
# Usage: tests/windows/run.sh [CRATE ...]   with crates: their tests alone
set -eu
cd "$(dirname "$0")/../.."
: "${CARGO_TARGET_DIR:=target}"
mkdir -p "$CARGO_TARGET_DIR/wine"
# A Wine of the tests' own: no registry and no drives of the user's, no window, no question about .NET or a browser.
WINEPREFIX=$(cd "$CARGO_TARGET_DIR/wine" && pwd)
export WINEPREFIX WINEDEBUG=-all WINEDLLOVERRIDES="mscoree,mshtml=" CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER=wine
unset DISPLAY || true
wine wineboot --init >"$CARGO_TARGET_DIR/wine.log" 2>&1 || {
	echo "run.sh: Wine does not start:" >&2
	tail -n 20 "$CARGO_TARGET_DIR/wine.log" >&2
	exit 1
}
system=$WINEPREFIX/drive_c/windows/system32
[ -e "$system/bcryptprimitives.dll" ] || x86_64-w64-mingw32-gcc -shared -O2 -Wall -Wextra -Werror \
	-o "$system/bcryptprimitives.dll" tests/windows/bcryptprimitives.c
# The unit tests of the crates above these use testkit, which is not built for Windows.
crates=${*:-runtime winsock}
# shellcheck disable=SC2046 # a flag and a name for each
cargo test --quiet --no-fail-fast --target x86_64-pc-windows-gnu $(for crate in $crates; do echo "-p warmwire-$crate"; done)
[ $# -eq 0 ] || exit 0
cargo build --quiet --target x86_64-pc-windows-gnu -p warmwire-tool
WARMWIRE_EXE=$(cd "$CARGO_TARGET_DIR" && pwd)/x86_64-pc-windows-gnu/debug/warmwire.exe \
	cargo test --quiet -p warmwire-tool --test windows -- --ignored
cargo test --quiet -p warmwire-capi --test abi windows -- --ignored
sh tests/windows/curl-crate.sh "$CARGO_TARGET_DIR/x86_64-pc-windows-gnu/debug/lib"
