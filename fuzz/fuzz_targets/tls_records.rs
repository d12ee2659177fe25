//! libFuzzer on the parser `tls_records`; what must hold stands in tls.rs.
#![no_main]

#[path = "../tls.rs"]
#[allow(dead_code)]
mod parsers;
libfuzzer_sys::fuzz_target!(|input: &[u8]| parsers::records(input));
