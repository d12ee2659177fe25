//! The reports of a run: results.json for programs, and from it RESULTS.md for readers and a picture for each
//! row; README.md's figures and picture if asked for.

mod markdown;
mod picture;
mod readme;
mod results;

use std::io;
use std::path::{Path, PathBuf};

use crate::context::root;
use crate::rows::Outcome;
use results::{Origin, Results, Row};

/// The folder of the reports.
pub struct Report {
    folder: PathBuf,
    origin: Origin,
}

impl Report {
    pub fn new(folder: Option<PathBuf>) -> Report {
        Report { folder: folder.unwrap_or_else(|| root().join("bench")), origin: Origin::now() }
    }

    /// Puts the rows of this run into results.json, and writes the other files from it.
    pub fn write(&self, outcomes: &[Outcome]) -> io::Result<()> {
        let rows = outcomes.iter().map(|outcome| Row::of(outcome, &self.origin)).collect();
        let mut results = Results::read(&self.file())?;
        results.replace(rows);
        std::fs::create_dir_all(&self.folder)?;
        std::fs::write(self.file(), results.text())?;
        write_from(&results, &self.folder)
    }

    /// Writes RESULTS.md and the pictures from results.json as it is.
    pub fn draw(&self) -> io::Result<()> {
        write_from(&Results::read(&self.file())?, &self.folder)
    }

    /// Writes README.md's figures and their picture from results.json.
    pub fn write_readme(&self) -> io::Result<()> {
        readme::write(&Results::read(&self.file())?, &self.folder)
    }

    /// Prints the tables of this run on the terminal.
    pub fn print(&self, outcomes: &[Outcome]) {
        let rows: Vec<Row> = outcomes.iter().map(|outcome| Row::of(outcome, &self.origin)).collect();
        print!("{}", markdown::tables(&rows));
    }

    fn file(&self) -> PathBuf {
        self.folder.join("results.json")
    }
}

/// Writes the pictures and RESULTS.md.
fn write_from(results: &Results, folder: &Path) -> io::Result<()> {
    let pictures = folder.join("pictures");
    // A row that lost its cases must not keep a picture.
    let _ = std::fs::remove_dir_all(&pictures);
    std::fs::create_dir_all(&pictures)?;
    let mut drawn = Vec::new();
    for row in &results.rows {
        if let Some(text) = picture::of_row(row) {
            std::fs::write(pictures.join(&row.name).with_extension("svg"), text)?;
            drawn.push(row.name.clone());
        }
    }
    std::fs::write(folder.join("RESULTS.md"), markdown::text(results, &drawn))
}
