//! Negotiate (RFC 4559): the conversation on one connection with a server or proxy. [`Negotiate`] decides the
//! next step and holds the security context; `speak` makes the next token on a helper thread, because it may
//! ask a key distribution centre. `transfer::auth` decides which requests carry a token.
//!
//! As in curl, a context from a single round authenticates one request, and the next one on the same
//! connection needs a new context; after several rounds the connection itself is authenticated.
//! `Persistent-Auth` overrides both.

use gss::{Context, Delegation, Mechanism, Step};
use net::connection_key::TicketTerms;
use tables::EasyOption as O;
use tables::constant::{CURLGSSAPI_DELEGATION_FLAG, CURLGSSAPI_DELEGATION_POLICY_FLAG};

use super::auth::{Scheme, negotiate_token};
use super::proxy::Proxy;
use super::secret::Role;
use super::{Connector, Handles};

/// The progress of the conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum NegotiateState {
    /// Nothing was sent yet.
    #[default]
    Idle,
    /// The next request has a token.
    Ready,
    /// The token was sent; the reply decides.
    Answered,
    /// A reply did not ask again.
    Established,
}

/// A conversation; `C` is the security context.
pub struct Negotiate<C = Context> {
    stage: NegotiateState,
    context: Option<C>,
    /// Whether our part of the context is done.
    complete: bool,
    token: Vec<u8>,
    /// Whether the last reply had a token for us.
    heard: bool,
    several_rounds: bool,
    /// The value of `Persistent-Auth`.
    persists: Option<bool>,
}

impl<C> Default for Negotiate<C> {
    fn default() -> Negotiate<C> {
        Negotiate {
            stage: NegotiateState::Idle,
            context: None,
            complete: false,
            token: Vec::new(),
            heard: false,
            several_rounds: false,
            persists: None,
        }
    }
}

/// The consequence of a challenge.
#[derive(Debug, PartialEq, Eq)]
pub enum Challenged<C> {
    /// A refusal that ends the conversation.
    Refused,
    /// A step of this context, or of a new one, with the received token.
    Step(Option<C>, Option<Vec<u8>>),
}

impl<C> Negotiate<C> {
    /// Returns whether anything was sent on this connection.
    pub fn begun(&self) -> bool {
        self.stage != NegotiateState::Idle
    }

    /// Returns whether the next request must begin a context.
    pub fn must_begin(&mut self) -> bool {
        self.several_rounds |= self.stage == NegotiateState::Ready && self.heard;
        self.heard = false;
        if self.stage == NegotiateState::Established && !self.persists.unwrap_or(self.several_rounds) {
            *self = Negotiate::default();
        }
        self.stage == NegotiateState::Idle
    }

    /// Processes the challenge of a 401 or 407; its token is empty if the server only names the scheme.
    pub fn challenged(&mut self, token: &[u8]) -> Challenged<C> {
        let stage = self.stage;
        if token.is_empty() {
            *self = Negotiate::default();
            return match stage {
                NegotiateState::Idle | NegotiateState::Established => Challenged::Step(None, None),
                NegotiateState::Ready | NegotiateState::Answered => Challenged::Refused,
            };
        }
        let decoded = wire::base64::decode(token).filter(|token| !token.is_empty());
        let (Some(decoded), false) = (decoded, self.complete) else {
            // A token after the end of the conversation is a refusal.
            *self = Negotiate::default();
            return Challenged::Refused;
        };
        self.heard = true;
        match self.context.take() {
            Some(context) => Challenged::Step(Some(context), Some(decoded)),
            // No conversation was begun that this would continue.
            None => Challenged::Step(None, None),
        }
    }

    /// Records a step of the context. Returns false for one without a token, which is useless.
    pub fn stepped(&mut self, context: C, step: Step) -> bool {
        if step.token().is_empty() {
            *self = Negotiate::default();
            return false;
        }
        self.complete = matches!(step, Step::Complete(_));
        self.token = step.token().to_vec();
        (self.context, self.stage) = (Some(context), NegotiateState::Ready);
        true
    }

    /// Returns whether the next request has a token.
    pub fn is_ready(&self) -> bool {
        self.stage == NegotiateState::Ready
    }

    /// Returns the token for this request, in base64.
    pub fn answer(&mut self) -> Option<String> {
        if self.stage != NegotiateState::Ready {
            return None;
        }
        self.stage = NegotiateState::Answered;
        Some(wire::base64::encode(&std::mem::take(&mut self.token)))
    }

