//! Negotiate against Apache's mod_auth_gssapi, in a private Kerberos realm, by Debian's curl on either
//! library.

use std::process::Command;

use testkit::launch::{Kerberos, NegotiateServer, Squid};

use super::{case, ours};
use crate::runner::{Case, Context, Output};

pub fn cases() -> Vec<Case> {
    vec![
        case("negotiate-get-and-post", get_and_post),
        case("negotiate-many-on-one-connection", many),
        case("negotiate-without-a-ticket", without_ticket),
        case("negotiate-anyauth", any),
        case("negotiate-delegation", delegation),
        case("negotiate-service-name", service_name),
        case("negotiate-proxy", proxy),
        case("negotiate-over-tls", over_tls),
        ours("negotiate-falls-back-without-a-ticket", falls_back),
        ours("negotiate-nobody-rides-along", nobody_rides_along),
    ]
}

struct Scene {
    realm: Kerberos,
    server: NegotiateServer,
}

impl Scene {
    /// A realm with a server, and alice logged in.
    fn new(run: &Context) -> Scene {
        let realm = Kerberos::start().expect("the KDC starts");
        let server = NegotiateServer::start(&realm, &run.world.authority.good()).expect("Apache starts");
        realm.login("alice").expect("alice logs in");
        Scene { realm, server }
    }

    /// Runs Debian's curl as this user; replies go to stdout with their heads, and the log to stderr.
    fn curl(&self, run: &Context, user: &str, arguments: &[&str]) -> Output {
        let mut command = Command::new("/usr/bin/curl");
        command.args(["-q", "-sS", "-i", "--max-time", "60"]).args(arguments);
        self.realm.user(&mut command, user);
        run.run(&mut command)
    }

    fn url(&self, path: &str) -> String {
        self.server.url(path)
    }
}

/// The values of a field in all heads.
fn fields<'a>(output: &'a Output, name: &str) -> Vec<&'a str> {
    let of = |line: &'a str| line.strip_prefix(name)?.strip_prefix(": ").map(str::trim_end);
    output.stdout.lines().filter_map(of).collect()
}

fn statuses(output: &Output) -> Vec<&str> {
    output.stdout.lines().filter_map(|line| line.strip_prefix("HTTP/1.1 ")?.get(..3)).collect()
}

const ALICE: &str = "alice@WARMWIRE.TEST";

// covers: CURLAUTH_NEGOTIATE, CURLOPT_HTTPAUTH, --negotiate
fn get_and_post(run: &Context) {
    let scene = Scene::new(run);
    for place in ["each", "bound", "either"] {
        let file = scene.url(&format!("/{place}/file"));
        let output = scene.curl(run, "alice", &["--negotiate", "-u", ":", &file]);
        assert_eq!((statuses(&output), fields(&output, "X-User")), (vec!["200"], vec![ALICE]), "{output:?}");
        assert!(output.stdout.ends_with("it is open\n"), "{output:?}");
        // The first request contains the token, so that a body is sent once and completely.
        let echo = scene.url(&format!("/{place}/echo"));
        let post = ["--negotiate", "-u", ":", "-d", "name=value", &echo];
        let output = scene.curl(run, "alice", &post);
        assert_eq!(statuses(&output), ["200"], "{output:?}");
        assert!(output.stdout.ends_with("name=value"), "{output:?}");
    }
    // An unneeded login does no harm.
    let output = scene.curl(run, "alice", &["--negotiate", "-u", ":", &scene.url("/open/file")]);
    assert_eq!(statuses(&output), ["200"], "{output:?}");
    if run.ours() {
        // A newer curl needs no user; Debian's library does.
        let output = scene.curl(run, "alice", &["--negotiate", &scene.url("/each/file")]);
        assert_eq!(statuses(&output), ["200"], "{output:?}");
    }
}

