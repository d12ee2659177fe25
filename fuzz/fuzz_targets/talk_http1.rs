//! libFuzzer on the conversation `talk_http1`; what must hold stands in talk.rs.
#![no_main]

#[path = "../talk.rs"]
#[allow(dead_code)]
mod parsers;
libfuzzer_sys::fuzz_target!(|input: &[u8]| parsers::http1(input));
