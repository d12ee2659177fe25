//! libFuzzer target for the parser `tls_handover`; tls.rs checks its properties.
#![no_main]

#[path = "../tls.rs"]
#[allow(dead_code)]
mod parsers;
libfuzzer_sys::fuzz_target!(|input: &[u8]| parsers::handed_over(input));
