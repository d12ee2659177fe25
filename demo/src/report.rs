//! The table, the JSON file, and the conditions.

use crate::measure::{Mode, Outcome, Scenario};

/// The naive program over the process-wide pool may cost this much more than the tuned one.
const POOL_LIMIT: f64 = 1.15;
/// Without a pool the naive program costs at least this factor more; otherwise the demo shows nothing.
const NAIVE_FLOOR: f64 = 2.0;

pub fn table(outcomes: &[Outcome]) {
    println!(
        "{:<9} {:<16} {:>5} {:>7} {:>9} {:>9} {:>9} {:>16}",
        "", "", "polls", "failed", "p50 ms", "p99 ms", "max ms", "missed 200 ms"
    );
    for scenario in [Scenario::Ftp, Scenario::Https] {
        for outcome in in_order(outcomes, scenario) {
            println!(
                "{:<9} {:<16} {:>5} {:>7} {:>9.1} {:>9.1} {:>9.1} {:>16}",
                scenario.name(),
                outcome.mode.name(),
                outcome.times_ms.len(),
                outcome.failed,
                outcome.quantile_ms(0.5),
                outcome.quantile_ms(0.99),
                outcome.quantile_ms(1.0),
                outcome.missed_window()
            );
        }
    }
}

/// A list of {scenario, mode, n, failed, p50_ms, p99_ms, max_ms, missed_window}.
pub fn json(outcomes: &[Outcome]) -> String {
    let rows = outcomes.iter().map(|outcome| {
        format!(
            "  {{\"scenario\": \"{}\", \"mode\": \"{}\", \"n\": {}, \"failed\": {}, \"p50_ms\": {}, \"p99_ms\": {}, \
             \"max_ms\": {}, \"missed_window\": {}}}",
            outcome.scenario.name(),
            outcome.mode.name(),
            outcome.times_ms.len(),
            outcome.failed,
            number(outcome.quantile_ms(0.5)),
            number(outcome.quantile_ms(0.99)),
            number(outcome.quantile_ms(1.0)),
            outcome.missed_window()
        )
    });
    format!("[\n{}\n]\n", rows.collect::<Vec<_>>().join(",\n"))
}

/// Prints and returns whether the demo's conditions are met.
pub fn verdict(outcomes: &[Outcome]) -> bool {
    let failed: usize = outcomes.iter().map(|outcome| outcome.failed).sum();
    let mut holds = failed == 0;
    if failed > 0 {
        println!("{failed} polls failed");
    }
    for scenario in [Scenario::Ftp, Scenario::Https] {
        let p50 = |mode| {
            let outcome =
                outcomes.iter().find(|outcome| outcome.scenario == scenario && outcome.mode == mode);
            outcome.map_or(f64::NAN, |outcome| outcome.quantile_ms(0.5))
        };
        let (naive, pool) = (p50(Mode::Naive) / p50(Mode::Kept), p50(Mode::NaivePool) / p50(Mode::Kept));
        let good = naive >= NAIVE_FLOOR && pool <= POOL_LIMIT;
        holds &= good;
        println!(
            "{:<6} against kept handles: naive {naive:.2}x (must be at least {NAIVE_FLOOR}x), naive with the process-wide \
             pool {pool:.2}x (at most {POOL_LIMIT}x): {}",
            scenario.name(),
            if good { "holds" } else { "DOES NOT HOLD" }
        );
    }
    holds
}

/// One scenario's outcomes in the order of the story.
pub fn in_order(outcomes: &[Outcome], scenario: Scenario) -> Vec<&Outcome> {
    let modes = [Mode::Naive, Mode::KeptOneHandle, Mode::Kept, Mode::NaivePool, Mode::Multi];
    let find = |mode| outcomes.iter().find(|outcome| outcome.scenario == scenario && outcome.mode == mode);
    modes.into_iter().filter_map(find).collect()
}

/// JSON knows no NaN.
fn number(value: f64) -> String {
    if value.is_finite() { format!("{value:.3}") } else { "null".into() }
}
