//! Tests of sections: patterns of hosts, precedence, and which flags may stand there.

use super::*;
use crate::flags::{self, Arg};
use crate::message::Messages;
use crate::parse::sections::{self, FLAGS};
use crate::parse::{Reader, Stop, Wrong};
use crate::request::Globals;
use crate::settings::{Job, settings};
use crate::world::fake::Fake;
use std::io;

fn section(line: &str) -> HostSection {
    sections::parse(line.as_bytes()).unwrap()
}

#[test]
fn hosts_of_sections() {
    let rows = [
        ("[host example.com]", "https://example.com/a", true),
        ("[host example.com]", "http://EXAMPLE.com.:8080", true),
        ("[host Example.COM.]", "example.com", true),
        ("[host example.com]", "https://www.example.com/", false),
        ("[host example.com]", "https://example.com.evil.test/", false),
        ("[host example.com]", "https://example.com@evil.test/", false),
        ("[host example.com]", "https://evil.test/example.com", false),
        ("[host *.example.com]", "https://a.b.example.com/", true),
        ("[host *.example.com]", "https://example.com/", false),
        ("[host *.example.com]", "https://badexample.com/", false),
        ("[host example.com:8443]", "https://example.com:8443/", true),
        ("[host example.com:443]", "https://example.com/", true),
        ("[host example.com:443]", "http://example.com/", false),
        ("[host [::1]:8080]", "http://[0:0::1]:8080/", true),
        ("[host [::1]]", "http://[::1]/", true),
        ("[host [::1]]", "http://[::2]/", false),
        ("[host 127.0.0.1]", "ftp://127.0.0.1/", true),
        ("[host a.test b.test]", "http://b.test/", true),
        ("[host *]", "http://anything/", true),
        ("[host a.test]", "", false),
    ];
    for (line, url, fits) in rows {
        assert_eq!(!matching(&[section(line)], url.as_bytes()).numbers.is_empty(), fits, "{line} {url}");
    }
}

#[test]
fn faulty_first_lines_are_refused() {
    for line in [
        "[host]",
        "[host ]",
        "[hosts a]",
        "[hosta]",
        "[a]",
        "[host a",
        "[host a*b]",
        "[host *a]",
        "[host *.]",
        "[host a:x]",
        "[host a:70000]",
        "[host a:]",
        "[host ::1]",
        "[host http://a/]",
        "[host u@a]",
        "[]",
    ] {
        assert!(sections::parse(line.as_bytes()).is_err(), "{line}");
    }
}

/// Reads a config file, and returns its sections and the request outside of them.
fn read(config: &str) -> Result<(Vec<HostSection>, Request), Stop> {
    let mut world = Fake::with(&[("config", config), ("file", "")]);
    let mut reader = Reader::new(&mut world, Messages::new(Box::new(io::sink()), None));
    reader.words(&[b"-K".to_vec(), b"config".to_vec()])?;
    Ok((reader.parser.globals.sections, reader.parser.requests.remove(0)))
}

/// Returns the request of a config file for a URL.
fn request_for(config: &str, url: &str) -> Request {
    let (sections, request) = read(config).unwrap();
    merged(&request, &sections, &matching(&sections, url.as_bytes()))
}

fn text(request: &Request, option: O) -> Option<&str> {
    request.options.text(option).map(|text| std::str::from_utf8(text).unwrap())
}

const CONFIG: &str = "user-agent = all\n\
    [host a.test] # the first\n user = me:secret\n header = \"X-Key: 1\"\n user-agent = a\n insecure\n\
    [host *.test]\n user = other\n header = \"x-key: 2\"\n header = \"X-More: 3\"\n proxy = p.test\n";

