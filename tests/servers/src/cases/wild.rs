//! Third-party programs that use the library each in its own way: ostree (socket_action under GLib's loop),
//! nbdkit (handles in threads), samtools (a multi handle, pauses and ranges), debuginfod-find (several
//! servers at once), zckdl (multipart ranges), Nagios' check_curl, html-xml-utils; and the bindings pecl_http
//! (libevent), TclCurl and RCurl.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use testkit::body::pattern;
use testkit::http::{Config, Handler, HttpServer, Request, Response, ranged};
use testkit::temp::TempDir;

use super::case;
use super::openssl::{Served, authority};
use crate::runner::{Case, Context, Output};
use crate::subject::Subject;

pub fn cases() -> Vec<Case> {
    vec![
        case("wild-ostree", ostree),
        case("wild-nbdkit", nbdkit),
        case("wild-samtools", samtools),
        case("wild-debuginfod", debuginfod),
        case("wild-zchunk", zchunk),
        case("wild-check-curl", check_curl),
        case("wild-html-xml-utils", html_xml_utils),
        case("wild-pecl-http", pecl_http),
        case("wild-tclcurl", tclcurl),
        case("wild-rcurl", rcurl),
    ]
}

/// A folder that is served over HTTP and HTTPS, and a place for the program.
struct Site<'a> {
    run: &'a Context<'a>,
    root: Arc<TempDir>,
    place: TempDir,
    http: HttpServer,
    https: HttpServer,
}

impl<'a> Site<'a> {
    fn new(run: &'a Context<'a>) -> Site<'a> {
        let root = Arc::new(TempDir::new("site").expect("a folder is made"));
        let place = TempDir::new("wild").expect("a folder is made");
        let served = root.clone();
        let handler: Handler = Arc::new(move |request: &Request| answer(served.path(), request));
        let tls = run.world.authority.good().server_config().expect("a usable pair");
        let plain = Config { handler: Some(handler.clone()), ..Config::default() };
        let http = HttpServer::start(plain).expect("loopback has a free port");
        let secure = Config { handler: Some(handler), tls: Some(tls), ..Config::default() };
        let https = HttpServer::start(secure).expect("loopback has a free port");
        Site { run, root, place, http, https }
    }

    /// Runs a line of shell in the program's place: `$HTTP`, `$HTTPS`, `$ROOT`, `$REFUSED` and `$CA` lead to
    /// the servers.
    fn shell(&self, line: &str) -> Output {
        let mut command = Command::new("sh");
        command.arg("-c").arg(line);
        self.run_in_place(&mut command)
    }

    fn run_in_place(&self, command: &mut Command) -> Output {
        command.current_dir(self.place.path()).env("HOME", self.place.path()).env("LC_ALL", "C.UTF-8");
        command.env("ROOT", self.root.path()).env("CA", self.run.world.ca());
        command.env("HTTP", self.http.url("").trim_end_matches('/'));
        command.env("HTTPS", self.https.url("").trim_end_matches('/').replace("127.0.0.1", "localhost"));
        command.env("REFUSED", format!("http://127.0.0.1:{}", testkit::raw::RawPeer::refused_port()));
        self.run.run(command)
    }

    fn must(&self, line: &str) -> String {
        let output = self.shell(line);
        assert_eq!(output.status, Some(0), "{line}: {output:?}");
        output.stdout
    }

    /// A line that fails, and says this on standard error.
    fn fails(&self, line: &str, message: &str) {
        let output = self.shell(line);
        assert_ne!(output.status, Some(0), "{line}: {output:?}");
        assert!(output.stderr.contains(message), "{line} says no {message:?}: {output:?}");
    }

    /// A script of `programs/` in another language; its facts.
    fn script(&self, interpreter: &mut Command, name: &str) -> Output {
        self.root.write("hello", "hello\n").and(self.root.write("big", pattern(335_114))).expect("written");
        let output = self.run_in_place(interpreter.arg(self.run.world.script(name)));
        assert_eq!((output.status, output.fact("end")), (Some(0), "1"), "{output:?}");
        output
    }
}

