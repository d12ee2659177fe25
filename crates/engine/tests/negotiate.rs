//! Negotiate with real tickets and scripted servers: who gets one, and whose a connection is afterwards. The
//! Kerberos library reads its realm from the environment, so that each act is played by this program started
//! anew: a test of the name `act_...`, ignored unless it is asked for.
//!
//! covers: CURLOPT_HTTPAUTH, CURLOPT_PROXYAUTH, CURLOPT_GSSAPI_DELEGATION, CURLOPT_SERVICE_NAME,
//! CURLOPT_PROXY_SERVICE_NAME, CURLAUTH_NEGOTIATE

use std::process::Command;

use crate::common::{handle, long, text};
use tables::constant::{CURLAUTH_ANY, CURLAUTH_NEGOTIATE, CURLGSSAPI_DELEGATION_FLAG};
use tables::{Code, EasyOption as O};
use testkit::http::{HttpServer, Request, Response};
use testkit::launch::Kerberos;
use warmwire_engine::Easy;

/// Plays an act; alice has a ticket. `TICKETS_OF_BOB` names a ticket cache of another user.
fn play(act: &str) {
    let realm = Kerberos::start().unwrap();
    realm.login("alice").unwrap();
    realm.login("bob").unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", &format!("negotiate::{act}"), "--ignored", "--nocapture"]);
    realm.user(&mut command, "alice");
    command.env("TICKETS_OF_BOB", realm.cache("bob"));
    let output = command.output().unwrap();
    let report =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && report.contains("1 passed"), "{act}: {report}");
}

fn negotiating(url: &str, user: Option<&str>) -> (Easy, std::rc::Rc<crate::common::App>) {
    let (easy, app) = handle(url);
    user.into_iter().for_each(|user| text(&easy, O::UserPwd, user));
    long(&easy, O::HttpAuth, CURLAUTH_NEGOTIATE as i64);
    (easy, app)
}

fn perform(easy: &Easy) {
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
}

/// The schemes of the credentials in each request.
fn proofs(server: &HttpServer, field: &str) -> Vec<String> {
    let of = |request: &Request| {
        let value = request.field(field).unwrap_or_default();
        value.split(' ').next().unwrap_or_default().to_owned()
    };
    server.requests().iter().map(of).collect()
}

fn anybody() -> HttpServer {
    HttpServer::with(|_| Some(Response::ok("in")))
}

/// Replaces the ticket cache of this process by bob's.
fn become_bob() {
    let file = |name: &str| std::env::var(name).unwrap().strip_prefix("FILE:").unwrap().to_owned();
    std::fs::copy(file("TICKETS_OF_BOB"), file("KRB5CCNAME")).unwrap();
}

/// CVE-2015-3148, CVE-2023-27536, CVE-2026-19931: a connection authenticated by a ticket serves only the
/// ticket's user. That may be another user than CURLOPT_USERNAME names, and another one after the ticket
/// cache was replaced.
#[test]
fn a_negotiate_connection_belongs_to_its_user() {
    play("act_belongs_to_its_user");
}

