//! HTTP authentication (RFC 9110 §11) of one side, server or proxy: which scheme answers which challenge, and what the
//! field says. The HTTP handler and the CONNECT of a tunnel both lead this conversation.

use std::time::{SystemTime, UNIX_EPOCH};

use tables::Code;
use tables::constant::{
    CURLAUTH_AWS_SIGV4, CURLAUTH_BASIC, CURLAUTH_BEARER, CURLAUTH_DIGEST, CURLAUTH_DIGEST_IE,
    CURLAUTH_NEGOTIATE, CURLAUTH_NTLM, CURLAUTH_ONLY,
};
use wire::auth::challenge::{self, Challenge};
use wire::auth::digest::{self, Digest};
use wire::auth::ntlm::TooBig;
use wire::auth::{basic, ntlm};

use super::login::Login;
use super::negotiate::Negotiate;
use super::secret::{Peer, Secret};
use crate::error::{Error, Result};
use crate::settings::Text;

/// The schemes that this build speaks.
pub const BUILT: u64 = CURLAUTH_BASIC
    | CURLAUTH_DIGEST
    | CURLAUTH_NEGOTIATE
    | CURLAUTH_DIGEST_IE
    | CURLAUTH_BEARER
    | CURLAUTH_NTLM
    | CURLAUTH_AWS_SIGV4;

/// What a want consists of. CURLAUTH_ONLY stays in it: beside one scheme it makes two, so that nothing is sent unasked.
pub const KNOWN: u64 = BUILT | CURLAUTH_ONLY;

/// No scheme is left to try.
const NONE_LEFT: u64 = 1 << 30;

/// The most secure scheme first.
const PREFERENCE: [u64; 6] =
    [CURLAUTH_NEGOTIATE, CURLAUTH_BEARER, CURLAUTH_DIGEST, CURLAUTH_NTLM, CURLAUTH_BASIC, CURLAUTH_AWS_SIGV4];

/// What a handle knows of both sides, from one transfer to the next.
#[derive(Default)]
pub struct Memory {
    /// The server's side.
    pub server: Side,
    /// The proxy's side.
    pub proxy: Side,
    /// Somebody refused what we have; this transfer asks no more.
    pub problem: bool,
}

/// The conversation with one side.
#[derive(Default)]
pub struct Side {
    want: u64,
    picked: u64,
    offered: u64,
    done: bool,
    /// Another round follows this request.
    more: bool,
    digest: Option<Secret<Digest>>,
    /// The last request carried a Digest answer.
    sent_digest: bool,
    without_query: bool,
    /// What has to be said does not fit into the message that must carry it.
    too_big: Option<ntlm::TooBig>,
    /// No request of this transfer yet.
    fresh: bool,
    /// Schemes that are not for the peer at hand.
    barred: u64,
    /// Whose conversation this is: another peer or user begins anew.
    with: Option<(Peer, Option<Secret<Login>>)>,
}

/// How far NTLM has come.
#[derive(Default)]
pub enum NtlmStep {
    /// Not begun.
    #[default]
    Idle,
    /// The first message is sent.
    Asked,
    /// The server's message has come.
    Challenged(ntlm::Message2),
    /// The last message is sent.
    Answered,
    /// The connection is authenticated.
    Established,
}

impl NtlmStep {
    /// Whether everything has been said on this connection.
    fn is_through(&self) -> bool {
        matches!(self, NtlmStep::Answered | NtlmStep::Established)
    }
}

/// What a connection knows of one side: schemes that authenticate connections live with them.
#[derive(Default)]
pub struct Steps {
    /// NTLM's.
    pub ntlm: NtlmStep,
    /// Negotiate's.
    pub negotiate: Negotiate,
}

impl Steps {
    fn begun(&self) -> bool {
        !matches!(self.ntlm, NtlmStep::Idle) || self.negotiate.begun()
    }

