//! `--mirror-site`: trees of HTTP servers.

use super::{Ran, clean, curl_in, ran};
use crate::{empty_folder, here, run, tool};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use testkit::certs::Authority;
use testkit::http::{HttpServer, Response};
use testkit::launch::Nginx;

/// Pages of the large site in each of its folders.
const PAGES: usize = 40;

/// Serves documents by path and query, and notes what is requested.
struct Site {
    server: HttpServer,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Site {
    fn new(answer: impl Fn(&str, &[(String, String)]) -> Option<Response> + Send + Sync + 'static) -> Site {
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = requests.clone();
        let server = HttpServer::with(move |request| {
            seen.lock().unwrap().push(request.target.clone());
            Some(answer(&request.target, &request.fields).unwrap_or_else(|| Response::status(404)))
        });
        Site { server, requests }
    }

    fn of(documents: &'static [(&'static str, &'static str)]) -> Site {
        Site::new(move |target, _| {
            let (_, text) = documents.iter().find(|(path, _)| *path == target)?;
            Some(document(target, text))
        })
    }

    /// Returns the paths that were requested since the last time, sorted.
    fn taken(&self) -> Vec<String> {
        let mut paths = std::mem::take(&mut *self.requests.lock().unwrap());
        paths.sort();
        paths
    }
}

/// Runs the tool so that it prints its summary, and no meter.
pub(super) fn mirrored(folder: PathBuf, words: &[&str]) -> Ran {
    curl_in(folder, &[&["--no-silent", "--no-progress-meter"], words].concat())
}

fn document(target: &str, text: &str) -> Response {
    let kind = match target.split('?').next().unwrap_or_default().rsplit('.').next() {
        Some("css") => "text/css",
        Some("txt") => "text/plain",
        Some("png") => "image/png",
        _ => "text/html; charset=utf-8",
    };
    Response::ok(text).with("Content-Type", kind)
}

/// Returns the files below a folder, without those of the state.
pub(super) fn files(folder: &Path) -> BTreeSet<String> {
    fn walk(folder: &Path, prefix: &str, found: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            match entry.file_type().unwrap().is_dir() {
                true if name == ".warmwire-mirror" => {}
                true => walk(&entry.path(), &format!("{name}/"), found),
                false => drop(found.insert(name)),
            }
        }
    }
    let mut found = BTreeSet::new();
    walk(folder, "", &mut found);
    found
}

/// Returns the files of the only host of a mirror, without its folder.
fn site_files(folder: &Path) -> Vec<String> {
    let cut = |name: &String| name.split_once('/').map_or(name.clone(), |(_, rest)| rest.to_owned());
    files(folder).iter().map(cut).collect()
}

/// Writes a site of a few hundred pages: links in all forms, queries, odd names, deep folders.
fn write_large_site(nginx: &Nginx) {
    let page = |body: String| {
        format!(
            "<!DOCTYPE html><html><head><link rel=stylesheet href='/site/style/main.css'></head>{body}</html>"
        )
    };
    let put = |name: &str, text: &str| nginx.write(&format!("site/{name}"), text).unwrap();
    let folders = ["a", "a/b", "a/b/c", "b c", "\u{e4}"];
    let escaped = ["a", "a/b", "a/b/c", "b%20c", "%C3%A4"];
    let mut index = String::from(
        "<a href=missing.html>x</a><a href='http://other.invalid/x'>y</a><a href=mailto:x@y>z</a>",
    );
    for (folder, link) in folders.iter().zip(escaped) {
        index.push_str(&format!("<a href=\"{link}/0.html\">x</a><a href='{link}/'>y</a>"));
        put(&format!("{folder}/index.html"), &page("<a href=1.html>one</a>".into()));
        for number in 0..PAGES {
            let next = (number + 1) % PAGES;
            let body = format!(
                "<a href={next}.html#part>next</a><a href=/site/?a={number}&amp;b=2>query</a>\
                 <img src=../pic.png srcset=\"img{number}.png 1x, /site/pic.png 2x\">\
                 <p style=\"background: url('img{number}.png')\"><a href='#here'>here</a>"
            );
            put(&format!("{folder}/{number}.html"), &page(body));
            put(&format!("{folder}/img{number}.png"), "image");
        }
    }
    put("a/pic.png", "image");
    put("a/b/pic.png", "image");
    put("pic.png", "image");
    put("style/main.css", "@import 'more.css';\nbody { background: url(../pic.png) }");
    put("style/more.css", "/* url(no.png) */ a { background: URL( \"deep/x.png\" ) }");
    put("style/deep/x.png", "image");
    put("based/page.html", "<html><base href='/site/a/'><a href=2.html>two</a><img src=pic.png></html>");
    put("refresh.html", "<html><meta http-equiv=refresh content='0; url=a/3.html'></html>");
    index.push_str("<a href=based/page.html>b</a><a href=refresh.html>r</a><iframe src='a/4.html'></iframe>");
    put("index.html", &page(index));
}

