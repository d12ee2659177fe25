#!/bin/sh
# Builds the wheel in the profile WHEEL_PROFILE (release, if unset), installs it into a fresh environment, and
# prints that one's interpreter.
set -eu
cd "$(dirname "$0")/.."
: "${CARGO_TARGET_DIR:=target}"
target=$(mkdir -p "$CARGO_TARGET_DIR/python" && cd "$CARGO_TARGET_DIR" && pwd)
export CARGO_TARGET_DIR="$target"
sh tests/install.sh python_tools >&2
tools=$target/python/tools
rm -rf "$target/python/wheels" "$target/python/fresh"
(cd python && "$tools/bin/maturin" build --quiet --profile "${WHEEL_PROFILE:-release}" --out "$target/python/wheels" --interpreter /usr/bin/python3) >&2
/usr/bin/python3 -m venv "$target/python/fresh"
fresh=$target/python/fresh
"$fresh/bin/pip" install -q --disable-pip-version-check --no-index "$target"/python/wheels/warmwire-*-cp39-abi3-*.whl >&2
# What the tests use besides is seen from there, and comes behind what was just installed.
echo "$(echo "$tools"/lib/python3*/site-packages)" >"$(echo "$fresh"/lib/python3*/site-packages)/tools.pth"
echo "$fresh/bin/python"
