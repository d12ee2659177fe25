//! libFuzzer target for the parser `broker_request`; broker.rs checks its properties.
#![no_main]

#[path = "../broker.rs"]
#[allow(dead_code)]
mod parsers;
libfuzzer_sys::fuzz_target!(|input: &[u8]| parsers::requests(input));
