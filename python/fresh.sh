#!/bin/sh
# Builds the wheel, installs it into a fresh environment, and prints that one's interpreter. With WHEEL=workspace the wheel
# holds the library that the workspace's tests are built with. With PACKAGES=few fewer foreign packages are installed beside it.
set -eu
cd "$(dirname "$0")/.."
: "${CARGO_TARGET_DIR:=target}"
target=$(mkdir -p "$CARGO_TARGET_DIR/python" && cd "$CARGO_TARGET_DIR" && pwd)
export CARGO_TARGET_DIR="$target"
tools=$target/python/tools
wheels=$target/python/wheels
rm -rf "$wheels" "$target/python/fresh"
case ${PACKAGES:-} in few) sh tests/install.sh python_light >&2 ;; *) sh tests/install.sh python_tools >&2 ;; esac
if [ "${WHEEL:-}" = workspace ]; then
	# The features that `cargo test --workspace` chooses; with `-p` most crates would be compiled again.
	sh tests/cargo.sh build --quiet --workspace --lib --test launchers >&2
	"$tools/bin/python" python/local_wheel.py "$target/debug/lib_native.so" "$wheels"
else
	(cd python && "$tools/bin/maturin" build --quiet --profile release --out "$wheels" --interpreter /usr/bin/python3) >&2
fi
/usr/bin/python3 -m venv "$target/python/fresh"
fresh=$target/python/fresh
"$fresh/bin/pip" install -q --disable-pip-version-check --no-index "$wheels"/warmwire-*-cp39-abi3-*.whl >&2
# What the tests use besides is seen from there, and comes behind what was just installed.
echo "$(echo "$tools"/lib/python3*/site-packages)" >"$(echo "$fresh"/lib/python3*/site-packages)/tools.pth"
echo "$fresh/bin/python"
