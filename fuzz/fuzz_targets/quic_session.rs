//! libFuzzer target for the parser `quic_session`; quic.rs checks its properties.
#![no_main]

#[path = "../quic.rs"]
#[allow(dead_code)]
mod parsers;
libfuzzer_sys::fuzz_target!(|input: &[u8]| parsers::session(input));
