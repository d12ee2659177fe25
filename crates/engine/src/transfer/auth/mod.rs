//! HTTP authentication (RFC 9110 §11) with one side, server or proxy: which scheme answers which challenge,
//! and the contents of the field. Used by the HTTP handler and by the CONNECT of a tunnel.
//!
//! State lives as long as it is valid: [`Side`] with the handle, [`Steps`] with a connection, and the state
//! of one transfer with its handler (`protocol::http::auth`).

mod stage;
mod steps;

use tables::constant::{
    CURLAUTH_AWS_SIGV4, CURLAUTH_DIGEST, CURLAUTH_DIGEST_IE, CURLAUTH_HTTPSIG, CURLAUTH_NTLM,
};
use tables::{Code, EasyOption as O};
use wire::auth::challenge::{self, Challenge};
use wire::auth::digest::{self, Digest};
use wire::auth::{basic, ntlm};

use super::login::Login;
use super::secret::{Peer, Secret};
use crate::error::{Error, Result};
use crate::settings::{SCHEMES_KNOWN, Settings, Text};
pub use stage::Scheme;
use stage::Stage;
pub use steps::{ConnectionSteps, NtlmStep, Steps};

/// A handle's state for both sides, which outlives a transfer.
#[derive(Default)]
pub struct Memory {
    /// The server's side.
    pub server: Side,
    /// The proxy's side.
    pub proxy: Side,
}

/// The state for one side. Every handle has two, and few authenticate: the details are in boxes.
#[derive(Default)]
pub struct Side {
    stage: Stage,
    want: Want,
    /// The server's last challenge, for any user.
    digest: Option<Box<Secret<Digest>>>,
    /// Whether that challenge has been answered.
    digest_used: bool,
    /// Schemes of a challenge after which none was chosen. curl accepts no second Digest challenge before it
    /// has chosen, so that the next transfer once repeats its answer to the old nonce (libtests 2027 and
    /// 2030; seen with 8.22).
    unpicked: u64,
    /// The peer and the login of this state.
    with: Option<Box<(Peer, Option<Secret<Login>>)>>,
}

/// The schemes that the settings allow.
#[derive(Default)]
struct Want {
    schemes: u64,
    /// A scheme that is not allowed for the current peer.
    barred: Option<Scheme>,
    /// CURLAUTH_DIGEST_IE.
    without_query: bool,
}

impl Want {
    fn of(bits: u64) -> Want {
        let without_query = bits & CURLAUTH_DIGEST_IE != 0;
        let bits = if without_query { bits | CURLAUTH_DIGEST } else { bits };
        Want { schemes: bits & SCHEMES_KNOWN & !CURLAUTH_DIGEST_IE, barred: None, without_query }
    }

    fn allowed(&self) -> u64 {
        self.schemes & !self.barred.map_or(0, Scheme::bit)
    }
}

/// A request that may carry credentials.
pub struct Ask<'a> {
    /// The recipient.
    pub peer: &'a Peer,
    /// The login.
    pub login: Option<&'a Secret<Login>>,
    /// A bearer token.
    pub bearer: Option<&'a Secret<Text>>,
    /// Method of the request.
    pub method: &'a [u8],
    /// Path and query.
    pub uri: &'a [u8],
    /// Whether the application has a field of its own, which replaces Basic or Bearer.
    pub custom: bool,
}

/// A request's authentication for one side.
#[derive(Default)]
pub struct Answer {
    /// The value of its field.
    pub value: Option<Vec<u8>>,
    /// The scheme that counts as used (CURLINFO_HTTPAUTH_USED), with a field or without.
    pub used: Option<Scheme>,
}

/// The result of a reply's challenges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChallengeResult {
    /// All schemes that are offered (CURLINFO_HTTPAUTH_AVAIL).
    pub offered: u64,
    /// Schemes that are still usable.
    pub usable: u64,
    /// Our credentials have failed.
    pub problem: bool,
}

/// The owner of the next connection, as far as this side decides it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding {
    /// None.
    Nobody,
    /// None yet; but a connection that this scheme has authenticated before may be used.
    Perhaps(Scheme),
    /// To the user, by this scheme.
    User(Scheme),
}

