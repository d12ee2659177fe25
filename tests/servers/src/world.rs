//! Shared by all cases: the compiled programs, one certificate authority, one nginx, and a directory for
//! files.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::certs::Authority;
use testkit::launch::Nginx;
use testkit::temp::TempDir;

/// The sizes of files that nginx serves as /bytes-N.
const SIZES: [usize; 4] = [0, 1000, 1024, 335_114];

pub struct World {
    pub authority: Authority,
    pub nginx: Nginx,
    pub directory: TempDir,
    programs: PathBuf,
}

impl World {
    pub fn new() -> io::Result<World> {
        let programs = target_directory().join("servers");
        build_programs(&source_directory().join("programs"), &programs)?;
        build_preload(&programs)?;
        let authority = Authority::new();
        let nginx = Nginx::start(&authority.good(), &SIZES)?;
        let directory = TempDir::new("servers")?;
        directory.write("ca.pem", authority.ca_pem())?;
        Ok(World { authority, nginx, directory, programs })
    }

    /// The CA file that trusts this world's good certificates.
    pub fn ca(&self) -> String {
        self.directory.path().join("ca.pem").display().to_string()
    }

    /// A compiled program.
    pub fn program(&self, name: &str) -> PathBuf {
        self.programs.join(name)
    }

    /// Our command line tool.
    pub fn tool(&self) -> PathBuf {
        target_directory().join("release/warmwire")
    }

    /// The program that uses the Rust `curl` crate; tests/install.sh builds it.
    pub fn curl_crate(&self) -> PathBuf {
        target_directory().join("curl-crate/debug/curl-crate")
    }

    /// Returns the client side of h2spec, which tests/install.sh builds on request.
    pub fn h2specd(&self) -> PathBuf {
        target_directory().join("h2spec/h2specd")
    }

    /// The Python of the virtual environment that has aioquic.
    pub fn aioquic(&self) -> PathBuf {
        target_directory().join("aioquic/bin/python")
    }

    /// The server on quic-go, which tests/install.sh builds.
    pub fn quic_go(&self) -> PathBuf {
        target_directory().join("quic-go/server")
    }

    /// Returns a script beside the programs.
    pub fn script(&self, name: &str) -> PathBuf {
        source_directory().join("programs").join(name)
    }

    /// The Python of the virtual environment in which pycurl was built.
    pub fn python(&self) -> PathBuf {
        target_directory().join("pycurl/bin/python")
    }
}

fn source_directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn target_directory() -> PathBuf {
    let root = source_directory().join("../..");
    match std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from) {
        Some(directory) if directory.is_absolute() => directory,
        Some(directory) => root.join(directory),
        None => root.join("target"),
    }
}

/// Compiles each .c and .cpp file against the distribution's headers, as any user of the library would.
fn build_programs(sources: &Path, programs: &Path) -> io::Result<()> {
    std::fs::create_dir_all(programs)?;
    let headers = ["facts.h", "scenario.h", "setting.h"].map(|name| modified(&sources.join(name)));
    let shared = headers
        .into_iter()
        .try_fold(std::time::SystemTime::UNIX_EPOCH, |last, time| Ok::<_, io::Error>(last.max(time?)))?;
    for entry in std::fs::read_dir(sources)? {
        let source = entry?.path();
        let compiler = match source.extension().and_then(|extension| extension.to_str()) {
            Some("c") => "cc",
            Some("cpp") => "c++",
            _ => continue,
        };
        let program = programs.join(source.file_stem().unwrap_or_default());
        if modified(&program).is_ok_and(|built| modified(&source).is_ok_and(|time| time.max(shared) < built))
        {
            continue;
        }
        let mut command = Command::new(compiler);
        command.args(["-O1", "-g", "-Wall", "-Wextra", "-Werror", "-o"]).arg(&program).arg(&source);
        command.args(["-lcurl", "-lpthread", "-ldl"]).args(own_libraries(&source)?);
        let output = command.output()?;
        if !output.status.success() {
            let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(io::Error::other(format!("{}: {stderr}", source.display())));
        }
    }
    Ok(())
}

/// Returns additional libraries of a program, from a line ` * link: -lname`.
fn own_libraries(source: &Path) -> io::Result<Vec<String>> {
    let text = std::fs::read_to_string(source)?;
    let line = text.lines().find_map(|line| line.strip_prefix(" * link: "));
    let words = line.unwrap_or("").trim_end_matches("*/").split_whitespace();
    Ok(words.map(str::to_owned).collect())
}

/// The getaddrinfo that counts, for LD_PRELOAD.
fn build_preload(programs: &Path) -> io::Result<()> {
    let mut command = Command::new("cc");
    command.args(["-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-o"]).arg(programs.join("lookups.so"));
    let output = command.arg(source_directory().join("preload/lookups.c")).arg("-ldl").output()?;
    match output.status.success() {
        true => Ok(()),
        false => Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned())),
    }
}

fn modified(path: &Path) -> io::Result<std::time::SystemTime> {
    std::fs::metadata(path)?.modified()
}
