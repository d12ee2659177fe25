//! Whole conversations, the RFCs' own among them.

use super::*;

fn who(user: &str, password: &str) -> Login {
    Login {
        user: user.into(),
        password: password.into(),
        is_given: !user.is_empty(),
        service: b"imap".to_vec(),
        host: b"elwood.innosoft.com".to_vec(),
        port: 143,
        ..Login::default()
    }
}

fn fresh(nonce: &str) -> Fresh {
    Fresh { nonce: nonce.into(), octets: [0; 8], now: 0 }
}

fn offers(names: &str) -> Mechanisms {
    let mut offered = Mechanisms::NONE;
    offered.offer(names.as_bytes());
    offered
}

fn conversation(names: &str, sends_first: bool) -> Conversation {
    let mut wanted = Mechanisms::DEFAULT;
    wanted.insert(Mechanism::External);
    Conversation::new(offers(names), wanted, sends_first, 0)
}

fn b64(text: &str) -> String {
    base64::encode(text.as_bytes())
}

/// Plays a conversation: the server's replies and the expected actions.
fn plays(mut talk: Conversation, who: &Login, fresh: &Fresh, begin: Action, steps: &[(Reply<'_>, Action)]) {
    assert_eq!(talk.begin(who, fresh), begin);
    for (reply, action) in steps {
        assert_eq!(talk.answer(*reply, who, fresh), *action, "{reply:?}");
    }
}

#[test]
fn the_best_that_both_know_is_used() {
    let user = who("user", "secret");
    let begin = |names: &str, login: &Login| conversation(names, false).begin(login, &fresh("n"));
    assert_eq!(begin("LOGIN PLAIN CRAM-MD5 X-OTHER", &user), Action::Begin("CRAM-MD5", None));
    assert_eq!(begin("PLAIN scram-sha-1 NTLM", &user), Action::Begin("SCRAM-SHA-1", None));
    assert_eq!(begin("XOAUTH2 OAUTHBEARER PLAIN", &user), Action::Begin("PLAIN", None), "no token was given");
    let bearer = Login { bearer: Some(b"t".to_vec()), ..user.clone() };
    assert_eq!(begin("XOAUTH2 OAUTHBEARER PLAIN", &bearer), Action::Begin("OAUTHBEARER", None));
    assert_eq!(begin("EXTERNAL PLAIN", &user), Action::Begin("PLAIN", None));
    assert_eq!(begin("EXTERNAL PLAIN", &who("", "")), Action::Begin("EXTERNAL", None));
    assert_eq!(begin("PLAIN", &who("", "")), Action::Exhausted);
    assert_eq!(begin("PLAINER", &user), Action::Exhausted);
}

#[test]
fn plain_and_login() {
    let user = Login { authzid: b"other".to_vec(), ..who("user", "secret") };
    let response = b64("other\0user\0secret");
    let go = Reply::Continue(b"");
    let sent = [(go, Action::Send(response.clone())), (Reply::Success, Action::Done)];
    plays(conversation("PLAIN", false), &user, &fresh("n"), Action::Begin("PLAIN", None), &sent);
    let at_once = Action::Begin("PLAIN", Some(response));
    plays(conversation("PLAIN", true), &user, &fresh("n"), at_once, &[(Reply::Success, Action::Done)]);
    let named = Action::Begin("LOGIN", Some(b64("user")));
    let steps = [(go, Action::Send(b64("secret"))), (Reply::Failure, Action::Denied)];
    plays(conversation("LOGIN", true), &user, &fresh("n"), named, &steps);
}

#[test]
fn an_initial_response_that_is_too_long_waits() {
    let user = who("user", &"x".repeat(300));
    let mut talk = Conversation::new(offers("PLAIN"), Mechanisms::DEFAULT, true, 247);
    assert_eq!(talk.begin(&user, &fresh("n")), Action::Begin("PLAIN", None));
    let empty = Action::Begin("EXTERNAL", Some("=".to_owned()));
    plays(
        conversation("EXTERNAL", true),
        &who("", ""),
        &fresh("n"),
        empty,
        &[(Reply::Success, Action::Done)],
    );
}

#[test]
fn cram_md5_example_of_rfc_2195() {
    let user = who("tim", "tanstaaftanstaaf");
    let challenge = b64("<1896.697170952@postoffice.reston.mci.net>");
    let response = b64("tim b913a602c7eda7a495b4e6e7334d3890");
    let steps =
        [(Reply::Continue(challenge.as_bytes()), Action::Send(response)), (Reply::Success, Action::Done)];
    plays(conversation("CRAM-MD5", true), &user, &fresh("n"), Action::Begin("CRAM-MD5", None), &steps);
}

#[test]
fn digest_md5_example_of_rfc_2831() {
    let user = who("chris", "secret");
    let challenge = b64(
        "realm=\"elwood.innosoft.com\",nonce=\"OA6MG9tEQGm2hh\",qop=\"auth\",algorithm=md5-sess,charset=utf-8",
    );
    let response = b64(
        "username=\"chris\",realm=\"elwood.innosoft.com\",nonce=\"OA6MG9tEQGm2hh\",cnonce=\"OA6MHXh6VqTrRk\",\
         nc=\"00000001\",digest-uri=\"imap/elwood.innosoft.com\",response=d388dad90d4bbd760a152321f2143af7,qop=auth",
    );
    let proof = b64("rspauth=ea40f60335c427b5527b84dbabcdfffd");
    let steps = [
        (Reply::Continue(challenge.as_bytes()), Action::Send(response.clone())),
        (Reply::Continue(proof.as_bytes()), Action::Send(String::new())),
        (Reply::Success, Action::Done),
    ];
    let begin = || Action::Begin("DIGEST-MD5", None);
    plays(conversation("DIGEST-MD5", false), &user, &fresh("OA6MHXh6VqTrRk"), begin(), &steps);
    // CVE-2026-13608: success before the end is none, nor is one behind a proof that is wrong or none.
    let other = b64("rspauth=ea40f60335c427b5527b84dbabcdfffe");
    for lie in [Reply::Success, Reply::Continue(other.as_bytes()), Reply::Continue(b"")] {
        let short =
            [(Reply::Continue(challenge.as_bytes()), Action::Send(response.clone())), (lie, Action::Denied)];
        plays(conversation("DIGEST-MD5", false), &user, &fresh("OA6MHXh6VqTrRk"), begin(), &short);
    }
}

#[test]
fn scram_examples_of_rfc_5802_and_rfc_7677() {
    let rows = [
        (
            "SCRAM-SHA-1",
            "fyko+d2lbbFgONRv9qkxdawL",
            "r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,s=QSXCR+Q6sek8bf92,i=4096",
            "c=biws,r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,p=v0X8v3Bz2T0CJGbJQyF0X+HI4Ts=",
            "v=rmF9pqV8S7suAoZWja4dJRkFsKQ=",
        ),
        (
            "SCRAM-SHA-256",
            "rOprNGfwEbeRWgbNEkqO",
            "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
            "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=",
            "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=",
        ),
    ];
    let user = who("user", "pencil");
    for (name, nonce, server_first, client_final, server_final) in rows {
        let first = b64(&format!("n,,n=user,r={nonce}"));
        let (challenge, proof) = (b64(server_first), b64(server_final));
        let (challenge, proof) = (Reply::Continue(challenge.as_bytes()), Reply::Continue(proof.as_bytes()));
        let steps = [
            (Reply::Continue(b""), Action::Send(first)),
            (challenge, Action::Send(b64(client_final))),
            (proof, Action::Send(String::new())),
            (Reply::Success, Action::Done),
        ];
        plays(conversation(name, false), &user, &fresh(nonce), Action::Begin(name, None), &steps);
        // A server that does not prove that it knows the password: silent or wrong.
        let mut silent = conversation(name, true);
        silent.begin(&user, &fresh(nonce));
        silent.answer(challenge, &user, &fresh(nonce));
        assert_eq!(silent.answer(Reply::Success, &user, &fresh(nonce)), Action::Denied);
        let mut wrong = conversation(name, true);
        wrong.begin(&user, &fresh(nonce));
        wrong.answer(challenge, &user, &fresh(nonce));
        assert_eq!(wrong.answer(Reply::Continue(b"dj1BQUFB"), &user, &fresh(nonce)), Action::Denied);
    }
}

#[test]
fn senseless_challenges_of_scram_are_cancelled() {
    let user = who("us=e,r", "p");
    for challenge in [
        "r=other,s=QQ==,i=1",
        "r=n,s=QQ==,i=1",
        "r=nx,s=,i=1",
        "r=nx,s=QQ==,i=0",
        "r=nx,s=QQ==,i=99999999",
        "",
        "r=nx",
    ] {
        let mut talk = conversation("SCRAM-SHA-1", true);
        let first = Action::Begin("SCRAM-SHA-1", Some(b64("n,,n=us=3De=2Cr,r=n")));
        assert_eq!(talk.begin(&user, &fresh("n")), first);
        let challenge = b64(challenge);
        assert_eq!(talk.answer(Reply::Continue(challenge.as_bytes()), &user, &fresh("n")), Action::Cancel);
        assert_eq!(talk.answer(Reply::Failure, &user, &fresh("n")), Action::Exhausted);
    }
}

#[test]
fn a_cancelled_mechanism_falls_back_to_the_next() {
    let user = who("user", "secret");
    let steps = [
        (Reply::Continue(b"Rubbish"), Action::Cancel),
        (Reply::Failure, Action::Begin("NTLM", None)),
        (Reply::Continue(b""), Action::Send(ntlm::message1())),
        (Reply::Continue(b"Rubbish"), Action::Cancel),
        (Reply::Failure, Action::Begin("PLAIN", None)),
        (Reply::Continue(b""), Action::Send(b64("\0user\0secret"))),
        (Reply::Success, Action::Done),
    ];
    let talk = conversation("CRAM-MD5 PLAIN NTLM", false);
    plays(talk, &user, &fresh("n"), Action::Begin("CRAM-MD5", None), &steps);
}

#[test]
fn bearer_tokens() {
    let user = Login { bearer: Some(b"mF_9".to_vec()), ..who("user", "") };
    let message = b64("n,a=user,\x01host=elwood.innosoft.com\x01port=143\x01auth=Bearer mF_9\x01\x01");
    let steps = [
        (Reply::Continue(b"eyJzdGF0dXMiOiJpbnZhbGlkIn0="), Action::Send("AQ==".to_owned())),
        (Reply::Failure, Action::Denied),
    ];
    let begin = Action::Begin("OAUTHBEARER", Some(message));
    plays(conversation("OAUTHBEARER", true), &user, &fresh("n"), begin, &steps);
    let message = b64("user=user\x01auth=Bearer mF_9\x01\x01");
    let steps = [(Reply::Continue(b""), Action::Send(message)), (Reply::Success, Action::Done)];
    plays(conversation("XOAUTH2", false), &user, &fresh("n"), Action::Begin("XOAUTH2", None), &steps);
}

#[test]
fn login_options() {
    let parse = |options: &str| Preference::parse(options.as_bytes(), Some("APOP"), Mechanisms::DEFAULT);
    let sasl = |names| Ok(Preference { kind: Kind::Sasl, mechanisms: offers(names) });
    let any = Ok(Preference { kind: Kind::Any, mechanisms: Mechanisms::DEFAULT });
    assert_eq!(parse(""), any);
    assert_eq!(parse("AUTH=*"), any);
    assert_eq!(parse("auth=plain;AUTH=LOGIN"), sasl("PLAIN LOGIN"));
    assert_eq!(parse("AUTH=EXTERNAL"), sasl("EXTERNAL"));
    // If the default is something else, it is used as if it had been chosen; an option overrides it.
    let other = |options: &str| Preference::parse(options.as_bytes(), Some("APOP"), offers("NTLM"));
    assert_eq!((other(""), other("AUTH=PLAIN"), other("AUTH=*")), (sasl("NTLM"), sasl("PLAIN"), any));
    assert_eq!(parse("AUTH=+APOP"), Ok(Preference { kind: Kind::Own, mechanisms: Mechanisms::NONE }));
    for bad in ["AUTH=dummy", "AUTH=", "X=1", "PLAIN", "AUTH=+LOGIN"] {
        assert_eq!(parse(bad), Err(BadOption), "{bad}");
    }
}

fn with_channels(channels: &[(&'static str, &[u8])]) -> Login {
    let channels = channels.iter().map(|(kind, name)| Channel { kind, name: name.to_vec() }).collect();
    Login { channels, ..who("user", "pencil") }
}

fn chosen(options: &str) -> Mechanisms {
    Preference::parse(options.as_bytes(), None, Mechanisms::DEFAULT).unwrap().mechanisms
}

/// The channel is part of the proof: a server that sees another one finds it wrong.
#[test]
fn scram_with_a_channel() {
    let user = with_channels(&[("tls-server-end-point", b"\x01\x02")]);
    let nonce = "rOprNGfwEbeRWgbNEkqO";
    let mut talk = conversation("SCRAM-SHA-256-PLUS SCRAM-SHA-256", true);
    let begin = talk.begin(&user, &fresh(nonce));
    assert_eq!(
        begin,
        Action::Begin("SCRAM-SHA-256", Some(b64(&format!("n,,n=user,r={nonce}")))),
        "unless it is chosen"
    );
    let plus = chosen("AUTH=SCRAM-SHA-256-PLUS");
    let mut talk = Conversation::new(offers("SCRAM-SHA-256-PLUS SCRAM-SHA-256"), plus, true, 0);
    let first = b64(&format!("p=tls-server-end-point,,n=user,r={nonce}"));
    assert_eq!(talk.begin(&user, &fresh(nonce)), Action::Begin("SCRAM-SHA-256-PLUS", Some(first)));
    let challenge = b64(&format!("r={nonce}more,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"));
    let Action::Send(answer) = talk.answer(Reply::Continue(challenge.as_bytes()), &user, &fresh(nonce))
    else {
        panic!("there is an answer");
    };
    let answer = String::from_utf8(base64::decode(answer.as_bytes()).unwrap()).unwrap();
    let bound = base64::encode(b"p=tls-server-end-point,,\x01\x02");
    assert!(answer.starts_with(&format!("c={bound},r={nonce}more,p=")), "{answer}");
    assert_eq!(talk.answer(Reply::Failure, &user, &fresh(nonce)), Action::Denied);
    // Without TLS there is none.
    let mut talk = Conversation::new(offers("SCRAM-SHA-256-PLUS"), plus, true, 0);
    assert_eq!(talk.begin(&who("user", "pencil"), &fresh(nonce)), Action::Exhausted);
}

/// A server does not report which channel bindings it supports. A binding refused before any proof is
/// replaced by the next one; a refusal after the proof is final.
#[test]
fn names_of_a_channel_give_way_to_one_another() {
    let user = with_channels(&[("tls-exporter", b"E"), ("tls-server-end-point", b"C")]);
    let plus = chosen("AUTH=SCRAM-SHA-256-PLUS;AUTH=SCRAM-SHA-1-PLUS");
    let both = "SCRAM-SHA-256-PLUS SCRAM-SHA-1-PLUS";
    let first = |kind: &str| Some(b64(&format!("p={kind},,n=user,r=n")));
    let no_such_name = b64("e=unsupported-channel-binding-type");
    let steps = [
        (Reply::Failure, Action::Begin("SCRAM-SHA-256-PLUS", first("tls-server-end-point"))),
        (Reply::Failure, Action::Denied),
    ];
    let begin = || Action::Begin("SCRAM-SHA-256-PLUS", first("tls-exporter"));
    plays(Conversation::new(offers(both), plus, true, 0), &user, &fresh("n"), begin(), &steps);
    let refusal = || (Reply::Continue(no_such_name.as_bytes()), Action::Cancel);
    let steps = [
        refusal(),
        (Reply::Failure, Action::Begin("SCRAM-SHA-256-PLUS", first("tls-server-end-point"))),
        refusal(),
        (Reply::Failure, Action::Begin("SCRAM-SHA-1-PLUS", first("tls-exporter"))),
        refusal(),
        (Reply::Failure, Action::Begin("SCRAM-SHA-1-PLUS", first("tls-server-end-point"))),
        refusal(),
        (Reply::Failure, Action::Exhausted),
    ];
    plays(Conversation::new(offers(both), plus, true, 0), &user, &fresh("n"), begin(), &steps);
    let mut talk = Conversation::new(offers(both), plus, true, 0);
    talk.begin(&user, &fresh("n"));
    let challenge = b64("r=nmore,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096");
    let proof = talk.answer(Reply::Continue(challenge.as_bytes()), &user, &fresh("n"));
    assert!(matches!(proof, Action::Send(_)));
    assert_eq!(talk.answer(Reply::Failure, &user, &fresh("n")), Action::Denied);
}

/// LDAP has the last challenge go with the success (RFC 4422 section 3.6).
#[test]
fn success_with_a_last_challenge() {
    let user = who("chris", "secret");
    let challenge =
        b64("realm=\"elwood.innosoft.com\",nonce=\"OA6MG9tEQGm2hh\",qop=\"auth\",algorithm=md5-sess");
    let proof = b64("rspauth=ea40f60335c427b5527b84dbabcdfffd");
    let mut talk = conversation("DIGEST-MD5", false);
    talk.begin(&user, &fresh("OA6MHXh6VqTrRk"));
    let early = talk.answer(Reply::SuccessAfter(challenge.as_bytes()), &user, &fresh("OA6MHXh6VqTrRk"));
    assert_eq!(early, Action::Denied, "nothing was proved");
    let mut talk = conversation("DIGEST-MD5", false);
    talk.begin(&user, &fresh("OA6MHXh6VqTrRk"));
    talk.answer(Reply::Continue(challenge.as_bytes()), &user, &fresh("OA6MHXh6VqTrRk"));
    assert_eq!(
        talk.answer(Reply::SuccessAfter(proof.as_bytes()), &user, &fresh("OA6MHXh6VqTrRk")),
        Action::Done
    );
    let mut talk = conversation("SCRAM-SHA-1", true);
    talk.begin(&user, &fresh("n"));
    let challenge = b64("r=nmore,s=QSXCR+Q6sek8bf92,i=1");
    talk.answer(Reply::Continue(challenge.as_bytes()), &user, &fresh("n"));
    let lie = b64("v=AAAA");
    assert_eq!(talk.answer(Reply::SuccessAfter(lie.as_bytes()), &user, &fresh("n")), Action::Denied);
}

#[test]
fn nobody_and_tickets() {
    let chosen = Preference::parse(b"AUTH=ANONYMOUS", None, Mechanisms::DEFAULT).unwrap().mechanisms;
    let mut talk = Conversation::new(offers("PLAIN ANONYMOUS"), chosen, true, 0);
    assert_eq!(talk.begin(&who("me", ""), &fresh("n")), Action::Begin("ANONYMOUS", Some(b64("me"))));
    assert_eq!(talk.answer(Reply::Success, &who("me", ""), &fresh("n")), Action::Done);
    let mut talk = conversation("ANONYMOUS", true);
    assert_eq!(talk.begin(&who("me", "x"), &fresh("n")), Action::Exhausted, "unless it is chosen");
    // A ticket is used if a realm is named. A malformed challenge is cancelled, and the next best mechanism
    // is tried.
    let user = who("alice@REALM", "secret");
    let mut talk = conversation("PLAIN GSSAPI", false);
    assert_eq!(talk.begin(&user, &fresh("n")), Action::Gssapi);
    assert_eq!(talk.answer(Reply::Success, &user, &fresh("n")), Action::Done);
    let mut talk = conversation("PLAIN GSSAPI", false);
    assert_eq!(talk.begin(&user, &fresh("n")), Action::Gssapi);
    assert_eq!(talk.cancelled(), Action::Cancel);
    assert_eq!(talk.answer(Reply::Failure, &user, &fresh("n")), Action::Begin("PLAIN", None));
    let mut talk = conversation("PLAIN GSSAPI", false);
    assert_eq!(talk.begin(&who("alice", "secret"), &fresh("n")), Action::Begin("PLAIN", None));
}
