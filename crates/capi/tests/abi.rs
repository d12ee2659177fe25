//! C and C++ programs on the built library: `tests/abi` says what must hold, `tests/twin` is run on the distribution's
//! libcurl too and prints facts, one per line as `key: value`, that must agree but for those listed with a reason in
//! `tests/twin/differences.tsv`. And the library's dynamic symbols are those of the tables, each with its version.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use testkit::body::pattern;
use testkit::ftp::FtpServer;
use testkit::http::HttpServer;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The folder with libcurl.so.4 of a dev build, linked once per run.
fn library() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let status =
            Command::new("sh").arg(root().join("crates/capi/link.sh")).arg("--debug").status().unwrap();
        assert!(status.success(), "link.sh --debug: {status}");
        let target =
            std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
        root().join(target).join("debug/lib")
    })
}

/// A folder of this run's own, removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
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

fn programs(folder: &str) -> Vec<PathBuf> {
    let is_program = |path: &PathBuf| matches!(path.extension().and_then(OsStr::to_str), Some("c" | "cpp"));
    let entries = std::fs::read_dir(root().join("tests").join(folder)).unwrap();
    let mut found: Vec<_> = entries.map(|entry| entry.unwrap().path()).filter(is_program).collect();
    found.sort();
    found
}

fn compile(source: &Path, to: &Path, flags: &[&str]) -> PathBuf {
    let plus = source.extension() == Some(OsStr::new("cpp"));
    let binary = to.join(source.file_stem().unwrap());
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

fn run(program: &Path, in_folder: &Path, ours: bool, server: &str, ftp: Option<&FtpServer>) -> Output {
    let mut command = Command::new("timeout");
    if let Some(ftp) = ftp {
        command.env("FTP_SERVER", ftp.url(""));
    }
    command.arg("60").arg(program).current_dir(in_folder).env("SERVER", server).env_remove("LD_LIBRARY_PATH");
    for name in ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"]
    {
        command.env_remove(name);
    }
    if ours {
        command.env("LD_LIBRARY_PATH", library());
    }
    command.output().unwrap()
}

#[test]
fn what_the_programs_check_holds() {
    let scratch = Scratch::new("abi");
    let server = HttpServer::plain();
    let ftp = FtpServer::with_file("/dir/file", pattern(2000));
    let include = format!("-I{}", root().join("include").display());
    let library = format!("-L{}", library().display());
    let mut failed = Vec::new();
    for source in programs("abi") {
        let program = compile(&source, &scratch.0, &["-Wall", "-Wextra", "-Werror", &include, &library]);
        let output = run(&program, &scratch.0, true, server.url("").trim_end_matches('/'), Some(&ftp));
        if !output.status.success() {
            let text = [output.stdout, output.stderr].concat();
            failed.push(format!(
                "{}: {}\n{}",
                source.display(),
                output.status,
                String::from_utf8_lossy(&text)
            ));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// `key: value` lines; a key that comes again gets a number.
fn facts(output: &Output) -> BTreeMap<String, String> {
    let mut facts = BTreeMap::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let (key, value) = line.split_once(": ").unwrap_or((line, ""));
        let mut unique = key.to_owned();
        let mut count = 1;
        while facts.contains_key(&unique) {
            count += 1;
            unique = format!("{key} #{count}");
        }
        facts.insert(unique, value.to_owned());
    }
    facts
}

/// program, key (`*` stands for any text at its end), reason
fn listed_differences() -> Vec<(String, String)> {
    let text = std::fs::read_to_string(root().join("tests/twin/differences.tsv")).unwrap();
    let row = |line: &str| {
        let mut columns = line.split('\t');
        let (program, key) = (columns.next().unwrap().to_owned(), columns.next().expect("a key").to_owned());
        assert!(columns.next().is_some_and(|reason| reason.len() > 5), "a reason: {line}");
        (program, key)
    };
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(row).collect()
}

#[test]
fn both_libraries_agree_but_for_what_is_listed() {
    let scratch = Scratch::new("twin");
    let listed = listed_differences();
    let mut used = vec![false; listed.len()];
    let mut wrong = Vec::new();
    for source in programs("twin") {
        let name = source.file_stem().unwrap().to_str().unwrap();
        let program = compile(&source, &scratch.0, &["-w"]);
        let theirs = run(&program, &scratch.0, false, "", None);
        let ours = run(&program, &scratch.0, true, "", None);
        assert!(theirs.status.success(), "{name} on the distribution's library: {}", theirs.status);
        if !ours.status.success() {
            wrong.push(format!("{name}: {}", ours.status));
        }
        let (theirs, ours) = (facts(&theirs), facts(&ours));
        let mut keys: Vec<_> = theirs.keys().chain(ours.keys()).collect();
        keys.sort_unstable();
        keys.dedup();
        for key in keys.into_iter().filter(|key| theirs.get(*key) != ours.get(*key)) {
            let matches = |(program, pattern): &(String, String)| {
                let whole = key == pattern;
                program == name
                    && (whole || pattern.strip_suffix('*').is_some_and(|start| key.starts_with(start)))
            };
            match listed.iter().position(matches) {
                Some(index) => used[index] = true,
                None => wrong.push(format!(
                    "{name}\t{key}\ttheirs {:?}, ours {:?}",
                    theirs.get(key),
                    ours.get(key)
                )),
            }
        }
    }
    for ((program, key), used) in listed.iter().zip(used) {
        if !used {
            wrong.push(format!("{program}\t{key}\tis listed and doesn't differ"));
        }
    }
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_library_exports_the_tables_symbols_and_nothing_else() {
    for (name, node) in [("libcurl.so.4", "CURL_OPENSSL_4"), ("libcurl-gnutls.so.4", "CURL_GNUTLS_3")] {
        let file = library().join(name);
        let output = Command::new("nm").args(["-D", "--defined-only"]).arg(&file).output().unwrap();
        assert!(output.status.success());
        let text = String::from_utf8(output.stdout).unwrap();
        let mut symbols: Vec<_> = text.lines().filter(|line| !line.contains(" A ")).collect();
        symbols.sort_unstable_by_key(|line| line.rsplit(' ').next());
        let own = tables::export::OWN_EXPORTS.iter().map(|name| (name, tables::export::OWN_NODE));
        let all = tables::export::EXPORTS.iter().map(|name| (name, node)).chain(own);
        let wanted: Vec<_> = all.map(|(name, node)| format!("{name}@@{node}")).collect();
        let found: Vec<_> = symbols.iter().map(|line| line.rsplit(' ').next().unwrap()).collect();
        assert_eq!(found, wanted, "{name}");
        let output = Command::new("readelf").arg("-dW").arg(&file).output().unwrap();
        let dynamic = String::from_utf8(output.stdout).unwrap();
        for part in [&format!("soname: [{name}]"), "NODELETE", "NOW"] {
            assert!(dynamic.contains(part), "{name} lacks {part}: {dynamic}");
        }
    }
}

/// Programs built for the GnuTLS flavour find that word first.
#[test]
fn either_flavour_names_the_tls_library_that_programs_expect() {
    let scratch = Scratch::new("flavour");
    let source = scratch.0.join("flavour.c");
    let text = "#include <curl/curl.h>\n#include <stdio.h>\nint main(void) {\n  const curl_ssl_backend **list;\n  \
        curl_global_sslset((curl_sslbackend)0, NULL, &list);\n  \
        printf(\"%s %s\", curl_version_info(CURLVERSION_NOW)->ssl_version, list[0]->name);\n  return 0;\n}\n";
    std::fs::write(&source, text).unwrap();
    for (link, wanted) in [("curl", ("OpenSSL/", "openssl")), ("curl-gnutls", ("GnuTLS/", "gnutls"))] {
        let binary = scratch.0.join(link);
        let compiled = Command::new("gcc")
            .arg(&source)
            .arg(format!("-I{}", root().join("include").display()))
            .arg(format!("-L{}", library().display()))
            .arg(format!("-l{link}"))
            .arg("-o")
            .arg(&binary)
            .output()
            .unwrap();
        assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
        let output = run(&binary, &scratch.0, true, "", None);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.starts_with(wanted.0) && text.ends_with(wanted.1), "{link}: {text}");
        assert!(text.contains("rustls") && text.contains("Warmwire/"), "{link}: {text}");
    }
}

/// What `make install` puts there is enough to build with, through pkg-config, curl-config and statically.
#[test]
fn an_installed_copy_builds_programs() {
    let scratch = Scratch::new("install");
    let prefix = scratch.0.join("usr");
    let install = root().join("crates/capi/install.sh");
    let status = Command::new("sh").arg(install).arg(library()).arg(&prefix).status().unwrap();
    assert!(status.success());
    let server = HttpServer::plain();
    let source = root().join("tests/abi/header.c");
    let words = |program: &str, arguments: &[&str]| {
        let output = Command::new(program)
            .args(arguments)
            .env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig"))
            .output()
            .unwrap();
        assert!(output.status.success(), "{program} {arguments:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        text.split_whitespace().map(str::to_owned).collect::<Vec<String>>()
    };
    let config = prefix.join("bin/curl-config");
    let config = config.to_str().unwrap();
    let ways = [
        words("pkg-config", &["--cflags", "--libs", "libcurl"]),
        words(config, &["--cflags", "--libs"]),
        words(config, &["--cflags", "--static-libs"]),
    ];
    for (index, flags) in ways.iter().enumerate() {
        let binary = scratch.0.join(format!("program-{index}"));
        let compiled = Command::new("gcc")
            .arg(&source)
            .arg("-o")
            .arg(&binary)
            .args(flags)
            .arg("-lpthread")
            .output()
            .unwrap();
        assert!(compiled.status.success(), "{flags:?}: {}", String::from_utf8_lossy(&compiled.stderr));
        let output = Command::new(&binary)
            .env("LD_LIBRARY_PATH", prefix.join("lib"))
            .env("SERVER", server.url("").trim_end_matches('/'))
            .output()
            .unwrap();
        assert!(output.status.success(), "{flags:?}: {}", String::from_utf8_lossy(&output.stdout));
    }
    assert_eq!(words(config, &["--vernum"]), ["081600"]);
    assert!(Command::new(config).args(["--checkfor", "8.23.0"]).output().unwrap().status.code() == Some(1));
}
