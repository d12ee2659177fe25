//! The results of `make install` and `make deb`: programs are built with them by pkg-config, curl-config and
//! CMake, and third-party programs run on them through `warmwire-run`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use testkit::launch::GitServer;
use testkit::temp::TempDir;

use super::ours;
use crate::runner::{Case, Context, Output};
use crate::subject::Subject;

pub fn cases() -> Vec<Case> {
    vec![
        ours("installed-pkg-config-and-curl-config", compilers),
        ours("installed-cmake-package", cmake),
        ours("installed-warmwire-run", runs),
        ours("installed-broker", broker),
        ours("debian-package", package),
    ]
}

/// Returns the directory of the built library, with the tool beside it.
fn built(run: &Context) -> (PathBuf, PathBuf) {
    let Subject::Ours(library) = run.subject else { panic!("only ours is installed") };
    let beside = library.with_file_name("warmwire");
    (library.clone(), if beside.exists() { beside } else { run.world.tool() })
}

/// Runs a script of packaging/ and returns its output.
fn script(run: &Context, name: &str, last: &[&Path]) -> String {
    let (library, tool) = built(run);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging").join(name);
    let output = run.run(Command::new("sh").arg(path).arg(library).arg(tool).args(last));
    assert_eq!(output.status, Some(0), "{name}: {output:?}");
    output.stdout.trim().to_owned()
}

/// A fresh prefix with everything in it.
fn installed(run: &Context) -> TempDir {
    let place = TempDir::new("prefix").expect("a folder is made");
    script(run, "install.sh", &[place.path()]);
    place
}

/// Runs without the subject's LD_LIBRARY_PATH: what is installed must be found by itself.
fn alone(run: &Context, command: &mut Command) -> Output {
    let output = Context::new(run.world, &Subject::Distribution).run(command);
    assert_eq!(output.status, Some(0), "{command:?}: {output:?}");
    output
}

