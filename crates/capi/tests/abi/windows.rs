//! The library for Windows: runs the C programs of `tests/abi`, built by mingw-w64, on Wine, with servers on
//! the Linux side. `make test-windows` runs these; `ABI=name` runs one program. `tests/windows/unix` has
//! replacements of what programs use of Unix, and `tests/windows/skipped.tsv` lists programs that cannot work
//! there, with reasons.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use crate::common::{Scratch, programs, root};
use crate::servers::Servers;

const TRIPLE: &str = "x86_64-pc-windows-gnu";

fn target() -> PathBuf {
    root().join(std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from))
}

/// The folder with libcurl-x64.dll of a dev build, linked once per run.
fn library() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        if std::env::var_os("LIBRARY_IS_BUILT").is_none() {
            let link = root().join("crates/capi/link-windows.sh");
            let status = Command::new("sh").arg(link).arg("--debug").status().unwrap();
            assert!(status.success(), "link-windows.sh: {status}");
        }
        target().join(TRIPLE).join("debug/lib")
    })
}

/// Returns name and reason of the skipped programs.
fn skipped() -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(root().join("tests/windows/skipped.tsv")).unwrap();
    let rows = text.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let (name, reason) = line.split_once('\t').unwrap_or_else(|| panic!("no reason: {line}"));
        (name.to_owned(), reason.to_owned())
    });
    rows.collect()
}

enum Link {
    /// libcurl-x64.dll
    Shared,
    /// libcurl.a
    Static,
}

fn compile(source: &Path, to: &Path, link: &Link) -> Result<PathBuf, String> {
    let plus = source.extension() == Some(OsStr::new("cpp"));
    let name = source.file_stem().unwrap().to_str().unwrap();
    let program = to.join(format!("{name}.exe"));
    let include = root().join("include");
    let unix = root().join("tests/windows/unix");
    let mut command = Command::new(if plus { "x86_64-w64-mingw32-g++" } else { "x86_64-w64-mingw32-gcc" });
    command
        .arg(if plus { "-std=c++17" } else { "-std=gnu11" })
        .args(["-g", "-Wall", "-Wextra", "-Werror"])
        // A SOCKET has no sign.
        .arg("-Wno-type-limits")
        .arg("-I")
        .arg(include)
        .arg("-I")
        .arg(&unix)
        .args(["-include", "unix.h"])
        .arg(source)
        .arg("-o")
        .arg(&program)
        .arg("-static-libgcc");
    if plus {
        command.arg("-static-libstdc++");
    }
    match link {
        Link::Shared => {
            command.arg("-L").arg(library()).arg("-lcurl");
        }
        Link::Static => {
            let config = std::fs::read_to_string(library().join("libcurl.pc")).unwrap();
            let private = config.lines().find_map(|line| line.strip_prefix("Libs.private:")).unwrap();
            command.arg("-DCURL_STATICLIB").arg(library().join("libcurl.a")).args(private.split_whitespace());
        }
    }
    let output = command.args(["-lws2_32", "-Wl,-Bstatic", "-lwinpthread"]).output().unwrap();
    if output.status.success() {
        return Ok(program);
    }
    Err(format!("{}: {}", source.display(), String::from_utf8_lossy(&output.stderr)))
}

/// Runs a program on the Wine that `tests/windows/run.sh` has prepared: the user may have another one.
fn run(program: &Path, folder: &Path, variables: &[(&str, String)]) -> Output {
    let mut command = Command::new("timeout");
    command.args(["120", "wine"]).arg(program).current_dir(folder);
    assert!(std::env::var_os("WINEPREFIX").is_some(), "tests/windows/run.sh runs these");
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    command.output().unwrap()
}

/// Runs a program, and once more if it failed: now and then a process of Wine ends without a word or hangs.
fn hold(program: &Path, folder: &Path, variables: &[(&str, String)]) -> Result<(), String> {
    let once = || {
        let output = run(program, folder, variables);
        let text = || format!("{}: {}", program.file_stem().unwrap().display(), described(&output));
        if output.status.success() { Ok(()) } else { Err(text()) }
    };
    once().or_else(|text| {
        println!("once more: {text}");
        once()
    })
}

fn described(output: &Output) -> String {
    let text = [&*output.stdout, &*output.stderr].concat();
    format!("{}\n{}", output.status, String::from_utf8_lossy(&text))
}

