//! Compares two implementations on thousands of mutated seeds; the targets of fuzz/ do the same under
//! libFuzzer, with more inputs.

use oracles::ORACLES;
use testkit::mutation;

const ROUNDS: u32 = 3000;

/// On the seeds of one oracle and on mutations of them.
fn agree(name: &str) {
    let oracle: Vec<_> = ORACLES.iter().copied().filter(|(oracle, _)| *oracle == name).collect();
    assert_eq!(oracle.len(), 1);
    mutation::run(&oracle, ROUNDS);
}

#[test]
fn base64_agrees_with_the_crate_base64() {
    agree("base64_oracle");
}

#[test]
fn cookies_go_where_cookie_store_sends_them() {
    agree("cookie_oracle");
}

#[test]
fn dates_are_those_of_httpdate_and_time() {
    agree("date_oracle");
}

#[test]
fn dns_replies_say_what_hickory_reads() {
    agree("dns_oracle");
}

#[test]
fn inflate_agrees_with_zlib() {
    agree("inflate_oracle");
}

#[test]
fn urls_lead_where_the_crate_url_leads() {
    agree("url_oracle");
}

#[test]
fn zstd_agrees_with_libzstd() {
    agree("zstd_oracle");
}

#[test]
fn targets_match_oracles() {
    mutation::compare_with_targets(ORACLES, |name| name.ends_with("_oracle"));
}
