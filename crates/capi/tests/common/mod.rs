//! What the tests on C programs share: the built library, compiling and running.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The folder with libcurl.so.4 of a dev build, linked once per run.
pub fn library() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        // For trying again and again what one has just linked.
        if std::env::var_os("LIBRARY_IS_BUILT").is_none() {
            let mut link = Command::new("sh");
            let status = link.arg(root().join("crates/capi/link.sh")).arg("--debug").status().unwrap();
            assert!(status.success(), "link.sh --debug: {status}");
        }
        let target =
            std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
        root().join(target).join("debug/lib")
    })
}

/// A folder of this run's own, removed at the end.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("warmwire-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub fn programs(folder: &str) -> Vec<PathBuf> {
    let is_program = |path: &PathBuf| matches!(path.extension().and_then(OsStr::to_str), Some("c" | "cpp"));
    let entries = std::fs::read_dir(root().join("tests").join(folder)).unwrap();
    let mut found: Vec<_> = entries.map(|entry| entry.unwrap().path()).filter(is_program).collect();
    found.sort();
    found
}

pub fn compile(source: &Path, to: &Path, flags: &[&str]) -> PathBuf {
    let plus = source.extension() == Some(OsStr::new("cpp"));
    let binary = to.join(source.with_extension("bin").file_name().unwrap());
    let output = Command::new(if plus { "g++" } else { "gcc" })
        .args(if plus { ["-std=c++17", "-g"] } else { ["-std=gnu11", "-g"] })
        .arg(source)
        .arg("-o")
        .arg(&binary)
        .args(flags)
        .args(["-lcurl", "-lpthread", "-lm"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}: {}", source.display(), String::from_utf8_lossy(&output.stderr));
    binary
}

/// Runs a program on our library or on the distribution's, with these variables of the environment.
pub fn run(program: &Path, in_folder: &Path, ours: bool, variables: &[(&str, String)]) -> Output {
    let mut command = Command::new("timeout");
    command.arg("60").arg(program).current_dir(in_folder).env_remove("LD_LIBRARY_PATH");
    for name in ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"]
    {
        command.env_remove(name);
    }
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    if ours {
        command.env("LD_LIBRARY_PATH", library());
    }
    command.output().unwrap()
}
