//! Tests the tables' rows: an option that is bound to the connection makes another key on at least one route,
//! and so a fresh connection.

use std::rc::Rc;
use std::time::Duration;

use net::{AcquireRequest, Ages, HashedKey};
use tables::easy_option::ArgKind;
use tables::{Code, EasyOption as O, Support};

use super::Transfer;
use super::route::target;
use crate::callbacks::{Callbacks, HostKeyFunctions};
use crate::settings::Text;
use crate::why::difference::{Term, between};
use crate::{Easy, Multi};

struct Nobody;

impl Callbacks for Nobody {}

/// An application whose functions verify the keys of SSH servers.
struct Judging(HostKeyFunctions);

impl Callbacks for Judging {
    fn host_key_judge(&self) -> Option<HostKeyFunctions> {
        Some(self.0)
    }
}

/// A route to a host: text options and numbers.
type Route = (&'static [(O, &'static str)], &'static [(O, i64)]);

const WAYS: &[Route] = &[
    (
        &[(O::Url, "https://host.test/"), (O::SslCert, "c"), (O::SslKey, "k"), (O::Interface, "if!lo")],
        &[(O::TcpKeepAlive, 1), (O::LocalPort, 4000)],
    ),
    (
        &[
            (O::Url, "https://host.test/"),
            (O::Proxy, "https://proxy.test:1"),
            (O::ProxyUserPwd, "u:p"),
            (O::ProxySslCert, "c"),
            (O::ProxySslKey, "k"),
        ],
        &[],
    ),
    (&[(O::Url, "https://host.test/"), (O::Proxy, "proxy.test")], &[]),
    (&[(O::Url, "https://host.test/"), (O::DohUrl, "https://dns.test/")], &[]),
    (&[(O::Url, "http://host.test/"), (O::Proxy, "proxy.test")], &[]),
    (&[(O::Url, "http://host.test/"), (O::Proxy, "socks5h://u:p@proxy.test:1")], &[]),
    (&[(O::Url, "ftp://host.test/")], &[(O::UseSsl, 1)]),
    (&[(O::Url, "sftp://host.test/")], &[]),
];

const TEXTS: &[&str] =
    &["x", "DER", "127.0.0.1", "::1", "u:q", "host.test", "http://other.test:2", "::other.test:3", "grease"];

/// Returns the key of a route with one option changed; `None` if the value is refused.
fn key_of(way: &Route, change: impl FnOnce(&Easy) -> Result<(), Code>) -> Option<HashedKey> {
    key_of_easy(Easy::new(Rc::new(Nobody)), way, change)
}

fn key_of_easy(easy: Easy, way: &Route, change: impl FnOnce(&Easy) -> Result<(), Code>) -> Option<HashedKey> {
    let multi = Multi::default();
    for (option, text) in way.0 {
        easy.set_text(*option, Some(text.as_bytes())).unwrap();
    }
    for (option, number) in way.1 {
        easy.0.settings.borrow_mut().set_long(*option, *number).unwrap();
    }
    change(&easy).ok()?;
    let url = target::first(&easy.0).ok()?;
    let transfer = Transfer::new(multi.0.clone(), easy.0.clone(), url);
    transfer.plan().ok().map(|plan| plan.key.clone())
}

/// Returns the keys of a route with different values of the option.
fn changed(way: &Route, option: O) -> Vec<HashedKey> {
    let text = |text: &[u8]| Text::from(text);
    match option.kind() {
        ArgKind::Long | ArgKind::Values | ArgKind::OffT => (0..9)
            .chain([1 << 16])
            .filter_map(|n| key_of(way, |easy| easy.0.settings.borrow_mut().set_long(option, n)))
            .collect(),
        ArgKind::String | ArgKind::Blob => TEXTS
            .iter()
            .filter_map(|t| key_of(way, |easy| easy.set_text(option, Some(t.as_bytes()))))
            .collect(),
        ArgKind::SList => ["X-Secret: 1", "host.test:443:127.0.0.9", "::other.test:3"]
            .iter()
            .filter_map(|line| {
                let list = Some(vec![text(line.as_bytes())]);
                key_of(way, |easy| easy.0.settings.borrow_mut().set_list(option, list))
            })
            .collect(),
        ArgKind::Object | ArgKind::CbPtr | ArgKind::Function => Vec::new(),
    }
}

/// Returns whether some value of the option makes another connection necessary on that route.
fn tells_apart(way: &Route, option: O) -> bool {
    let usual = key_of(way, |_| Ok(())).unwrap();
    changed(way, option).into_iter().any(|key| key != usual)
}

