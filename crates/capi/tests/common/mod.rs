//! Common code of the tests with C programs: building the library, compiling and running.
//!
//! With WARMWIRE_SANITIZE=thread or =address library and programs are instrumented (`make sanitize`, which
//! runs the tests named `sane_…`).

mod kept;

use std::ffi::OsStr;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

pub use kept::Kept;

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Returns the requested sanitizer, `thread` or `address`.
pub fn sanitizer() -> Option<String> {
    std::env::var("WARMWIRE_SANITIZE").ok().filter(|kind| !kind.is_empty())
}

/// Returns whether the run tests the static library, too. `make test` leaves it out: STATIC=no.
pub fn has_static_library() -> bool {
    std::env::var_os("STATIC").is_none_or(|wanted| wanted != "no")
}

/// The folder with libcurl.so.4 of a dev build, or of an instrumented one, linked once per run.
pub fn library() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let (flags, folder) = match sanitizer() {
            None if has_static_library() => (vec!["--debug".to_owned()], "debug/lib".to_owned()),
            None => (vec!["--debug".to_owned(), "--shared".to_owned()], "debug/lib".to_owned()),
            Some(kind) => (vec!["--sanitize".to_owned(), kind.clone()], format!("sanitize/{kind}/lib")),
        };
        // Set to repeat a test with a library that was just linked.
        if std::env::var_os("LIBRARY_IS_BUILT").is_none() {
            let mut link = Command::new("sh");
            let status = link.arg(root().join("crates/capi/link.sh")).args(&flags).status().unwrap();
            assert!(status.success(), "link.sh {flags:?}: {status}");
        }
        let target =
            std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
        root().join(target).join(folder)
    })
}

/// A folder of one caller's own, removed at the end: tests that run at once may choose the same name.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Scratch {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("warmwire-{name}-{}-{number}", std::process::id()));
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

/// Compiles a program into the folder `to`, or takes that of an earlier run if nothing has changed since.
pub fn compile(source: &Path, to: &Path, flags: &[&str]) -> PathBuf {
    let plus = source.extension() == Some(OsStr::new("cpp"));
    let binary = to.join(source.with_extension("bin").file_name().unwrap());
    let compiler = || {
        let mut command = Command::new(if plus { "g++" } else { "gcc" });
        command.args(if plus { ["-std=c++17", "-g"] } else { ["-std=gnu11", "-g"] }).args(flags);
        command
    };
    let mut whole = compiler();
    if let Some(kind) = sanitizer() {
        // Not -fsanitize at the link: the runtime must match the instrumentation of the Rust code.
        let object = binary.with_extension("o");
        let mut part = compiler();
        part.arg(format!("-fsanitize={kind}")).arg("-c").arg(source).arg("-o").arg(&object);
        let part = part.output().unwrap();
        assert!(part.status.success(), "{}: {}", source.display(), String::from_utf8_lossy(&part.stderr));
        whole.arg(object).args(["-rdynamic", "-Wl,--whole-archive"]).arg(library().join("runtime.a"));
        whole.args(["-Wl,--no-whole-archive", "-ldl", "-lrt"]);
    } else {
        whole.arg(source);
    }
    if std::fs::read_to_string(source).unwrap().contains("<openssl/") {
        whole.args(["-lssl", "-lcrypto"]);
    }
    whole.args(["-lcurl", "-lpthread", "-lm"]);
    let kept = sanitizer().is_none().then(|| kept(source, &whole));
    if kept.as_ref().is_some_and(|kept| kept.restore(&binary)) {
        return binary;
    }
    let dependencies = binary.with_extension("d");
    let output = whole.arg("-o").arg(&binary).arg("-MD").arg("-MF").arg(&dependencies).output().unwrap();
    assert!(output.status.success(), "{}: {}", source.display(), String::from_utf8_lossy(&output.stderr));
    if let Some(kept) = kept {
        kept.keep(&binary, &dependencies);
    }
    binary
}

/// The kept program of a command that links with our library.
fn kept(source: &Path, command: &Command) -> Kept {
    let built = library().parent().unwrap();
    // A link takes the names and versions of the symbols from the library, and nothing else.
    let exports = std::fs::read(built.join("link/exports.map")).unwrap();
    let mut hasher = std::hash::DefaultHasher::new();
    exports.hash(&mut hasher);
    Kept::new(&built.join("programs"), source, command, &format!("exports {:x}", hasher.finish()))
}

/// Runs a program on our library or on the distribution's, with these variables of the environment.
pub fn run(program: &Path, in_folder: &Path, ours: bool, variables: &[(&str, String)]) -> Output {
    let mut command = Command::new("timeout");
    command.arg("60");
    if sanitizer().is_some() {
        // Shadow memory has fixed addresses, which address randomisation may take. And capi's gate recognises
        // frames that were jumped over by their address on the stack: locals must be there, not on
        // AddressSanitizer's heap.
        command.args(["setarch", "-R"]).env("ASAN_OPTIONS", "detect_stack_use_after_return=0");
    }
    if program.file_stem() == Some(OsStr::new("forks")) {
        // A forked child inherits ThreadSanitizer's record of a thread that had ended, and can't join it.
        command.env("TSAN_OPTIONS", "report_thread_leaks=0");
    }
    command.arg(program).current_dir(in_folder).env_remove("LD_LIBRARY_PATH");
    for name in ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"]
    {
        command.env_remove(name);
    }
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    if ours {
        command.env("LD_LIBRARY_PATH", library());
    } else if let Some(other) = std::env::var_os("TWIN_LIBRARY") {
        command.env("LD_LIBRARY_PATH", other);
    }
    command.output().unwrap()
}
