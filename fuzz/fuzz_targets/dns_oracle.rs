//! libFuzzer on DNS replies, with hickory as the judge; what must hold stands in oracles/src/dns.rs.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| oracles::dns::agrees(input));
