//! ldap:// with servers that reply correctly, in pieces, oddly, or not at all.
//!
//! covers: CURLOPT_USE_SSL, CURLOPT_USERPWD, CURLINFO_RESPONSE_CODE

use crate::common::{handle, long, text};
use tables::{Code, EasyOption as O};
use testkit::raw::{RawPeer, Script, Step};
use warmwire_engine::Easy;
use wire::ldap::ber::{element, integer};

fn message(id: u32, tag: u8, content: &[u8]) -> Vec<u8> {
    element(0x30, &[integer(2, id), element(tag, content)].concat())
}

fn outcome(id: u32, tag: u8, code: u32, text: &str) -> Vec<u8> {
    message(id, tag, &[integer(10, code), element(4, b""), element(4, text.as_bytes())].concat())
}

fn entry(name: &str, value: &[u8]) -> Vec<u8> {
    let attribute = element(0x30, &[element(4, b"cn"), element(0x31, &element(4, value))].concat());
    message(2, 0x64, &[element(4, name.as_bytes()), element(0x30, &attribute)].concat())
}

fn run(script: Script, path: &str, set: impl FnOnce(&Easy)) -> (Code, String, Vec<u8>) {
    let peer = RawPeer::start(vec![script]);
    let (easy, app) = handle(&format!("ldap://127.0.0.1:{}/{path}", peer.port()));
    long(&easy, O::TimeoutMs, 3000);
    set(&easy);
    let code = easy.perform();
    let body = app.body.borrow().clone();
    (code, String::from_utf8(body).unwrap(), peer.received().concat())
}

/// A server that accepts any bind, and answers a search.
fn bound(answers: &[&[u8]]) -> Script {
    let anonymous = wire::ldap::bind(1, b"", b"");
    let mut script = vec![Step::Expect(anonymous), Step::Send(outcome(1, 0x61, 0, ""))];
    script.push(Step::Expect(b"\x87\x0bobjectClass\x30\0".to_vec()));
    script.extend(answers.iter().map(|answer| Step::Send(answer.to_vec())));
    script
}

#[test]
fn entries_come_as_curl_prints_them() {
    let reference = message(2, 0x73, &element(4, b"ldap://other/"));
    let all = [entry("dc=x", b"A"), reference, entry("dc=y", b"\xff"), outcome(2, 0x65, 0, "")].concat();
    let wanted = "DN: dc=x\n\tcn: A\n\n\nDN: dc=y\n\tcn:: /w==\n\n\n";
    for size in [1, 7, all.len()] {
        let script = bound(&all.chunks(size).collect::<Vec<_>>());
        let (code, body, _) = run(script, "dc=x??sub", |_| ());
        assert_eq!((code, &body[..]), (Code::Ok, wanted), "{size}");
    }
    let large = [entry("dc=x", &b"x".repeat(1 << 20)), outcome(2, 0x65, 4, "")].concat();
    let (code, body, _) = run(bound(&[&large]), "", |_| ());
    assert_eq!((code, body.len()), (Code::Ok, (1 << 20) + 17), "a size limit of the server's is no failure");
}

#[test]
fn refusals_have_curls_codes() {
    let bind = |code| {
        let script = vec![
            Step::Expect(wire::ldap::bind(1, b"cn=me", b"secret")),
            Step::Send(outcome(1, 0x61, code, "no")),
            Step::Hold,
        ];
        run(script, "dc=x", |easy| {
            text(easy, O::Username, "cn=me");
            text(easy, O::Password, "secret");
        })
        .0
    };
    assert_eq!(
        [49, 34, 2, 50].map(bind),
        [Code::LoginDenied, Code::LdapCannotBind, Code::UnsupportedProtocol, Code::RemoteAccessDenied]
    );
    let (code, body, _) = run(bound(&[&entry("dc=x", b"A"), &outcome(2, 0x65, 32, "")]), "dc=x", |_| ());
    assert_eq!((code, &body[..]), (Code::LdapSearchFailed, "DN: dc=x\n\tcn: A\n\n\n"));
    let peer = RawPeer::start(vec![bound(&[&outcome(2, 0x65, 32, "")])]);
    let (easy, _app) = handle(&format!("ldap://127.0.0.1:{}/dc=x", peer.port()));
    assert_eq!(easy.perform(), Code::LdapSearchFailed);
    assert_eq!(easy.state().info.borrow().response_code, 32, "the server's own code is reported");
    assert_eq!(run(vec![Step::Hold], "dc=x??wrong", |_| ()).0, Code::UrlMalformat);
    let accepted = vec![Step::ExpectBytes(14), Step::Send(outcome(1, 0x61, 0, "")), Step::Hold];
    assert_eq!(run(accepted, "dc=x???(bad", |_| ()).0, Code::LdapSearchFailed);
}

#[test]
fn tls_is_asked_for_first() {
    let refuses = |then: Script| {
        let mut script =
            vec![Step::Expect(wire::ldap::start_tls(1)), Step::Send(outcome(1, 0x78, 53, "none"))];
        script.extend(then);
        script
    };
    let (code, _, received) = run(refuses(vec![Step::Hold]), "dc=x", |easy| {
        long(easy, O::UseSsl, 3);
        text(easy, O::Username, "me");
    });
    assert_eq!((code, received), (Code::UseSslFailed, wire::ldap::start_tls(1)), "no name in clear");
    let goes_on = vec![
        Step::Expect(wire::ldap::bind(2, b"", b"")),
        Step::Send(outcome(2, 0x61, 0, "")),
        Step::Expect(b"objectClass\x30\0".to_vec()),
        Step::Send(outcome(3, 0x65, 0, "")),
    ];
    assert_eq!(run(refuses(goes_on), "dc=x", |easy| long(easy, O::UseSsl, 1)).0, Code::Ok);
    let slipped = [outcome(1, 0x78, 0, ""), outcome(2, 0x61, 0, "")].concat();
    let script = vec![Step::Expect(wire::ldap::start_tls(1)), Step::Send(slipped), Step::Hold];
    assert_eq!(run(script, "dc=x", |easy| long(easy, O::UseSsl, 3)).0, Code::WeirdServerReply);
}