    /// Records a final reply that is not a refusal.
    pub fn accepted(&mut self) {
        if self.stage == NegotiateState::Answered {
            self.stage = NegotiateState::Established;
        }
    }

    /// Records the value of `Persistent-Auth` in a reply.
    pub fn note_persistence(&mut self, persists: bool) {
        self.persists = Some(persists);
    }
}

/// The peer of a security context.
pub struct ContextPeer {
    /// The peer's role.
    pub role: Role,
    /// Its host name.
    pub host: String,
    /// The binding to the TLS channel (RFC 5929), if there is one.
    pub channel: Option<Vec<u8>>,
}

/// Makes the next token of the context, or the first one of a new context. Returns false if there is none,
/// with the reason in the log.
pub async fn speak(
    t: &Connector,
    whom: ContextPeer,
    negotiate: &mut Negotiate,
    context: Option<Context>,
    token: Option<Vec<u8>>,
) -> bool {
    let (service, delegation) = (service(t, whom.role), delegation(t));
    let user = match whom.role {
        Role::Server => find_ticket_user(t).await,
        Role::Proxy => None,
    };
    let work = move || {
        let mut context = match context {
            Some(context) => context,
            None => {
                let mut context = Context::new(&service, &whom.host, Mechanism::Spnego, delegation)?;
                whom.channel.into_iter().for_each(|channel| context.bind(channel));
                if user.is_some_and(|user| context.credential_user().ok() != Some(user)) {
                    let text = "the ticket cache has changed".to_owned();
                    return Err(gss::Error::Failed { call: "gss_inquire_cred", text });
                }
                context
            }
        };
        let step = context.step(token.as_deref())?;
        Ok::<_, gss::Error>((context, step))
    };
    t.easy.trace("auth", || "a security context makes its next token".to_owned());
    match runtime::offload(t.multi.runtime.reactor(), "warmwire-gss", work).await {
        Ok(Ok((context, step))) => {
            t.ticket_used.set(true);
            negotiate.stepped(context, step)
        }
        Ok(Err(error)) => {
            t.easy.note(|| error.to_string());
            *negotiate = Negotiate::default();
            false
        }
        Err(error) => {
            t.easy.note(|| format!("Negotiate: {error}"));
            *negotiate = Negotiate::default();
            false
        }
    }
}

/// Processes a reply, with its challenges if it is a refusal, and replies to them with the context.
pub async fn listen(
    t: &Connector,
    whom: ContextPeer,
    negotiate: &mut Negotiate,
    challenges: Option<&Vec<Vec<u8>>>,
    keep_alive: bool,
) {
    let Some(challenges) = challenges else { return negotiate.accepted() };
    let Some(token) = negotiate_token(challenges) else {
        *negotiate = Negotiate::default();
        return;
    };
    let Challenged::Step(context, token) = negotiate.challenged(&token) else { return };
    if speak(t, whom, negotiate, context, token).await && !keep_alive {
        t.easy.note(|| "Connection closure while negotiating auth (HTTP 1.0?)".to_owned());
        *negotiate = Negotiate::default();
    }
}

impl Proxy {
    /// Makes the Negotiate token for the next request to this proxy.
    pub async fn prepare(&self, t: &Connector, negotiate: &mut Negotiate) {
        let memory = || t.auth.borrow_mut();
        if !memory().proxy.wants(Scheme::Negotiate) {
            return;
        }
        let login = self.login_or_unnamed(memory().proxy.uses(Scheme::Negotiate));
        memory().proxy.meet(&self.peer(), login.as_ref());
        if login.is_none() || !memory().proxy.uses(Scheme::Negotiate) || !negotiate.must_begin() {
            return;
        }
        if !speak(t, self.context_peer(), negotiate, None, None).await {
            memory().proxy.lose(Scheme::Negotiate);
        }
    }

    /// The proxy as the peer of a security context.
    pub fn context_peer(&self) -> ContextPeer {
        ContextPeer { role: Role::Proxy, host: self.host.clone(), channel: None }
    }
}

/// The service part of the name that tickets are for.
pub fn service(t: &Handles, role: Role) -> String {
    let option = match role {
        Role::Server => O::ServiceName,
        Role::Proxy => O::ProxyServiceName,
    };
    t.easy.settings.borrow().string(option).unwrap_or_else(|| "HTTP".to_owned())
}

