//! SASL (RFC 4422), the client's side, for the mail protocols: choice of mechanism, responses to challenges,
//! and failure. [`Conversation`] is a state machine without I/O: [`begin`](Conversation::begin) and
//! [`answer`](Conversation::answer) return what to send, in base64. `mechanism` names the mechanisms, `scram`
//! and `digest` are those with several steps.
//!
//! As in curl, the strongest mechanism that both sides support is used. A malformed challenge is cancelled
//! (`*`), and the next best is tried. A refusal is final: the password is not sent by another mechanism.

mod digest;
mod gssapi;
mod mechanism;
mod prep;
mod scram;

pub use gssapi::no_protection;
pub use mechanism::{BadOption, Kind, Mechanism, Mechanisms, Preference};

use super::hash::hmac_md5;
use super::ntlm;
use crate::{base64, hex};
use digest::ServerProof;
use scram::Scram;

/// The login and the service.
#[derive(Clone, Debug, Default)]
pub struct Login {
    pub user: Vec<u8>,
    pub password: Vec<u8>,
    /// Whether a user name, possibly empty, was given. Without one, only EXTERNAL works.
    pub is_given: bool,
    /// The identity to act as, if it is not the user (CURLOPT_SASL_AUTHZID).
    pub authzid: Vec<u8>,
    /// CURLOPT_XOAUTH2_BEARER.
    pub bearer: Option<Vec<u8>>,
    /// `smtp`, `imap`, `pop`, as registered for GSS-API.
    pub service: Vec<u8>,
    pub host: Vec<u8>,
    pub port: u16,
    /// Channel bindings of the TLS connection, best first; empty without TLS.
    pub channels: Vec<Channel>,
}

/// A channel binding of a TLS connection (RFC 5056).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    /// As registered: `tls-exporter` (RFC 9266), `tls-server-end-point` (RFC 5929).
    pub kind: &'static str,
    pub name: Vec<u8>,
}

/// Values that are fresh for each attempt.
#[derive(Clone, Debug)]
pub struct Fresh {
    /// Printable, without a comma.
    pub nonce: Vec<u8>,
    pub octets: [u8; 8],
    /// Seconds since 1970.
    pub now: i64,
}

