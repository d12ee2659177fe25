//! Debian's git over HTTP and HTTPS, against git's own service behind nginx. Its git-remote-http loads
//! libcurl-gnutls.so.4 and drives a multi handle with fdset and select.

use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::body::pattern;
use testkit::launch::GitServer;
use testkit::temp::TempDir;

use super::case;
use crate::runner::{Case, Context, Output};

pub fn cases() -> Vec<Case> {
    vec![case("git-http", plain), case("git-https", secure), case("git-credentials", credentials)]
}

/// A server with one repository that has a commit, and a place to clone to.
struct Scene<'a> {
    run: &'a Context<'a>,
    server: GitServer,
    place: TempDir,
}

impl<'a> Scene<'a> {
    fn new(run: &'a Context<'a>, repository: &str) -> Scene<'a> {
        let server = GitServer::start(&run.world.authority.good()).expect("git's service starts");
        let scene = Scene { run, server, place: TempDir::new("git-client").expect("a folder is made") };
        let bare = scene.server.root().join(repository);
        scene.must(&scene.path(""), &["init", "-q", "--bare", "-b", "main", &text(&bare)]);
        scene.must(&bare, &["config", "http.receivepack", "true"]);
        let seed = scene.path("seed");
        scene.must(&scene.path(""), &["init", "-q", "-b", "main", &text(&seed)]);
        scene.commit(&seed, "first", pattern(300_000));
        scene.must(&seed, &["push", "-q", &text(&bare), "main"]);
        scene
    }

    fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    /// Runs git in a directory, without any user's configuration.
    fn git(&self, folder: &Path, arguments: &[&str]) -> Output {
        let mut command = Command::new("git");
        command.arg("-C").arg(folder).args(arguments);
        command
            .env("HOME", self.place.path())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_TERMINAL_PROMPT", "0");
        command.env("GIT_SSL_CAINFO", self.run.world.ca());
        for who in ["AUTHOR", "COMMITTER"] {
            command
                .env(format!("GIT_{who}_NAME"), "Tester")
                .env(format!("GIT_{who}_EMAIL"), "tester@localhost");
        }
        self.run.run(&mut command)
    }

    fn must(&self, folder: &Path, arguments: &[&str]) -> Output {
        let output = self.git(folder, arguments);
        assert_eq!(output.status, Some(0), "git {arguments:?}: {output:?}\n{}", self.server.log());
        output
    }

    fn commit(&self, folder: &Path, name: &str, content: Vec<u8>) {
        std::fs::write(folder.join(name), content).expect("a file is written");
        self.must(folder, &["add", name]);
        self.must(folder, &["commit", "-q", "-m", name]);
    }
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

/// GIT_CURL_VERBOSE's output names the library by the User-Agent; the loader's output is certain.
fn chosen(scene: &Scene) {
    let mut command = Command::new("git");
    let output =
        scene.run.run(command.args(["ls-remote", &scene.server.http("one.git")]).env("LD_DEBUG", "libs"));
    let ours = output.stderr.lines().any(|line| match &scene.run.subject {
        crate::subject::Subject::Ours(directory) | crate::subject::Subject::OpenSsl(directory) => {
            line.contains(&format!("calling init: {}/libcurl-gnutls.so.4", directory.display()))
        }
        crate::subject::Subject::Distribution => false,
    });
    assert_eq!(ours, scene.run.ours(), "git loads another library");
}