/// The application's functions are not settings: [`net::connection_key::Owner`] separates connections that
/// were made with them, and [`net::connection_key::HostKeyJudge`] those whose server they verified.
fn is_function(option: O) -> bool {
    matches!(option, O::SockOptFunction | O::OpenSocketFunction | O::CloseSocketFunction)
        || matches!(option, O::SshKeyFunction | O::SshKeyData | O::SshHostKeyFunction | O::SshHostKeyData)
}

/// A handle that would refuse a server must not get a connection on which another handle's functions accepted
/// it.
#[test]
fn functions_that_judge_a_host_key_make_another_connection() {
    let way = WAYS.last().unwrap();
    let of =
        |functions: HostKeyFunctions| key_of_easy(Easy::new(Rc::new(Judging(functions))), way, |_| Ok(()));
    let addresses: Vec<[usize; 4]> = (0..4).map(|i| std::array::from_fn(|at| usize::from(i == at))).collect();
    for (i, a) in addresses.iter().enumerate() {
        for (j, b) in addresses.iter().enumerate() {
            assert_eq!(of(HostKeyFunctions::At(*a)) == of(HostKeyFunctions::At(*b)), i == j, "{a:?} {b:?}");
        }
        assert!(of(HostKeyFunctions::At(*a)) != key_of(way, |_| Ok(())));
    }
    let judged = of(HostKeyFunctions::OfHandle).unwrap();
    assert!(judged.is_judged() && !judged.is_portable());
}

#[test]
fn options_bound_to_a_connection_are_in_its_key() {
    let built = |o: &O| matches!(o.support(), Support::Built | Support::UnixSockets);
    let bound = O::ALL.iter().copied().filter(|o| o.binds_connection() && built(o) && !is_function(*o));
    let bound: Vec<O> = bound.collect();
    assert!(bound.len() > 70, "{}", bound.len());
    let missing: Vec<O> =
        bound.into_iter().filter(|o| !WAYS.iter().any(|way| tells_apart(way, *o))).collect();
    assert_eq!(missing, []);
}

/// For every option that names a file: a relative and an absolute name of one file make the same key; a
/// replaced file, and the same name in another directory, make another key. No key contains a relative name.
#[test]
fn files_are_known_by_path_and_content() {
    let dir = testkit::temp::TempDir::new("files").unwrap();
    let path = dir.write("file", "one").unwrap();
    let name = path.to_str().unwrap().to_owned();
    let of_tls = [O::CaInfo, O::CaPath, O::CrlFile, O::IssuerCert, O::PinnedPublicKey, O::SslCert, O::SslKey];
    let of_proxy = [
        O::ProxyCaInfo,
        O::ProxyCaPath,
        O::ProxyCrlFile,
        O::ProxyIssuerCert,
        O::ProxyPinnedPublicKey,
        O::ProxySslCert,
        O::ProxySslKey,
    ];
    let of_ssh = [O::SshPrivateKeyFile, O::SshPublicKeyFile, O::SshKnownHosts];
    let of_doh = [O::CaInfo, O::CaPath, O::CrlFile];
    let http: Route = (&[(O::Url, "http://host.test/"), (O::DohUrl, "https://dns.test/")], &[]);
    let all = of_tls.iter().map(|o| (&WAYS[0], *o)).chain(of_proxy.iter().map(|o| (&WAYS[1], *o)));
    let all = all.chain(of_ssh.iter().map(|o| (WAYS.last().unwrap(), *o)));
    let all = all.chain(of_doh.iter().map(|o| (&http, *o))).chain([(&WAYS[0], O::UnixSocketPath)]);
    for (count, (way, option)) in all.enumerate() {
        let with = |name: &str| key_of(way, |easy| easy.set_text(option, Some(name.as_bytes()))).unwrap();
        let first = with(&name);
        assert!(first == with(&name), "{option:?}");
        assert!(first.files().iter().all(|file| file.path().is_absolute()), "{option:?}");
        assert!(with("here.pem").files().iter().all(|file| file.path().is_absolute()), "{option:?}");
        assert!(
            with("here.pem") == with(&std::env::current_dir().unwrap().join("here.pem").to_string_lossy())
        );
        // Another file under the same name and of the same size, so that only inode and times differ.
        std::fs::rename(dir.write("other", format!("{:03}", count % 1000)).unwrap(), &path).unwrap();
        let second = with(&name);
        assert!(first != second, "{option:?} replaced");
        assert!(first.canonical_bytes() != second.canonical_bytes(), "{option:?}");
    }
}

