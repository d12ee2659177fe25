//! The table, the JSON file, and the conditions.

use crate::measure::{Mode, Outcome, Scenario};
use crate::programs::{Library, Programs};

/// The naive program over the process-wide pool may cost this much more than the tuned one.
const POOL_LIMIT: f64 = 1.15;
/// Without a pool the naive program costs at least this factor more; otherwise the demo shows nothing.
const NAIVE_FLOOR: f64 = 2.0;

pub fn table(outcomes: &[Outcome], programs: &Programs) {
    println!(
        "{:<6} {:<16} {:<16} {:>5} {:>7} {:>9} {:>9} {:>9} {:>14}",
        "", "program", "library", "polls", "failed", "p50 ms", "p99 ms", "max ms", "missed 200 ms"
    );
    for scenario in [Scenario::Ftp, Scenario::Https] {
        for outcome in in_order(outcomes, scenario) {
            println!(
                "{:<6} {:<16} {:<16} {:>5} {:>7} {:>9.1} {:>9.1} {:>9.1} {:>14}",
                scenario.name(),
                outcome.mode.name(),
                programs.library_name(outcome.library),
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

/// A list of {scenario, mode, library, n, failed, p50_ms, p99_ms, max_ms, missed_window}.
pub fn json(outcomes: &[Outcome], programs: &Programs) -> String {
    let rows = outcomes.iter().map(|outcome| {
        format!(
            "  {{\"scenario\": \"{}\", \"mode\": \"{}\", \"library\": \"{}\", \"n\": {}, \"failed\": {}, \
             \"p50_ms\": {}, \"p99_ms\": {}, \"max_ms\": {}, \"missed_window\": {}}}",
            outcome.scenario.name(),
            outcome.mode.name(),
            programs.library_name(outcome.library),
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

/// Prints and returns whether the demo's conditions for our library are met, and prints how much the
/// process-wide pool gains over the distribution's library.
pub fn verdict(outcomes: &[Outcome], programs: &Programs) -> bool {
    let ours = outcomes.iter().filter(|outcome| outcome.library == Library::Warmwire);
    let failed: usize = ours.map(|outcome| outcome.failed).sum();
    let mut holds = failed == 0;
    if failed > 0 {
        println!("{failed} polls failed on Warmwire");
    }
    for scenario in [Scenario::Ftp, Scenario::Https] {
        let p50 = |mode, library| median(outcomes, scenario, mode, library);
        let kept = p50(Mode::Kept, Library::Warmwire);
        let pooled = p50(Mode::NaivePool, Library::Warmwire);
        let (naive, pool) = (p50(Mode::Naive, Library::Warmwire) / kept, pooled / kept);
        let good = naive >= NAIVE_FLOOR && pool <= POOL_LIMIT;
        holds &= good;
        let name = scenario.name();
        println!(
            "{name:<6} against kept handles: naive {naive:.2}x (must be at least {NAIVE_FLOOR}x), naive with the process-wide \
             pool {pool:.2}x (at most {POOL_LIMIT}x): {}",
            if good { "holds" } else { "DOES NOT HOLD" }
        );
        let foreign = p50(Mode::Naive, Library::Distribution);
        if foreign.is_finite() {
            let library = programs.library_name(Library::Distribution);
            println!(
                "{name:<6} the naive program: {foreign:.1} ms on {library}, {pooled:.1} ms on Warmwire with \
                 WARMWIRE_POOL=process"
            );
            let each = |library| p50(Mode::ProcessEach, library);
            let (foreign, own) = (each(Library::Distribution), each(Library::Warmwire));
            println!(
                "{name:<6} a process for each file: {foreign:.1} ms on {library}, {own:.1} ms on Warmwire \
                 with WARMWIRE_POOL=user"
            );
        }
    }
    holds
}

fn median(outcomes: &[Outcome], scenario: Scenario, mode: Mode, library: Library) -> f64 {
    let wanted = (scenario, mode, library);
    let outcome = outcomes.iter().find(|outcome| (outcome.scenario, outcome.mode, outcome.library) == wanted);
    outcome.map_or(f64::NAN, |outcome| outcome.quantile_ms(0.5))
}

/// One scenario's outcomes: modes in the order of the story, the distribution's library first in each.
pub fn in_order(outcomes: &[Outcome], scenario: Scenario) -> Vec<&Outcome> {
    let rows = Mode::ALL
        .into_iter()
        .flat_map(|mode| [Library::Distribution, Library::Warmwire].map(|of| (mode, of)));
    let find = |row| {
        let mut of_scenario = outcomes.iter().filter(|outcome| outcome.scenario == scenario);
        of_scenario.find(|outcome| (outcome.mode, outcome.library) == row)
    };
    rows.filter_map(find).collect()
}

/// JSON knows no NaN.
fn number(value: f64) -> String {
    if value.is_finite() { format!("{value:.3}") } else { "null".into() }
}
