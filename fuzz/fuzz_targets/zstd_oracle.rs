//! libFuzzer target for zstd against libzstd; oracles/src/zstd.rs checks the properties.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| oracles::zstd::agrees(input));
