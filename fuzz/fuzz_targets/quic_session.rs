//! libFuzzer on the parser `quic_session`; what must hold stands in quic.rs.
#![no_main]

#[path = "../quic.rs"]
#[allow(dead_code)]
mod parsers;
libfuzzer_sys::fuzz_target!(|input: &[u8]| parsers::session(input));
