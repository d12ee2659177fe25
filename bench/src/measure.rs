//! The result of a row: cases, in each of which subjects were measured by the same quantities.

use std::io;

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
pub const CPU_PER_GB: Quantity = quantity("CPU per GB", "ms");
pub const RATE: Quantity = quantity("per second", "MB");
pub const FAILED: Quantity = quantity("failed", "");

/// Everything that was measured in one situation.
pub struct Case {
    pub name: String,
    pub lines: Vec<Line>,
}

/// One subject.
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
    pub fn median(&self) -> f64 {
        median(&self.runs)
    }

    pub fn least(&self) -> f64 {
        self.runs.iter().copied().fold(f64::INFINITY, f64::min)
    }

    pub fn most(&self) -> f64 {
        self.runs.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }

    /// Median of the ratios to another subject in the same run; `None` if that has no such figure.
    pub fn ratio_to(&self, other: &Figure) -> Option<f64> {
        let beside = self.runs.iter().zip(&other.runs).filter(|(_, theirs)| **theirs != 0.0);
        let ratios: Vec<f64> = beside.map(|(own, theirs)| own / theirs).collect();
        (!ratios.is_empty()).then(|| median(&ratios))
    }
}

impl Line {
    pub fn figure(&self, quantity: Quantity) -> Option<&Figure> {
        self.figures.iter().find(|figure| figure.quantity == quantity)
    }
}

impl Case {
    /// Runs `run` so many times for each subject, in changing order: the second one finds warmer caches.
    pub fn in_turns(
        name: impl Into<String>,
        times: usize,
        subjects: &[String],
        quantities: &[Quantity],
        mut run: impl FnMut(usize) -> io::Result<Vec<f64>>,
    ) -> io::Result<Case> {
        let name = name.into();
        let empty = || quantities.iter().map(|&quantity| Figure { quantity, runs: Vec::new() }).collect();
        let mut lines: Vec<Line> =
            subjects.iter().map(|subject| Line { subject: subject.clone(), figures: empty() }).collect();
        for turn in 0..times {
            eprintln!("  {name} {}/{times}", turn + 1);
            let mut order: Vec<usize> = (0..subjects.len()).collect();
            if turn % 2 == 1 {
                order.reverse();
            }
            for at in order {
                let values = run(at)?;
                if values.len() < quantities.len() {
                    return Err(io::Error::other(format!("{name}, {}: {values:?}", subjects[at])));
                }
                lines[at].figures.iter_mut().zip(values).for_each(|(figure, value)| figure.runs.push(value));
            }
        }
        Ok(Case { name, lines })
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

fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