/// Returns the links of a tree, resolved, with the names of a mirror of wget as this tool makes them.
fn link_graph(folder: &Path) -> BTreeSet<String> {
    let script = here().join("link_graph.py").display().to_string();
    let out = run("python3", &[&script, &folder.display().to_string()], folder);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let text = String::from_utf8(out.stdout).unwrap();
    let renamed = |name: &str| match name.starts_with("http:") {
        true => name.to_owned(),
        false => name.replacen("127.0.0.1:", "127.0.0.1+", 1).replace('?', "@"),
    };
    let lines = text.lines().map(|line| line.split('\t').map(renamed).collect::<Vec<_>>().join("\t"));
    lines.collect()
}

#[test]
fn a_site_has_the_files_and_links_of_wget() {
    let nginx = Nginx::start(&Authority::new().good(), &[]).unwrap();
    write_large_site(&nginx);
    let url = nginx.http("/site/");
    let ours = mirrored(empty_folder(), &["--mirror-site", "--convert-links", "--no-robots", &url]);
    assert_eq!(ours.code, 22, "one link is dead: {}", ours.stderr);
    let theirs = empty_folder();
    let mut wget = Command::new("wget");
    wget.args([
        "-q",
        "-r",
        "-l",
        "20",
        "-p",
        "-np",
        "-k",
        "-e",
        "robots=off",
        "--restrict-file-names=nocontrol",
        &url,
    ]);
    ran(&mut wget, theirs.clone());
    let (ours, theirs) = (link_graph(&ours.folder), link_graph(&theirs));
    assert!(ours.len() > 1000, "{}", ours.len());
    let difference: Vec<_> = ours.symmetric_difference(&theirs).collect();
    assert!(difference.is_empty(), "{difference:#?}");
}

/// wget2 has one file for a folder's page under all queries. With `-p` it follows one link and no more, and
/// without it no style sheet; in the locale C it leaves out names beyond ASCII. The other pages are compared.
#[test]
fn a_site_has_the_pages_of_wget2() {
    let nginx = Nginx::start(&Authority::new().good(), &[]).unwrap();
    write_large_site(&nginx);
    let url = nginx.http("/site/");
    let ours = mirrored(empty_folder(), &["--mirror-site", "--no-robots", &url]);
    let theirs = empty_folder();
    let mut wget = Command::new("wget2");
    wget.args(["-q", "-r", "-l", "20", "-np", "--robots=off", &url]);
    ran(&mut wget, theirs.clone());
    let pages = |folder: &Path| -> BTreeSet<String> {
        let names = site_files(folder).into_iter().filter(|name| name.contains(".html") && name.is_ascii());
        names.map(|name| name.split('@').next().unwrap_or_default().to_owned()).collect()
    };
    let (ours, theirs) = (pages(&ours.folder), pages(&theirs));
    let difference: Vec<_> = ours.symmetric_difference(&theirs).collect();
    assert!(ours.len() > 80 && difference.is_empty(), "{difference:#?}");
}

/// Twenty requests a second are 50 ms apart.
#[test]
fn a_rate_is_kept() {
    let site = Site::of(SMALL);
    let begun = Instant::now();
    let words =
        ["--mirror-site", "--no-robots", "--rate", "20/s", "--depth", "1", &site.server.url("/docs/")];
    let ran = mirrored(empty_folder(), &words);
    assert_eq!((ran.code, site_files(&ran.folder).len()), (0, 6), "{}", ran.stderr);
    assert!(begun.elapsed() >= Duration::from_millis(250));
}

