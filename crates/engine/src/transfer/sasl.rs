//! The login of the mail protocols by SASL: `wire::auth::sasl` decides what to send, a [`Speaker`] sends it
//! in its protocol's form.

use net::tls::{TlsInfo, binding};
use runtime::seconds_since_1970;
use tables::constant::{CURLAUTH_BASIC, CURLAUTH_BEARER, CURLAUTH_DIGEST, CURLAUTH_NEGOTIATE, CURLAUTH_NTLM};
use tables::{Code, EasyOption as O};
use wire::auth::sasl::{
    Action, Channel, Conversation, Fresh, Login, Mechanism, Mechanisms, Preference, Reply,
};

use super::credentials;
use super::dialogue::Dialogue;
use super::gssapi::{self, Verdict};
use super::{Route, Transfer};
use crate::error::{Error, Result};
use crate::mime::{random_bytes, random_text};

/// The server's reply, with the challenge if there is one.
#[derive(Debug, PartialEq, Eq)]
pub enum SaslReply {
    /// A challenge: the text after the protocol's mark, without the line ending.
    Continue(Vec<u8>),
    /// Logged in.
    Success,
    /// Refused.
    Failure,
}

/// The differences between protocols.
pub trait Speaker {
    /// The service as GSS-API names it: `smtp`, `imap`, `pop`.
    const SERVICE: &'static str;
    /// How long a mechanism's name and its initial response may be together; 0 is without limit.
    const LIMIT: usize;

    /// Whether the server has said that the first response may go with the command (SASL-IR in IMAP). Where
    /// protocols do not say so, CURLOPT_SASL_IR(3) does.
    fn sends_first(&self) -> bool {
        false
    }

    /// The dialogue that responses go out on.
    fn dialogue(&mut self) -> &mut Dialogue;

    /// Returns the command that starts a mechanism, up to its name: `AUTH`, for IMAP with a tag.
    fn command(&mut self) -> Vec<u8>;

    /// Reads the server's reply.
    fn reply(&mut self, t: &mut Transfer) -> impl Future<Output = Result<SaslReply>>;
}

/// The outcome of a login by SASL that has not failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Logged in.
    Done,
    /// Both sides have no mechanism in common: the protocol's own way remains.
    Exhausted,
    /// No mechanism is left after this side cancelled one; the protocol's own login remains.
    Cancelled,
}

/// Logs in by the best mechanism that both sides know. A refusal is CURLE_LOGIN_DENIED.
pub async fn log_in<S: Speaker>(
    t: &mut Transfer,
    speaker: &mut S,
    offered: Mechanisms,
    wanted: Mechanisms,
) -> Result<Outcome> {
    let who = service_login(t, S::SERVICE, speaker.dialogue().about().tls.as_deref())?;
    let sends_first = t.on(O::SaslIr) || speaker.sends_first();
    let mut talk = Conversation::new(offered, wanted, sends_first, S::LIMIT);
    let mut action = talk.begin(&who, &fresh());
    let mut cancelled = false;
    loop {
        let line = match action {
            Action::Begin(mechanism, response) => {
                let mut line = speaker.command();
                line.extend_from_slice(mechanism.as_bytes());
                response.iter().for_each(|r| line.extend_from_slice(&[b" ", r.as_bytes()].concat()));
                line
            }
            Action::Gssapi => {
                action = match gssapi::log_in(t, speaker, &who, sends_first).await? {
                    Verdict::Success => talk.answer(Reply::Success, &who, &fresh()),
                    Verdict::Failure => talk.answer(Reply::Failure, &who, &fresh()),
                    Verdict::Senseless => talk.cancelled(),
                };
                continue;
            }
            Action::Send(response) => response.into_bytes(),
            Action::Cancel => {
                cancelled = true;
                b"*".to_vec()
            }
            Action::Done => return Ok(Outcome::Done),
            Action::Denied => return Err(Error::new(Code::LoginDenied, "Login denied")),
            Action::Exhausted if cancelled => return Ok(Outcome::Cancelled),
            Action::Exhausted => return Ok(Outcome::Exhausted),
        };
        speaker.dialogue().send(t, &line).await?;
        let server_line = speaker.reply(t).await?;
        let reply = match &server_line {
            SaslReply::Continue(challenge) => Reply::Continue(challenge),
            SaslReply::Success => Reply::Success,
            SaslReply::Failure => Reply::Failure,
        };
        action = talk.answer(reply, &who, &fresh());
    }
}

