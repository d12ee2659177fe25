//! libFuzzer on base64 against the crate base64; what must hold stands in oracles/src/base64.rs.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| oracles::base64::agrees(input));