/// `/moved/PATH` redirects to PATH, `/private/PATH` requires a login; uploads can be downloaded again; other
/// paths are the built-in ones.
fn answer(root: &Path, request: &Request) -> Option<Response> {
    let mut name = request.path().trim_start_matches('/');
    if let Some(name) = name.strip_prefix("moved/") {
        let host = request.field("Host").unwrap_or_default();
        return Some(Response::status(302).with("Location", format!("http://{host}/{name}")));
    }
    if let Some(behind) = name.strip_prefix("private/") {
        if request.field("Authorization") != Some("Basic dXNlcjpzZWNyZXQ=") {
            return Some(Response::status(401).with("WWW-Authenticate", "Basic realm=\"private\""));
        }
        name = behind;
    }
    let file = root.join(name);
    if request.method == "PUT" {
        let written = std::fs::write(file, &request.body);
        return Some(Response::status(if written.is_ok() { 201 } else { 500 }));
    }
    file.is_file().then(|| ranged(request, std::fs::read(file).unwrap_or_default()))
}

/// Checks facts that must be the same on either library.
fn expect(output: &Output, expected: &[(&str, &str)]) {
    let wrong: Vec<_> = expected.iter().filter(|(name, value)| output.fact(name) != *value).collect();
    assert!(wrong.is_empty(), "not as expected: {wrong:?}\n{output:?}");
}

fn ostree(run: &Context) {
    let site = Site::new(run);
    site.must("mkdir -p tree/lib; for i in $(seq 1 30); do seq 1 $((i * 99)) > tree/lib/f$i; done; seq 1 300000 > tree/big");
    site.must("ostree init --repo=$ROOT/repo --mode=archive && ostree commit --repo=$ROOT/repo -b main --no-xattrs tree");
    site.must("ostree summary -u --repo=$ROOT/repo");
    let add = |repo: &str, options: &str, url: &str| {
        let remote = format!("ostree remote add --repo={repo} --no-gpg-verify {options} origin {url}");
        site.must(&format!("ostree init --repo={repo} --mode=bare-user-only && {remote}"));
    };
    add("plain", "", "$HTTP/repo");
    add("secure", "--set=tls-ca-path=$CA", "$HTTPS/repo");
    for (repo, server) in [("plain", &site.http), ("secure", &site.https)] {
        site.must(&format!("ostree pull --repo={repo} origin main && ostree fsck --repo={repo}"));
        site.must(&format!(
            "ostree checkout --repo={repo} -U origin:main out-{repo} && diff -r tree out-{repo}"
        ));
        let objects = server.requests().iter().filter(|request| request.path().ends_with(".filez")).count();
        assert_eq!(objects, 31, "{repo}: each file is fetched once");
        // Eight at a time, and a few more where one was not free yet again.
        assert!(server.accepts() <= 30, "{repo}: {} connections", server.accepts());
    }
    add("untrusted", "", "$HTTPS/repo");
    site.fails("ostree pull --repo=untrusted origin main", "certificate");
    add("missing", "", "$HTTP/none");
    site.fails("ostree pull --repo=missing origin main", "404");
    add("refused", "", "$REFUSED/repo");
    site.fails("ostree pull --repo=refused origin main", "[7] Could");
}

fn nbdkit(run: &Context) {
    let site = Site::new(run);
    site.root.write("disk", pattern(1_000_000)).expect("written");
    let copy =
        |arguments: &str, to: &str| format!("nbdkit -U - curl {arguments} --run 'nbdcopy \"$uri\" {to}'");
    for (arguments, to) in [
        ("$HTTP/disk", "plain"),
        ("$HTTP/moved/disk", "moved"),
        ("$HTTPS/disk cainfo=$CA", "secure"),
        ("$HTTPS/disk sslverify=false", "insecure"),
        ("$HTTP/private/disk user=user password=secret", "login"),
    ] {
        site.must(&copy(arguments, to));
    }
    for name in ["plain", "moved", "secure", "insecure", "login"] {
        assert!(std::fs::read(site.place.path().join(name)).ok() == Some(pattern(1_000_000)), "{name}");
    }
    let first = site.http.requests();
    assert!(first[0].is_head() && first[1].field("Range").is_some_and(|range| range.starts_with("bytes=0-")));
    site.fails(&copy("$HTTP/none", "none"), "404");
    site.fails(&copy("$HTTPS/disk", "untrusted"), "certificate");
    site.fails(&copy("$REFUSED/disk", "refused"), "Failed to connect to 127.0.0.1");
}

