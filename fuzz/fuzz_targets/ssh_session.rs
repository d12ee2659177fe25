//! libFuzzer on the parser `ssh_session`; what must hold stands in ssh.rs.
#![no_main]

#[path = "../ssh.rs"]
#[allow(dead_code)]
mod parsers;
libfuzzer_sys::fuzz_target!(|input: &[u8]| parsers::session(input));
