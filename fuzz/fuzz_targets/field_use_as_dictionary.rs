//! libFuzzer target for the parser `field_use_as_dictionary`; fields.rs checks its properties.
#![no_main]

#[path = "../fields.rs"]
#[allow(dead_code)]
mod parsers;
libfuzzer_sys::fuzz_target!(|input: &[u8]| parsers::use_as_dictionary_field(input));
