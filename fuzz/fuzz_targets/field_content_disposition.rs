//! libFuzzer target for the parser `field_content_disposition`; fields.rs checks its properties.
#![no_main]

#[path = "../fields.rs"]
#[allow(dead_code)]
mod parsers;
libfuzzer_sys::fuzz_target!(|input: &[u8]| parsers::content_disposition_field(input));
