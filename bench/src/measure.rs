//! The result of a row: cases, in each of which subjects were measured by the same quantities.

use std::io;
use std::time::{Duration, Instant};

use crate::quiet::{self, MOST_BY_OTHERS, Turn};

/// Something that is measured, in a unit. Less is better, but where a name says "per second".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantity {
    pub name: &'static str,
    pub unit: &'static str,
}

const fn quantity(name: &'static str, unit: &'static str) -> Quantity {
    Quantity { name, unit }
}

/// CPU time of the client's process only.
pub const CPU: Quantity = quantity("CPU", "µs");
pub const TIME: Quantity = quantity("time", "µs");
pub const CALLS: Quantity = quantity("system calls", "");
pub const INSTRUCTIONS: Quantity = quantity("instructions", "");
pub const ALLOCATIONS: Quantity = quantity("allocations", "");
pub const PEAK: Quantity = quantity("peak memory", "KB");
/// CPU time of the client and the server together. On loopback, the kernel does the receiver's work for a
/// packet in the context of the sender or of the receiver, depending on which of them is running.
pub const CPU_OF_BOTH_PER_GB: Quantity = quantity("CPU of both ends per GB", "ms");
pub const CPU_PER_GB: Quantity = quantity("CPU per GB", "ms");
pub const RATE: Quantity = quantity("per second", "MB");
pub const BUILD: Quantity = quantity("build", "s");
pub const BUILD_CPU: Quantity = quantity("CPU of the build", "s");
pub const SIZE: Quantity = quantity("program", "KB");
pub const FAILED: Quantity = quantity("failed", "");

/// A case is precise when the interval of each subject's median is this small, to either side.
pub const PRECISE: f64 = 0.03;
/// How long a case continues for the sake of precision.
const EXTRA: Duration = Duration::from_secs(20);

/// How often each subject of a case runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turns {
    pub least: usize,
    /// Until then the case continues if it is not precise, or if turns were disturbed.
    pub most: usize,
}

impl Turns {
    /// For a run that is a distribution of its own.
    pub const ONCE: Turns = Turns { least: 1, most: 1 };

    /// For runs that take long.
    pub fn at_most(self, most: usize) -> Turns {
        Turns { least: self.least.min(most), most: self.most.min(most) }
    }
}

/// Everything that was measured in one situation.
pub struct Case {
    pub name: String,
    pub lines: Vec<Line>,
    /// Turns that were discarded, since others took processor time.
    pub discarded: usize,
    /// Whether turns that were disturbed are among the figures, for want of better ones.
    pub disturbed: bool,
}

/// A subject of the bench, with its figures.
pub struct Line {
    pub subject: String,
    pub figures: Vec<Figure>,
}

/// A quantity's values, one for each run.
pub struct Figure {
    pub quantity: Quantity,
    pub runs: Vec<f64>,
}

impl Figure {
    /// Returns whether the median's interval is within [`PRECISE`].
    fn is_precise(&self) -> bool {
        let (least, most) = interval(&self.runs);
        (most - least) / 2.0 <= PRECISE * median(&self.runs).abs()
    }
}

impl Line {
    /// A subject that was measured apart from the turns.
    pub fn of(subject: impl Into<String>, quantity: Quantity, runs: Vec<f64>) -> Line {
        Line { subject: subject.into(), figures: vec![Figure { quantity, runs }] }
    }
}