impl Memory {
    /// Starts a transfer with the schemes that the settings allow for each side.
    pub fn begin(&mut self, settings: &Settings) {
        let signs = settings.text(O::AwsSigV4).is_some_and(|text| !text.is_empty());
        let messages = settings.long(O::HttpSigAlgorithm) != 0;
        self.server.begin(if messages {
            CURLAUTH_HTTPSIG
        } else if signs {
            CURLAUTH_AWS_SIGV4
        } else {
            settings.long(O::HttpAuth) as u64
        });
        self.proxy.begin(settings.long(O::ProxyAuth) as u64);
    }
}

impl Side {
    fn begin(&mut self, want: u64) {
        self.want = Want::of(want);
        self.stage = self.stage.begin(self.want.schemes);
    }

    /// Whether the settings allow this scheme.
    pub fn wants(&self, scheme: Scheme) -> bool {
        self.want.schemes & scheme.bit() != 0
    }

    /// Whether the next requests may use this scheme, which the settings allow.
    pub fn permit(&mut self, scheme: Scheme, permitted: bool) {
        self.want.barred = if permitted { None } else { Some(scheme) };
    }

    /// Excludes a scheme from this transfer. The others wait for a challenge.
    pub fn lose(&mut self, scheme: Scheme) {
        self.want.schemes &= !scheme.bit();
        self.stage = Stage::Exhausted;
    }

    /// The scheme that the next request uses.
    pub fn scheme(&self) -> Option<Scheme> {
        self.stage.scheme(self.want.allowed())
    }

    /// Whether the next request uses this scheme.
    pub fn uses(&self, scheme: Scheme) -> bool {
        self.wants(scheme) && self.scheme() == Some(scheme)
    }

    /// Returns the owner of the next connection.
    pub fn binding(&self) -> Binding {
        if self.want.allowed() & Scheme::BINDING == 0 {
            return Binding::Nobody;
        }
        match self.scheme() {
            Some(scheme) if scheme.binds() => Binding::User(scheme),
            None if self.stage == Stage::Open && self.want.allowed() & CURLAUTH_NTLM != 0 => {
                Binding::Perhaps(Scheme::Ntlm)
            }
            _ => Binding::Nobody,
        }
    }

    /// Records that the next request uses a new connection.
    pub fn reconnect(&mut self) {
        self.stage = self.stage.reconnect();
    }

    /// Records that the next request needs no authentication for this side.
    pub fn pass(&mut self) {
        self.stage = self.stage.pass();
    }

    /// Whether the last request was only there to get a challenge, and another follows.
    pub fn asks(&self) -> bool {
        matches!(self.stage, Stage::Asking(_))
    }

    /// Returns whether authentication with this side is complete.
    pub fn is_through(&self) -> bool {
        self.stage.is_through()
    }

    /// A request is about to be made to this peer, by this user. A nonce that another user has answered is
    /// not used again.
    pub fn meet(&mut self, peer: &Peer, login: Option<&Secret<Login>>) {
        let with = Box::new((peer.clone(), login.cloned()));
        let same = self.with.as_ref() == Some(&with);
        let other_login = self.with.as_ref().is_some_and(|before| before.1 != with.1);
        if other_login && self.digest_used {
            self.digest = None;
        }
        self.stage = self.stage.meet(same);
        self.with = Some(with);
    }

    /// Returns this request's authentication.
    pub fn answer(&mut self, ask: &Ask<'_>, steps: &mut Steps) -> Result<Answer> {
        self.meet(ask.peer, ask.login);
        let Some(scheme) = self.scheme() else {
            self.stage = self.stage.use_none();
            return Ok(Answer::default());
        };
        let (value, proves) = self.field_value(scheme, ask, steps)?;
        self.stage = self.stage.use_scheme(scheme, proves);
        let used = Some(scheme).filter(|scheme| value.is_some() || scheme.converses());
        Ok(Answer { value, used })
    }

