//! libFuzzer on gzip and deflate against zlib; what must hold stands in oracles/src/inflate.rs.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| oracles::inflate::agrees(input));
