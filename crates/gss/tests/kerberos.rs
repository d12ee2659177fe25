//! Contexts against a real KDC. The library reads its realm from the environment, so each test runs this
//! program again with a test named `act_...`, which is ignored otherwise.

use std::process::Command;

use testkit::launch::Kerberos;
use warmwire_gss::{Context, Delegation, Error, Mechanism, Step};

/// Plays an act; `user` has a ticket.
fn play(realm: &Kerberos, act: &str, user: &str) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", act, "--ignored", "--nocapture"]);
    realm.user(&mut command, user);
    let output = command.output().unwrap();
    let report =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && report.contains("1 passed"), "{act} as {user}: {report}");
}

#[test]
fn contexts_with_a_real_realm() {
    let realm = Kerberos::start().unwrap();
    realm.login("alice").unwrap();
    play(&realm, "act_begins", "alice");
    play(&realm, "act_has_no_ticket", "bob");
    realm.login("bob").unwrap();
    play(&realm, "act_begins", "bob");
    realm.logout("bob").unwrap();
    play(&realm, "act_has_no_ticket", "bob");
}

#[test]
#[ignore = "an act of contexts_with_a_real_realm"]
fn act_begins() {
    for (mechanism, first) in [(Mechanism::Spnego, 0x60), (Mechanism::Kerberos, 0x60)] {
        for delegation in [Delegation::Never, Delegation::ByPolicy, Delegation::Always] {
            let mut context = Context::new("HTTP", "localhost", mechanism, delegation).unwrap();
            assert!(context.is_fresh());
            context.bind(b"tls-server-end-point:x".to_vec());
            let Step::Continue(token) = context.step(None).unwrap() else {
                panic!("the server's proof is awaited");
            };
            assert!(!context.is_fresh());
            assert_eq!(token[0], first, "RFC 2743 section 3.1");
            // No context is established yet, and this is not a valid token.
            let Err(Error::Failed { call, text }) = context.step(Some(b"nonsense")) else { panic!() };
            assert_eq!(call, "gss_init_sec_context");
            assert!(text.ends_with(". "), "{text}");
        }
    }
    let mut unknown = Context::new("HTTP", "unknown", Mechanism::Kerberos, Delegation::Never).unwrap();
    let text = unknown.step(None).unwrap_err().to_string();
    assert!(text.contains("not found in Kerberos database"), "{text}");
}

#[test]
#[ignore = "an act of contexts_with_a_real_realm"]
fn act_has_no_ticket() {
    let mut context = Context::new("HTTP", "localhost", Mechanism::Kerberos, Delegation::Never).unwrap();
    let text = context.step(None).unwrap_err().to_string();
    assert!(text.contains("No Kerberos credentials available"), "{text}");
    let mut context = Context::new("HTTP", "localhost", Mechanism::Spnego, Delegation::Never).unwrap();
    let text = context.step(None).unwrap_err().to_string();
    assert!(text.starts_with("gss_init_sec_context() failed: No credentials were supplied"), "{text}");
    // Calls before the start fail; they are not undefined behaviour.
    for error in [
        context.wrap(b"x", true).unwrap_err(),
        context.unwrap(b"x").map(|_| ()).unwrap_err(),
        context.user().map(|_| ()).unwrap_err(),
    ] {
        assert!(matches!(error, Error::Failed { .. }), "{error}");
    }
}
