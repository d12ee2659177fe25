//! The guard of a transfer: asks the policies about each URL, and about the route that is planned to it. The
//! socket asks about the address that it is connected to (`net::filter::open`).

use std::borrow::Cow;
use std::rc::Rc;

use net::connection_key::ProxyKind;
use net::filter::open::{SocketOptions, UnixSocket};
use tables::scheme::Family;
use wire::policy::{Check, Guard, Question, Refusal};

use super::proxy::Proxy;
use super::route::plan::Plan;
use super::route::{Route, url};
use crate::error::{Error, Result};

/// Asks about scheme, host and port of the current URL.
pub fn check_url(t: &Route) -> Result<()> {
    let guard = t.easy.settings.borrow().guard();
    if guard.is_free() {
        return Ok(());
    }
    let is_first = Rc::ptr_eq(&t.first_url, &t.url);
    let check = if is_first { Check::Url } else { Check::Redirect };
    guard.judge(Question::Scheme(t.scheme().name())).map_err(|refusal| refusal.at(check))?;
    if t.scheme().family() == Family::File {
        return Ok(()); // it has neither host nor port
    }
    let host = t.url.host_ascii().map_err(url::url_error)?;
    let port = t.url.port_or_default().unwrap_or_default();
    check_place(&guard, &String::from_utf8_lossy(&host), port, check).map_err(Error::from)
}

/// Asks about a host and its port.
pub fn check_place(guard: &Guard, host: &str, port: u16, check: Check) -> Result<(), Refusal> {
    let verdict = guard.judge(Question::Host(host)).and_then(|()| guard.judge(Question::Port(port)));
    verdict.map_err(|refusal| refusal.at(check))
}

/// Asks about the route to the plan's host. The host of a data connection is known by its address alone.
pub fn check_route(plan: &Plan) -> Result<()> {
    let guard = &plan.key.socket.guard;
    if guard.is_free() {
        return Ok(());
    }
    match plan.for_data {
        true => guard.judge(Question::DataPort(plan.port))?,
        false => check_place(guard, &plan.host, plan.port, Check::ConnectTo)?,
    }
    for proxy in plan.pre_proxy.iter().chain(&plan.proxy) {
        check_proxy(guard, proxy)?;
    }
    let last = plan.proxy.as_ref().or(plan.pre_proxy.as_ref());
    match last.map(|proxy| proxy.kind) {
        // The address is looked up here, and judged before the proxy gets it.
        None | Some(ProxyKind::Socks4 | ProxyKind::Socks5) => Ok(()),
        Some(_) => guard.judge_behind_proxy(&plan.host).map_err(Error::from),
    }
}

fn check_proxy(guard: &Guard, proxy: &Proxy) -> Result<(), Refusal> {
    match &proxy.unix {
        Some(UnixSocket::Path(file)) => {
            guard.judge(Question::Unix(file.given().as_os_str().as_encoded_bytes()))
        }
        Some(UnixSocket::Abstract(name)) => guard.judge(Question::AbstractUnix(name)),
        None => guard.judge(Question::Proxy { host: &proxy.host, port: proxy.port }),
    }
}

