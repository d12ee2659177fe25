//! libFuzzer target for the parser `tls_pkcs12`; tls.rs checks its properties.
#![no_main]

#[path = "../tls.rs"]
#[allow(dead_code)]
mod parsers;
libfuzzer_sys::fuzz_target!(|input: &[u8]| parsers::pkcs12_files(input));
