#!/bin/sh
# fuzz/run.sh [SECONDS]: every parser for its share of the time, 60 s in all unless told: the mutations of
# crates/wire/tests. FUZZER=libfuzzer gives them to libFuzzer, which finds more and wants a nightly compiler, cargo-fuzz and
# minutes to build.
set -e
cd "$(dirname "$0")/.."
all=${1:-60}
if [ "$FUZZER" = libfuzzer ]; then
    targets=$(sed -n 's/^name = "\(.*\)"$/\1/p' fuzz/Cargo.toml | tail -n +2)
    each=$((all / $(echo "$targets" | wc -w)))
    cargo +nightly fuzz build
    for target in $targets; do
        # What it finds stays out of the kept corpus until somebody has looked at it.
        found=target/fuzz/found/$target
        mkdir -p "$found"
        cargo +nightly fuzz run "$target" "$found" "fuzz/corpus/$target" -- \
            -max_total_time=$((each > 0 ? each : 1)) -verbosity=0
        echo "$target: nothing found"
    done
else
    MUTATION_SECONDS=$all cargo test --quiet -p warmwire-wire --test mutations
fi
