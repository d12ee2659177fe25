#!/bin/sh
# Tests of crates on Wine, as run.sh has set it up: those of the crates' libraries, and from their `tests` what meets the system. What
# is not run stands in tests/windows/units.tsv; a row of it that names no test is a fault.
# Usage: tests/windows/units.sh [CRATE ...]
set -eu
cd "$(dirname "$0")/../.."
[ $# -gt 0 ] || set -- sockets runtime wire net engine
list=tests/windows/units.tsv
report=${CARGO_TARGET_DIR:-target}/wine-units.log
packages=
others=
skips=
for crate; do
	packages="$packages -p warmwire-$crate"
	skips="$skips $(awk -F '\t' -v crate="$crate" '$1 == crate { print "--skip", $2 }' "$list")"
	# A `tests/main.rs` leaves out by `cfg(unix)` what Windows lacks.
	[ "$crate" = sockets ] || others="--test all"
	[ "$crate" != runtime ] || others="$others --test interleavings"
done
code=0
# shellcheck disable=SC2086 # words
cargo test --no-fail-fast --target x86_64-pc-windows-gnu $packages --lib $others -- --exact --quiet $skips \
	>"$report" 2>&1 || code=1
[ $code = 0 ] || cat "$report"
# shellcheck disable=SC2086
awk -v rows="$(printf '%s\n' $skips | grep -c -x -e --skip)" '
	/^ *Running / { name = $NF; sub(/.*\//, "", name); sub(/-[0-9a-f]*\.exe\)$/, "", name) }
	/^test result/ { printf "%s: %d passed, %d failed, %d not run\n", name, $4, $6, $12; skipped += $12 }
	END { if (skipped != rows) { printf "units.sh: the list has %d, of which there are %d\n", rows, skipped; exit 1 } }
' "$report"
exit $code