    /// Whether NTLM's last message must follow on this connection.
    pub fn expects_answer(&self) -> bool {
        matches!(self.ntlm, NtlmStep::Challenged(_))
    }
}

/// What a connection knows of both sides.
#[derive(Default)]
pub struct ConnectionSteps {
    /// The server's.
    pub server: Steps,
    /// The proxy's.
    pub proxy: Steps,
}

impl ConnectionSteps {
    /// Whether the connection belongs to somebody.
    pub fn begun(&self) -> bool {
        self.server.begun() || self.proxy.begun()
    }
}

/// One request that may carry credentials.
pub struct Ask<'a> {
    /// To whom it goes.
    pub peer: &'a Peer,
    /// Who is asking.
    pub login: Option<&'a Secret<Login>>,
    /// A bearer token.
    pub bearer: Option<&'a Secret<Text>>,
    /// Method of the request.
    pub method: &'a [u8],
    /// Path and query.
    pub uri: &'a [u8],
    /// The application has a field of its own, which stands instead of Basic or Bearer.
    pub custom: bool,
}

impl Memory {
    /// A transfer begins: what the settings want of each side.
    pub fn begin(&mut self, server: u64, proxy: u64) {
        self.server.begin(server);
        self.proxy.begin(proxy);
        self.problem = false;
    }
}

impl Side {
    fn begin(&mut self, want: u64) {
        self.without_query = want & CURLAUTH_DIGEST_IE != 0;
        self.want =
            if self.without_query { want | CURLAUTH_DIGEST } else { want } & KNOWN & !CURLAUTH_DIGEST_IE;
        self.picked &= self.want;
        self.fresh = true;
        (self.offered, self.done, self.more, self.sent_digest) = (0, false, false, false);
        self.barred = 0;
    }

    /// Whether the settings allow this scheme.
    pub fn wants(&self, scheme: u64) -> bool {
        self.want & scheme != 0
    }

    /// Schemes that the next requests must not use.
    pub fn bar(&mut self, schemes: u64) {
        self.barred = schemes;
    }

    /// This scheme can't be used in this transfer after all. The others wait to be asked for.
    pub fn lost(&mut self, scheme: u64) {
        self.want &= !scheme;
        self.picked = NONE_LEFT;
        self.done = true;
    }

    /// The scheme that this side has settled on, or the only one wanted.
    pub fn scheme(&self) -> u64 {
        (if self.picked == 0 { self.want } else { self.picked }) & !self.barred
    }

    /// Whether the next request goes on with a scheme that authenticates connections.
    pub fn binds(&self) -> bool {
        matches!(self.scheme(), CURLAUTH_NTLM | CURLAUTH_NEGOTIATE)
    }

    /// NTLM that came to its end did so on another connection: on a new one the choice is open again.
    pub fn new_connection(&mut self) {
        if self.picked == CURLAUTH_NTLM && self.done {
            (self.picked, self.done) = (0, false);
        }
    }

    /// Nothing is to be asked of this side.
    pub fn skip(&mut self) {
        (self.done, self.more) = (true, false);
    }

    /// Whether this request is only there to get a challenge, and another follows.
    pub fn more_follows(&self) -> bool {
        self.more && !self.done
    }

    /// Whether the conversation has come to its end.
    pub fn is_done(&self) -> bool {
        self.done
    }

    /// Goes on without this side's approval.
    pub fn give_up(&mut self) {
        self.done = true;
    }

    /// A request is about to be made to this peer, by this user. Another peer or user than before knows nothing of what
    /// was settled on; a Digest nonce is its server's, whoever asks.
    pub fn meet(&mut self, peer: &Peer, login: Option<&Secret<Login>>) {
        let with = (peer.clone(), login.cloned());
        if self.with.as_ref() != Some(&with) {
            self.with = Some(with);
            // What an earlier transfer settled on with others does not count for these.
            if self.fresh {
                self.picked = 0;
            }
        }
        self.fresh = false;
    }

