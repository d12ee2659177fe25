#!/bin/sh
# Tests of crates on Wine, as run.sh has set it up: those of the crates' libraries, and from their `tests` what meets the system. What
# is not run stands in tests/windows/units.tsv; a row of it that names no test is a fault.
# Usage: tests/windows/units.sh [CRATE ...]
set -eu
cd "$(dirname "$0")/../.."
[ $# -gt 0 ] || set -- winsock runtime wire net engine
list=tests/windows/units.tsv
report=${CARGO_TARGET_DIR:-target}/wine-units.log
libraries=
engines=
others=
skips=
for crate; do
	libraries="$libraries -p warmwire-$crate"
	skips="$skips $(awk -F '\t' -v crate="$crate" '$1 == crate { print "--skip", $2 }' "$list")"
	case $crate in
	runtime) files="executor interleavings sockets wakeups" ;;
	wire) files="h2_peer mutations" ;;
	net) files="connect http2 late_answers name_servers pool proxies resolver sessions socks_gssapi tls_mutations x509_limbo" ;;
	engine)
		engines=$(printf -- '--test %s ' ftp http https imap requests tftp websocket)
		continue
		;;
	*) continue ;;
	esac
	others="$others -p warmwire-$crate $(printf -- '--test %s ' $files)"
done
code=0
: >"$report"
# Apart, because engine has files of the same names as net.
for tests in "$libraries --lib $engines" "$others"; do
	[ -n "$tests" ] || continue
	# shellcheck disable=SC2086 # words
	cargo test --no-fail-fast --target x86_64-pc-windows-gnu $tests -- --exact --quiet $skips >>"$report" 2>&1 || code=1
done
[ $code = 0 ] || cat "$report"
# shellcheck disable=SC2086
awk -v rows="$(printf '%s\n' $skips | grep -c -x -e --skip)" '
	/^ *Running / { name = $NF; sub(/.*\//, "", name); sub(/-[0-9a-f]*\.exe\)$/, "", name) }
	/^test result/ { printf "%s: %d passed, %d failed, %d not run\n", name, $4, $6, $12; skipped += $12 }
	END { if (skipped != rows) { printf "units.sh: the list has %d, of which there are %d\n", rows, skipped; exit 1 } }
' "$report"
exit $code