/// Four thousand reads of a hundred bases on two chromosomes, in order.
fn reads() -> String {
    let mut text =
        String::from("@HD\tVN:1.6\tSO:coordinate\n@SQ\tSN:one\tLN:200000\n@SQ\tSN:two\tLN:200000\n");
    for index in 0..4000_usize {
        let (name, position) = (["one", "two"][index / 2000], (index % 2000) * 99 + 1);
        let bases: String =
            (0..100).map(|i| ['A', 'C', 'G', 'T'][(index * 31 + i * i * 7) / 3 % 4]).collect();
        text +=
            &format!("r{index}\t0\t{name}\t{position}\t60\t100M\t*\t0\t0\t{bases}\t{}\n", "I".repeat(100));
    }
    text
}

fn samtools(run: &Context) {
    let site = Site::new(run);
    site.place.write("reads.sam", reads()).expect("written");
    site.must("samtools view -b reads.sam -o $ROOT/reads.bam && samtools index $ROOT/reads.bam");
    let local = site.must("samtools view $ROOT/reads.bam two:50000-51000");
    assert_eq!(local.lines().count(), 11);
    assert_eq!(site.must("samtools view $HTTP/reads.bam two:50000-51000"), local);
    assert_eq!(site.must("CURL_CA_BUNDLE=$CA samtools view $HTTPS/reads.bam two:50000-51000"), local);
    assert!(site.http.requests().iter().any(|request| request.field("Range").is_some()), "no seek");
    assert_eq!(site.must("samtools view -c $HTTP/reads.bam"), "4000\n");
    assert_eq!(site.must("samtools view -c $HTTP/moved/reads.bam"), "4000\n");
    site.must("samtools quickcheck $HTTP/reads.bam");
    site.must("samtools view -b reads.sam -o $HTTP/sent.bam");
    assert_eq!(site.must("samtools view -c $ROOT/sent.bam"), "4000\n");
    site.fails("samtools view -c $HTTP/none.bam", "No such file");
    site.fails("samtools view -c $REFUSED/reads.bam", "Connection refused");
    site.fails("samtools view -c $HTTPS/reads.bam", "failed to open");
}

fn debuginfod(run: &Context) {
    let site = Site::new(run);
    let id = "0123456789abcdef0123456789abcdef01234567";
    std::fs::create_dir_all(site.root.path().join("buildid").join(id)).expect("a folder is made");
    site.root.write(&format!("buildid/{id}/debuginfo"), pattern(400_000)).expect("written");
    let find = |urls: &str, id: &str| format!("DEBUGINFOD_URLS=\"{urls}\" debuginfod-find debuginfo {id}");
    let path = site.must(&find("$HTTP/none/ $HTTP/ $REFUSED/", id));
    assert!(std::fs::read(path.trim()).ok() == Some(pattern(400_000)), "{path}");
    let asked = site.http.served();
    // debuginfod-find asks all at once, and ends the others when one has the file.
    assert!((1..=2).contains(&asked), "{asked}");
    assert_eq!(site.must(&find("$HTTP/", id)), path);
    assert_eq!(site.http.served(), asked, "it was kept");
    site.fails(&find("$HTTP/ $HTTP/none/", &id.replace('0', "1")), "No such file");
    site.fails(&find("$REFUSED/", &id.replace('0', "2")), "Connection refused");
}

/// Parts of a file that the place has in another version; nginx sends several ranges in one answer.
fn zchunk(run: &Context) {
    let site = Site::new(run);
    site.must(
        "seq 1 400000 > old; (seq 1 90000; echo new; seq 90001 260000; echo newer; seq 260001 400000) > new",
    );
    site.must("zck -o old.zck old && zck -o new.zck new");
    let new = std::fs::read(site.place.path().join("new.zck")).expect("zck makes it");
    run.world.nginx.write(&format!("{}.zck", run.subject.name()), &new).expect("written");
    let url = run.world.nginx.http(&format!("/{}.zck", run.subject.name()));
    let message = site.must(&format!("mkdir at && cd at && zckdl -s ../old.zck {url} 2>&1"));
    assert!(
        std::fs::read(site.place.path().join("at").join(format!("{}.zck", run.subject.name()))).ok()
            == Some(new)
    );
    assert!(message.contains("Downloading") || message.contains("ownloaded"), "{message}");
    site.fails("zckdl $HTTP/none.zck", "404");
}