#[test]
#[ignore = "needs Wine: make test-windows"]
fn programs_check_what_must_hold_on_windows() {
    let scratch = Scratch::new("abi-windows");
    std::fs::copy(library().join("libcurl-x64.dll"), scratch.0.join("libcurl-x64.dll")).unwrap();
    let servers = Servers::start(&scratch.0);
    let skipped = skipped();
    let only = std::env::var("ABI").ok();
    let name = |source: &Path| source.file_stem().unwrap().to_str().unwrap().to_owned();
    let chosen = |source: &PathBuf| {
        only.as_deref().map_or(!skipped.contains_key(&name(source)), |only| name(source) == only)
    };
    let sources: Vec<PathBuf> = programs("abi").into_iter().filter(chosen).collect();
    let (mut failed, mut held) = (Vec::new(), 0);
    // The next program is compiled while one runs: a run mostly waits.
    std::thread::scope(|scope| {
        let (compiled, programs) = std::sync::mpsc::channel();
        let (sources, folder) = (&sources, &scratch.0);
        scope.spawn(move || {
            sources.iter().for_each(|source| compiled.send(compile(source, folder, &Link::Shared)).unwrap())
        });
        for program in programs {
            let result = program.and_then(|program| hold(&program, folder, &servers.variables()));
            held += usize::from(result.is_ok());
            failed.extend(result.err());
        }
    });
    println!("{held} programs hold on Windows, {} do not, {} are left out", failed.len(), skipped.len());
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(held > 0);
}

/// Every skipped program exists; otherwise the table is outdated.
#[test]
fn programs_skipped_on_windows_exist() {
    let names: BTreeSet<String> =
        programs("abi").iter().map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    for (name, reason) in skipped() {
        assert!(names.contains(&name), "{name}");
        assert!(!reason.trim().is_empty(), "{name}");
    }
}

/// A program that has the library in itself.
#[test]
#[ignore = "needs Wine: make test-windows"]
fn the_static_library_links_on_windows() {
    let scratch = Scratch::new("static-windows");
    let servers = Servers::start(&scratch.0);
    for name in ["header", "printf", "mime"] {
        let source = root().join(format!("tests/abi/{name}.c"));
        let program = compile(&source, &scratch.0, &Link::Static).unwrap_or_else(|error| panic!("{error}"));
        let output = run(&program, &scratch.0, &servers.variables());
        assert!(output.status.success(), "{name}: {}", described(&output));
    }
}

/// Libraries of the system that the DLL may depend on. Any other would have to be shipped.
const SYSTEM: [&str; 12] = [
    "advapi32.dll",
    "bcrypt.dll",
    "bcryptprimitives.dll",
    "crypt32.dll",
    "iphlpapi.dll",
    "kernel32.dll",
    "msvcrt.dll",
    "ncrypt.dll",
    "ntdll.dll",
    "secur32.dll",
    "userenv.dll",
    "ws2_32.dll",
];

#[test]
#[ignore = "needs mingw-w64: make test-windows"]
fn the_dll_exports_the_tables_names_and_leans_on_the_system() {
    let dll = library().join("libcurl-x64.dll");
    let output = Command::new("x86_64-w64-mingw32-objdump").arg("-p").arg(&dll).output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8_lossy(&output.stdout);
    // Rows of the name table, behind its heading: "\t[   0] +base[   1]  0000 curl_easy_cleanup".
    let rows = text.split("[Ordinal/Name Pointer] Table").nth(1).unwrap();
    let rows = rows.lines().skip(1).take_while(|line| line.trim_start().starts_with('['));
    let found: Vec<_> = rows.filter_map(|line| line.split_whitespace().last()).collect();
    let mut wanted: Vec<_> =
        tables::export::EXPORTS.iter().chain(tables::export::OWN_EXPORTS.iter()).copied().collect();
    wanted.sort_unstable();
    assert_eq!(found, wanted);
    let imports = text.lines().filter_map(|line| line.trim().strip_prefix("DLL Name: "));
    let imports: BTreeSet<String> = imports.map(str::to_ascii_lowercase).collect();
    let strange: Vec<_> = imports
        .iter()
        .filter(|name| !name.starts_with("api-ms-win-") && !SYSTEM.contains(&name.as_str()))
        .collect();
    assert!(strange.is_empty() && imports.contains("kernel32.dll"), "{strange:?}");
}