    /// Returns the value of the field, and whether it proves the login or waits for a challenge.
    fn field_value(
        &mut self,
        scheme: Scheme,
        ask: &Ask<'_>,
        steps: &mut Steps,
    ) -> Result<(Option<Vec<u8>>, bool)> {
        let login = ask.login.and_then(|login| login.for_peer(ask.peer));
        Ok(match scheme {
            Scheme::Basic => {
                // An empty user and an empty password are no login.
                let says = |login: &&Login| !login.user.is_empty() || !login.password.is_empty();
                let login = login.filter(says).filter(|_| !ask.custom);
                (login.map(|login| basic::basic(&login.user, &login.password).into()), true)
            }
            Scheme::Bearer => {
                let token = ask.bearer.filter(|_| !ask.custom).and_then(|token| token.for_peer(ask.peer));
                (token.map(|token| basic::bearer(token)), true)
            }
            Scheme::Digest => {
                let value = self.digest(ask, login);
                let proves = value.is_some();
                (value, proves)
            }
            Scheme::Ntlm => {
                let (next, message) = std::mem::take(&mut steps.ntlm).speak(login);
                let proves = !matches!(next, NtlmStep::Asked);
                steps.ntlm = next;
                let message = message.map_err(too_big)?;
                (message.map(|message| format!("NTLM {message}").into_bytes()), proves)
            }
            Scheme::Negotiate => {
                let token = steps.negotiate.answer();
                (token.map(|token| format!("Negotiate {token}").into_bytes()), true)
            }
            // Covers the request, and is made where that is.
            Scheme::AwsSigv4 => (None, true),
        })
    }

    /// `None` without a challenge of this peer's.
    fn digest(&mut self, ask: &Ask<'_>, login: Option<&Login>) -> Option<Vec<u8>> {
        let login = login.cloned().unwrap_or_default();
        let digest = self.digest.as_mut()?.for_peer_mut(ask.peer)?;
        let cut = ask.uri.iter().position(|b| *b == b'?').filter(|_| self.want.without_query);
        self.digest_used = true;
        let cnonce = wire::base64::encode(crate::mime::random_text(32).as_bytes());
        let value = digest.respond(digest::Request {
            user: &login.user,
            password: &login.password,
            method: ask.method,
            uri: &ask.uri[..cut.unwrap_or(ask.uri.len())],
            cnonce: cnonce.as_bytes(),
        });
        Some([b"Digest ", value.as_slice()].concat())
    }

    /// Takes in the challenges of a 401 or 407.
    pub fn challenged(&mut self, values: &[Vec<u8>], peer: &Peer, steps: &mut Steps) -> ChallengeResult {
        let mut heard = ChallengeResult::default();
        for challenge in values.iter().flat_map(|value| challenge::parse(value)) {
            let Some(scheme) = scheme_of(&challenge) else { continue };
            let repeated = (heard.offered | self.unpicked) & scheme.bit() != 0;
            heard.offered |= scheme.bit();
            heard.usable |= scheme.bit();
            let spoken = self.stage.spoken() == Some(scheme);
            match scheme {
                Scheme::Digest if !repeated => heard.problem |= !self.take_digest(&challenge, peer),
                Scheme::Ntlm if spoken => {
                    let (next, good) = std::mem::take(&mut steps.ntlm).receive(challenge.token.as_deref());
                    steps.ntlm = next;
                    heard.problem |= !good;
                }
                Scheme::Ntlm => steps.ntlm = std::mem::take(&mut steps.ntlm).forget(),
                // Its security context has been asked already.
                Scheme::Negotiate if spoken => heard.problem |= !steps.negotiate.is_ready(),
                // The login was sent and refused.
                Scheme::Basic | Scheme::Bearer if spoken => (heard.usable, heard.problem) = (0, true),
                _ => {}
            }
        }
        self.unpicked |= heard.offered;
        heard
    }

    /// A new nonce after a refused answer only helps when the server says that the old one was stale; but the
    /// next request, perhaps by another user, may go on with it.
    fn take_digest(&mut self, challenge: &Challenge, peer: &Peer) -> bool {
        let Ok(new) = Digest::new(challenge) else { return false };
        let helps = self.stage != Stage::Proved(Scheme::Digest) || new.is_stale();
        self.digest = Some(Box::new(Secret::of(peer.clone(), new)));
        self.digest_used = false;
        helps
    }

    /// Settles on the best scheme that both sides know; false when there is none.
    pub fn pick(&mut self, usable: u64) -> bool {
        self.unpicked = 0;
        self.stage = self.stage.pick(usable & self.want.allowed());
        self.stage != Stage::Exhausted
    }
}