fn check_curl(run: &Context) {
    let site = Site::new(run);
    let (plain, secure) = (site.http.port().to_string(), site.https.port().to_string());
    site.root.write("hello", "hello\n").expect("written");
    let check = |arguments: &str| {
        let output = site.shell(&format!("/usr/lib/nagios/plugins/check_curl -t 5 {arguments}"));
        let start: Vec<_> = output.stdout.splitn(3, ' ').take(2).collect();
        (output.status, start.join(" ").trim_end_matches(':').to_owned())
    };
    let rows = [
        (format!("-H 127.0.0.1 -p {plain} -u /hello"), 0, "HTTP OK"),
        (format!("-H 127.0.0.1 -p {plain} -u /hello -s hello"), 0, "HTTP OK"),
        (format!("-H 127.0.0.1 -p {plain} -u /hello -s nothing"), 2, "HTTP CRITICAL"),
        (format!("-H 127.0.0.1 -p {plain} -u /status/404"), 1, "HTTP WARNING"),
        (format!("-H 127.0.0.1 -p {plain} -u /status/404 -e 404"), 0, "HTTP OK"),
        (format!("-H 127.0.0.1 -p {plain} -u /moved/hello -f follow"), 0, "HTTP OK"),
        (format!("-H 127.0.0.1 -p {plain} -u /moved/hello -f critical"), 2, "HTTP CRITICAL"),
        (format!("-H 127.0.0.1 -p {plain} -u /basic/user/secret -a user:secret"), 0, "HTTP OK"),
        (format!("-H 127.0.0.1 -p {plain} -u /body -P a=b -s a=b"), 0, "HTTP OK"),
        (format!("-H 127.0.0.1 -p {plain} -u /hello -m 10000"), 1, "HTTP WARNING"),
        (format!("-H localhost -I 127.0.0.1 -p {secure} -u /hello -S"), 0, "HTTP OK"),
        (format!("-H localhost -I 127.0.0.1 -p {secure} -u /hello -S -D --ca-cert=$CA"), 0, "HTTP OK"),
        (format!("-H localhost -I 127.0.0.1 -p {secure} -u /hello -S -D"), 2, "HTTP CRITICAL"),
    ];
    for (arguments, status, start) in rows {
        assert_eq!(check(&arguments), (Some(status), start.to_owned()), "check_curl {arguments}");
    }
    check_curl_certificate(&site);
    let agent = site.http.last_request().and_then(|request| request.field("User-Agent").map(str::to_owned));
    assert_eq!(agent.is_some_and(|agent| agent.contains("8.22.0")), run.ours());
}

/// `-C` examines the certificate with a callback on OpenSSL: it warns about one that expires within that many
/// days.
fn check_curl_certificate(site: &Site) {
    let ended = HttpServer::tls(site.run.world.authority.expired().server_config().expect("a usable pair"));
    authority(site.place.path());
    let of_two_days = Served::start(site.place.path(), &[]);
    let (far, two_days) = (site.https.port().to_string(), of_two_days.port.clone());
    let expired = ended.port().to_string();
    let rows = [
        (&far, "-C 1", 0, "'localhost' will expire"),
        (&far, "-C 9,5", 0, "'localhost' will expire"),
        (&two_days, "-C 5", 1, "'leaf' expires in"),
        (&two_days, "-C 9,5", 2, "'leaf' expires in"),
        (&expired, "-C 1", 2, "'localhost' expired on"),
    ];
    for (port, days, status, message) in rows {
        let line =
            format!("/usr/lib/nagios/plugins/check_curl -t 5 -H localhost -I 127.0.0.1 -p {port} -S {days}");
        let output = site.shell(&line);
        assert_eq!(output.status, Some(status), "{line}: {output:?}");
        assert!(output.stdout.contains(message), "{line}: {output:?}");
    }
}

