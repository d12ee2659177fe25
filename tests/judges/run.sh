#!/bin/sh
# tests/judges/run.sh [PYTEST-ARGUMENTS]: programs and suites of others judge the built tool and library.
# WARMWIRE_TOOL and JUDGES_LIBRARY name others than the debug builds; `-k` and a file's name choose tests.
set -eu
cd "$(dirname "$0")/../.."
: "${CARGO_TARGET_DIR:=target}"
export CARGO_TARGET_DIR
files=$(for word; do case $word in test_*.py*) echo "$word" ;; esac; done)
# Whether the file with this name is among those that were asked for, or all are.
runs() { [ -z "$files" ] || echo "$files" | grep -q "$1"; }
sh tests/install.sh judges
if runs test_cache_tests || runs test_policy; then
	sh tests/install.sh judges_npm
fi
if runs test_bogo; then
	sh tests/install.sh bogo
	make --no-print-directory --silent bogo-shim
fi
if [ -z "${WARMWIRE_TOOL:-}" ]; then
	make --no-print-directory --silent tool-quick
	WARMWIRE_TOOL=$(cd "$CARGO_TARGET_DIR" && pwd)/debug/warmwire
fi
! runs test_outputs || sh tests/install.sh otel_collector
if runs test_websocket && [ -z "${JUDGES_LIBRARY:-}" ]; then
	sh crates/capi/link.sh --debug
	JUDGES_LIBRARY=$(cd "$CARGO_TARGET_DIR" && pwd)/debug/lib/libcurl.so.4
	export JUDGES_LIBRARY
fi
JUDGES_TARGET=$(cd "$CARGO_TARGET_DIR" && pwd)
export WARMWIRE_TOOL JUDGES_TARGET
python=$JUDGES_TARGET/judges/bin/python
cd tests/judges
PYTHONDONTWRITEBYTECODE=1 "$python" -m pytest -p no:cacheprovider -q "$@"
