//! Command line arguments.

use std::path::PathBuf;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    Measure,
    /// Writes the reports from results.json again; measures nothing.
    Draw,
    /// Lists what can be measured.
    List,
    /// Finds the functions that a request runs and writes them down; measures nothing.
    Warm,
    /// Compares instructions, allocations and sizes with the recorded ones.
    Count,
    /// Runs the library for a long time; what grows is an error.
    Soak,
}

pub struct Arguments {
    pub task: Task,
    /// The folder of our library.
    pub ours: Option<PathBuf>,
    /// How often each subject runs at least.
    pub runs: usize,
    /// A tenth of the requests, to see whether all works.
    pub quick: bool,
    /// Rewrites the figures in README.md.
    pub readme: bool,
    /// Records the counts.
    pub record: bool,
    /// How long each way of soaking lasts.
    pub minutes: f64,
    /// Where the results go.
    pub out: Option<PathBuf>,
    /// Words of which a row's name must contain one; every row, when there is none.
    pub words: Vec<String>,
}

impl Arguments {
    pub fn parse(mut words: impl Iterator<Item = String>) -> Result<Arguments, String> {
        let mut arguments = Arguments {
            task: Task::Measure,
            ours: None,
            runs: 5,
            quick: false,
            readme: false,
            record: false,
            minutes: 2.0,
            out: None,
            words: Vec::new(),
        };
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} wants a value"));
            match &*word {
                "--quick" => arguments.quick = true,
                "--readme" => arguments.readme = true,
                "--record" => arguments.record = true,
                "--list" => arguments.task = Task::List,
                "--ours" => {
                    let folder = value()?;
                    let found = std::fs::canonicalize(&folder).map_err(|e| format!("{folder}: {e}"))?;
                    arguments.ours = Some(found);
                }
                "--runs" => {
                    let runs = value()?.parse().ok().filter(|runs| *runs > 0);
                    arguments.runs = runs.ok_or("--runs wants a number")?;
                }
                "--minutes" => {
                    let minutes = value()?.parse().ok().filter(|minutes| *minutes > 0.0);
                    arguments.minutes = minutes.ok_or("--minutes wants a number")?;
                }
                "--out" => arguments.out = Some(value()?.into()),
                "draw" => arguments.task = Task::Draw,
                "counts" => arguments.task = Task::Count,
                "soak" => arguments.task = Task::Soak,
                "warm" => arguments.task = Task::Warm,
                _ if word.starts_with('-') => return Err(format!("unknown flag {word}")),
                _ => arguments.words.push(word),
            }
        }
        Ok(arguments)
    }

    /// Whether a row of that name is wanted.
    pub fn wants(&self, name: &str) -> bool {
        self.words.is_empty() || self.words.iter().any(|word| name.contains(&**word))
    }
}