/// ls-remote, clone, a shallow clone, push of a little and of much, fetch, pull, a branch removed, no such
/// repository.
fn round(scene: &Scene, url: &str) {
    let top = scene.path("");
    assert!(scene.must(&top, &["ls-remote", url]).stdout.contains("refs/heads/main"));
    let (one, two) = (scene.path("one"), scene.path("two"));
    for clone in [&one, &two] {
        scene.must(&top, &["clone", "-q", url, &text(clone)]);
        assert_eq!(std::fs::read(clone.join("first")).ok(), Some(pattern(300_000)));
    }
    scene.commit(&one, "small", b"a few bytes".to_vec());
    scene.must(&one, &["push", "-q", "origin", "main"]);
    scene.must(&two, &["fetch", "-q"]);
    scene.must(&two, &["merge", "-q", "--ff-only", "origin/main"]);
    assert_eq!(std::fs::read(two.join("small")).ok(), Some(b"a few bytes".to_vec()));
    // Above http.postBuffer git sends chunks of unknown total, after a probe.
    scene.commit(&two, "large", incompressible(3_000_000));
    scene.must(&two, &["-c", "http.postBuffer=65536", "push", "-q", "origin", "main"]);
    scene.must(&one, &["pull", "-q"]);
    assert_eq!(std::fs::read(one.join("large")).ok(), Some(incompressible(3_000_000)));
    scene.must(&one, &["push", "-q", "origin", "main:refs/heads/side"]);
    scene.must(&one, &["push", "-q", "origin", "--delete", "side"]);
    assert!(!scene.must(&top, &["ls-remote", url]).stdout.contains("refs/heads/side"));
    let shallow = scene.path("shallow");
    scene.must(&top, &["clone", "-q", "--depth", "1", url, &text(&shallow)]);
    assert_eq!(scene.must(&shallow, &["rev-list", "--count", "HEAD"]).stdout, "1\n");
    scene.must(&shallow, &["fetch", "-q", "--unshallow"]);
    assert_eq!(scene.must(&shallow, &["rev-list", "--count", "HEAD"]).stdout, "3\n");
    let missing = scene.git(&top, &["ls-remote", &url.replace("one.git", "none.git")]);
    assert_eq!(missing.status, Some(128), "{missing:?}");
    assert!(missing.stderr.contains("not found"), "{missing:?}");
}

/// A pack can't shrink it.
fn incompressible(length: usize) -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    std::iter::repeat_with(next).take(length).collect()
}

fn plain(run: &Context) {
    let scene = Scene::new(run, "one.git");
    chosen(&scene);
    round(&scene, &scene.server.http("one.git"));
    let refused = format!("http://127.0.0.1:{}/one.git", testkit::raw::RawPeer::refused_port());
    let output = scene.git(&scene.path(""), &["ls-remote", &refused]);
    assert_eq!(output.status, Some(128), "{output:?}");
    assert!(output.stderr.contains("Failed to connect to 127.0.0.1"), "{output:?}");
}

fn secure(run: &Context) {
    let scene = Scene::new(run, "one.git");
    round(&scene, &scene.server.https("one.git"));
    let top = scene.path("");
    let url = scene.server.https("one.git");
    let mut verbose = Command::new("git");
    verbose.args(["ls-remote", &url]).env("GIT_SSL_CAINFO", run.world.ca()).env("GIT_CURL_VERBOSE", "1");
    let output = run.run(&mut verbose);
    assert!(output.stderr.contains("header: HTTP/2 200"), "{output:?}");
    let output =
        scene.git(&top, &["-c", "http.sslCAInfo=/etc/ssl/certs/ca-certificates.crt", "ls-remote", &url]);
    // GIT_SSL_CAINFO has precedence over the option: the server's certificate is still trusted.
    assert_eq!(output.status, Some(0), "{output:?}");
    let output = run.run(Command::new("git").args(["ls-remote", &url]).env("GIT_CONFIG_NOSYSTEM", "1"));
    assert_eq!(output.status, Some(128), "an unknown authority: {output:?}");
    assert!(output.stderr.contains("certificate"), "{output:?}");
}

fn credentials(run: &Context) {
    let scene = Scene::new(run, "private/one.git");
    let top = scene.path("");
    let none = scene.git(&top, &["ls-remote", &scene.server.http("private/one.git")]);
    assert_eq!(none.status, Some(128), "{none:?}");
    assert!(none.stderr.contains("could not read Username"), "{none:?}");
    let wrong = scene.git(&top, &["ls-remote", &scene.server.http_as("user:wrong", "private/one.git")]);
    assert!(wrong.status == Some(128) && wrong.stderr.contains("Authentication failed"), "{wrong:?}");
    round(&scene, &scene.server.http_as("user:secret", "private/one.git"));
}