/// One bind serves two searches; a connection that was closed in between is replaced.
#[test]
fn a_connection_is_kept() {
    let done = |id| Step::Send(outcome(id, 0x65, 0, ""));
    let kept = bound(&[&outcome(2, 0x65, 0, "")]).into_iter().chain([
        Step::Expect(b"\x87\x0bobjectClass\x30\0".to_vec()),
        done(4),
        Step::Finish,
    ]);
    let again = bound(&[&outcome(2, 0x65, 0, "")]);
    let peer = RawPeer::start(vec![kept.collect(), again]);
    let (easy, _) = handle(&format!("ldap://127.0.0.1:{}/dc=x", peer.port()));
    long(&easy, O::TimeoutMs, 3000);
    assert_eq!((easy.perform(), peer.accepts()), (Code::Ok, 1));
    assert_eq!((easy.perform(), peer.accepts()), (Code::Ok, 1));
    peer.wait_for_ends(1);
    assert_eq!((easy.perform(), peer.accepts()), (Code::Ok, 2));
}

/// The server's mechanisms are queried; then PLAIN is sent with the bind.
#[test]
fn login_options_ask_for_sasl() {
    let offers = |names: &[&[u8]]| {
        let names: Vec<u8> = names.iter().flat_map(|name| element(4, name)).collect();
        let attribute =
            element(0x30, &[element(4, b"supportedSASLMechanisms"), element(0x31, &names)].concat());
        [message(1, 0x64, &[element(4, b""), element(0x30, &attribute)].concat()), outcome(1, 0x65, 0, "")]
            .concat()
    };
    let login = |names: &[&[u8]], code| {
        let script = vec![
            Step::Expect(b"supportedSASLMechanisms".to_vec()),
            Step::Send(offers(names)),
            Step::Expect(wire::ldap::bind_sasl(2, "PLAIN", Some(b"\0me\0secret"))),
            Step::Send(outcome(2, 0x61, code, "")),
            Step::Expect(b"\x87\x0bobjectClass\x30\0".to_vec()),
            Step::Send(outcome(3, 0x65, 0, "")),
        ];
        run(script, "dc=x", |easy| {
            text(easy, O::Username, "me");
            text(easy, O::Password, "secret");
            text(easy, O::LoginOptions, "AUTH=PLAIN");
        })
        .0
    };
    assert_eq!(login(&[b"GSSAPI", b"PLAIN"], 0), Code::Ok);
    assert_eq!(login(&[b"PLAIN"], 49), Code::LoginDenied);
    assert_eq!(login(&[b"CRAM-MD5"], 0), Code::LoginDenied, "nothing in common");
    assert_eq!(
        run(vec![Step::Hold], "", |easy| text(easy, O::LoginOptions, "x")).0,
        Code::SetoptOptionSyntax
    );
}

/// CVE-2026-13608: a success that comes before the server has proved that it knows the password is none. A
/// peer in the middle could end the login so, and read what is asked next.
#[test]
fn a_bind_that_ends_early_is_no_login() {
    const MECHANISM: &str = "SCRAM-SHA-256";
    let login = |answers: &[(u32, &str)]| {
        let names = element(4, MECHANISM.as_bytes());
        let attribute =
            element(0x30, &[element(4, b"supportedSASLMechanisms"), element(0x31, &names)].concat());
        let offer = message(1, 0x64, &[element(4, b""), element(0x30, &attribute)].concat());
        let mut script = vec![
            Step::Expect(b"supportedSASLMechanisms".to_vec()),
            Step::Send([offer, outcome(1, 0x65, 0, "")].concat()),
        ];
        for (id, (code, challenge)) in (2..).zip(answers) {
            let mut last = vec![integer(10, *code), element(4, b""), element(4, b"")];
            if !challenge.is_empty() {
                last.push(element(0x87, challenge.as_bytes()));
            }
            script.extend([Step::Expect(MECHANISM.into()), Step::Send(message(id, 0x61, &last.concat()))]);
        }
        script.extend([Step::Expect(b"objectClass\x30\0".to_vec()), Step::Hold]);
        let (code, _, received) = run(script, "dc=x", |easy| {
            text(easy, O::Username, "me");
            text(easy, O::Password, "secret");
            text(easy, O::LoginOptions, &format!("AUTH={MECHANISM}"));
        });
        (code, received.windows(4).any(|bytes| bytes == b"dc=x"))
    };
    let refused = (Code::LoginDenied, false);
    assert_eq!(login(&[(0, "")]), refused, "at once");
    assert_eq!(login(&[(0, "v=AAAA")]), refused, "at once, with a proof of nothing");
}

#[test]
fn servers_that_break_off_or_talk_nonsense() {
    let entry = entry("dc=x", b"A");
    let mut script = bound(&[&entry[..entry.len() - 1]]);
    script.push(Step::Finish);
    assert_eq!(run(script, "", |_| ()).0, Code::RecvError);
    for nonsense in [&b"HTTP/1.1 200 OK\r\n"[..], b"\x30\x84\xff\xff\xff\xff", b"\x30\x03\x02\x01\x02"] {
        assert_eq!(run(bound(&[nonsense]), "", |_| ()).0, Code::WeirdServerReply);
    }
}
