//! libFuzzer target for URLs against the crate url; oracles/src/url.rs checks the properties.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| oracles::url::agrees(input));