fn many(run: &Context) {
    let scene = Scene::new(run);
    for place in ["each", "bound"] {
        let url = scene.url(&format!("/{place}/file"));
        let mut arguments = vec!["--negotiate", "-u", "alice:", "-w", "\nconnects: %{num_connects}\n"];
        arguments.extend([url.as_str(); 8]);
        let output = scene.curl(run, "alice", &arguments);
        assert_eq!(statuses(&output), ["200"; 8], "{place}: {output:?}");
        assert_eq!(fields(&output, "X-User"), [ALICE; 8], "{place}: {output:?}");
        let connects = fields(&output, "connects").iter().map(|n| n.parse::<u32>().unwrap()).sum::<u32>();
        assert_eq!(connects, 1, "{place}: {output:?}");
    }
}

fn without_ticket(run: &Context) {
    let scene = Scene::new(run);
    // Without a ticket, and with one for which the realm has no such service.
    for (user, service) in [("nobody", "HTTP"), ("alice", "unheard-of")] {
        let url = scene.url("/each/echo");
        let negotiate = ["--negotiate", "-u", ":", "--service-name", service];
        let output = scene.curl(run, user, &[&["-v", "-d", "a=b", &url], &negotiate[..]].concat());
        assert_eq!((output.status, statuses(&output)), (Some(0), vec!["401"]), "{output:?}");
        assert!(output.stderr.contains("gss_init_sec_context() failed: "), "{output:?}");
        assert!(!output.stderr.contains("Authorization:"), "{output:?}");
        let output = scene.curl(run, user, &[&["-f", &url], &negotiate[..]].concat());
        assert_eq!(output.status, Some(22), "{output:?}");
    }
}

// covers: CURLAUTH_ANY, --anyauth
fn any(run: &Context) {
    let scene = Scene::new(run);
    let url = scene.url("/either/file");
    let output =
        scene.curl(run, "alice", &["--anyauth", "-u", "alice:", "-w", "\nconnects: %{num_connects}\n", &url]);
    assert_eq!(statuses(&output), ["401", "200"], "{output:?}");
    assert_eq!(fields(&output, "X-User").last(), Some(&ALICE), "{output:?}");
    assert_eq!(fields(&output, "connects"), ["1"], "it uses the connection that it has: {output:?}");
}

// covers: CURLOPT_GSSAPI_DELEGATION, --delegation
fn delegation(run: &Context) {
    let scene = Scene::new(run);
    for (level, delegated) in [("none", false), ("policy", false), ("always", true)] {
        let url = scene.url("/each/file");
        let output = scene.curl(run, "alice", &["--negotiate", "-u", ":", "--delegation", level, &url]);
        assert_eq!(statuses(&output), ["200"], "{output:?}");
        let tickets = fields(&output, "X-Tickets");
        assert_eq!(tickets[0].contains("tickets/"), delegated, "{level}: {output:?}");
    }
    // The realm's policy allows it to the other service.
    let (file, other) = (scene.url("/each/file"), ["--service-name", "other", "--delegation", "policy"]);
    let output = scene.curl(run, "alice", &[&["--negotiate", "-u", ":"], &other[..], &[&file]].concat());
    assert!(fields(&output, "X-Tickets")[0].contains("tickets/"), "{output:?}");
}

// covers: CURLOPT_SERVICE_NAME, --service-name
fn service_name(run: &Context) {
    let scene = Scene::new(run);
    let url = scene.url("/each/file");
    for (name, status) in [("HTTP", "200"), ("other", "200"), ("unheard-of", "401")] {
        let output = scene.curl(run, "alice", &["--negotiate", "-u", ":", "--service-name", name, &url]);
        assert_eq!(statuses(&output), [status], "{output:?}");
    }
}

