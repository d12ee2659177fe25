//! libFuzzer on DNS replies, with hickory as the judge; what must hold stands in dns_oracle.rs.
#![no_main]

#[path = "../dns_oracle.rs"]
mod dns_oracle;
libfuzzer_sys::fuzz_target!(|input: &[u8]| dns_oracle::agrees(input));
