//! libFuzzer target for DNS replies, with hickory as the judge; oracles/src/dns.rs checks the properties.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| oracles::dns::agrees(input));
