#!/bin/sh
# tests/judges/run.sh [PYTEST-ARGUMENTS]: programs and suites of others judge the built tool. WARMWIRE_TOOL
# names another tool than the debug build; `-k` and a file's name choose tests.
set -eu
cd "$(dirname "$0")/../.."
: "${CARGO_TARGET_DIR:=target}"
export CARGO_TARGET_DIR
sh tests/install.sh judges
if [ -z "${WARMWIRE_TOOL:-}" ]; then
	cargo build --quiet -p warmwire-tool
	WARMWIRE_TOOL=$(cd "$CARGO_TARGET_DIR" && pwd)/debug/warmwire
fi
export WARMWIRE_TOOL
python=$(cd "$CARGO_TARGET_DIR" && pwd)/judges/bin/python
cd tests/judges
PYTHONDONTWRITEBYTECODE=1 "$python" -m pytest -p no:cacheprovider -q "$@"
