//! The API that needs no transfer: strings, dates, lists, URLs, printf, versions, handles at rest.

use super::case;
use crate::runner::{Case, Context};

pub fn cases() -> Vec<Case> {
    vec![case("values", values)]
}

fn values(run: &Context) {
    let output = run.program("values", &[]);
    let wrong: Vec<_> = output.stdout.lines().filter(|line| !line.starts_with("held ")).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let held = output.stdout.lines().find_map(|line| line.strip_prefix("held "));
    assert!(held.and_then(|count| count.parse().ok()).is_some_and(|count: u32| count > 400), "{output:?}");
}