const SMALL: &[(&str, &str)] = &[
    ("/docs/", "<a href=a.html>a</a><a href=/above.html>b</a><img src=/above.png><a href=deep/1.html>d</a>"),
    ("/docs/a.html", "<a href=b.txt>b</a><a href=c.zip>c</a>"),
    ("/docs/b.txt", "text"),
    ("/docs/c.zip", "archive"),
    ("/docs/deep/1.html", "<a href=2.html>2</a><link rel=stylesheet href=s.css>"),
    ("/docs/deep/2.html", "<a href=3.html>3</a>"),
    ("/docs/deep/3.html", "end"),
    ("/docs/deep/s.css", "a { b: url(i.png) }"),
    ("/docs/deep/i.png", "image"),
    ("/above.html", "<a href=other/>x</a>"),
    ("/above.png", "image"),
    ("/other/", "other"),
];

#[test]
fn limits_of_a_mirror() {
    let site = Site::of(SMALL);
    let url = site.server.url("/docs/");
    let whole = ["above.png", "docs/a.html", "docs/b.txt", "docs/c.zip"];
    let deep =
        ["docs/deep/1.html", "docs/deep/2.html", "docs/deep/3.html", "docs/deep/i.png", "docs/deep/s.css"];
    let all = [&whole[..], &deep, &["docs/index.html"]].concat();
    let no_zip: Vec<_> = all.iter().copied().filter(|name| !name.ends_with(".zip")).collect();
    let shallow =
        [&whole[..2], &["docs/deep/1.html", "docs/deep/i.png", "docs/deep/s.css", "docs/index.html"]]
            .concat();
    let with_above = [&["above.html"], &all[..], &["other/index.html"]].concat();
    for (words, expected) in [
        (&[][..], all),
        (&["--depth", "1"], shallow),
        (&["--depth", "0"], vec!["above.png", "docs/index.html"]),
        (&["--reject", "*.zip"], no_zip),
        (&["--reject", "/docs/deep/*,*.zip,*.png"], vec!["docs/a.html", "docs/b.txt", "docs/index.html"]),
        (&["--accept", "*.txt"], vec!["docs/b.txt"]),
        (&["--mirror-parents"], with_above),
        (&["--max-files", "1"], vec!["docs/index.html"]),
        (&["--max-total", "1"], vec!["docs/index.html"]),
    ] {
        let ran =
            mirrored(empty_folder(), &[&["--mirror-site", "--parallel-max", "1"], words, &[&url]].concat());
        assert_eq!(ran.code, 0, "{words:?}: {}", ran.stderr);
        assert_eq!(site_files(&ran.folder), expected, "{words:?}: {}", ran.stderr);
    }
}

#[test]
fn endless_sites_and_loops_end() {
    let site = Site::new(|target, _| match target.strip_prefix("/day/") {
        Some(day) => {
            let day: u64 = day.parse().ok()?;
            Some(document(".html", &format!("<a href={}>next</a><a href={}/>same</a>", day + 1, target)))
        }
        None if target == "/loop" => Some(Response::status(302).with("Location", "/loop2")),
        None if target == "/loop2" => Some(Response::status(301).with("Location", "/loop")),
        None if target == "/far" => Some(Response::status(302).with("Location", "http://other.invalid/")),
        None if target == "/start" => Some(Response::status(302).with("Location", "/moved/here/")),
        None if target == "/moved/here/" => Some(document("", "<a href=page>x</a><a href=../page>y</a>")),
        None if target == "/moved/here/page" => Some(document("", "page")),
        None => None,
    });
    let at = |path: &str, more: &[&str]| {
        mirrored(empty_folder(), &[&["--mirror-site", &site.server.url(path)], more].concat())
    };
    let days = at("/day/1", &["--depth", "7"]);
    assert_eq!((site_files(&days.folder).len(), days.code), (8, 22), "{}", days.stderr);
    assert!(days.stderr.contains("beyond --depth"), "{}", days.stderr);
    assert_eq!(site_files(&at("/day/1", &["--max-files", "30"]).folder).len(), 16);
    for path in ["/loop", "/far"] {
        let ran = at(path, &[]);
        assert_eq!(files(&ran.folder).len(), 0, "{path}: {}", ran.stderr);
    }
    let moved = at("/start", &[]);
    assert_eq!(
        (moved.code, site_files(&moved.folder)),
        (0, vec!["moved/here/index.html".into(), "moved/here/page".into()])
    );
}