const PROGRAM: &str = r#"#include <curl/curl.h>
#include <stdio.h>
int main(int count, char **words) {
  CURL *easy = curl_easy_init();
  long status = 0;
  curl_off_t length = 0;
  curl_easy_setopt(easy, CURLOPT_URL, count > 1 ? words[1] : "");
  curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
  CURLcode code = curl_easy_perform(easy);
  curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
  curl_easy_getinfo(easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
  printf("code=%d status=%ld length=%ld version=%s\n", code, status, (long)length, curl_version());
  curl_easy_cleanup(easy);
  return 0;
}
"#;

fn fetches(run: &Context, program: &Path, library: &Path) {
    let url = run.world.nginx.http("/bytes-1000");
    // A statically linked program finds nothing there that it could load.
    let output = run
        .run(Command::new("env").arg(format!("LD_LIBRARY_PATH={}", library.display())).arg(program).arg(url));
    assert_eq!(
        (output.fact("code"), output.fact("status"), output.fact("length")),
        ("0", "200", "1000"),
        "{output:?}"
    );
    assert!(output.stdout.contains("libcurl/8.22"), "{output:?}");
}

fn compilers(run: &Context) {
    let prefix = installed(run);
    let place = TempDir::new("program").expect("a folder is made");
    let source = place.write("program.c", PROGRAM).expect("a file is written");
    let config = prefix.path().join("bin/curl-config");
    let ways: [(PathBuf, &[&str]); 3] = [
        ("pkg-config".into(), &["--cflags", "--libs", "libcurl"]),
        (config.clone(), &["--cflags", "--libs"]),
        (config, &["--cflags", "--static-libs"]),
    ];
    for (index, (tool, words)) in ways.iter().enumerate() {
        let mut asked = Command::new(tool);
        let flags =
            alone(run, asked.args(*words).env("PKG_CONFIG_PATH", prefix.path().join("lib/pkgconfig"))).stdout;
        let program = place.path().join(format!("program-{index}"));
        let mut compiler = Command::new("cc");
        alone(run, compiler.arg(&source).arg("-o").arg(&program).args(flags.split_whitespace()));
        fetches(run, &program, &prefix.path().join("lib"));
    }
}

const PROJECT: &str = "cmake_minimum_required(VERSION 3.16)
project(user C)
find_package(CURL 8.0 REQUIRED COMPONENTS HTTP HTTPS SSL)
message(STATUS \"version=${CURL_VERSION_STRING}\")
add_executable(shared program.c)
target_link_libraries(shared PRIVATE CURL::libcurl)
add_executable(static program.c)
target_link_libraries(static PRIVATE CURL::libcurl_static)
";

fn cmake(run: &Context) {
    let prefix = installed(run);
    let place = TempDir::new("project").expect("a folder is made");
    place.write("program.c", PROGRAM).expect("a file is written");
    place.write("CMakeLists.txt", PROJECT).expect("a file is written");
    let build = place.path().join("build");
    let mut configure = Command::new("cmake");
    configure.arg("-S").arg(place.path()).arg("-B").arg(&build);
    let configured = alone(run, configure.arg(format!("-DCMAKE_PREFIX_PATH={}", prefix.path().display())));
    assert!(configured.fact("version").starts_with("8.22"), "{configured:?}");
    alone(run, Command::new("cmake").arg("--build").arg(&build));
    for program in ["shared", "static"] {
        // CMake notes the folder of the library in the program it builds: no LD_LIBRARY_PATH is needed.
        fetches(run, &build.join(program), Path::new("/nonexistent"));
    }
    let mut asked = Command::new("cmake");
    place.write("CMakeLists.txt", PROJECT.replace("HTTPS SSL", "HTTPS nosuch")).expect("a file is written");
    asked.arg("-S").arg(place.path()).arg("-B").arg(place.path().join("other"));
    let missing = run.run(asked.arg(format!("-DCMAKE_PREFIX_PATH={}", prefix.path().display())));
    assert_ne!(missing.status, Some(0), "a component that is not built was found: {missing:?}");
}

/// curl, git, PHP, Perl and R, started by `warmwire-run`, must name our library and fetch.
fn through(run: &Context, wrapper: &Path) {
    let started =
        |words: &[&str]| alone(run, Command::new(wrapper).args(words).env("GIT_SSL_CAINFO", run.world.ca()));
    assert!(started(&["curl", "-V"]).stdout.to_lowercase().contains("warmwire"));
    let url = run.world.nginx.https("/bytes-335114");
    assert_eq!(started(&["curl", "-sS", "--cacert", &run.world.ca(), &url]).bytes().len(), 335_114);
    let php = "echo stripos(json_encode(curl_version()), 'warmwire') !== false ? 'ours' : 'theirs';";
    assert_eq!(started(&["php", "-r", php]).stdout, "ours");
    let perl = "print WWW::Curl::Easy::version() =~ /warmwire/i ? 'ours' : 'theirs'";
    assert_eq!(started(&["perl", "-MWWW::Curl::Easy", "-e", perl]).stdout, "ours");
    let r = "cat(if (grepl('8.22', curl::curl_version()$version, fixed = TRUE)) 'ours' else 'theirs')";
    assert_eq!(started(&["Rscript", "--vanilla", "-e", r]).stdout, "ours");
    let server = GitServer::start(&run.world.authority.good()).expect("git's service starts");
    let bare = server.root().join("empty.git");
    alone(run, Command::new("git").args(["init", "-q", "--bare"]).arg(&bare));
    let place = TempDir::new("clone").expect("a folder is made");
    let clone = place.path().join("clone").display().to_string();
    started(&["git", "clone", "-q", &server.https("empty.git"), &clone]);
    assert!(Path::new(&clone).join(".git/HEAD").exists());
    let none = run.run(&mut Command::new(wrapper));
    assert_eq!(none.status, Some(2), "{none:?}");
}

/// Pages that an installation has, among others.
const PAGES: [&str; 15] = [
    "man1/warmwire.1",
    "man1/warmwire-run.1",
    "man3/warmwire_pool.3",
    "man3/warmwire_open.3",
    "man3/warmwire_ftp_pipeline.3",
    "man3/warmwire_smtp_pipeline.3",
    "man3/warmwire_websocket.3",
    "man3/warmwire_follow_names.3",
    "man3/warmwire_policy.3",
    "man3/warmwire_priority.3",
    "man3/warmwire_upload.3",
    "man3/warmwire_upload_place.3",
    "man3/warmwire_upload_verify.3",
    "man3/warmwire_watch_run.3",
    "man3/warmwire_why.3",
];

fn runs(run: &Context) {
    let prefix = installed(run);
    through(run, &prefix.path().join("bin/warmwire-run"));
    let tool = alone(run, Command::new(prefix.path().join("bin/warmwire")).arg("-V"));
    assert!(tool.stdout.to_lowercase().contains("warmwire"));
    // A page that includes another names it from the folder of all pages, where `man` runs groff.
    let pages = prefix.path().join("share/man");
    for section in ["man1", "man3"] {
        let names = std::fs::read_dir(pages.join(section)).expect("the section is installed");
        let mut names: Vec<_> = names.map(|entry| entry.expect("a page").file_name()).collect();
        names.sort();
        for name in names {
            let mut groff = Command::new("groff");
            groff.args(["-man", "-Tascii", "-ww"]).arg(Path::new(section).join(name)).current_dir(&pages);
            let output = alone(run, &mut groff);
            assert!(output.stderr.is_empty() && output.stdout.len() > 500, "{groff:?}: {output:?}");
        }
    }
    for page in PAGES {
        assert!(pages.join(page).exists(), "{page} is missing");
    }
}

fn broker(run: &Context) {
    let prefix = installed(run);
    starts_a_broker(run, &prefix.path().join("lib"), &prefix.path().join("bin/warmwire"));
}

/// A program with neither PATH nor WARMWIRE_BROKER, as a worker of PHP-FPM, finds the installed tool from its
/// library and starts it as the broker.
fn starts_a_broker(run: &Context, library: &Path, tool: &Path) {
    let place = TempDir::new("program").expect("a folder is made");
    let source = place.write("program.c", PROGRAM).expect("a file is written");
    let program = place.path().join("program");
    let linked = library.join("libcurl.so.4");
    let mut compiler = Command::new("cc");
    compiler.arg(concat!("-I", env!("CARGO_MANIFEST_DIR"), "/../../include"));
    alone(run, compiler.arg(&source).arg(linked).arg("-o").arg(&program));
    let folder = format!("WARMWIRE_POOL_DIR={}", place.path().join("pool").display());
    let mut bare = Command::new("env");
    bare.args(["-i", "WARMWIRE_POOL=user", &folder]).arg(format!("LD_LIBRARY_PATH={}", library.display()));
    let output = alone(run, bare.arg(&program).arg(run.world.nginx.http("/bytes-1000")));
    assert_eq!(output.fact("status"), "200", "{output:?}");
    let ask = |flag| run.run(Command::new("env").arg(&folder).arg(tool).arg(flag));
    let end = Instant::now() + Duration::from_secs(20);
    while ask("--pool-status").status != Some(0) {
        assert!(Instant::now() < end, "no broker was started");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(ask("--pool-stop").status, Some(0));
}

fn package(run: &Context) {
    let place = TempDir::new("deb").expect("a folder is made");
    let files = script(run, "deb.sh", &[place.path()]);
    let files: Vec<&str> = files.lines().collect();
    let root = place.path().join("root");
    let mut links = Vec::new();
    for file in &files {
        let listing = alone(run, Command::new("dpkg-deb").args(["-c", file])).stdout;
        let paths = listing.lines().filter_map(|line| line.split_whitespace().nth(5));
        let units = "./usr/lib/systemd/user/warmwire-broker.";
        let private = ["./usr/lib/warmwire/", "./usr/bin/warmwire", "./usr/share/", units];
        let foreign =
            |path: &&str| !path.ends_with('/') && !private.iter().any(|start| path.starts_with(start));
        links.extend(paths.filter(foreign).map(|path| path.rsplit('/').next().unwrap_or(path).to_owned()));
        alone(run, Command::new("dpkg").arg("-x").arg(file).arg(&root));
    }
    // Only the two packages that replace the distribution's have files outside of private folders.
    assert_eq!(links, ["libcurl.so.4", "libcurl-gnutls.so.4"], "{files:?}");
    for (file, provided) in [(files[3], "libcurl4 (= 8.22.0)"), (files[4], "libcurl3-gnutls (= 8.22.0)")] {
        let control = alone(run, Command::new("dpkg-deb").args(["-f", file, "Provides"])).stdout;
        assert!(control.contains(provided), "{file}: {control}");
        let symbols = alone(run, Command::new("dpkg-deb").args(["--ctrl-tarfile", file])).bytes().len();
        assert!(symbols > 4096, "{file} has no list of symbols");
    }
    through(run, &root.join("usr/bin/warmwire-run"));
    let version = alone(run, Command::new(root.join("usr/bin/warmwire")).arg("-V"));
    assert!(version.stdout.to_lowercase().contains("warmwire"));
    starts_a_broker(run, &root.join("usr/lib/warmwire/lib"), &root.join("usr/bin/warmwire"));
    for unit in ["warmwire-broker.service", "warmwire-broker.socket"] {
        assert!(root.join("usr/lib/systemd/user").join(unit).is_file(), "{unit} is missing");
    }
}
