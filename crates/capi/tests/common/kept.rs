//! Compiled C programs, kept for the next run: compiling and linking them takes longer than running them.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program in `target/debug/programs`, with a text beside it that says what it was made of.
pub struct Kept {
    program: PathBuf,
    words: String,
}

impl Kept {
    /// The program that `command` makes of `source`, without the words that name its output. `links` is what
    /// else a link depends on.
    pub fn new(folder: &Path, source: &Path, command: &Command, links: &str) -> Kept {
        let family = source.parent().and_then(Path::file_name).unwrap_or_default().display().to_string();
        let name = source.with_extension("bin").file_name().unwrap_or_default().display().to_string();
        let compiler = Path::new("/usr/bin").join(command.get_program());
        let compiler = compiler.canonicalize().ok().and_then(|path| stamp(&path));
        let words: Vec<_> = command.get_args().map(OsStr::to_string_lossy).collect();
        let words = format!("{compiler:?} {} {links}", words.join(" "));
        Kept { program: folder.join(format!("{family}-{name}")), words }
    }

    /// Copies the program to `binary` if all that it was made of is as it was; returns whether it did.
    pub fn restore(&self, binary: &Path) -> bool {
        let Ok(made_of) = std::fs::read_to_string(self.made_of()) else { return false };
        let mut lines = made_of.lines();
        let is_current = lines.next() == Some(&self.words)
            && lines.all(|line| {
                let path = line.split('\t').next().unwrap_or_default();
                stamp(Path::new(path)).as_deref() == Some(line)
            });
        is_current && copy(&self.program, binary)
    }

    /// Keeps the program that the compiler has made, with the files that it names in `dependencies`.
    pub fn keep(&self, binary: &Path, dependencies: &Path) {
        let Ok(text) = std::fs::read_to_string(dependencies) else { return };
        let files = text.split_whitespace().skip(1).filter(|word| *word != "\\");
        // A file without a stamp, as one with a blank in its name: the program is compiled each time.
        let Some(stamps) = files.map(|file| stamp(Path::new(file))).collect::<Option<Vec<_>>>() else {
            return;
        };
        let lines: Vec<_> = std::iter::once(self.words.clone()).chain(stamps).collect();
        // Two runs at the same time: each file is whole, and the text is gone while the program is new.
        let _ = std::fs::remove_file(self.made_of());
        let fresh = self.program.with_extension(format!("{}.new", std::process::id()));
        let copied = std::fs::create_dir_all(self.program.parent().unwrap_or(Path::new(".")))
            .and_then(|()| std::fs::copy(binary, &fresh))
            .and_then(|_| std::fs::rename(&fresh, &self.program));
        if copied.is_ok() {
            let _ = std::fs::write(&fresh, lines.join("\n"))
                .and_then(|()| std::fs::rename(&fresh, self.made_of()));
        }
    }

    fn made_of(&self) -> PathBuf {
        self.program.with_extension("made-of")
    }
}

/// Copies a program by a process of its own. While this process writes a file, a child that another thread
/// starts inherits the descriptor until its exec, and the kernel refuses to run a file that is open for
/// writing (ETXTBSY).
fn copy(program: &Path, to: &Path) -> bool {
    Command::new("cp").args([program, to]).status().is_ok_and(|status| status.success())
}

/// Path, size and time of a file; equal in two runs if nobody has changed the file.
fn stamp(path: &Path) -> Option<String> {
    let found = std::fs::metadata(path).ok()?;
    let changed = found.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some(format!("{}\t{}\t{}", path.display(), found.len(), changed.as_nanos()))
}