#[test]
fn outside_of_sections_wins_and_then_the_first_section() {
    let request = request_for(CONFIG, "https://a.test/");
    assert_eq!(text(&request, O::UserAgent), Some("all"));
    assert_eq!(text(&request, O::UserPwd), Some("me:secret"));
    assert_eq!(request.options.list(O::HttpHeader), [b"X-Key: 1".to_vec(), b"X-More: 3".to_vec()]);
    assert!(request.insecure && text(&request, O::Proxy) == Some("p.test"));
    let request = request_for(CONFIG, "https://b.test/");
    assert!(!request.insecure && text(&request, O::UserPwd) == Some("other"));
    let request = request_for(CONFIG, "https://test/");
    assert!(text(&request, O::UserPwd).is_none() && request.options.list(O::HttpHeader).is_empty());
    // A login in the URL is outside, too; so is another kind of proxy.
    assert!(text(&request_for(CONFIG, "https://you:pw@a.test/"), O::UserPwd).is_none());
    let request = request_for(&format!("proxy-command = \"nc %h %p\"\n{CONFIG}"), "https://a.test/");
    assert!(text(&request, O::Proxy).is_none());
}

#[test]
fn only_listed_flags_may_stand_in_a_section() {
    for line in [
        "output = x",
        "url = http://x/",
        "next",
        "config = file",
        "-o x",
        "location-trusted",
        "cookie-jar = x",
    ] {
        let config = format!("[host a.test]\n{line}\n");
        assert!(matches!(read(&config), Err(Stop::Wrong(Wrong::Allowed(_)))), "{line}");
    }
    assert!(matches!(read("[host a.test]\nnonsense\n"), Err(Stop::Wrong(Wrong::UnknownInConfig))));
    assert!(matches!(read("[host a.test]\ncookie = file\n"), Err(Stop::Wrong(Wrong::Allowed(_)))));
    assert!(read("[host a.test]\n-u me:pw\n--insecure\n-k\n").is_ok());
}

/// A flag that sets more than sections give would have no effect there.
#[test]
fn listed_flags_set_what_sections_give() {
    let is_built = |flag: &str| !flag.starts_with("http3") && !["negotiate", "delegation"].contains(&flag);
    for name in FLAGS.iter().filter(|name| is_built(name)) {
        let (flag, _) = flags::long(name.as_bytes()).unwrap_or_else(|| panic!("{name} is no flag"));
        let value = match (*name, flag.arg) {
            (_, Arg::Bool | Arg::None) => String::new(),
            ("cookie", _) => " = a=b".to_owned(),
            ("tls-max", _) => " = 1.3".to_owned(),
            ("hostpubmd5", _) => format!(" = {}", "0".repeat(32)),
            (_, _) if flag.placeholder().contains("file") => " = file".to_owned(),
            _ => " = 1".to_owned(),
        };
        let (sections, _) = read(&format!("[host a.test]\n{name}{value}\n"))
            .unwrap_or_else(|stop| panic!("{name}{value}: {stop:?}"));
        let given = merged(&Request::default(), &sections, &matching(&sections, b"http://a.test/"));
        assert_eq!(format!("{given:?}"), format!("{:?}", sections[0].request), "{name}");
        assert_ne!(format!("{given:?}"), format!("{:?}", Request::default()), "{name} sets something");
    }
}

#[test]
fn all_options_of_a_section_are_taken_back_elsewhere() {
    let (sections, request) = read(CONFIG).unwrap();
    let with = merged(&request, &sections, &matching(&sections, b"https://a.test/"));
    let job = Job { url: b"https://a.test/".to_vec(), scheme: "https".into(), ..Job::default() };
    let list = |request: &Request| settings(request, &Globals::default(), &job);
    let easy = Easy::new(Rc::new(Nobody));
    let set = |list: &[Setting]| {
        for setting in list.iter().filter_map(|one| Some((one.option, plain(&one.value)?))) {
            easy.set(setting.0, setting.1).unwrap();
        }
    };
    let read = || [O::Username, O::Password, O::Proxy].map(|option| easy.get(option));
    let more = || (easy.get(O::SslVerifyPeer), easy.get(O::HttpHeader));
    set(&list(&request));
    let outside = (read(), more());
    set(&list(&with));
    let inside = (read(), more());
    let applied = AppliedSections::new(vec![0, 1], &list(&request), &list(&with));
    for (url, state) in [
        ("https://a.test/other", &inside),
        ("https://b.test/", &outside),
        ("https://evil.example/", &outside),
        ("http://a.test:81/", &inside),
        ("ftp://evil.example/", &outside),
    ] {
        applied.go_to(&sections, url.as_bytes(), &easy);
        assert!((read(), more()) == *state, "{url}");
    }
    applied.restart(&easy);
    assert!((read(), more()) == inside);
}