    /// The value of the field for this request.
    pub fn answer(&mut self, ask: &Ask<'_>, steps: &mut Steps) -> Option<Vec<u8>> {
        self.meet(ask.peer, ask.login);
        self.picked = self.scheme();
        self.sent_digest = false;
        self.more = false;
        let login = ask.login.and_then(|login| login.for_peer(ask.peer));
        match self.picked {
            CURLAUTH_BASIC => {
                self.done = true;
                let login = login.filter(|_| !ask.custom)?;
                Some(basic::basic(&login.user, &login.password).into())
            }
            CURLAUTH_BEARER => {
                self.done = true;
                let token = ask.bearer.filter(|_| !ask.custom)?.for_peer(ask.peer)?;
                Some(basic::bearer(token))
            }
            CURLAUTH_DIGEST => self.digest_answer(ask),
            CURLAUTH_NTLM => self.ntlm_answer(login, &mut steps.ntlm),
            CURLAUTH_NEGOTIATE => {
                self.done = true;
                let token = steps.negotiate.answer()?;
                Some(format!("Negotiate {token}").into_bytes())
            }
            _ => None,
        }
    }

    /// Whether the scheme answers challenges, and so counts as used while it waits for one or has no more to say.
    pub fn converses(&self) -> bool {
        matches!(self.scheme(), CURLAUTH_DIGEST | CURLAUTH_NTLM | CURLAUTH_NEGOTIATE)
    }

    /// Whether the last answer could be given.
    pub fn check(&mut self) -> Result<()> {
        match self.too_big.take() {
            None => Ok(()),
            Some(TooBig::Response) => Err(Error::new(Code::TooLarge, "incoming NTLM message too big")),
            Some(TooBig::Names) => {
                Err(Error::new(Code::TooLarge, "user + domain + hostname too big for NTLM"))
            }
        }
    }

    fn digest_answer(&mut self, ask: &Ask<'_>) -> Option<Vec<u8>> {
        let login = ask.login.and_then(|login| login.for_peer(ask.peer)).cloned().unwrap_or_default();
        let digest = self.digest.as_mut().and_then(|digest| digest.for_peer_mut(ask.peer));
        let Some(digest) = digest else {
            (self.done, self.more) = (false, true);
            return None;
        };
        (self.done, self.sent_digest) = (true, true);
        let cut = ask.uri.iter().position(|b| *b == b'?').filter(|_| self.without_query);
        let cnonce = wire::base64::encode(crate::transfer::mime::random_text(32).as_bytes());
        let value = digest.respond(digest::Request {
            user: &login.user,
            password: &login.password,
            method: ask.method,
            uri: &ask.uri[..cut.unwrap_or(ask.uri.len())],
            cnonce: cnonce.as_bytes(),
        });
        Some([b"Digest ", value.as_slice()].concat())
    }

    fn ntlm_answer(&mut self, login: Option<&Login>, step: &mut NtlmStep) -> Option<Vec<u8>> {
        let (next, message) = match std::mem::take(step) {
            NtlmStep::Idle | NtlmStep::Asked => (NtlmStep::Asked, Some(ntlm::message1())),
            NtlmStep::Challenged(message2) => {
                let login = login.cloned().unwrap_or_default();
                let who = ntlm::Credentials {
                    user: &login.user,
                    password: &login.password,
                    workstation: b"WORKSTATION",
                };
                let nonce = crate::transfer::mime::random_bytes();
                let message = message2.answer(who, nonce, now());
                self.too_big = message.as_ref().err().copied();
                (NtlmStep::Answered, message.ok())
            }
            NtlmStep::Answered | NtlmStep::Established => (NtlmStep::Established, None),
        };
        self.done = !matches!(next, NtlmStep::Asked);
        self.more = !self.done;
        *step = next;
        message.map(|message| format!("NTLM {message}").into_bytes())
    }