#[test]
#[ignore = "an act of a_negotiate_connection_belongs_to_its_user"]
fn act_belongs_to_its_user() {
    let server = anybody();
    let (easy, _app) = negotiating(&server.url("/"), Some("alice:"));
    perform(&easy);
    perform(&easy);
    assert_eq!(
        (server.accepts(), proofs(&server, "Authorization")),
        (1, vec!["Negotiate".into(); 2]),
        "the same user"
    );
    let mut accepts = 1;
    let mut expect_another = |what: &str| {
        perform(&easy);
        accepts += 1;
        assert_eq!(server.accepts(), accepts, "{what}: {:?}", proofs(&server, "Authorization"));
    };
    text(&easy, O::UserPwd, "bob:");
    expect_another("another user");
    long(&easy, O::GssapiDelegation, CURLGSSAPI_DELEGATION_FLAG);
    expect_another("delegation");
    text(&easy, O::ServiceName, "other");
    expect_another("another service; there is no key for it here");
    text(&easy, O::ServiceName, "HTTP");
    text(&easy, O::UserPwd, ":");
    expect_another("no user is named");
    become_bob();
    expect_another("another user's ticket");
    long(&easy, O::HttpAuth, CURLAUTH_ANY as i64);
    perform(&easy);
    assert_eq!(server.accepts(), accepts, "the handle remembers the scheme");
    easy.state().settings.borrow_mut().set_text(O::UserPwd, None).unwrap();
    long(&easy, O::HttpAuth, 1);
    perform(&easy);
    assert_eq!(server.last_request().unwrap().field("Authorization"), None);
    // A connection that a ticket has just authenticated is not used for a transfer without one.
    let server = anybody();
    text(&easy, O::Url, &server.url("/"));
    text(&easy, O::UserPwd, "alice:");
    long(&easy, O::HttpAuth, CURLAUTH_NEGOTIATE as i64);
    perform(&easy);
    easy.state().settings.borrow_mut().set_text(O::UserPwd, None).unwrap();
    long(&easy, O::HttpAuth, 1);
    perform(&easy);
    assert_eq!(
        (server.accepts(), proofs(&server, "Authorization")),
        (2, vec!["Negotiate".into(), String::new()])
    );
}

/// Faults of curl 8.22 itself (CVE-2026-86413, CVE-2026-94265): our ticket is sent to the server that the
/// application named, not to the target of a redirect, whatever user is in the new URL.
#[test]
fn a_redirect_gets_no_ticket() {
    play("act_redirect");
}

#[test]
#[ignore = "an act of a_redirect_gets_no_ticket"]
fn act_redirect() {
    for user in [None, Some(":"), Some("alice:")] {
        for login in ["", "me:secret@", "alice:@"] {
            let b = HttpServer::with(|_| Some(Response::status(401).with("WWW-Authenticate", "Negotiate")));
            let to = b.url("/").replace("://", &format!("://{login}"));
            let a = HttpServer::with(move |_| Some(Response::status(302).with("Location", &*to)));
            let (easy, _app) = negotiating(&a.url("/"), user);
            long(&easy, O::FollowLocation, 1);
            perform(&easy);
            assert_eq!(proofs(&a, "Authorization"), ["Negotiate"]);
            assert_eq!(proofs(&b, "Authorization"), [""], "{user:?} {login}");
        }
    }
    // Unless the application says so.
    let b = anybody();
    let to = b.url("/");
    let a = HttpServer::with(move |_| Some(Response::status(302).with("Location", &*to)));
    let (easy, _app) = negotiating(&a.url("/"), Some("alice:"));
    long(&easy, O::FollowLocation, 1);
    long(&easy, O::UnrestrictedAuth, 1);
    perform(&easy);
    assert_eq!(proofs(&b, "Authorization"), ["Negotiate"]);
}

/// A fault of curl 8.22 itself (CVE-2026-87861): a connection to a proxy that forwards leads to many servers,
/// but one that a ticket has authenticated to one of them leads to that one.
#[test]
fn a_forwarded_connection_is_one_servers() {
    play("act_forwarded");
}

#[test]
#[ignore = "an act of a_forwarded_connection_is_one_servers"]
fn act_forwarded() {
    let proxy = anybody();
    let (easy, _app) = negotiating("http://localhost/", Some("alice:"));
    text(&easy, O::Proxy, &proxy.url(""));
    perform(&easy);
    perform(&easy);
    assert_eq!(proxy.accepts(), 1);
    text(&easy, O::Url, "http://127.0.0.1/");
    perform(&easy);
    assert_eq!(proxy.accepts(), 2);
    assert_eq!(proofs(&proxy, "Authorization"), ["Negotiate"; 3]);
}

/// CVE-2011-2192: delegation is explicit, and visible in the ticket's flags; see `NegotiateServer`'s cases
/// for what Apache receives. Here: the token grows by the delegated ticket.
#[test]
fn nothing_is_delegated_unless_asked() {
    play("act_delegates");
}

