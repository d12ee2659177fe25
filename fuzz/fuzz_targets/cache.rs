//! libFuzzer on the parser `cache`; what must hold stands in parsers.rs.
#![no_main]

#[path = "../parsers.rs"]
#[allow(dead_code)]
mod parsers;
libfuzzer_sys::fuzz_target!(|input: &[u8]| parsers::cache_rules(input));
