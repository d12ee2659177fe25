//! libFuzzer target for gzip and deflate against zlib; oracles/src/inflate.rs checks the properties.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| oracles::inflate::agrees(input));