/// A server's reply, classified by its protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply<'a> {
    /// Go on; the challenge, in base64.
    Continue(&'a [u8]),
    Success,
    /// Success, with a last challenge that needs no answer (RFC 4422 section 3.6), in base64.
    SuccessAfter(&'a [u8]),
    Failure,
}

/// The client's next action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Start a mechanism, with its initial response if there is one ("=" for an empty one).
    Begin(&'static str, Option<String>),
    /// Log in with a ticket (RFC 4752). The owner of the security context exchanges the tokens and reports
    /// the result here: [`Conversation::cancelled`] if it failed before the server's verdict.
    Gssapi,
    /// Send a response; it may be empty.
    Send(String),
    /// Cancel the exchange ("*").
    Cancel,
    /// Logged in.
    Done,
    /// The server refuses, or says that it is done when it can't be.
    Denied,
    /// No mechanism is left.
    Exhausted,
}

/// The meaning of the next challenge.
enum State {
    Idle,
    /// The first response.
    First,
    LoginPassword,
    NtlmChallenge,
    ScramFirst(Scram),
    ScramFinal(Scram),
    DigestProof(ServerProof),
    /// Success, or a challenge that explains what was wrong with the token.
    BearerVerdict,
    /// Only the result is outstanding.
    Result,
    Cancelled,
}

/// A login on one connection.
pub struct Conversation {
    offered: Mechanisms,
    wanted: Mechanisms,
    sends_first: bool,
    /// Longest command with an initial response: its mechanism and the response, without the rest. 0 is no
    /// limit.
    limit: usize,
    used: Option<Mechanism>,
    /// So many of the channel's names were refused before anything was proved by them.
    refused_names: usize,
    state: State,
}

/// A challenge that can't be understood: the exchange is cancelled.
#[derive(Debug)]
struct Senseless;

impl Conversation {
    /// Creates a conversation from the mechanisms that the server offers and the user allows. `sends_first`:
    /// send an initial response with the command (CURLOPT_SASL_IR), of at most `limit` octets.
    pub fn new(offered: Mechanisms, wanted: Mechanisms, sends_first: bool, limit: usize) -> Conversation {
        Conversation { offered, wanted, sends_first, limit, used: None, refused_names: 0, state: State::Idle }
    }

    /// Chooses the best remaining mechanism.
    pub fn begin(&mut self, who: &Login, fresh: &Fresh) -> Action {
        let usable = self.offered.both(self.wanted);
        let Some(mechanism) = Mechanism::ALL.into_iter().find(|m| usable.has(*m) && m.suits(who)) else {
            self.state = State::Idle;
            return Action::Exhausted;
        };
        self.used = Some(mechanism);
        self.state = State::First;
        let name = mechanism.name();
        if mechanism == Mechanism::Gssapi {
            self.state = State::Result;
            return Action::Gssapi;
        }
        if !self.sends_first || !mechanism.speaks_first() {
            return Action::Begin(name, None);
        }
        let Ok((response, next)) = self.first(mechanism, who, fresh, b"") else {
            return Action::Begin(name, None);
        };
        if self.limit > 0 && name.len() + response.len() > self.limit {
            return Action::Begin(name, None);
        }
        self.state = next;
        Action::Begin(name, Some(if response.is_empty() { "=".to_owned() } else { response }))
    }

    /// Returns the response to a server's reply.
    pub fn answer(&mut self, reply: Reply<'_>, who: &Login, fresh: &Fresh) -> Action {
        if let Reply::SuccessAfter(challenge) = reply {
            return match self.answer(Reply::Continue(challenge), who, fresh) {
                Action::Send(empty) if empty.is_empty() => self.answer(Reply::Success, who, fresh),
                _ => Action::Denied,
            };
        }
        let state = std::mem::replace(&mut self.state, State::Idle);
        let (state, challenge) = match (state, reply) {
            (State::Cancelled, _) => {
                if !self.has_another_name(who) {
                    self.used.into_iter().for_each(|used| self.offered.remove(used));
                    self.refused_names = 0;
                }
                return self.begin(who, fresh);
            }
            // No server reports which channel binding it supports. Only the user name has been sent so far.
            (State::ScramFirst(_), Reply::Failure) if self.has_another_name(who) => {
                return self.begin(who, fresh);
            }
            (State::Result | State::BearerVerdict, Reply::Success) => return Action::Done,
            (State::BearerVerdict, Reply::Continue(_)) => {
                // RFC 7628 section 3.2.3: the error is acknowledged, and the server says no.
                self.state = State::Result;
                return Action::Send(base64::encode(b"\x01"));
            }
            (State::ScramFinal(scram), Reply::Continue(proof)) => {
                // A server that does not know the password must not receive it by another mechanism.
                if !decode(proof).is_ok_and(|proof| scram.proves(&proof)) {
                    return Action::Denied;
                }
                self.state = State::Result;
                return Action::Send(String::new());
            }
            (State::DigestProof(proof), Reply::Continue(challenge)) => {
                if !decode(challenge).is_ok_and(|challenge| proof.is_in(&challenge)) {
                    return Action::Denied;
                }
                self.state = State::Result;
                return Action::Send(String::new());
            }
            (State::Idle | State::Result, _)
            | (_, Reply::Success | Reply::SuccessAfter(_) | Reply::Failure) => return Action::Denied,
            (state, Reply::Continue(challenge)) => (state, challenge),
        };
        match self.respond(state, challenge, who, fresh) {
            Ok((response, next)) => {
                self.state = next;
                Action::Send(response)
            }
            Err(Senseless) => self.cancelled(),
        }
    }

    /// Records that the exchange of this mechanism was malformed.
    pub fn cancelled(&mut self) -> Action {
        self.state = State::Cancelled;
        Action::Cancel
    }

    /// Whether the mechanism that was refused can name the channel in another way; from now on it does.
    fn has_another_name(&mut self, who: &Login) -> bool {
        let is_bound = self.used.is_some_and(Mechanism::is_bound);
        let another = is_bound && self.refused_names + 1 < who.channels.len();
        self.refused_names += usize::from(another);
        another
    }

    /// The mechanism that is or was used.
    pub fn used(&self) -> Option<Mechanism> {
        self.used
    }

    fn respond(
        &self,
        state: State,
        challenge: &[u8],
        who: &Login,
        fresh: &Fresh,
    ) -> Result<(String, State), Senseless> {
        match state {
            State::First => self.first(self.used.ok_or(Senseless)?, who, fresh, challenge),
            State::LoginPassword => Ok((base64::encode(&who.password), State::Result)),
            State::NtlmChallenge => {
                let message = ntlm::Message2::parse(challenge).map_err(|_| Senseless)?;
                let login = ntlm::Credentials {
                    user: &who.user,
                    password: &who.password,
                    workstation: b"WORKSTATION",
                };
                let answer = message.answer(login, fresh.octets, fresh.now).map_err(|_| Senseless)?;
                Ok((answer, State::Result))
            }
            State::ScramFirst(scram) => {
                let (response, scram) =
                    scram.respond(&decode(challenge)?, &who.password).map_err(|_| Senseless)?;
                Ok((base64::encode(&response), State::ScramFinal(scram)))
            }
            _ => Err(Senseless),
        }
    }

    /// Returns the initial response of a mechanism, in base64, and the next state.
    fn first(
        &self,
        mechanism: Mechanism,
        who: &Login,
        fresh: &Fresh,
        challenge: &[u8],
    ) -> Result<(String, State), Senseless> {
        let (response, next) = match mechanism {
            Mechanism::External => (who.user.clone(), State::Result),
            Mechanism::Gssapi => return Err(Senseless),
            Mechanism::Anonymous => (who.user.clone(), State::Result),
            Mechanism::ScramSha256Plus
            | Mechanism::ScramSha1Plus
            | Mechanism::ScramSha256
            | Mechanism::ScramSha1 => {
                let hash = match mechanism {
                    Mechanism::ScramSha1 | Mechanism::ScramSha1Plus => scram::Hash::Sha1,
                    _ => scram::Hash::Sha256,
                };
                let channel = who.channels.get(self.refused_names).filter(|_| mechanism.is_bound());
                let (message, scram) = Scram::begin(hash, who, channel, &fresh.nonce);
                (message, State::ScramFirst(scram))
            }
            Mechanism::DigestMd5 => {
                let (response, proof) =
                    digest::respond(&decode(challenge)?, who, &fresh.nonce).ok_or(Senseless)?;
                (response, State::DigestProof(proof))
            }
            Mechanism::CramMd5 => {
                let proof = hex::encode(&hmac_md5(&who.password, &[&decode(challenge)?]));
                ([&who.user[..], b" ", proof.as_bytes()].concat(), State::Result)
            }
            Mechanism::Ntlm => return Ok((ntlm::message1(), State::NtlmChallenge)),
            Mechanism::OauthBearer => (oauth_bearer(who), State::BearerVerdict),
            Mechanism::Xoauth2 => {
                let token = who.bearer.as_deref().unwrap_or_default();
                let message = [b"user=", &who.user[..], b"\x01auth=Bearer ", token, b"\x01\x01"].concat();
                (message, State::Result)
            }
            Mechanism::Plain => ([&who.authzid[..], &who.user, &who.password].join(&0), State::Result),
            Mechanism::Login => (who.user.clone(), State::LoginPassword),
        };
        Ok((base64::encode(&response), next))
    }
}

/// RFC 7628 section 3.1.
fn oauth_bearer(who: &Login) -> Vec<u8> {
    let token = who.bearer.as_deref().unwrap_or_default();
    let mut message = [b"n,a=", &who.user[..], b",\x01host=", &who.host[..]].concat();
    if !matches!(who.port, 0 | 80) {
        message.extend_from_slice(format!("\x01port={}", who.port).as_bytes());
    }
    message.extend_from_slice(&[b"\x01auth=Bearer ", token, b"\x01\x01"].concat());
    message
}

/// A challenge; an empty one, or "=", is empty.
fn decode(challenge: &[u8]) -> Result<Vec<u8>, Senseless> {
    match challenge {
        b"" => Ok(Vec::new()),
        _ if challenge.starts_with(b"=") => Ok(Vec::new()),
        _ => base64::decode(challenge).ok_or(Senseless),
    }
}

#[cfg(test)]
mod tests;
