#!/bin/sh
# Installs the package freshly and runs python/tests on it (arguments go to pytest).
set -eu
cd "$(dirname "$0")/.."
: "${CARGO_TARGET_DIR:=target}"
export CARGO_TARGET_DIR
case " $* " in *" deep"*) sh tests/install.sh python_deep ;; esac
fresh=$(sh python/fresh.sh)
# Builds the program beside its crate's tests, with the features that `cargo test --workspace` chooses.
sh tests/cargo.sh test --quiet --workspace --no-run --test launchers
serve=$(cd "$CARGO_TARGET_DIR" && pwd)/debug/testkit-serve
# No bytecode beside the sources.
export PYTHONPYCACHEPREFIX="$(cd "$CARGO_TARGET_DIR" && pwd)/python/bytecode"
cd python/tests
WARMWIRE_SERVE=$serve "$fresh" -m pytest -p no:cacheprovider "$@"