#[test]
#[ignore = "an act of nothing_is_delegated_unless_asked"]
fn act_delegates() {
    let lengths: Vec<usize> = [None, Some(0), Some(CURLGSSAPI_DELEGATION_FLAG)]
        .into_iter()
        .map(|level| {
            let server = anybody();
            let (easy, _app) = negotiating(&server.url("/"), None);
            level.into_iter().for_each(|level| long(&easy, O::GssapiDelegation, level));
            perform(&easy);
            server.last_request().unwrap().field("Authorization").unwrap().len()
        })
        .collect();
    assert!(lengths[0].abs_diff(lengths[1]) < 100, "{lengths:?}");
    assert!(lengths[2] > lengths[0] + 500, "{lengths:?}");
}

/// Proxies: for plain requests and for tunnels, with a user and without one.
#[test]
fn proxies_get_tickets() {
    play("act_proxies");
}

#[test]
#[ignore = "an act of proxies_get_tickets"]
fn act_proxies() {
    for user in [None, Some("alice:")] {
        for tunnel in [0, 1] {
            let proxy = HttpServer::with(move |request| {
                let known = request.field("Proxy-Authorization").is_some_and(|v| v.starts_with("Negotiate "));
                let refused = Response::status(407).with("Proxy-Authenticate", "Negotiate");
                // Requests through a tunnel are for the origin, and the one that opens it has no body.
                let through = tunnel == 1 && request.method != "CONNECT";
                let accepted = Response::ok(if through || tunnel == 0 { "in" } else { "" });
                Some(if known || through { accepted } else { refused })
            });
            let (easy, _app) = handle("http://origin.example/");
            text(&easy, O::Proxy, &proxy.url(""));
            user.into_iter().for_each(|user| text(&easy, O::ProxyUserPwd, user));
            long(&easy, O::HttpProxyTunnel, tunnel);
            long(&easy, O::ProxyAuth, CURLAUTH_NEGOTIATE as i64);
            perform(&easy);
            assert_eq!(proofs(&proxy, "Proxy-Authorization")[0], "Negotiate", "{user:?} {tunnel}");
            // The service of that name has no key, so there is no ticket and nothing is sent.
            text(&easy, O::ProxyServiceName, "unheard-of");
            easy.perform();
            assert_eq!(proofs(&proxy, "Proxy-Authorization").last().unwrap(), "", "{user:?} {tunnel}");
            assert_eq!(easy.state().info.borrow().response_code, if tunnel == 1 { 0 } else { 407 });
        }
    }
}

/// Rounds: a server that asks once more gets an answer to its token or, when the token is none, the 401 is
/// the result.
#[test]
fn rounds_end() {
    play("act_rounds");
}

#[test]
#[ignore = "an act of rounds_end"]
fn act_rounds() {
    for challenge in ["Negotiate", "Negotiate bm9uc2Vuc2U=", "Negotiate ====", "Negotiate x, Negotiate y"] {
        let server =
            HttpServer::with(move |_| Some(Response::status(401).with("WWW-Authenticate", challenge)));
        for auth in [CURLAUTH_NEGOTIATE, CURLAUTH_ANY] {
            let (easy, app) = negotiating(&server.url("/"), Some(":"));
            long(&easy, O::HttpAuth, auth as i64);
            perform(&easy);
            assert_eq!(easy.state().info.borrow().response_code, 401, "{challenge}");
            assert!(server.served() <= 8, "{challenge}: it goes round in circles");
            drop(app);
        }
    }
}

/// Tickets come and go while a handle stays as it is.
#[test]
fn a_ticket_is_looked_for_each_time() {
    play("act_ticket_comes");
}

#[test]
#[ignore = "an act of a_ticket_is_looked_for_each_time"]
fn act_ticket_comes() {
    let tickets = std::env::var("KRB5CCNAME").unwrap();
    let tickets = tickets.strip_prefix("FILE:").unwrap();
    let away = format!("{tickets}.away");
    let server = anybody();
    let (easy, _app) = negotiating(&server.url("/"), None);
    let go_and_come = [(tickets, away.as_str()), (&away, tickets), (tickets, &away), (&away, tickets)];
    for (from, to) in go_and_come {
        std::fs::rename(from, to).unwrap();
        perform(&easy);
    }
    assert_eq!(proofs(&server, "Authorization"), ["", "Negotiate", "", "Negotiate"]);
}
