//! One program on two crates: rows.rs and programs.rs are compiled with `reqwest` and with `warmwire` under
//! that name. Each row makes requests and describes what happened; both descriptions must agree, unless
//! DIFFERENCES names the row with the reason. Prints a line for each row: `same`, `known` or `DIFFERS`, the
//! row, and what differs.

mod ours;
mod theirs;

/// Rows that differ, and why.
const DIFFERENCES: &[(&str, &str)] = &[
    ("redirect_sends_referer", "a URL may contain secrets: `referer(true)` is needed"),
    ("a_post_without_body", "RFC 9110, 8.6: a request that anticipates content says that it has none"),
    ("gzip_is_announced_unless_a_range_is_wanted", "a part of a coded body cannot be decoded"),
];

/// The description of a row that panics; it is a failure on either crate.
const PANICKED: &str = "panicked";

fn main() {
    let runtime = tokio::runtime::Runtime::new().expect("tokio has threads");
    let mut differs = 0;
    let (theirs, ours) = (theirs::rows::ROWS, ours::rows::ROWS);
    for ((name, on_theirs), (_, on_ours)) in theirs.iter().zip(ours) {
        let theirs = without_panic(|| runtime.block_on(on_theirs()));
        differs += report(name, &theirs, &without_panic(|| runtime.block_on(on_ours())));
    }
    for ((name, on_theirs), (_, on_ours)) in theirs::programs::PROGRAMS.iter().zip(ours::programs::PROGRAMS) {
        differs += report(name, &without_panic(on_theirs), &without_panic(on_ours));
    }
    std::process::exit(i32::from(differs > 0));
}

/// Runs a row. One that panics says so, on whichever crate.
fn without_panic(row: impl FnOnce() -> String) -> String {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(row)).unwrap_or_else(|_| PANICKED.to_owned())
}

fn report(name: &str, theirs: &str, ours: &str) -> usize {
    let reason = DIFFERENCES.iter().find(|(row, _)| *row == name).map(|(_, reason)| *reason);
    let panicked = [theirs, ours].contains(&PANICKED);
    match (theirs == ours && !panicked, reason) {
        (true, None) => println!("same\t{name}\t{}", ours.escape_debug()),
        (false, Some(reason)) if !panicked => {
            println!("known\t{name}\t{reason}\ttheirs: {theirs:?}\tours: {ours:?}")
        }
        (true, Some(_)) => println!("DIFFERS\t{name}\tno longer differs"),
        (false, _) => println!("DIFFERS\t{name}\ttheirs: {theirs:?}\tours: {ours:?}"),
    }
    usize::from(panicked || (theirs == ours) == reason.is_some())
}
