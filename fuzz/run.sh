#!/bin/sh
# fuzz/run.sh [SECONDS | --build-oracles]: every parser for its share of the time, 60 s in all by default: the mutations of
# crates/wire/tests, where half of the time goes, and of the tests of ssh, broker, net and engine, and what other
# implementations say of the same (oracles). FUZZER=libfuzzer gives them to libFuzzer, which finds more and wants a nightly compiler and
# minutes to build; TARGETS="url date" chooses some. What crashes a target is kept in target/fuzz/crashes/TARGET and fails the run.
# fuzz/seen.tsv says how many seconds of processor time each target has been under libFuzzer in all.
set -e
cd "$(dirname "$0")/.."
# The second implementations, in a workspace of their own.
oracles() {
    cargo test --quiet --locked --manifest-path fuzz/oracles/Cargo.toml --target-dir "${CARGO_TARGET_DIR:-target}/oracles" "$@"
}
if [ "$1" = --build-oracles ]; then oracles --no-run; exit; fi
all=${1:-60}
if [ "$FUZZER" != libfuzzer ]; then
    # The programs that `cargo test --workspace` builds: `-p` would build most crates again, with fewer features.
    MUTATION_SECONDS=$((all / 2)) sh tests/cargo.sh test --quiet --workspace --test all mutations::no_input_makes_a_parser_panic -- --exact
    MUTATION_SECONDS=$((all / 6)) sh tests/cargo.sh test --quiet --workspace --test mutations
    MUTATION_SECONDS=$((all / 10)) sh tests/cargo.sh test --quiet --workspace --test all quic_mutations::
    MUTATION_SECONDS=$((all / 10)) sh tests/cargo.sh test --quiet --workspace --test all tls_mutations::
    MUTATION_SECONDS=$((all / 8)) sh tests/cargo.sh test --quiet --workspace --test talk_mutations
    # The second implementations take minutes to build: the ten seconds of `make test` go without them.
    [ "$all" -gt 10 ] || exit 0
    # Each of seven on its own, one after the other.
    export MUTATION_SECONDS=$((all / 60 + 1))
    oracles -- --test-threads=1
    exit
fi

target=${CARGO_TARGET_DIR:-target}
sh tests/install.sh libfuzzer
PATH=$(cd "$target" && pwd)/tools/bin:$PATH
every=$(sed -n 's/^name = "\(.*\)"$/\1/p' fuzz/Cargo.toml | tail -n +2)
targets=${TARGETS:-$every}
each=$((all / $(echo "$targets" | wc -w)))
nightly=$(sh crates/capi/link.sh --nightly) # the one that the other checks of this kind use
host=$(rustc -vV | sed -n 's/^host: //p')
built=fuzz/target/$host/release
if [ -n "$TARGETS" ]; then
    for target in $targets; do cargo "+$nightly" fuzz build --target "$host" --target-dir fuzz/target "$target"; done
else
    cargo "+$nightly" fuzz build --target "$host" --target-dir fuzz/target
fi

# Sets `spent` to the whole seconds of processor time in user mode of all programs that this script has run and awaited. `times`
# counts for the shell that calls it, so the output goes through a file and not through a substitution.
processor_seconds() {
    times >target/fuzz/times
    spent=$(($(sed -n '2s/^\([0-9]*\)m\([0-9]*\).*/\1 * 60 + \2/p' target/fuzz/times)))
}

# Adds the seconds of a run to those of the target.
seen() {
    touch fuzz/seen.tsv
    awk -F '\t' -v OFS='\t' -v target="$1" -v seconds="$2" '
        $1 == target { $2 += seconds; found = 1 }
        { print }
        END { if (!found) print target, seconds }' fuzz/seen.tsv | sort >fuzz/seen.new
    mv fuzz/seen.new fuzz/seen.tsv
}

# The programs themselves: `cargo fuzz run` would compile each once more.
failed=
for target in $targets; do
    # What it finds stays out of the kept corpus until somebody has looked at it.
    found=target/fuzz/found/$target
    crashes=target/fuzz/crashes/$target
    mkdir -p "$found" "$crashes"
    processor_seconds
    before=$spent
    if "$built/$target" -artifact_prefix="$crashes/" -max_total_time=$((each > 0 ? each : 1)) -verbosity=0 -print_final_stats=1 \
        "$found" "fuzz/corpus/$target"; then
        echo "$target: nothing found"
    else
        echo "$target: see $crashes"
        failed="$failed $target"
    fi
    processor_seconds
    seen "$target" $((spent - before))
done
[ -z "$failed" ] || { echo "crashed:$failed" >&2; exit 1; }
