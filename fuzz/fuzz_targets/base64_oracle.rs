//! libFuzzer target for base64 against the crate base64; oracles/src/base64.rs checks the properties.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| oracles::base64::agrees(input));
