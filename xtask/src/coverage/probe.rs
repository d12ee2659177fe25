//! Asks the built library and tool what they refuse.
//!
//! A small C program, generated from the tables, sets every option to a plain value and reads every info;
//! exports are read with nm; the tool is run once with each flag. Without a build the checked-in list stays.

use crate::files;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tables::{ArgKind, Code, EasyOption, Info, InfoKind, MultiCode, MultiOption, export, flag};

/// A build that can be asked.
pub enum Subject {
    Library(PathBuf),
    Tool(PathBuf),
}

/// The existing builds, release before debug.
pub fn subjects() -> Vec<Subject> {
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| files::root().join("target"), PathBuf::from);
    let target = if target.is_absolute() { target } else { files::root().join(target) };
    let built =
        |file: &str| ["release", "debug"].iter().map(|p| target.join(p).join(file)).find(|p| p.exists());
    let library = built("lib/libcurl.so.4").map(Subject::Library);
    library.into_iter().chain(built("warmwire").map(Subject::Tool)).collect()
}

impl Subject {
    pub fn name(&self) -> String {
        match self {
            Subject::Library(path) | Subject::Tool(path) => {
                path.file_name().unwrap_or_default().to_string_lossy().into_owned()
            }
        }
    }

    /// Whether `name` is this one's to refuse.
    pub fn answers_for(&self, name: &str) -> bool {
        name.starts_with("--") == matches!(self, Subject::Tool(_))
    }

    pub fn refused(&self) -> Result<BTreeSet<String>, String> {
        match self {
            Subject::Library(path) => library(path),
            Subject::Tool(path) => tool(path),
        }
    }
}

fn library(path: &Path) -> Result<BTreeSet<String>, String> {
    let symbols =
        stdout(Command::new("nm").args(["-D", "--defined-only", "--without-symbol-versions"]).arg(path))?;
    let there: BTreeSet<&str> = symbols.lines().filter_map(|line| line.split(' ').next_back()).collect();
    let mut refused: BTreeSet<String> = export::EXPORTS
        .iter()
        .filter(|name| !there.contains(**name))
        .map(|name| (*name).to_owned())
        .collect();
    let answers = run_probe(path)?;
    refused.extend(answers.lines().map(str::to_owned));
    Ok(refused)
}

fn run_probe(library: &Path) -> Result<String, String> {
    let dir = library.parent().ok_or("the library stands in a directory")?;
    let work = dir.join("probe");
    std::fs::create_dir_all(&work).map_err(|e| format!("{}: {e}", work.display()))?;
    let (source, program) = (work.join("probe.c"), work.join("probe"));
    std::fs::write(&source, probe_source()).map_err(|e| format!("{}: {e}", source.display()))?;
    let mut compile = Command::new("cc");
    compile.args(["-w", "-o"]).arg(&program).arg(&source).arg("-I").arg(files::root().join("include"));
    stdout(compile.arg(library).arg(format!("-Wl,-rpath,{}", dir.display())))?;
    stdout(Command::new(&program).current_dir(&work))
}

fn stdout(command: &mut Command) -> Result<String, String> {
    let ran = command.output().map_err(|e| format!("{command:?}: {e}"))?;
    if !ran.status.success() {
        return Err(format!("{command:?}: {}\n{}", ran.status, String::from_utf8_lossy(&ran.stderr)));
    }
    Ok(String::from_utf8_lossy(&ran.stdout).into_owned())
}

/// A program that prints the names of what is refused. Each option is set on a separate handle.
fn probe_source() -> String {
    let mut out = "#include <curl/curl.h>\n#include <stdio.h>\n\
        static int nothing(void) { return 0; }\n\
        static struct curl_slist list = {\"x\", NULL};\n\
        static struct curl_blob blob = {\"x\", 1, CURL_BLOB_COPY};\n\
        static char room[256];\n\
        int main(void) {\n  CURL *e;\n  CURLM *m;\n  int c;\n"
        .to_owned();
    let no = |code: Code| code.id();
    for option in EasyOption::ALL {
        out += &format!(
            "  e = curl_easy_init();\n  c = curl_easy_setopt(e, {}, {});\n  \
             if(c == {} || c == {}) puts(\"CURLOPT_{}\");\n  curl_easy_cleanup(e);\n",
            option.id(),
            value(option.kind(), option.name()),
            no(Code::UnknownOption),
            no(Code::NotBuiltIn),
            option.name()
        );
    }
    for option in MultiOption::ALL {
        out += &format!(
            "  m = curl_multi_init();\n  c = curl_multi_setopt(m, {}, {});\n  \
             if(c == {}) puts(\"CURLMOPT_{}\");\n  curl_multi_cleanup(m);\n",
            option.id(),
            value(option.kind(), option.name()),
            MultiCode::UnknownOption.id(),
            option.name()
        );
    }
    out += "  e = curl_easy_init();\n";
    for info in Info::ALL {
        out += &format!(
            "  c = curl_easy_getinfo(e, {}, room);\n  if(c == {} || c == {}) puts(\"CURLINFO_{}\");\n",
            info.id(),
            no(Code::UnknownOption),
            no(Code::NotBuiltIn),
            info.name()
        );
        if matches!(info.kind(), InfoKind::SList) {
            out += "  curl_slist_free_all(*(struct curl_slist **)room);\n";
        }
    }
    out + "  curl_easy_cleanup(e);\n  return 0;\n}\n"
}

