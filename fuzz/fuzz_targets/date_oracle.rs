//! libFuzzer target for dates against httpdate and time; oracles/src/date.rs checks the properties.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| oracles::date::agrees(input));
