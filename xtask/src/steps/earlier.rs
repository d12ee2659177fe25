//! Repeats the result of a step of `make test` that would run on exactly what its last whole run ran on.
//!
//! A step's stamp (`crate::stamp`) covers the files that tests read, the machine, and what the step names as
//! noticed. It is in target/steps/NAME.stamp from the end of a whole run to the beginning of the next
//! run, of whatever suite: a run that is interrupted leaves none. It compares built programs and no sources,
//! so that a result is repeated only behind the step that compiles.

use super::table::Step;
use crate::files;
use crate::stamp::{self, Stamp};
use std::path::{Path, PathBuf};

/// The stamp of a step now, and the file with that of its last whole run.
pub struct Earlier {
    file: PathBuf,
    now: String,
}

impl Earlier {
    /// Returns nothing for a step that always runs.
    pub fn of(step: &Step, folder: &Path) -> Option<Earlier> {
        let built = |path: &str| path.strip_prefix("target/").map(|path| files::target().join(path));
        let place = |path: &&str| built(path).unwrap_or_else(|| files::root().join(path));
        let noticed: Vec<PathBuf> = step.noticed.iter().map(place).collect();
        (!noticed.is_empty()).then(|| Earlier::new(step.name, folder, stamp::of_machine(), &noticed))
    }

    fn new(name: &str, folder: &Path, mut stamp: Stamp, noticed: &[PathBuf]) -> Earlier {
        noticed.iter().for_each(|file| stamp.add_file(file));
        Earlier { file: folder.join(format!("{name}.stamp")), now: stamp.to_string() }
    }

    /// Returns the output of the last run if it was whole and nothing has changed since then.
    pub fn output(&self, log: &Path) -> Option<String> {
        let stamp = std::fs::read_to_string(&self.file).ok()?;
        if stamp == self.now { std::fs::read_to_string(log).ok() } else { None }
    }

    /// Forgets the last run, because the step is about to run and to write its log anew.
    pub fn forget(&self) {
        let _ = std::fs::remove_file(&self.file);
    }

    /// Notes that the run that has just ended was whole.
    pub fn note(&self) -> Result<(), String> {
        std::fs::write(&self.file, &self.now).map_err(|error| format!("{}: {error}", self.file.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_run_on_equal_files_is_repeated() {
        let folder = std::env::temp_dir().join(format!("warmwire-earlier-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (log, tool) = (folder.join("a.log"), folder.join("tool"));
        let step = || Earlier::new("a", &folder, Stamp::default(), std::slice::from_ref(&tool));
        std::fs::write(&log, "3 passed").unwrap();
        std::fs::write(&tool, "one").unwrap();
        assert_eq!(step().output(&log), None, "no run was whole");
        step().note().unwrap();
        assert_eq!(step().output(&log).as_deref(), Some("3 passed"));
        std::fs::write(&tool, "another").unwrap();
        assert_eq!(step().output(&log), None);
        step().forget();
        std::fs::write(&tool, "one").unwrap();
        assert_eq!(step().output(&log), None, "the run on another tool was not whole");
        std::fs::remove_dir_all(folder).unwrap();
    }
}
