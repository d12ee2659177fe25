//! libFuzzer target for the conversation `talk_ftp`; talk.rs checks the properties.
#![no_main]

#[path = "../talk.rs"]
#[allow(dead_code)]
mod parsers;
libfuzzer_sys::fuzz_target!(|input: &[u8]| parsers::ftp(input));