/// squid wants a ticket for plain requests and for tunnels, and the server behind it wants its own.
// covers: CURLOPT_PROXYAUTH, CURLOPT_PROXY_SERVICE_NAME, --proxy-negotiate, --proxy-service-name
fn proxy(run: &Context) {
    let scene = Scene::new(run);
    let squid = Squid::start_in(&scene.realm).expect("squid starts");
    let proxy = format!("http://localhost:{}", squid.port);
    let base = ["-x", &proxy, "--noproxy", "-", "--proxy-negotiate", "-U", ":"];
    let server = ["--negotiate", "-u", ":"];
    let (file, echo) = (scene.url("/each/file"), scene.url("/each/echo"));
    let rows: [(&[&str], &[&str]); 4] = [
        (&[&file], &["200"]),
        (&["-d", "a=b", &echo], &["200"]),
        (&["--proxytunnel", &file], &["200", "200"]),
        (&["--proxytunnel", "-d", "a=b", &echo], &["200", "200"]),
    ];
    for (arguments, wanted) in rows {
        let output = scene.curl(run, "alice", &[&base[..], &server, arguments].concat());
        assert_eq!(statuses(&output), wanted, "{arguments:?}: {output:?}");
        assert_eq!(fields(&output, "X-User").last(), Some(&ALICE), "{arguments:?}: {output:?}");
        let output = scene.curl(run, "nobody", &[&base[..], &server, arguments].concat());
        assert_eq!(statuses(&output), ["407"], "{arguments:?}: {output:?}");
        let name = ["--proxy-service-name", "unheard-of"];
        let output = scene.curl(run, "alice", &[&base[..], &server, &name, arguments].concat());
        assert_eq!(statuses(&output), ["407"], "{arguments:?}: {output:?}");
    }
    // The scheme that squid requires is found.
    let output = scene.curl(
        run,
        "alice",
        &["-x", &proxy, "--proxy-anyauth", "-U", "alice:", &scene.url("/open/file")],
    );
    assert_eq!(statuses(&output), ["407", "200"], "{output:?}");
}

/// Over TLS our context has a channel binding; Apache, which has none itself, accepts either.
fn over_tls(run: &Context) {
    let scene = Scene::new(run);
    let (file, echo) = (scene.server.tls_url("/each/file"), scene.server.tls_url("/bound/echo"));
    let base = ["--cacert", &run.world.ca(), "--negotiate", "-u", "alice:"];
    let output = scene.curl(run, "alice", &[&base[..], &["-d", "a=b", &echo]].concat());
    assert_eq!((statuses(&output), fields(&output, "X-User")), (vec!["200"], vec![ALICE]), "{output:?}");
    assert!(output.stdout.ends_with("a=b"), "{output:?}");
    let output = scene.curl(run, "alice", &[&base[..], &[&file, &file]].concat());
    assert_eq!(
        (statuses(&output), fields(&output, "X-User")),
        (vec!["200"; 2], vec![ALICE; 2]),
        "{output:?}"
    );
}

/// Where Negotiate is offered and there is no ticket, curl stays outside; we go on to the next scheme.
fn falls_back(run: &Context) {
    let scene = Scene::new(run);
    let output = scene.curl(run, "nobody", &["--anyauth", "-u", "bob:secret", &scene.url("/either/file")]);
    assert_eq!(statuses(&output).last(), Some(&"200"), "{output:?}");
    assert_eq!(fields(&output, "X-User").last(), Some(&"bob@WARMWIRE.TEST"), "{output:?}");
}

/// A connection authenticated by a ticket serves only the ticket's user, and only with the same login.
fn nobody_rides_along(run: &Context) {
    let scene = Scene::new(run);
    let url = scene.url("/bound/file");
    let connects = "\nconnects: %{num_connects}\n";
    let rows: [(&[&str], &[&str], [&str; 2]); 4] = [
        (&["--negotiate", "-u", ":"], &["--negotiate", "-u", ":"], ["1", "0"]),
        (&["--negotiate", "-u", ":"], &["--anyauth", "-u", "bob:secret"], ["1", "1"]),
        (&["--negotiate", "-u", "alice:"], &["--negotiate", "-u", "bob:"], ["1", "1"]),
        (&["--negotiate", "-u", "alice:"], &[], ["1", "1"]),
    ];
    for (first, second, wanted) in rows {
        let mut arguments = first.to_vec();
        arguments.extend(["-w", connects, &url, "--next", "-sS", "-i", "-w", connects]);
        arguments.extend(second);
        arguments.push(&url);
        let output = scene.curl(run, "alice", &arguments);
        assert_eq!(fields(&output, "connects"), wanted, "{first:?} {second:?}: {output:?}");
    }
}
