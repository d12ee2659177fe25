//! Where an output goes: standard error, a file, or a folder in which each process writes a file of its own.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use runtime::environment;
use tables::environment::Variable;

/// Where an output goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    Nowhere,
    StandardError,
    File(PathBuf),
    /// Each process writes a file of its own.
    Folder(PathBuf),
}

impl Destination {
    /// Reads the variable that names the destination.
    pub fn of(variable: &Variable) -> Destination {
        environment::value(variable).map_or(Destination::Nowhere, Destination::named)
    }

    pub fn named(value: OsString) -> Destination {
        if value == OsStr::new("stderr") {
            return Destination::StandardError;
        }
        let path = PathBuf::from(value);
        // The program may change its working folder before it ends.
        let path = std::path::absolute(&path).unwrap_or(path);
        if path.is_dir() { Destination::Folder(path) } else { Destination::File(path) }
    }

    /// Writes a text to standard error, or to the file by `write`. A failure is reported on standard error.
    pub fn write(
        &self,
        variable: &Variable,
        extension: &str,
        text: &str,
        write: impl FnOnce(&Path, &[u8]) -> io::Result<()>,
    ) {
        let path = match self {
            Destination::Nowhere => return,
            Destination::StandardError => {
                let _ = io::stderr().write_all(text.as_bytes());
                return;
            }
            Destination::File(path) => path.clone(),
            Destination::Folder(folder) => {
                folder.join(format!("warmwire-{}.{extension}", std::process::id()))
            }
        };
        if let Err(e) = write(&path, text.as_bytes()) {
            // If standard error is closed, the remark is lost.
            let _ =
                writeln!(io::stderr(), "warmwire: {}: cannot write {}: {e}", variable.name, path.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_name_destinations() {
        let of = |value: &str| Destination::named(value.into());
        assert_eq!(of("stderr"), Destination::StandardError);
        let folder = std::env::temp_dir();
        assert_eq!(of(folder.to_str().unwrap()), Destination::Folder(folder.clone()));
        let file = folder.join("no such file");
        assert_eq!(of(file.to_str().unwrap()), Destination::File(file));
    }
}
