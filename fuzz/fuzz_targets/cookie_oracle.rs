//! libFuzzer on cookies against cookie_store; what must hold stands in oracles/src/cookie.rs.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| oracles::cookie::agrees(input));