impl Case {
    /// Runs `run` for each subject in turns, in changing order: the second one finds warmer caches.
    ///
    /// Goes on until the first quantity of each subject is precise. A turn during which others took processor
    /// time is discarded, unless too few remain.
    pub fn in_turns(
        name: impl Into<String>,
        turns: Turns,
        subjects: &[String],
        quantities: &[Quantity],
        mut run: impl FnMut(usize) -> io::Result<Vec<f64>>,
    ) -> io::Result<Case> {
        let name = name.into();
        let (mut kept, mut noisy) = (Vec::new(), Vec::new());
        let began = Instant::now();
        for turn in 0..turns.most {
            eprintln!("  {name} {}", turn + 1);
            let watch = Turn::begin();
            let mut order: Vec<usize> = (0..subjects.len()).collect();
            if turn % 2 == 1 {
                order.reverse();
            }
            let mut values = vec![Vec::new(); subjects.len()];
            for at in order {
                values[at] = quiet::as_client(|| run(at))?;
                if values[at].len() < quantities.len() {
                    return Err(io::Error::other(format!("{name}, {}: {:?}", subjects[at], values[at])));
                }
            }
            let disturbed = watch.taken_by_others().is_some_and(|part| part > MOST_BY_OTHERS);
            if disturbed {
                noisy.push(values)
            } else {
                kept.push(values)
            }
            let late = began.elapsed() > EXTRA && kept.len() + noisy.len() >= turns.least;
            if late || kept.len() >= turns.least && is_precise(&kept, subjects.len()) {
                break;
            }
        }
        let disturbed = kept.len() < turns.least && !noisy.is_empty();
        let discarded = if disturbed { 0 } else { noisy.len() };
        if disturbed {
            kept.append(&mut noisy);
        }
        let line = |(at, subject): (usize, &String)| {
            let runs = |number: usize| kept.iter().map(|turn| turn[at][number]).collect();
            let figure = |(number, &quantity)| Figure { quantity, runs: runs(number) };
            Line { subject: subject.clone(), figures: quantities.iter().enumerate().map(figure).collect() }
        };
        let lines = subjects.iter().enumerate().map(line).collect();
        Ok(Case { name, lines, discarded, disturbed })
    }

    /// Adds a quantity that is measured once.
    pub fn add(
        &mut self,
        quantity: Quantity,
        mut value: impl FnMut(usize) -> io::Result<f64>,
    ) -> io::Result<()> {
        for (at, line) in self.lines.iter_mut().enumerate() {
            line.figures.push(Figure { quantity, runs: vec![value(at)?] });
        }
        Ok(())
    }
}

/// Returns whether the first quantity of each subject is precise after these turns.
fn is_precise(turns: &[Vec<Vec<f64>>], subjects: usize) -> bool {
    let runs = |at: usize| turns.iter().filter_map(|turn| turn[at].first().copied()).collect();
    (0..subjects).all(|at| Figure { quantity: CPU, runs: runs(at) }.is_precise())
}

/// Returns the median of a few values; not a number without any.
pub fn median(values: &[f64]) -> f64 {
    let values = sorted(values);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Returns the interval that contains the true median with a confidence of 95 %, by the order of the values
/// and so without an assumption on how they scatter. Below six values it is the least and the most of them.
pub fn interval(values: &[f64]) -> (f64, f64) {
    let values = sorted(values);
    let count = values.len();
    let outside = match count {
        0 => return (f64::NAN, f64::NAN),
        1..6 => 0,
        _ => ((count as f64 - 1.96 * (count as f64).sqrt()) / 2.0).floor() as usize,
    };
    (values[outside], values[count - 1 - outside])
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 2] = ["a", "b"];

    fn turns(least: usize, most: usize, mut value: impl FnMut(usize) -> f64) -> Case {
        let names = NAMES.map(str::to_owned);
        let run = |at: usize| Ok(vec![value(at)]);
        Case::in_turns("case", Turns { least, most }, &names, &[CPU], run).unwrap()
    }

    #[test]
    fn a_precise_case_ends_early_and_another_goes_on() {
        assert_eq!(turns(3, 40, |at| 100.0 + at as f64).lines[1].figures[0].runs.len(), 3);
        let mut grown = 0.0;
        let mut wild = |_| {
            grown += 10.0;
            grown
        };
        let case = turns(3, 12, &mut wild);
        assert_eq!(case.lines[0].figures[0].runs.len() + case.discarded, 12);
    }

    #[test]
    fn an_interval_of_many_values_leaves_out_the_ends() {
        assert_eq!(interval(&[3.0, 1.0, 2.0]), (1.0, 3.0));
        let values: Vec<f64> = (1..=25).map(f64::from).collect();
        assert_eq!(median(&values), 13.0);
        assert_eq!(interval(&values), (8.0, 18.0));
    }

    #[test]
    fn a_run_with_too_few_figures_is_an_error() {
        let names = NAMES.map(str::to_owned);
        assert!(Case::in_turns("case", Turns::ONCE, &names, &[CPU], |_| Ok(Vec::new())).is_err());
    }
}
