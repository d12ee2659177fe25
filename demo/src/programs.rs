//! Compiles the C++ programs, as a user of the library would.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The compiled programs and the library that they load.
pub struct Programs {
    directory: PathBuf,
    pub ours: Option<PathBuf>,
}

impl Programs {
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }
}

/// Directory of the demo's results.
pub fn output_directory() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from).unwrap_or_else(|| "target".into());
    root().join(target).join("demo")
}

/// With `ours`, against our headers and library: the demo asks for no libcurl package.
pub fn build(directory: &Path, ours: Option<&Path>) -> io::Result<Programs> {
    let sources = root().join("demo/programs");
    for name in ["naive", "kept", "kept-one-handle", "multi"] {
        let mut command = Command::new("c++");
        command.args(["-std=c++17", "-O2", "-Wall", "-Wextra", "-Werror"]);
        if let Some(library) = ours {
            command.arg("-I").arg(root().join("include")).arg("-L").arg(library);
        }
        command
            .arg("-o")
            .arg(directory.join(name))
            .arg(sources.join(name).with_extension("cpp"))
            .arg("-lcurl");
        let output = command.output()?;
        if !output.status.success() {
            return Err(io::Error::other(format!("{name}.cpp: {}", String::from_utf8_lossy(&output.stderr))));
        }
    }
    Ok(Programs { directory: directory.to_path_buf(), ours: ours.map(Path::to_path_buf) })
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}
