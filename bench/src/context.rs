//! The environment of every row: the compared libraries and tools, the built programs, a certificate
//! authority, a directory.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::certs::Authority;
use testkit::temp::TempDir;

use crate::arguments::Arguments;
use crate::measure::Turns;

/// A side of a comparison: a library and a tool.
#[derive(Clone)]
pub struct Subject {
    pub name: String,
    /// Directory of its libcurl.so.4; `None` for the system's library.
    library: Option<PathBuf>,
    tool: PathBuf,
    /// Knows of `WARMWIRE_POOL` and its like.
    pub ours: bool,
}

/// Turns after which a case ends even if it is not precise.
const MOST_TURNS: usize = 25;

/// The system's own, which the others are measured by.
pub const SYSTEM: &str = "libcurl";
pub const OURS: &str = "ours";

pub struct Bench {
    pub arguments: Arguments,
    /// The system's first.
    pub subjects: Vec<Subject>,
    pub authority: Authority,
    directory: TempDir,
}

impl Bench {
    pub fn new(arguments: Arguments) -> io::Result<Bench> {
        let (authority, directory) = (Authority::new(), TempDir::new("bench")?);
        directory.write("ca.pem", authority.ca_pem())?;
        std::fs::create_dir_all(programs_directory())?;
        let subjects = subjects(arguments.ours.as_deref())?;
        Ok(Bench { arguments, subjects, authority, directory })
    }

    /// The directory for files that a row writes.
    pub fn directory(&self) -> &TempDir {
        &self.directory
    }

    pub fn ca(&self) -> PathBuf {
        self.directory.path().join("ca.pem")
    }

    pub fn names(&self) -> Vec<String> {
        self.subjects.iter().map(|subject| subject.name.clone()).collect()
    }

    /// So many requests, or a tenth of them.
    pub fn count(&self, count: usize) -> usize {
        if self.arguments.quick { count.div_ceil(10) } else { count }
    }

    pub fn turns(&self) -> Turns {
        let least = self.arguments.runs;
        Turns { least, most: if self.arguments.quick { least } else { least.max(MOST_TURNS) } }
    }

    /// Returns a program of bench/programs, built at first use.
    pub fn program(&self, name: &str) -> io::Result<PathBuf> {
        program(name)
    }

    /// A program that knows the authority and runs on a subject's library.
    pub fn command(&self, program: &Path, subject: &Subject) -> Command {
        let mut command = Command::new(program);
        self.prepare(&mut command, Some(subject));
        command
    }

    /// Makes a command use a subject's library, or the system's.
    pub fn prepare(&self, command: &mut Command, subject: Option<&Subject>) {
        command.env("CA", self.ca());
        for variable in
            ["LD_LIBRARY_PATH", "WARMWIRE_POOL", "WARMWIRE_FTP", "WARMWIRE_SMTP", "HTTP2", "HTTP3"]
        {
            command.env_remove(variable);
        }
        if let Some(library) = subject.and_then(|subject| subject.library.as_ref()) {
            command.env("LD_LIBRARY_PATH", library);
        }
    }
}

impl Subject {
    pub fn tool(&self) -> &Path {
        &self.tool
    }

    /// Returns whether the subject has a tool of its own, not the system's tool with another library.
    pub fn has_tool(&self) -> bool {
        self.name == SYSTEM || self.tool != Path::new(SYSTEM_TOOL)
    }

    pub fn has_library(&self) -> bool {
        self.name == SYSTEM || self.library.is_some()
    }
}

const SYSTEM_TOOL: &str = "/usr/bin/curl";

fn subjects(ours: Option<&Path>) -> io::Result<Vec<Subject>> {
    let system = Subject { name: SYSTEM.to_owned(), library: None, tool: SYSTEM_TOOL.into(), ours: false };
    let mut all = vec![system.clone()];
    if let Some(folder) = ours {
        let tool = target_directory().join("release/warmwire");
        all.push(Subject { name: OURS.to_owned(), library: Some(folder.to_owned()), tool, ours: true });
    }
    let given =
        |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(std::fs::canonicalize);
    let (library, tool) = (given("LIBCURL").transpose()?, given("CURL").transpose()?);
    if library.is_some() || tool.is_some() {
        let tool = tool.unwrap_or_else(|| SYSTEM_TOOL.into());
        all.push(Subject { name: "given".to_owned(), library, tool, ours: false });
    }
    Ok(all)
}

/// Returns a command's output; an error with its status if it failed.
pub fn output(command: &mut Command) -> io::Result<String> {
    let output = command.output().map_err(|error| io::Error::other(format!("{command:?}: {error}")))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(io::Error::other(format!("{command:?} ended with {}: {text}", output.status)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The numbers among the words that it prints.
pub fn numbers(command: &mut Command) -> io::Result<Vec<f64>> {
    Ok(output(command)?.split_whitespace().filter_map(|word| word.parse().ok()).collect())
}

/// A C program, into the folder of programs.
pub fn program(name: &str) -> io::Result<PathBuf> {
    let built = programs_directory().join(name);
    let source = root().join("bench/programs").join(name).with_extension("c");
    std::fs::create_dir_all(programs_directory())?;
    let mut command = Command::new("cc");
    command.args(["-O2", "-Wall", "-Wextra", "-Werror", "-o"]).arg(&built).arg(&source);
    if std::fs::read_to_string(&source)?.contains("<curl/curl.h>") {
        command.args(["-lcurl", "-lpthread", "-ldl"]);
    }
    output(&mut command)?;
    Ok(built)
}

fn programs_directory() -> PathBuf {
    target_directory().join("bench")
}

pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

pub fn target_directory() -> PathBuf {
    root().join(std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from).unwrap_or_else(|| "target".into()))
}
