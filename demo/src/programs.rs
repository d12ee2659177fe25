//! Compiles the C++ programs, as a user of the library would.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A libcurl that the programs load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    Distribution,
    Warmwire,
}

/// The compiled programs and the libraries that they can load.
pub struct Programs {
    directory: PathBuf,
    ours: Option<PathBuf>,
    /// Name and version of the distribution's libcurl, if there is one.
    distribution: Option<String>,
}

impl Programs {
    /// A command that runs this program on this library.
    pub fn command(&self, name: &str, library: Library) -> Command {
        let mut command = Command::new(self.directory.join(name));
        match (library, &self.ours) {
            (Library::Warmwire, Some(directory)) => command.env("LD_LIBRARY_PATH", directory),
            _ => command.env_remove("LD_LIBRARY_PATH"),
        };
        command.env_remove("WARMWIRE_POOL");
        command
    }

    /// The program of the broker: this one, with the broker's flag.
    pub fn broker() -> PathBuf {
        std::env::current_exe().unwrap_or_default()
    }

    /// The libraries that are there, the distribution's first: it is what ours is compared with.
    pub fn libraries(&self) -> Vec<Library> {
        let distribution = self.distribution.is_some().then_some(Library::Distribution);
        let ours = self.ours.is_some().then_some(Library::Warmwire);
        distribution.into_iter().chain(ours).collect()
    }

    pub fn library_name(&self, library: Library) -> &str {
        match library {
            Library::Warmwire => "Warmwire",
            Library::Distribution => self.distribution.as_deref().unwrap_or("libcurl"),
        }
    }

    /// Asks the library that the loader finds by itself for its name; none if there is no libcurl, or if
    /// Warmwire is installed in its place.
    fn ask_distribution(&self) -> io::Result<Option<String>> {
        let output = self.command("version", Library::Distribution).output()?;
        let line = String::from_utf8_lossy(&output.stdout);
        let name = line.split(' ').next().unwrap_or_default().trim().replace('/', " ");
        let foreign = output.status.success() && !line.contains("Warmwire/") && !name.is_empty();
        Ok(foreign.then_some(name))
    }
}

/// Directory of the demo's results.
pub fn output_directory() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from).unwrap_or_else(|| "target".into());
    root().join(target).join("demo")
}

/// Compiles the programs. With `ours`, against our headers and library: the demo needs no libcurl package.
pub fn build(directory: &Path, ours: Option<&Path>) -> io::Result<Programs> {
    let sources = root().join("demo/programs");
    let mut compilers = Vec::new();
    for name in ["naive", "kept", "kept-one-handle", "multi", "version"] {
        let mut command = Command::new("c++");
        command.args(["-std=c++17", "-O2", "-Wall", "-Wextra", "-Werror"]);
        if let Some(library) = ours {
            command.arg("-I").arg(root().join("include")).arg("-L").arg(library);
        }
        command.arg("-o").arg(directory.join(name)).arg(sources.join(name).with_extension("cpp"));
        compilers.push((name, command.arg("-lcurl").stderr(Stdio::piped()).spawn()?));
    }
    for (name, compiler) in compilers {
        let output = compiler.wait_with_output()?;
        if !output.status.success() {
            return Err(io::Error::other(format!("{name}.cpp: {}", String::from_utf8_lossy(&output.stderr))));
        }
    }
    let mut programs = Programs {
        directory: directory.to_path_buf(),
        ours: ours.map(Path::to_path_buf),
        distribution: None,
    };
    programs.distribution = programs.ask_distribution()?;
    Ok(programs)
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}
