//! libFuzzer on zstd against libzstd; what must hold stands in oracles/src/zstd.rs.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| oracles::zstd::agrees(input));
