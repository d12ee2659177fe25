#!/usr/bin/env bash
# tests/clippy.sh RUSTC ARGUMENTS: the compiler that tests/cargo.sh gives to cargo. Findings are warnings here: they fail the step
# `clippy`, and the tests run all the same. Not for sh: dash drops variables whose names have a hyphen, as cargo's
# CARGO_BIN_EXE_warmwire-conformance has.
exec clippy-driver "$@" --cap-lints warn