/// CWE-22: no URL names a file outside.
#[test]
fn hostile_names_stay_inside() {
    let links = [
        "/%2e%2e/%2e%2e/up1",
        "/..%2f..%2f..%2fup2",
        "/..%5c..%5cup3",
        "/a//b",
        "/.warmwire-mirror/state",
        "/%00nul",
        "/%0d%0aline",
        "/a%2fb",
        "/x?q=../../../up4",
        "/dir",
        "/dir/file",
        "/DIR/File",
        "/link/inside",
        "/-o",
        "/~",
        "/CON",
    ];
    let page: String = links.iter().map(|link| format!("<a href='{link}'>x</a>")).collect();
    let site = Site::new(move |target, _| match target {
        "/" => Some(document("", &page)),
        "/robots.txt" => None,
        _ => Some(Response::ok("file").with("Content-Type", "text/plain")),
    });
    let folder = empty_folder();
    let target = folder.join("target");
    let host = format!("127.0.0.1+{}", site.server.address().port());
    fs::create_dir_all(target.join(&host)).unwrap();
    fs::create_dir(folder.join("outside")).unwrap();
    std::os::unix::fs::symlink(folder.join("outside"), target.join(&host).join("link")).unwrap();
    let ran = mirrored(folder.clone(), &["--mirror-site", "--output-dir", "target", &site.server.url("/")]);
    assert_eq!(ran.code, 23, "{}", ran.stderr);
    assert!(ran.stderr.contains("/link/inside: cannot write"), "{}", ran.stderr);
    assert_eq!(files(&folder.join("outside")).len(), 0);
    let outside = files(&folder).into_iter().filter(|name| !name.starts_with(&format!("target/{host}/")));
    let outside: Vec<_> = outside.filter(|name| !name.starts_with("target/.warmwire-mirror/")).collect();
    assert_eq!(outside, Vec::<String>::new());
    assert_eq!(files(&target).len(), links.len() + 1, "{:?}", files(&target));
}

#[test]
fn other_hosts_get_no_login() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noted = seen.clone();
    let other = Site::new(move |target, fields| {
        let names: Vec<_> = fields.iter().map(|(name, _)| name.to_lowercase()).collect();
        noted.lock().unwrap().extend(names);
        (target == "/x").then(|| document("", "other"))
    });
    let link = format!("<a href='{}'>x</a><a href=own>y</a>", other.server.url("/x"));
    let site = Site::new(move |target, fields| {
        let is_known = fields.iter().any(|(name, value)| name == "Authorization" && value == "Basic dTpw");
        match target {
            "/" if is_known => Some(document("", &link)),
            "/own" if is_known => Some(document("", "own")),
            _ => Some(Response::status(401)),
        }
    });
    let url = site.server.url("/").replace("http://", "http://u:p@");
    let host = format!("127.0.0.1:{}", other.server.address().port());
    let words = ["--mirror-site", "--mirror-hosts", &host, "-H", "X-Key: secret", "-b", "a=b", &url];
    let ran = mirrored(empty_folder(), &words);
    assert_eq!((ran.code, files(&ran.folder).len()), (0, 3), "{}", ran.stderr);
    let seen = seen.lock().unwrap();
    assert!(seen.contains(&"host".to_owned()));
    for name in ["authorization", "x-key", "cookie"] {
        assert!(!seen.contains(&name.to_owned()), "{name}");
    }
}

#[test]
fn rules_of_a_server_are_obeyed() {
    let with_rules = |status: u16, rules: &'static str| {
        Site::new(move |target, _| match target {
            "/robots.txt" => Some(Response { body: rules.into(), ..Response::status(status) }),
            "/" => Some(document("", "<a href=private/x>x</a><a href=open>y</a><a href=more>z</a>")),
            "/more" => {
                Some(document("", "<meta name=robots content=nofollow><a href=hidden>x</a><img src=i.png>"))
            }
            "/open" | "/hidden" | "/private/x" | "/i.png" => Some(document(target, "text")),
            _ => None,
        })
    };
    let all = vec!["hidden", "i.png", "index.html", "more", "open", "private/x"];
    let obedient = vec!["i.png", "index.html", "more", "open"];
    for (status, rules, words, expected, code) in [
        (200, "User-agent: curl\nDisallow: /private/\n", &[][..], obedient.clone(), 0),
        (200, "User-agent: robot\nDisallow: /private/\n", &["-A", "Robot/1.0"], obedient, 0),
        (
            200,
            "User-agent: robot\nDisallow: /\n",
            &[],
            vec!["i.png", "index.html", "more", "open", "private/x"],
            0,
        ),
        (503, "", &[], vec![], 22),
        (200, "User-agent: *\nDisallow: /\n", &["--no-robots"], all, 0),
    ] {
        let site = with_rules(status, rules);
        let ran = mirrored(empty_folder(), &[&["--mirror-site"], words, &[&site.server.url("/")]].concat());
        assert_eq!(
            (site_files(&ran.folder), ran.code),
            (expected.iter().map(|s| s.to_string()).collect(), code),
            "{rules} {}",
            ran.stderr
        );
        let asked = site.taken().iter().filter(|path| *path == "/robots.txt").count();
        assert_eq!(asked, usize::from(!words.contains(&"--no-robots")));
    }
    let slow = with_rules(200, "User-agent: *\nCrawl-delay: 0.2\n");
    let begun = Instant::now();
    mirrored(empty_folder(), &["--mirror-site", &slow.server.url("/")]);
    assert!(begun.elapsed() >= Duration::from_millis(800), "five files");
}

