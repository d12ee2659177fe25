//! libFuzzer on URLs against the crate url; what must hold stands in oracles/src/url.rs.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| oracles::url::agrees(input));
