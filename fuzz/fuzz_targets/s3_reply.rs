//! libFuzzer target for the parser `s3_reply`; s3.rs checks its properties.
#![no_main]

#[path = "../s3.rs"]
#[allow(dead_code)]
mod parsers;
libfuzzer_sys::fuzz_target!(|input: &[u8]| parsers::s3_replies(input));
