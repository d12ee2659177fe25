//! libFuzzer target for the parser `header`; parsers.rs checks its properties.
#![no_main]

#[path = "../parsers.rs"]
#[allow(dead_code)]
mod parsers;
libfuzzer_sys::fuzz_target!(|input: &[u8]| parsers::headers(input));