/// Whether there is a token for this server, which is a login without a user, too.
pub fn has_token(t: &Route) -> bool {
    let token = t.text(O::Xoauth2Bearer);
    token.is_some_and(|token| t.secret(token).for_peer(&t.peer()).is_some())
}

/// Returns whether a login is possible: with a user, a token, or a mechanism that needs neither, if the
/// server offers it.
pub fn can_log_in(t: &Route, offered: Mechanisms, wanted: Mechanisms) -> Result<bool> {
    let both = offered.both(wanted);
    let without = both.has(Mechanism::External) || both.has(Mechanism::Anonymous);
    Ok(without || has_token(t) || credentials::credentials(t)?.is_some())
}

/// Returns the error for a login without a usable mechanism.
pub fn no_way(t: &Route, outcome: Outcome) -> Error {
    if outcome == Outcome::Cancelled {
        return Error::new(Code::LoginDenied, "Authentication cancelled");
    }
    t.easy.note(|| "SASL: no auth mechanism was offered or recognized".to_owned());
    Error::from(Code::LoginDenied)
}

/// Returns the login options' choice of methods. `own` is the protocol's own command.
pub fn preference(t: &Route, own: Option<&str>) -> Result<Preference> {
    let options = credentials::options(t)?;
    let usual = usual(t.long(O::HttpAuth) as u64);
    Preference::parse(&options, own, usual).map_err(|_| Error::from(Code::UrlMalformat))
}

/// Returns the channel bindings for SCRAM: without the prefixes, which GSS-API includes and SCRAM sends
/// separately. Bindings of this handshake come before those of the server's certificate.
fn channels(tls: &TlsInfo) -> Vec<Channel> {
    let exported = tls.exported.map(|name| Channel { kind: "tls-exporter", name: name.to_vec() });
    let certificate = binding::server_end_point(tls)
        .and_then(|name| name.strip_prefix(b"tls-server-end-point:").map(<[u8]>::to_vec))
        .map(|name| Channel { kind: "tls-server-end-point", name });
    exported.into_iter().chain(certificate).collect()
}

/// Returns the default mechanisms: those that correspond to CURLOPT_HTTPAUTH(3), if it is not its default.
fn usual(schemes: u64) -> Mechanisms {
    use Mechanism::{DigestMd5, Gssapi, Login as LoginName, Ntlm, OauthBearer, Plain, Xoauth2};
    let beside: [(u64, &[Mechanism]); 5] = [
        (CURLAUTH_BASIC, &[Plain, LoginName]),
        (CURLAUTH_DIGEST, &[DigestMd5]),
        (CURLAUTH_NTLM, &[Ntlm]),
        (CURLAUTH_BEARER, &[OauthBearer, Xoauth2]),
        (CURLAUTH_NEGOTIATE, &[Gssapi]),
    ];
    let mut chosen = Mechanisms::NONE;
    for (_, mechanisms) in beside.iter().filter(|(scheme, _)| schemes & scheme != 0) {
        mechanisms.iter().for_each(|mechanism| chosen.insert(*mechanism));
    }
    if schemes == CURLAUTH_BASIC || chosen.is_empty() { Mechanisms::DEFAULT } else { chosen }
}

/// Checks the login before anything is connected: control characters in the URL's login are refused, and
/// login options must be known.
pub fn check_login(t: &Route, own: Option<&str>) -> Result<()> {
    credentials::check_url(t)?;
    credentials::credentials(t)?;
    preference(t, own).map(drop)
}

/// Returns the login and the service, with TLS's channel bindings if there are any.
pub fn service_login(t: &Route, service: &str, tls: Option<&TlsInfo>) -> Result<Login> {
    let peer = t.peer();
    let given = credentials::credentials(t)?;
    let own = given.as_ref().and_then(|login| login.for_peer(&peer)).cloned();
    let is_given = own.is_some();
    let own = own.unwrap_or_default();
    let own_text =
        |option| t.text(option).and_then(|text| t.secret(text).for_peer(&peer).map(|s| s.to_vec()));
    let host = t.url.host_unbracketed().unwrap_or_default();
    Ok(Login {
        user: own.user,
        password: own.password,
        is_given,
        authzid: own_text(O::SaslAuthzId).unwrap_or_default(),
        bearer: own_text(O::Xoauth2Bearer),
        service: t.text(O::ServiceName).map_or_else(|| service.into(), |name| name.to_vec()),
        host: host.to_vec(),
        port: t.url.port_or_default().unwrap_or_default(),
        channels: tls.map(channels).unwrap_or_default(),
    })
}

