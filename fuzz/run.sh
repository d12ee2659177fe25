#!/bin/sh
# fuzz/run.sh [SECONDS]: every parser for its share of the time, 60 s in all unless told. With a nightly compiler and
# cargo-fuzz, libFuzzer does it; otherwise the mutations of crates/wire/tests, which need neither.
set -e
cd "$(dirname "$0")/.."
all=${1:-60}
if cargo +nightly fuzz --version >/dev/null 2>&1; then
    targets=$(sed -n 's/^name = "\(.*\)"$/\1/p' fuzz/Cargo.toml | tail -n +2)
    each=$((all / $(echo "$targets" | wc -w)))
    cargo +nightly fuzz build --quiet
    for target in $targets; do
        # What it finds stays out of the kept corpus until somebody has looked at it.
        found=target/fuzz/found/$target
        mkdir -p "$found"
        cargo +nightly fuzz run --quiet "$target" "$found" "fuzz/corpus/$target" -- \
            -max_total_time=$((each > 0 ? each : 1)) -verbosity=0
        echo "$target: nothing found"
    done
else
    echo "no nightly compiler with cargo-fuzz: mutations of the kept corpus instead"
    MUTATION_SECONDS=$all cargo test --quiet --release -p warmwire-wire --test mutations
fi