/// Whether the peer may act in the user's name.
pub fn delegation(t: &Handles) -> Delegation {
    let wanted = t.long(O::GssapiDelegation);
    if wanted & CURLGSSAPI_DELEGATION_FLAG != 0 {
        Delegation::Always
    } else if wanted & CURLGSSAPI_DELEGATION_POLICY_FLAG != 0 {
        Delegation::ByPolicy
    } else {
        Delegation::Never
    }
}

/// Returns the terms that select the ticket, as part of a connection key.
pub fn ticket_terms(t: &Handles, role: Role) -> TicketTerms {
    ticket_terms_for(t, service(t, role))
}

/// Returns the name of the user of this process's Kerberos tickets. A transfer looks it up once.
///
/// A helper thread asks the library, which may query a key distribution centre (a client's keytab).
pub async fn find_ticket_user(t: &Connector) -> Option<String> {
    if let Some(known) = t.ticket_user.get() {
        return known.clone();
    }
    let found = runtime::offload(t.multi.runtime.reactor(), "warmwire-gss", gss::default_user).await;
    t.ticket_user.get_or_init(|| found.ok().and_then(Result::ok)).clone()
}

/// Returns the terms of the ticket for the server, with the user that it belongs to.
pub fn server_ticket(t: &Connector) -> TicketTerms {
    TicketTerms { user: t.ticket_user.get().cloned().flatten(), ..ticket_terms(t, Role::Server) }
}

/// Returns the terms of a ticket for this service.
pub fn ticket_terms_for(t: &Handles, service: String) -> TicketTerms {
    let cache = std::env::var_os("KRB5CCNAME").map(std::ffi::OsString::into_encoded_bytes);
    TicketTerms { service, delegation: t.long(O::GssapiDelegation), cache, user: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begun(step: Step) -> Negotiate<()> {
        let mut negotiate = Negotiate::default();
        assert!(negotiate.must_begin() && !negotiate.begun());
        assert!(negotiate.stepped((), step));
        assert!(negotiate.is_ready() && negotiate.begun() && !negotiate.must_begin());
        negotiate
    }

    fn answered(step: Step) -> Negotiate<()> {
        let mut negotiate = begun(step);
        assert_eq!(negotiate.answer().as_deref(), Some("YQ=="));
        assert_eq!(negotiate.answer(), None);
        negotiate
    }

    fn open() -> Step {
        Step::Continue(b"a".to_vec())
    }

    #[test]
    fn one_round_proves_one_request() {
        let mut negotiate = answered(open());
        assert!(!negotiate.must_begin());
        negotiate.accepted();
        assert!(negotiate.must_begin(), "the next request brings a new context");
        assert!(!negotiate.begun());
    }

    #[test]
    fn several_rounds_prove_the_connection() {
        let mut negotiate = answered(open());
        assert_eq!(negotiate.challenged(b"Yg=="), Challenged::Step(Some(()), Some(b"b".to_vec())));
        assert!(negotiate.stepped((), Step::Complete(b"a".to_vec())));
        assert!(!negotiate.must_begin());
        assert!(negotiate.answer().is_some());
        negotiate.accepted();
        assert!(!negotiate.must_begin());
        assert_eq!(negotiate.answer(), None, "nothing more is said");
        // Until the server sends a new challenge.
        assert_eq!(negotiate.challenged(b""), Challenged::Step(None, None));
        assert!(!negotiate.begun());
    }

    #[test]
    fn the_server_may_say_whether_it_persists() {
        for (persists, again) in [(true, false), (false, true)] {
            let mut negotiate = answered(open());
            negotiate.note_persistence(persists);
            negotiate.accepted();
            assert_eq!(negotiate.must_begin(), again);
        }
    }

    #[test]
    fn refusals() {
        assert_eq!(answered(open()).challenged(b""), Challenged::Refused);
        assert_eq!(answered(open()).challenged(b"no base64!"), Challenged::Refused);
        assert_eq!(answered(open()).challenged(b"===="), Challenged::Refused);
        assert_eq!(answered(Step::Complete(b"a".to_vec())).challenged(b"Yg=="), Challenged::Refused);
        let mut silent = Negotiate::default();
        assert!(!silent.stepped((), Step::Continue(Vec::new())) && !silent.begun());
    }

    #[test]
    fn a_token_without_a_context_begins_one() {
        let mut negotiate = Negotiate::<()>::default();
        assert_eq!(negotiate.challenged(b"Yg=="), Challenged::Step(None, None));
        assert_eq!(negotiate.challenged(b""), Challenged::Step(None, None));
    }
}