fn too_big(why: ntlm::TooBig) -> Error {
    let text = match why {
        ntlm::TooBig::Response => "incoming NTLM message too big",
        ntlm::TooBig::Names => "user + domain + hostname too big for NTLM",
    };
    Error::new(Code::TooLarge, text)
}

/// Returns the schemes that these challenges offer, as CURLAUTH_* bits.
pub fn schemes_offered(values: &[Vec<u8>]) -> u64 {
    let all = values.iter().flat_map(|value| challenge::parse(value));
    all.filter_map(|challenge| scheme_of(&challenge)).fold(0, |bits, scheme| bits | scheme.bit())
}

/// The token of the first challenge that names Negotiate; empty when it has none.
pub fn negotiate_token(values: &[Vec<u8>]) -> Option<Vec<u8>> {
    let mut all = values.iter().flat_map(|value| challenge::parse(value));
    all.find(|challenge| scheme_of(challenge) == Some(Scheme::Negotiate))
        .map(|found| found.token.unwrap_or_default())
}

fn scheme_of(challenge: &Challenge) -> Option<Scheme> {
    const SCHEMES: [(&str, Scheme); 5] = [
        ("Basic", Scheme::Basic),
        ("Digest", Scheme::Digest),
        ("Bearer", Scheme::Bearer),
        ("NTLM", Scheme::Ntlm),
        ("Negotiate", Scheme::Negotiate),
    ];
    SCHEMES.into_iter().find(|(name, _)| challenge.is(name)).map(|(_, scheme)| scheme)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tables::constant::{CURLAUTH_ANY, CURLAUTH_BASIC, CURLAUTH_BEARER, CURLAUTH_NEGOTIATE};
    use wire::url::Url;

    const NONCE: &[u8] = b"Digest realm=\"r\", nonce=\"n\", qop=\"auth\"";
    const STALE: &[u8] = b"Digest realm=\"r\", nonce=\"m\", qop=\"auth\", stale=true";

    fn peer(url: &str) -> Peer {
        Peer::server(&Url::parse(url.as_bytes(), 0).unwrap())
    }

    /// A conversation with `http://h/`, as user "u" with password "p".
    struct Talk {
        side: Side,
        steps: Steps,
        peer: Peer,
        login: Secret<Login>,
        bearer: Secret<Text>,
    }

    impl Talk {
        fn new(wanted: u64) -> Talk {
            let mut side = Side::default();
            side.begin(wanted);
            let peer = peer("http://h/");
            let login = Login { user: b"u".to_vec(), password: b"p".to_vec() };
            let login = Secret::of(peer.clone(), login);
            let bearer = Secret::of(peer.clone(), Text::from(&b"token"[..]));
            Talk { side, steps: Steps::default(), peer, login, bearer }
        }

        /// The value of the field for a request to this peer, up to its first blank and equals sign.
        fn says_to(&mut self, peer: &Peer, custom: bool) -> Option<String> {
            let ask = Ask {
                peer,
                login: Some(&self.login),
                bearer: Some(&self.bearer),
                method: b"GET",
                uri: b"/x?y",
                custom,
            };
            let value = self.side.answer(&ask, &mut self.steps).unwrap().value?;
            Some(String::from_utf8(value).unwrap())
        }

        fn says(&mut self) -> Option<String> {
            let peer = self.peer.clone();
            self.says_to(&peer, false)
        }

        fn challenged(&mut self, challenges: &[&[u8]]) -> ChallengeResult {
            let values: Vec<Vec<u8>> = challenges.iter().map(|value| value.to_vec()).collect();
            let peer = self.peer.clone();
            self.side.challenged(&values, &peer, &mut self.steps)
        }
    }

    #[test]
    fn one_scheme_alone_proves_unasked() {
        let rows = [
            ("RFC 7617 §2: Basic", CURLAUTH_BASIC, Some("Basic dTpw")),
            ("RFC 6750 §2.1: Bearer", CURLAUTH_BEARER, Some("Bearer token")),
            ("RFC 7616 §3.3: Digest needs a nonce", CURLAUTH_DIGEST, None),
            ("CURLOPT_HTTPAUTH(3): of several none is chosen yet", CURLAUTH_ANY, None),
            ("CURLOPT_HTTPAUTH(3): none", 0, None),
        ];
        for (name, wanted, value) in rows {
            let mut talk = Talk::new(wanted);
            assert_eq!(talk.says().as_deref(), value, "{name}");
            assert_eq!(talk.side.asks(), wanted == CURLAUTH_DIGEST, "{name}: sent to be challenged");
        }
    }

    #[test]
    fn the_most_secure_scheme_of_both_sides_is_picked() {
        let basic: &[u8] = b"Basic realm=\"r\"";
        let rows: [(_, _, &[&[u8]], _); 5] = [
            ("RFC 9110 §11.3: Digest before Basic", CURLAUTH_ANY, &[basic, NONCE], Some(Scheme::Digest)),
            (
                "RFC 9110 §11.3: one field, two challenges",
                CURLAUTH_ANY,
                &[b"Basic realm=r, NTLM"],
                Some(Scheme::Ntlm),
            ),
            ("CURLOPT_HTTPAUTH(3): what is wanted", CURLAUTH_BASIC, &[basic, NONCE], Some(Scheme::Basic)),
            ("RFC 9110 §11.3: nothing in common", CURLAUTH_BASIC, &[NONCE], None),
            ("RFC 9110 §11.3: an unknown scheme", CURLAUTH_ANY, &[b"Hawk x"], None),
        ];
        for (name, wanted, challenges, scheme) in rows {
            let mut talk = Talk::new(wanted);
            let heard = talk.challenged(challenges);
            assert_eq!(talk.side.pick(heard.usable), scheme.is_some(), "{name}");
            assert_eq!(talk.side.scheme(), scheme, "{name}");
        }
    }

    #[test]
    fn a_second_nonce_helps_only_if_the_first_was_stale() {
        let mut talk = Talk::new(CURLAUTH_DIGEST);
        let first = talk.challenged(&[NONCE]);
        assert!(!first.problem && talk.side.pick(first.usable), "RFC 7616 §3.3");
        assert!(talk.says().unwrap().starts_with("Digest username=\"u\""), "RFC 7616 §3.4");
        assert!(talk.challenged(&[NONCE]).problem, "RFC 7616 §3.3: refused");
        assert!(!talk.challenged(&[STALE]).problem || talk.side.unpicked != 0, "RFC 7616 §3.3: stale");
        let mut stale = Talk::new(CURLAUTH_DIGEST);
        let first = stale.challenged(&[NONCE]);
        stale.side.pick(first.usable);
        stale.says();
        assert!(!stale.challenged(&[STALE]).problem, "RFC 7616 §3.3: stale");
    }

    #[test]
    fn refused_preemptive_credentials_are_a_problem() {
        let mut talk = Talk::new(CURLAUTH_BASIC);
        talk.says();
        let heard = talk.challenged(&[b"Basic realm=\"r\""]);
        assert_eq!((heard.problem, heard.usable, heard.offered), (true, 0, CURLAUTH_BASIC), "RFC 7617 §2");
        let mut unsaid = Talk::new(CURLAUTH_BASIC);
        assert!(!unsaid.challenged(&[b"Basic realm=\"r\""]).problem, "RFC 9110 §11.3: nothing was said yet");
    }

    #[test]
    fn another_peer_gets_no_proof() {
        let other = peer("http://other/");
        let rows = [("RFC 7617 §2", CURLAUTH_BASIC), ("RFC 6750 §5.3", CURLAUTH_BEARER)];
        for (name, wanted) in rows {
            assert_eq!(Talk::new(wanted).says_to(&other, false), None, "{name}: CVE-2018-1000007's like");
        }
        let mut talk = Talk::new(CURLAUTH_DIGEST);
        let heard = talk.challenged(&[NONCE]);
        talk.side.pick(heard.usable);
        assert_eq!(talk.says_to(&other, false), None, "RFC 7616 §3.3: a nonce is its server's");
    }

    #[test]
    fn a_field_of_the_application_stands_instead() {
        let own = peer("http://h/");
        assert_eq!(Talk::new(CURLAUTH_BASIC).says_to(&own, true), None, "CURLOPT_HTTPHEADER(3): Basic");
        assert_eq!(Talk::new(CURLAUTH_BEARER).says_to(&own, true), None, "CURLOPT_HTTPHEADER(3): Bearer");
        let mut talk = Talk::new(CURLAUTH_DIGEST);
        let heard = talk.challenged(&[NONCE]);
        talk.side.pick(heard.usable);
        assert!(talk.says_to(&own, true).is_some(), "RFC 7616 §3.4: Digest goes beside it, as in curl");
    }

    #[test]
    fn connections_belong_to_users_of_schemes_that_bind() {
        let rows = [
            ("RFC 7617 §2: Basic", CURLAUTH_BASIC, Binding::Nobody),
            ("[MS-NTHT] §3.1.5.1: NTLM", CURLAUTH_NTLM, Binding::User(Scheme::Ntlm)),
            ("RFC 4559 §4: Negotiate", CURLAUTH_NEGOTIATE, Binding::User(Scheme::Negotiate)),
            ("CURLOPT_HTTPAUTH(3): NTLM among others", CURLAUTH_ANY, Binding::Perhaps(Scheme::Ntlm)),
            ("CURLOPT_HTTPAUTH(3): none", 0, Binding::Nobody),
        ];
        for (name, wanted, binding) in rows {
            assert_eq!(Talk::new(wanted).side.binding(), binding, "{name}");
        }
        let mut settled = Talk::new(CURLAUTH_ANY);
        settled.side.pick(CURLAUTH_DIGEST);
        assert_eq!(settled.side.binding(), Binding::Nobody, "RFC 7616 §3.3: Digest was picked");
    }

    #[test]
    fn a_barred_or_lost_scheme_is_not_used() {
        let mut barred = Talk::new(CURLAUTH_BASIC);
        barred.side.permit(Scheme::Basic, false);
        assert_eq!(barred.side.scheme(), None, "CURLOPT_HTTPAUTH(3): not for this peer");
        barred.side.permit(Scheme::Basic, true);
        assert_eq!(barred.side.scheme(), Some(Scheme::Basic), "CURLOPT_HTTPAUTH(3): again");
        let mut lost = Talk::new(CURLAUTH_NEGOTIATE | CURLAUTH_BASIC);
        lost.side.lose(Scheme::Negotiate);
        assert!(!lost.side.wants(Scheme::Negotiate) && lost.says().is_none(), "RFC 4559 §4: no ticket");
        let heard = lost.challenged(&[b"Negotiate", b"Basic realm=\"r\""]);
        assert!(lost.side.pick(heard.usable) && lost.side.uses(Scheme::Basic), "RFC 9110 §11.3: the other");
    }

    #[test]
    fn digest_of_internet_explorer_leaves_out_the_query() {
        let uri = |bits| {
            let mut talk = Talk::new(bits);
            let heard = talk.challenged(&[NONCE]);
            talk.side.pick(heard.usable);
            let value = talk.says().unwrap();
            value.split("uri=\"").nth(1).unwrap().split('"').next().unwrap().to_owned()
        };
        assert_eq!(uri(CURLAUTH_DIGEST), "/x?y", "RFC 7616 §3.4.3");
        assert_eq!(uri(CURLAUTH_DIGEST_IE), "/x", "CURLOPT_HTTPAUTH(3): CURLAUTH_DIGEST_IE");
    }

    #[test]
    fn challenges_are_recognised_by_scheme_name() {
        let values = |texts: &[&str]| texts.iter().map(|text| text.as_bytes().to_vec()).collect::<Vec<_>>();
        let rows: [(_, &[&str], _); 4] = [
            ("RFC 9110 §11.3: two fields", &["Basic realm=r", "NTLM"], CURLAUTH_BASIC | CURLAUTH_NTLM),
            ("RFC 9110 §11.1: in any case", &["bAsIc realm=r"], CURLAUTH_BASIC),
            ("RFC 9110 §11.3: unknown", &["Hawk x=y"], 0),
            ("RFC 9110 §11.3: none", &[], 0),
        ];
        for (name, texts, wanted) in rows {
            assert_eq!(schemes_offered(&values(texts)), wanted, "{name}");
        }
        let token = |texts: &[&str]| negotiate_token(&values(texts));
        assert_eq!(token(&["NTLM", "Negotiate YWJj"]), Some(b"YWJj".to_vec()), "RFC 4559 §4.1: a token");
        assert_eq!(token(&["Negotiate"]), Some(Vec::new()), "RFC 4559 §4.1: the first round");
        assert_eq!(token(&["Basic realm=r"]), None, "RFC 4559 §4.1: not offered");
    }
}