/// A key that replaces an equal one has the same file names: a relative name is another file in another
/// working directory.
#[test]
fn a_shared_key_names_files_as_the_handle_does() {
    let absolute = std::env::current_dir().unwrap().join("here.sock");
    let multi = Multi::default();
    let plan = |name: &str| {
        let easy = Easy::new(Rc::new(Nobody));
        easy.set_text(O::Url, Some(b"http://host.test/")).unwrap();
        easy.set_text(O::UnixSocketPath, Some(name.as_bytes())).unwrap();
        let url = target::first(&easy.0).unwrap();
        Transfer::new(multi.0.clone(), easy.0.clone(), url).plan().unwrap()
    };
    let relative = plan("here.sock");
    let wish = AcquireRequest {
        key: &relative.key,
        fresh: true,
        streams: false,
        by_tcp: true,
        patience: 0,
        ages: Ages { idle: Duration::MAX, lifetime: Duration::ZERO },
        owner: 0,
        refusal: None,
    };
    let _opening = multi.0.pool.try_acquire(wish, multi.0.pool.now()).unwrap();
    assert!(std::ptr::eq(&*relative.key, &*plan("here.sock").key), "the pool knows it");
    let other = plan(absolute.to_str().unwrap());
    assert!(other.key == relative.key && !std::ptr::eq(&*other.key, &*relative.key));
    assert_eq!(other.key.unix.as_ref().unwrap().file().unwrap().given(), absolute);
}

/// Header lines for a proxy, and addresses given for a name, separate connections.
#[test]
fn proxy_headers_and_pinned_names_separate_connections() {
    let pin = |host: &str| {
        let line = Text::from(format!("{host}:443:127.0.0.9").as_bytes());
        key_of(&WAYS[0], |easy| easy.0.settings.borrow_mut().set_list(O::Resolve, Some(vec![line]))).unwrap()
    };
    assert!(pin("host.test") != pin("another.test"), "a name that is asked for");
    assert!(pin("another.test") == key_of(&WAYS[0], |_| Ok(())).unwrap(), "a name that isn't");
    let unified = |line: &str| {
        key_of(&WAYS[2], |easy| {
            let mut settings = easy.0.settings.borrow_mut();
            settings.set_long(O::HeaderOpt, 0)?;
            settings.set_list(O::HttpHeader, Some(vec![Text::from(line.as_bytes())]))
        })
        .unwrap()
    };
    assert!(unified("X-Secret: 1") != unified("X-Secret: 2"), "lines that a proxy receives, too");
}

/// Options that set one term together, so that a difference names another one of them.
const TOGETHER: &[(O, O)] = &[
    (O::SslCert, O::SslCertBlob),
    (O::SslKey, O::SslKeyBlob),
    (O::ProxySslCert, O::ProxySslCertBlob),
    (O::ProxySslKey, O::ProxySslKeyBlob),
    (O::ProxyUserPwd, O::ProxyUsername),
    (O::ProxyPort, O::Proxy),
    (O::NoProxy, O::Proxy),
    (O::Socks5GssapiService, O::ProxyServiceName),
];

/// A row that is bound to the connection is named where it makes a connection necessary.
#[test]
fn a_difference_names_the_option() {
    let built = |o: &O| matches!(o.support(), Support::Built | Support::UnixSockets);
    // Another port is another host.
    let is_term = |o: &O| built(o) && !is_function(*o) && *o != O::Port;
    let bound = O::ALL.iter().copied().filter(|o| o.binds_connection() && is_term(o));
    let mut unnamed = Vec::new();
    for option in bound {
        let differing: Vec<Vec<Term>> = WAYS
            .iter()
            .flat_map(|way| {
                let usual = key_of(way, |_| Ok(())).unwrap();
                changed(way, option).into_iter().map(move |key| between(&key, &usual))
            })
            .filter(|terms| !terms.is_empty())
            .collect();
        let is_named = |terms: &Vec<Term>| {
            let known = |o: O| terms.contains(&Term::Option(o));
            known(option)
                || TOGETHER.iter().any(|(one, other)| {
                    (*one == option && known(*other)) || (*other == option && known(*one))
                })
        };
        if !differing.iter().any(is_named) {
            unnamed.push((option, differing.into_iter().next()));
        }
    }
    assert!(unnamed.is_empty(), "{unnamed:#?}");
}

/// Equal keys differ in nothing, and unequal ones in something.
#[test]
fn every_difference_has_a_name() {
    for way in WAYS {
        let usual = key_of(way, |_| Ok(())).unwrap();
        assert_eq!(between(&usual, &usual), []);
        for option in O::ALL {
            for key in changed(way, *option) {
                assert_eq!(key == usual, between(&key, &usual).is_empty(), "{option:?}");
            }
        }
    }
}
