//! Negotiate (RFC 4559): the conversation of one connection with one side, server or proxy. [`Negotiate`] says what
//! comes next and holds the security context, `speak` has it make its next token on a helper thread, for it may ask a key
//! distribution centre. Which requests carry a token is `transfer::auth`'s matter.
//!
//! As in curl: a context that came about in a single round proves one request, and the next one on the same connection
//! brings a new one; after several rounds the connection itself counts as authenticated. `Persistent-Auth` overrules both.

use gss::{Context, Delegation, Mechanism, Step};
use net::connection_key::TicketTerms;
use tables::EasyOption as O;
use tables::constant::{CURLGSSAPI_DELEGATION_FLAG, CURLGSSAPI_DELEGATION_POLICY_FLAG};

use super::auth::{Scheme, negotiate_token};
use super::proxy::Proxy;
use super::secret::Role;
use super::{Connector, Handles};

/// How far the conversation has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    /// Nothing was said yet.
    #[default]
    Idle,
    /// The next request has something to say.
    Ready,
    /// It was said; the reply will tell.
    Answered,
    /// A reply did not ask again.
    Established,
}

/// One conversation; `C` is the security context.
pub struct Negotiate<C = Context> {
    stage: Stage,
    context: Option<C>,
    /// Our part of the context is done.
    complete: bool,
    token: Vec<u8>,
    /// The reply before had a token for us.
    heard: bool,
    several_rounds: bool,
    /// `Persistent-Auth`.
    persists: Option<bool>,
}

impl<C> Default for Negotiate<C> {
    fn default() -> Negotiate<C> {
        Negotiate {
            stage: Stage::Idle,
            context: None,
            complete: false,
            token: Vec::new(),
            heard: false,
            several_rounds: false,
            persists: None,
        }
    }
}

/// What a challenge leads to.
#[derive(Debug, PartialEq, Eq)]
pub enum Challenged<C> {
    /// A refusal: there is nothing more to say.
    Refused,
    /// A step of this context, or of a new one, with the token that has come.
    Step(Option<C>, Option<Vec<u8>>),
}

impl<C> Negotiate<C> {
    /// Whether anything has been said on this connection.
    pub fn begun(&self) -> bool {
        self.stage != Stage::Idle
    }

    /// Whether the next request has to begin a context.
    pub fn must_begin(&mut self) -> bool {
        self.several_rounds |= self.stage == Stage::Ready && self.heard;
        self.heard = false;
        if self.stage == Stage::Established && !self.persists.unwrap_or(self.several_rounds) {
            *self = Negotiate::default();
        }
        self.stage == Stage::Idle
    }

    /// What follows from the challenge of a 401 or 407; its token is empty when the server only names the scheme.
    pub fn challenged(&mut self, token: &[u8]) -> Challenged<C> {
        let stage = self.stage;
        if token.is_empty() {
            *self = Negotiate::default();
            return match stage {
                Stage::Idle | Stage::Established => Challenged::Step(None, None),
                Stage::Ready | Stage::Answered => Challenged::Refused,
            };
        }
        let decoded = wire::base64::decode(token).filter(|token| !token.is_empty());
        let (Some(decoded), false) = (decoded, self.complete) else {
            // What is done and is asked again has been refused.
            *self = Negotiate::default();
            return Challenged::Refused;
        };
        self.heard = true;
        match self.context.take() {
            Some(context) => Challenged::Step(Some(context), Some(decoded)),
            // Nobody has begun what this would continue.
            None => Challenged::Step(None, None),
        }
    }

    /// The context has made a step. False when it has nothing to say, which is of no use.
    pub fn stepped(&mut self, context: C, step: Step) -> bool {
        if step.token().is_empty() {
            *self = Negotiate::default();
            return false;
        }
        self.complete = matches!(step, Step::Complete(_));
        self.token = step.token().to_vec();
        (self.context, self.stage) = (Some(context), Stage::Ready);
        true
    }

    /// Whether a request can answer.
    pub fn is_ready(&self) -> bool {
        self.stage == Stage::Ready
    }

    /// What this request says, in base64.
    pub fn answer(&mut self) -> Option<String> {
        if self.stage != Stage::Ready {
            return None;
        }
        self.stage = Stage::Answered;
        Some(wire::base64::encode(&std::mem::take(&mut self.token)))
    }

    /// A final reply has come that did not refuse.
    pub fn accepted(&mut self) {
        if self.stage == Stage::Answered {
            self.stage = Stage::Established;
        }
    }

    /// A reply said `Persistent-Auth`.
    pub fn told_to_persist(&mut self, persists: bool) {
        self.persists = Some(persists);
    }
}

/// Whom a context is made with.
pub struct Whom {
    /// As whom we are spoken to.
    pub role: Role,
    /// Its name.
    pub host: String,
    /// What tells the TLS channel from others (RFC 5929), when there is one.
    pub channel: Option<Vec<u8>>,
}

/// Lets the context make its next token, or the first one of a new context. False when there is none; the reason has
/// been told.
pub async fn speak(
    t: &Connector,
    whom: Whom,
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

/// A reply has come: its challenges when it refuses. What they say to the context is answered.
pub async fn listen(
    t: &Connector,
    whom: Whom,
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
    /// Before a request to this proxy: Negotiate makes the token that it will carry.
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
        if !speak(t, self.whom(), negotiate, None, None).await {
            memory().proxy.lose(Scheme::Negotiate);
        }
    }

    /// The proxy, as whom a security context is made with.
    pub fn whom(&self) -> Whom {
        Whom { role: Role::Proxy, host: self.host.clone(), channel: None }
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

/// Whether who we speak to may act in our name.
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

/// Returns what decides which ticket is used, as part of a connection key.
pub fn ticket_terms(t: &Handles, role: Role) -> TicketTerms {
    ticket_terms_for(t, service(t, role))
}

/// Returns the name of the user whom the Kerberos tickets of this process belong to. A transfer looks once.
///
/// A helper thread asks the library, which may speak to a key distribution centre (a client's keytab).
pub async fn find_ticket_user(t: &Connector) -> Option<String> {
    let known = t.ticket_user.borrow().clone();
    if let Some(user) = known {
        return user;
    }
    let found = runtime::offload(t.multi.runtime.reactor(), "warmwire-gss", gss::default_user).await;
    let user = found.ok().and_then(Result::ok);
    *t.ticket_user.borrow_mut() = Some(user.clone());
    user
}

/// Returns the terms of the ticket that the server is shown, with the user whom it belongs to.
pub fn server_ticket(t: &Connector) -> TicketTerms {
    TicketTerms { user: t.ticket_user.borrow().clone().flatten(), ..ticket_terms(t, Role::Server) }
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
        // Until the server wants to know it again.
        assert_eq!(negotiate.challenged(b""), Challenged::Step(None, None));
        assert!(!negotiate.begun());
    }

    #[test]
    fn the_server_may_say_whether_it_persists() {
        for (persists, again) in [(true, false), (false, true)] {
            let mut negotiate = answered(open());
            negotiate.told_to_persist(persists);
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
