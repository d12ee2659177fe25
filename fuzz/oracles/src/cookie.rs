//! Cookies compared with the crate cookie_store, which follows RFC 6265: whatever servers set, replace and
//! expire in both, a request gets the same cookies from both. Where a cookie is sent is what an attacker
//! would want to change.
//!
//! The input is generated, within the part on which RFC 6265 and curl agree; curl, which follows RFC 6265bis,
//! differs in these points:
//! - a path does not end in a slash unless it is "/", is absolute and not empty: curl removes the slash and
//!   uses "/" for others;
//! - no domain is a public suffix, because cookie_store has no list of them here;
//! - secure cookies have separate names and come over TLS: an insecure origin neither sets nor overlays one;
//! - so have cookies with a domain: a host-only cookie differs from one for all hosts below it;
//! - Max-Age is a number, and each attribute occurs once.

use std::time::{SystemTime, UNIX_EPOCH};

use arbitrary::Unstructured;
use cookie_store::CookieStore;
use url::Url;
use wire::cookie::{Jar, Target, is_secure};

use crate::{goes_on, one_of};

const HOSTS: [&str; 9] = [
    "host.example.com",
    "example.com",
    "sub.host.example.com",
    "myexample.com",
    "other.test.org",
    "example.com.other.test.org",
    "127.0.0.1",
    "10.0.0.1",
    "localhost",
];
const DOMAINS: [&str; 12] = [
    "example.com",
    ".example.com",
    "host.example.com",
    "Host.EXAMPLE.com",
    "sub.host.example.com",
    "xample.com",
    "other.test.org",
    "test.org",
    "127.0.0.1",
    "0.0.1",
    "localhost",
    "",
];
const PATHS: [&str; 9] = ["/", "/a", "/a/b", "/a/b/c", "/ab", "/A", "/a%2Fb", "/a.b", "/a/b.html"];
const VALUES: [&str; 8] = ["1", "2", "", "a=b", "\"quoted\"", "a b", "%20", "x,y"];
const PAST: [&str; 2] = ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT"];
const FUTURE: [&str; 2] = ["Sat, 06 Nov 2094 08:49:37 GMT", "Sat, 06-Nov-2094 08:49:37 GMT"];

pub fn agrees(input: &[u8]) {
    let mut choices = Unstructured::new(input);
    let (mut ours, mut theirs) = (Jar::new(), CookieStore::default());
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs() as i64;
    let mut story = Vec::new();
    while goes_on(&mut choices) && story.len() < 60 {
        let place = RequestTarget::chosen(&mut choices);
        if one_of(&mut choices, &[true, true, false]) {
            let line = set_cookie(&mut choices, place.is_tls);
            let outcome =
                ours.receive(line.as_bytes(), place.target(), now).map(|cookie| cookie.name.clone());
            let other = theirs.parse(&line, &place.url());
            story.push(format!("{} says {line}: {outcome:?}, {other:?}", place.url()));
        }
        let mut sent: Vec<String> = ours
            .matching(place.target(), now)
            .iter()
            .map(|cookie| {
                String::from_utf8_lossy(&[&*cookie.name, b"=", &*cookie.value].concat()).into_owned()
            })
            .collect();
        let url = place.url();
        let mut other: Vec<String> =
            theirs.get_request_values(&url).map(|(name, value)| format!("{name}={value}")).collect();
        sent.sort();
        other.sort();
        assert_eq!(sent, other, "sent to {url} after\n{}", story.join("\n"));
    }
}

/// A target of a request.
struct RequestTarget {
    host: &'static str,
    path: &'static str,
    is_tls: bool,
}

impl RequestTarget {
    fn chosen(choices: &mut Unstructured) -> RequestTarget {
        RequestTarget {
            host: one_of(choices, &HOSTS),
            path: one_of(choices, &PATHS),
            is_tls: one_of(choices, &[true, false]),
        }
    }

    fn url(&self) -> Url {
        let scheme = if self.is_tls { "https" } else { "http" };
        Url::parse(&format!("{scheme}://{}{}", self.host, self.path)).expect("a URL")
    }

    fn target(&self) -> Target<'static> {
        let secure = is_secure(self.is_tls, self.host.as_bytes());
        Target { host: self.host.as_bytes(), path: self.path.as_bytes(), secure }
    }
}

fn set_cookie(choices: &mut Unstructured, is_tls: bool) -> String {
    let secure = is_tls && one_of(choices, &[false, false, true]);
    let domain = one_of(choices, &[false, true]).then(|| one_of(choices, &DOMAINS));
    let kind = match (secure, domain.is_some_and(|domain| !domain.is_empty())) {
        (true, true) => "ds",
        (true, false) => "s",
        (false, true) => "d",
        (false, false) => "n",
    };
    let mut attributes = vec![];
    attributes.extend(secure.then(|| one_of(choices, &["Secure", "secure"]).to_owned()));
    attributes.extend(domain.map(|domain| format!("{}={domain}", one_of(choices, &["Domain", "domain"]))));
    if one_of(choices, &[false, true]) {
        attributes.push(format!(
            "{}={}",
            one_of(choices, &["Path", "PATH", " path "]),
            one_of(choices, &PATHS)
        ));
    }
    match one_of(choices, &[0, 0, 1, 2]) {
        0 => {}
        1 => attributes.push(format!("Expires={}", one_of(choices, &PAST))),
        _ => attributes.push(format!("expires={}", one_of(choices, &FUTURE))),
    }
    if one_of(choices, &[false, false, true]) {
        let ages = ["0", "-1", "3600", "99999999999", "99999999999999999999999"];
        attributes.push(format!("Max-Age={}", one_of(choices, &ages)));
    }
    attributes.extend(one_of(choices, &[None, None, Some("HttpOnly")]).map(str::to_owned));
    attributes.extend(one_of(choices, &[None, None, Some("SameSite=Lax"), Some("odd")]).map(str::to_owned));
    if !attributes.is_empty() {
        let turn = choices.choose_index(attributes.len()).unwrap_or(0);
        attributes.rotate_left(turn);
    }
    let (name, value) = (one_of(choices, &["a", "b", "A"]), one_of(choices, &VALUES));
    let between = one_of(choices, &["; ", ";", " ; "]);
    [format!("{name}{kind}={value}")].into_iter().chain(attributes).collect::<Vec<_>>().join(between)
}