/// Returns random values for each step of a login.
pub fn fresh() -> Fresh {
    Fresh { nonce: random_text(32).into_bytes(), octets: random_bytes(), now: seconds_since_1970() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Mechanism::{Anonymous, DigestMd5, External, Gssapi, Ntlm, OauthBearer, Plain, Xoauth2};
    use tables::constant::CURLAUTH_ANY;

    use crate::transfer::fixture::transfer;

    fn mechanisms(all: &[Mechanism]) -> Mechanisms {
        let mut set = Mechanisms::NONE;
        all.iter().for_each(|one| set.insert(*one));
        set
    }

    #[test]
    fn http_schemes_stand_for_mechanisms() {
        // A scheme, a mechanism that may be combined with it, and one that may not.
        let rows = [
            ("CURLOPT_HTTPAUTH(3): Digest", CURLAUTH_DIGEST, DigestMd5, Plain),
            ("CURLOPT_HTTPAUTH(3): NTLM", CURLAUTH_NTLM, Ntlm, Plain),
            ("CURLOPT_HTTPAUTH(3): Bearer", CURLAUTH_BEARER, OauthBearer, Plain),
            ("CURLOPT_HTTPAUTH(3): Bearer, as older servers have it", CURLAUTH_BEARER, Xoauth2, Ntlm),
            ("CURLOPT_HTTPAUTH(3): Negotiate", CURLAUTH_NEGOTIATE, Gssapi, Plain),
            ("CURLOPT_HTTPAUTH(3): two", CURLAUTH_BASIC | CURLAUTH_DIGEST, Plain, Ntlm),
        ];
        for (name, schemes, has, has_not) in rows {
            let found = usual(schemes);
            assert!(found.has(has) && !found.has(has_not), "{name}");
        }
        assert_eq!(
            usual(CURLAUTH_BASIC),
            Mechanisms::DEFAULT,
            "CURLOPT_HTTPAUTH(3): the default says nothing"
        );
        assert_eq!(usual(0), Mechanisms::DEFAULT, "CURLOPT_HTTPAUTH(3): CURLAUTH_NONE");
        assert!(usual(CURLAUTH_ANY).has(Gssapi), "CURLOPT_HTTPAUTH(3): CURLAUTH_ANY");
    }

    #[test]
    fn nobody_logs_in_without_a_login() {
        let plain = mechanisms(&[Plain]);
        let external = mechanisms(&[External]);
        let anonymous = mechanisms(&[Anonymous, Plain]);
        let rows = [
            ("CURLOPT_USERNAME(3): none", "smtp://h/", None, plain, plain, false),
            ("CURLOPT_URL(3): a user", "smtp://u:p@h/", None, plain, plain, true),
            ("CURLOPT_XOAUTH2_BEARER(3)", "smtp://h/", Some("token"), plain, plain, true),
            ("RFC 4422 app. A: EXTERNAL", "smtp://h/", None, external, external, true),
            ("RFC 4422 app. A: EXTERNAL is not offered", "smtp://h/", None, plain, external, false),
            ("RFC 4505: ANONYMOUS", "smtp://h/", None, anonymous, anonymous, true),
        ];
        for (name, url, token, offered, wanted_mechanisms, wanted) in rows {
            let texts: Vec<_> = token.map(|token| (O::Xoauth2Bearer, token)).into_iter().collect();
            let t = transfer(url, &texts, &[]);
            assert_eq!(can_log_in(&t, offered, wanted_mechanisms).unwrap(), wanted, "{name}");
        }
    }

    #[test]
    fn a_login_belongs_to_the_server_of_the_url() {
        let mut t = transfer("imap://u:p@a.example/", &[(O::Xoauth2Bearer, "token")], &[]);
        let login = service_login(&t, "imap", None).unwrap();
        let found = (&login.user[..], &login.password[..], login.bearer.as_deref(), login.is_given);
        assert_eq!(found, (&b"u"[..], &b"p"[..], Some(&b"token"[..]), true), "CURLOPT_XOAUTH2_BEARER(3)");
        t.follow(wire::url::Url::parse(b"imap://b.example/", 0).unwrap());
        let other = service_login(&t, "imap", None).unwrap();
        let found = (other.user.is_empty(), other.bearer, other.is_given);
        assert_eq!(found, (true, None, false), "CVE-2022-27774's like: another server");
    }
}
