//! libFuzzer target for cookies against cookie_store; oracles/src/cookie.rs checks the properties.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| oracles::cookie::agrees(input));
