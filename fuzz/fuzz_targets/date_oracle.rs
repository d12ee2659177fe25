//! libFuzzer on dates against httpdate and time; what must hold stands in oracles/src/date.rs.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| oracles::date::agrees(input));