/// Returns the options of the socket to the route's first host.
pub fn socket_options(plan: &Plan) -> Cow<'_, SocketOptions> {
    let options = &plan.key.socket;
    match plan.proxy.is_some() || plan.pre_proxy.is_some() {
        // The host and port of a proxy are allowed by name (`check_route`), whatever its address.
        true if !options.guard.is_free() => {
            Cow::Owned(SocketOptions { guard: Guard::default(), ..options.clone() })
        }
        false if plan.for_data => Cow::Owned(options.for_data()),
        _ => Cow::Borrowed(options),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transfer::fixture::{begin, easy, lines, transfer};
    use net::tls::{PinnedKey, TlsVersion};
    use std::sync::Arc;
    use tables::constant::CURL_SSLVERSION_MAX_TLSv1_2;
    use tables::{Code, EasyOption as O};
    use wire::policy::Policy;

    /// The refusal of a plan under these rules.
    fn planned(rules: &str, texts: &[(O, &str)], lists: &[(O, &str)]) -> Result<Plan, String> {
        let easy = easy(&[&[(O::Proxy, ""), (O::NoProxy, "")], texts].concat(), &[]);
        for (option, line) in lists {
            easy.0.settings.borrow_mut().set_list(*option, Some(lines(&[line]))).unwrap();
        }
        let policy = Policy::parse("p", format!("version 1\n{rules}\n").as_bytes());
        assert_eq!(policy.fault(), None);
        easy.0.settings.borrow_mut().set_policy(Some(Arc::new(policy)));
        let plan = begin(easy).plan();
        plan.map(|plan| Plan::clone(&plan)).map_err(|e| {
            assert_eq!(e.code(), Code::RemoteAccessDenied, "{}", e.message());
            e.message().to_owned()
        })
    }

    #[test]
    fn routes_are_judged() {
        let url = |url| (O::Url, url);
        let http = url("http://host.test/");
        let proxy = |text| (O::Proxy, text);
        let through = "allow proxy p.test:3128\n";
        let named = "allow proxy p.test:3128\nallow lookup-by-proxy host.test";
        #[rustfmt::skip]
        let rows: [(&str, &[(O, &str)], &[(O, &str)], Option<&str>); 22] = [
            ("", &[http], &[], None),
            ("", &[url("ftp://host.test/")], &[], Some("scheme \"ftp\"")),
            ("allow host a.test", &[http], &[], Some("host \"host.test\"")),
            ("allow port 443", &[http], &[], Some("port 80")),
            ("deny host *.test", &[url("http://HOST.Test./")], &[], Some("host \"host.test\"")),
            ("deny host 127.0.0.1", &[url("http://0177.1/")], &[], Some("host \"127.0.0.1\"")),
            ("deny host xn--bcher-kva.test", &[url("http://B\u{dc}CHER.test/")], &[], Some("xn--bcher")),
            ("allow host host.test", &[http], &[(O::ConnectTo, "::other.test:80")], Some("\"other.test\"")),
            ("allow port 80", &[http], &[(O::ConnectTo, "::host.test:81")], Some("port 81")),
            ("deny host 127.0.0.1", &[http], &[(O::ConnectTo, "::0x7f000001:80")], Some("\"127.0.0.1\"")),
            ("", &[http, proxy("http://p.test:3128")], &[], Some("proxy \"p.test:3128\"")),
            (through, &[http, proxy("http://p.test:3129")], &[], Some("proxy \"p.test:3129\"")),
            (through, &[http, proxy("http://p.test:3128")], &[], Some("\"host.test\", whose address only")),
            (through, &[http, proxy("socks5h://p.test:3128")], &[], Some("whose address only the proxy")),
            (through, &[http, proxy("socks4a://p.test:3128")], &[], Some("whose address only the proxy")),
            (through, &[http, proxy("socks5://p.test:3128")], &[], None),
            (named, &[http, proxy("http://p.test:3128")], &[], None),
            (named, &[url("http://127.1/"), proxy("http://p.test:3128")], &[], Some("address 127.0.0.1")),
            (named, &[url("http://[::1]/"), proxy("socks5h://p.test:3128")], &[], Some("address ::1")),
            (named, &[http, proxy("p.test:3128"), (O::PreProxy, "socks5://q.test:1")], &[], Some("q.test:1")),
            (named, &[http, proxy("socks5h://localhost/run/x")], &[], Some("unix socket \"/run/x\"")),
            ("allow unix /x\nallow lookup-by-proxy *", &[http, proxy("socks5h://localhost/x")], &[], None),
        ];
        for (rules, texts, lists, wanted) in rows {
            let refusal = planned(rules, texts, lists).err();
            match (&refusal, wanted) {
                (None, None) => {}
                (Some(text), Some(part)) if text.contains(part) => {}
                _ => panic!("{rules}: {texts:?}: {refusal:?}, not {wanted:?}"),
            }
        }
    }

    #[test]
    fn tls_is_at_least_what_a_policy_demands() {
        let url = [(O::Url, "https://host.test/")];
        let hash = |c: &str| format!("sha256//{}=", c.repeat(43));
        let (one, two) = (hash("A"), hash("E"));
        let tls = |rules: &str, texts: &[(O, &str)]| {
            planned(rules, &[&url[..], texts].concat(), &[]).unwrap().tls.unwrap()
        };
        assert_eq!(tls("", &[]).min_version, TlsVersion::Tls12);
        assert_eq!(tls("tls min 1.3", &[]).min_version, TlsVersion::Tls13);
        let pins = |rules: &str, given: Option<&str>| {
            let texts: Vec<_> = given.iter().map(|given| (O::PinnedPublicKey, *given)).collect();
            match tls(rules, &texts).pinned_key.clone() {
                Some(PinnedKey::Hashes(hashes)) => Some(hashes),
                Some(PinnedKey::File(_)) => panic!("a file"),
                None => None,
            }
        };
        let (for_host, for_other) = (format!("pin *.test {one} {two}"), format!("pin other.test {one}"));
        assert_eq!(pins(&for_host, None), Some(format!("{one};{two}")));
        assert_eq!(pins(&for_host, Some(&two)), Some(two.clone()));
        assert_eq!(pins(&for_host, Some(&hash("I"))), Some(String::new()), "no key matches both");
        assert_eq!(pins(&for_other, None), None);
        let file = planned(&for_host, &[url[0], (O::PinnedPublicKey, "/x.pem")], &[]);
        assert!(file.err().unwrap().contains("needs hashes, not a file"));
        let older = transfer("https://host.test/", &[], &[(O::SslVersion, CURL_SSLVERSION_MAX_TLSv1_2)]);
        older
            .easy
            .0
            .settings
            .borrow_mut()
            .set_policy(Some(Arc::new(Policy::parse("p", b"version 1\ntls min 1.3"))));
        let refused = older.plan().err().unwrap();
        assert_eq!(refused.code(), Code::RemoteAccessDenied);
        assert!(refused.message().contains("demands TLS 1.3"), "{}", refused.message());
    }

    #[test]
    fn plans_under_different_policies_have_different_keys() {
        let url = [(O::Url, "http://host.test/")];
        let key = |rules: &str| planned(rules, &url, &[]).unwrap().key;
        assert_eq!(key("deny port 1"), key("deny port 1"));
        assert_ne!(key("deny port 1"), key("deny port 2"));
        assert_ne!(key("deny port 1"), transfer("http://host.test/", &[], &[]).plan().unwrap().key);
        let replies = |rules| planned(rules, &url, &[]).unwrap().of_replies();
        assert_ne!(replies("deny port 1"), replies("deny port 2"));
    }
}