fn html_xml_utils(run: &Context) {
    let site = Site::new(run);
    let page =
        "<html><head><title>t</title></head><body><p>one<p>two <a href=\"other\">x</a></body></html>\n";
    site.root.write("page.html", page).expect("written");
    let normal = site.must("hxnormalize $ROOT/page.html");
    assert!(normal.contains("<p>two"), "{normal}");
    assert_eq!(site.must("hxnormalize $HTTP/page.html"), normal);
    assert_eq!(site.must("hxnormalize $HTTP/moved/page.html"), normal);
    assert!(site.must("hxwls $HTTP/page.html").contains("other"));
    site.fails("hxnormalize $HTTP/status/404", "Not Found");
    site.fails("hxnormalize $REFUSED/page.html", "Input/output error");
}

fn pecl_http(run: &Context) {
    let site = Site::new(run);
    let output = site.script(&mut Command::new("php"), "pecl_http.php");
    let expected = [
        ("get", "200,6,1"),
        ("big", "200,335114"),
        ("moved", "200,6,1"),
        ("put", "201"),
        ("back", "9"),
        ("form", "1,1"),
        ("resumed", "206,114"),
        ("refused", "http\\Exception\\RuntimeException"),
        ("untrusted", "http\\Exception\\RuntimeException"),
        ("multi", "20,200000,1"),
        ("libevent", "20,200000,1"),
        ("stepped", "0,200,404"),
        ("progress", "1,335114"),
        ("debug", "1"),
        ("persistent", "0"),
        ("thrown", "thrown"),
        ("after", "200,6,1"),
    ];
    expect(&output, &expected);
}

fn tclcurl(run: &Context) {
    let site = Site::new(run);
    let output = site.script(&mut Command::new("tclsh"), "tclcurl.tcl");
    let expected = [
        ("ours", if run.ours() { "1" } else { "0" }),
        ("plain", "0,200,6,Accept-Ranges:Content-Length:http,HTTP/1.1"),
        ("range", "0,206,5,Content-Length:Content-Range:http,HTTP/1.1"),
        ("moved", "0,200,6,Accept-Ranges:Content-Length:Location:http,HTTP/1.1"),
        ("login", "0,200,8,Content-Length:WWW-Authenticate:http,HTTP/1.1"),
        ("missing", "22,404,0,Content-Length:http,HTTP/1.1"),
        ("refused", "7,0,0,,"),
        ("untrusted", "60,0,0,,"),
        ("secure", "0,200,335114,Accept-Ranges:Content-Length:http,HTTP/1.1"),
        ("upload", "0,201,4,Content-Length:http,HTTP/1.1"),
        ("chunked", "0,201,4,Content-Length:http,HTTP/1.1"),
        ("sent", "onetwothree,onetwothree"),
        ("written", "335114"),
        ("progress", "335114,1"),
        ("debugged", "211113"),
        ("copied", "335114"),
        ("shared", "name=value"),
        ("words", "a%20b,a_b"),
    ];
    expect(&output, &expected);
}

fn rcurl(run: &Context) {
    let site = Site::new(run);
    let mut rscript = Command::new("Rscript");
    rscript.arg("--vanilla");
    if let Subject::Ours(directory) = run.subject {
        // See `bindings`.
        rscript.env("R_LD_LIBRARY_PATH", format!("{}:/usr/lib/R/lib", directory.display()));
    }
    let output = site.script(&mut rscript, "rcurl.R");
    let expected = [
        ("ours", if run.ours() { "1" } else { "0" }),
        ("text", "6"),
        ("binary", "335114"),
        ("moved", "6"),
        ("many", "8,48"),
        ("several", "12"),
        ("missing", "HTTP_RETURNED_ERROR"),
        ("refused", "COULDNT_CONNECT"),
        ("untrusted", "1"),
        ("secure", "6"),
        ("posted", "a=1&b=two"),
        ("form", "1,1"),
        ("heads", "Accept-Ranges,Content-Length,status,statusMessage"),
        ("debugged", "1"),
        ("cookie", "name=value,1"),
        ("login", "8"),
        ("put", "9"),
        ("file", "335114"),
        ("thrown", "1"),
        ("exists", "TRUE,FALSE"),
        ("complete", "6,36"),
    ];
    expect(&output, &expected);
}