/// A value that an option can't refuse for the value's sake: the handle is thrown away before it is used.
fn value(kind: ArgKind, name: &str) -> &'static str {
    match kind {
        // Bitmasks and enumerations have 0 for "none" or "default".
        ArgKind::Values => "0L",
        ArgKind::Long if name.starts_with("SSL_VERIFY") || name.starts_with("PROXY_SSL_VERIFY") => "0L",
        ArgKind::Long => "1L",
        ArgKind::OffT => "(curl_off_t)1",
        ArgKind::Object => "NULL",
        ArgKind::String => "\"1\"",
        ArgKind::SList => "&list",
        ArgKind::CbPtr => "room",
        ArgKind::Blob => "&blob",
        ArgKind::Function => "nothing",
    }
}

/// Runs the tool once with each flag on an empty file; it connects nowhere.
fn tool(path: &Path) -> Result<BTreeSet<String>, String> {
    let work = path.parent().ok_or("the tool stands in a directory")?.join("probe-flags");
    // Some flags write a file named 1, which --config would read in the next run.
    let _ = std::fs::remove_dir_all(&work);
    std::fs::create_dir_all(&work).map_err(|e| format!("{}: {e}", work.display()))?;
    let mut refused = BTreeSet::new();
    for flag in flag::FLAGS {
        let name = format!("--{}", flag.long);
        let mut command = Command::new(path);
        command.current_dir(&work).stdin(Stdio::null()).arg(&name);
        if flag.argument {
            command.arg(argument(flag.long));
        }
        command.args(["-sS", "-o", "/dev/null", "file:///dev/null"]);
        let (status, text) = ended(&mut command).map_err(|e| format!("{}: {e}", path.display()))?;
        let unknown = text.contains("does not support this") || text.contains("is unknown");
        if status == Some(Code::NotBuiltIn.id()) || status == Some(2) && unknown {
            refused.insert(name);
        }
    }
    Ok(refused)
}

/// An argument that a flag can't refuse for the argument's sake.
fn argument(flag: &str) -> &'static str {
    match flag {
        "url" => "file:///dev/null",
        "hostpubmd5" => "00112233445566778899aabbccddeeff",
        "upload-flags" => "seen",
        _ => "1",
    }
}

/// Exit code and standard error; a program that does not end soon (a flag can make it wait) is ended without
/// a code.
fn ended(command: &mut Command) -> std::io::Result<(Option<i32>, String)> {
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
    let limit = Instant::now() + Duration::from_secs(5);
    while child.try_wait()?.is_none() && Instant::now() < limit {
        std::thread::sleep(Duration::from_millis(2));
    }
    if child.try_wait()?.is_none() {
        child.kill()?;
    }
    let ran = child.wait_with_output()?;
    Ok((ran.status.code(), String::from_utf8_lossy(&ran.stderr).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The distribution's library is older than the tables: what it refuses is known.
    #[test]
    fn the_distributions_library_refuses_what_came_later() {
        let path =
            stdout(Command::new("cc").arg("-print-file-name=libcurl.so")).expect("a C compiler is installed");
        let work = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/probe-distribution");
        std::fs::create_dir_all(&work).expect("the target directory is writable");
        let copy = work.join("libcurl.so.4");
        // The words by which `cargo xtask test` counts a test as left out.
        assert!(Path::new(path.trim()).exists(), "left out: libcurl.so of libcurl4-openssl-dev is missing");
        std::fs::copy(path.trim(), &copy).expect("libcurl's development files are installed");
        let refused = library(&copy).expect("the probe runs");
        for option in EasyOption::ALL.iter().filter(|o| o.since().starts_with("8.")) {
            let name = format!("CURLOPT_{}", option.name());
            // Renamed since, with the old number.
            assert_eq!(refused.contains(&name), option.name() != "MAIL_RCPT_ALLOWFAILS", "{name}");
        }
        for taken in
            ["CURLOPT_URL", "CURLOPT_SSLCERT_BLOB", "CURLINFO_PRIVATE", "CURLMOPT_PUSHDATA", "curl_url"]
        {
            assert!(!refused.contains(taken), "{taken}");
        }
        for young in ["curl_multi_waitfds", "CURLINFO_CONN_ID", "CURLMOPT_NOTIFYDATA"] {
            assert!(refused.contains(young), "{young}");
        }
    }
}