/// Starts a mirror, and ends it by SIGKILL when so many requests have come.
fn killed_after(site: &Site, folder: &Path, count: usize) {
    let mut command = Command::new(tool());
    let words = ["-sS", "--mirror-site", "--depth", "1000", "--parallel-max", "2", &site.server.url("/")];
    let mut child = clean(&mut command).args(words).current_dir(folder).stdin(Stdio::null()).spawn().unwrap();
    let begun = Instant::now();
    while site.requests.lock().unwrap().len() < count && child.try_wait().unwrap().is_none() {
        assert!(begun.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_killed_mirror_continues() {
    const COUNT: usize = 200;
    let body = |number: usize| format!("<a href=/{}>next</a>{}", number + 1, "x".repeat(50_000));
    let site = Site::new(move |target, _| {
        let number = if target == "/" { 0 } else { target[1..].parse().ok()? };
        (number < COUNT).then(|| document("", &body(number)))
    });
    let folder = empty_folder();
    let mut requests = Vec::new();
    for count in [20, 50, 30] {
        killed_after(&site, &folder, count);
        requests.extend(site.taken());
        for name in files(&folder) {
            assert!(fs::metadata(folder.join(&name)).unwrap().len() > 50_000, "{name} is not complete");
        }
    }
    let ran = mirrored(folder, &["--mirror-site", "--depth", "1000", &site.server.url("/")]);
    assert_eq!((ran.code, files(&ran.folder).len()), (22, COUNT), "{}", ran.stderr);
    assert!(ran.stderr.contains("fetched before"), "{}", ran.stderr);
    requests.extend(site.taken());
    requests.retain(|path| path != "/robots.txt");
    assert!(requests.len() <= COUNT + 1 + 3 * 3, "{} requests", requests.len());
    assert_eq!(fs::read_dir(ran.folder.join(".warmwire-mirror/drafts")).unwrap().count(), 0);
}

/// Which documents a server has, by path, with their versions.
type Documents = Arc<Mutex<Vec<(&'static str, u32)>>>;

fn versioned(documents: Documents) -> Site {
    Site::new(move |target, fields| {
        let documents = documents.lock().unwrap();
        let (path, version) = documents.iter().find(|(path, _)| *path == target)?;
        let tag = format!("\"{version}\"");
        if fields.iter().any(|(name, value)| name.eq_ignore_ascii_case("if-none-match") && *value == tag) {
            return Some(Response { body: Vec::new(), ..Response::status(304) }.with("ETag", tag));
        }
        let links: String = documents.iter().map(|(path, _)| format!("<a href={path}>x</a>")).collect();
        let text = if *path == "/" { links } else { format!("<a href=/>v{version}</a>") };
        Some(document(path, &text).with("ETag", tag).with("Last-Modified", "Wed, 21 Oct 2015 07:28:00 GMT"))
    })
}

#[test]
fn a_sync_fetches_what_has_changed() {
    let documents: Documents = Arc::new(Mutex::new(vec![("/", 1), ("/a", 1), ("/b", 1), ("/c", 1)]));
    let site = versioned(documents.clone());
    let url = site.server.url("/");
    for convert in [&[][..], &["--convert-links"]] {
        *documents.lock().unwrap() = vec![("/", 1), ("/a", 1), ("/b", 1), ("/c", 1)];
        let folder = empty_folder();
        let sync = |words: &[&str]| {
            let ran = mirrored(folder.clone(), &[&["--mirror-site"], convert, words, &[&url]].concat());
            assert_eq!(ran.code, 0, "{}", ran.stderr);
            ran.stderr
        };
        let host = folder.join(format!("127.0.0.1+{}", site.server.address().port()));
        let text = |name: &str| fs::read_to_string(host.join(name)).unwrap();
        assert!(sync(&["--sync"]).contains("4 files fetched"));
        let time = fs::metadata(host.join("a")).unwrap().modified().unwrap();
        assert_eq!(time, std::time::UNIX_EPOCH + Duration::from_secs(1_445_412_480));
        assert!(sync(&["--sync"]).contains("0 files fetched (0 B), 4 unchanged"));
        documents.lock().unwrap()[1].1 = 2;
        assert!(sync(&["--sync"]).contains("1 file fetched"));
        assert!(text("a").contains("v2"));
        fs::write(host.join("mine"), "mine").unwrap();
        if convert.is_empty() {
            fs::write(host.join("b"), "damaged").unwrap();
            assert!(sync(&["--sync"]).contains("1 file fetched"));
            assert!(text("b").contains("v1"));
        }
        *documents.lock().unwrap() = vec![("/", 2), ("/a", 2), ("/b", 1)];
        assert!(sync(&["--sync"]).contains("3 unchanged") || text("c").contains("v1"));
        let ended = sync(&["--sync-delete"]);
        assert!(ended.contains("1 removed"), "{ended}");
        let left: Vec<_> = site_files(&folder);
        assert_eq!(left, ["a", "b", "index.html", "mine"]);
        assert_eq!(text("index.html").contains("href=\"a\""), !convert.is_empty(), "{}", text("index.html"));
    }
}

#[test]
fn a_sync_of_single_files() {
    let documents: Documents = Arc::new(Mutex::new(vec![("/a", 1), ("/b", 1)]));
    let site = versioned(documents.clone());
    let folder = empty_folder();
    let (a, b) = (site.server.url("/a"), site.server.url("/b"));
    let sync = || {
        let words = ["--sync", "--output-dir", "out", "-o", "one", &a, "-O", &b];
        let ran = mirrored(folder.clone(), &words);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        ran.stderr
    };
    assert!(sync().contains("2 files fetched"));
    assert!(sync().contains("2 unchanged"));
    documents.lock().unwrap()[0].1 = 2;
    let json = mirrored(folder.clone(), &["--sync", "--watch-json", "--output-dir", "out", "-o", "one", &a]);
    let parts = ["{\"event\":\"changed\",\"time\":\"20", "\"etag\":\"\\\"2\\\"\",\"file\":\"out/one\"}\n"];
    assert!(json.stdout.starts_with(parts[0]) && json.stdout.ends_with(parts[1]), "{}", json.stdout);
    assert!(fs::read_to_string(folder.join("out/one")).unwrap().contains("v2"));
    assert_eq!(files(&folder.join("out")).into_iter().collect::<Vec<_>>(), ["b", "one"]);
    assert!(!site.taken().contains(&"/robots.txt".to_owned()));
    let renamed = mirrored(folder.clone(), &["--sync", "--output-dir", "out", "-o", "two", &a]);
    assert!(
        renamed.stderr.contains("1 file fetched") && folder.join("out/two").exists(),
        "{}",
        renamed.stderr
    );
    for wrong in
        [&["-o", "../x"][..], &[], &["-o", "/tmp/x"], &["-o", "x", &b, "-o", "x"], &["-O", &a, "-o", "y"]]
    {
        let ran = mirrored(folder.clone(), &[&["--sync"], wrong, &[&a]].concat());
        assert_eq!(ran.code, 2, "{wrong:?} {}", ran.stderr);
    }
}

#[test]
fn what_a_mirror_cannot_have_is_refused() {
    for words in [
        &["-d", "x"][..],
        &["-I"],
        &["-o", "x"],
        &["-O"],
        &["-C", "-"],
        &["-r", "1-2"],
        &["-T", "/dev/null"],
        &["--segments", "2"],
        &["-X", "GET"],
        &["--watch", "1s"],
    ] {
        let ran = mirrored(empty_folder(), &[&["--mirror-site"], words, &["http://127.0.0.1:1/"]].concat());
        assert_eq!(ran.code, 2, "{words:?} {}", ran.stderr);
        assert!(ran.stderr.contains("--mirror-site can't be combined with"), "{words:?} {}", ran.stderr);
        assert_eq!(files(&ran.folder).len(), 0);
    }
    assert_eq!(mirrored(empty_folder(), &["--mirror-site", "file:///etc/passwd"]).code, 2);
}