    /// Takes in the challenges of a 401 or 407. Gives what is offered, and whether our credentials have failed.
    pub fn challenged(&mut self, values: &[Vec<u8>], peer: &Peer, steps: &mut Steps) -> (u64, bool) {
        let (mut all, mut problem) = (0, false);
        self.offered = 0;
        for challenge in values.iter().flat_map(|value| challenge::parse(value)) {
            let scheme = scheme_of(&challenge);
            let repeated = all & scheme != 0;
            all |= scheme;
            self.offered |= scheme;
            match scheme {
                CURLAUTH_DIGEST if !repeated => problem |= !self.take_digest(&challenge, peer),
                CURLAUTH_NTLM if self.picked == CURLAUTH_NTLM => {
                    problem |= !take_ntlm(&mut steps.ntlm, challenge.token.as_deref());
                }
                // An earlier transfer's login on this connection does not count any more.
                CURLAUTH_NTLM if steps.ntlm.is_through() => steps.ntlm = NtlmStep::Idle,
                // Its context has been asked already.
                CURLAUTH_NEGOTIATE if self.picked == CURLAUTH_NEGOTIATE => {
                    problem |= !steps.negotiate.is_ready();
                }
                // What was sent already did not convince.
                CURLAUTH_BASIC | CURLAUTH_BEARER if self.picked == scheme => {
                    self.offered = 0;
                    problem = true;
                }
                _ => {}
            }
        }
        (all, problem)
    }

    /// A new nonce after a refused answer only helps when the server says that the old one was stale; but the next
    /// request, perhaps by another user, may go on with it.
    fn take_digest(&mut self, challenge: &Challenge, peer: &Peer) -> bool {
        match Digest::new(challenge) {
            Ok(new) => {
                let helps = !self.sent_digest || new.is_stale();
                self.digest = Some(Secret::of(peer.clone(), new));
                helps
            }
            Err(_) => false,
        }
    }

    /// Settles on the best scheme that both sides know; false when there is none.
    pub fn pick(&mut self) -> bool {
        let common = self.offered & self.want & !self.barred;
        self.offered = 0;
        let best = PREFERENCE.into_iter().find(|scheme| common & scheme != 0);
        self.picked = best.unwrap_or(NONE_LEFT);
        best.is_some()
    }
}

/// The token of the first challenge that names Negotiate; empty when it has none.
pub fn negotiate_token(values: &[Vec<u8>]) -> Option<Vec<u8>> {
    let mut all = values.iter().flat_map(|value| challenge::parse(value));
    all.find(|challenge| scheme_of(challenge) == CURLAUTH_NEGOTIATE)
        .map(|found| found.token.unwrap_or_default())
}

fn take_ntlm(step: &mut NtlmStep, token: Option<&[u8]>) -> bool {
    let (next, good) = match (token.map(ntlm::Message2::parse), &step) {
        (Some(Ok(message)), _) => (NtlmStep::Challenged(message), true),
        (Some(Err(_)), _) => (NtlmStep::Idle, false),
        // Asked anew on a connection that was authenticated before, or for the first time.
        (None, NtlmStep::Established | NtlmStep::Idle) => (NtlmStep::Idle, true),
        (None, _) => (NtlmStep::Idle, false),
    };
    *step = next;
    good
}

fn scheme_of(challenge: &Challenge) -> u64 {
    const SCHEMES: [(&str, u64); 5] = [
        ("Basic", CURLAUTH_BASIC),
        ("Digest", CURLAUTH_DIGEST),
        ("Bearer", CURLAUTH_BEARER),
        ("NTLM", CURLAUTH_NTLM),
        ("Negotiate", CURLAUTH_NEGOTIATE),
    ];
    SCHEMES.into_iter().find(|(name, _)| challenge.is(name)).map_or(0, |(_, bit)| bit)
}

/// Seconds since 1970, for what is signed with a date.
pub fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs() as i64)
}
