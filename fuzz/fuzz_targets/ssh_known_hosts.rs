//! libFuzzer target for the parser `ssh_known_hosts`; ssh.rs checks its properties.
#![no_main]

#[path = "../ssh.rs"]
#[allow(dead_code)]
mod parsers;
libfuzzer_sys::fuzz_target!(|input: &[u8]| parsers::known_hosts(input));
