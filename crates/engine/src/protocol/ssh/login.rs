//! From a connected socket to a logged-in session: key exchange, the server's key, authentication.

use std::rc::Rc;

use net::Connection;
use net::ssh::{SessionError, ask_agent, last_words, park, step};
use ssh::agent;
use ssh::auth::{AgentKey, AuthMethod, Login, Outcome, SignRequest};
use ssh::keys::PrivateKey;
use ssh::{Config, Offer, Session, Step, Transport};
use tables::constant::{
    CURLSSH_AUTH_AGENT, CURLSSH_AUTH_KEYBOARD, CURLSSH_AUTH_PASSWORD, CURLSSH_AUTH_PUBLICKEY,
};
use tables::{Code, EasyOption as O};
use zeroize::Zeroizing;

use super::host::Judge;
use super::keys;
use crate::error::{Error, Result};
use crate::transfer::Connector;
use crate::transfer::route::plan::Plan;

/// Logs in on a new connection and parks the session there.
pub async fn log_in(t: &Connector, plan: &Plan, connection: &mut Connection) -> Result<()> {
    let judge = Judge::new(t, plan)?;
    let offer =
        Offer { host_keys: judge.preferred(), compression: t.on(O::SshCompression), ..Offer::default() };
    let with_room = |work: &mut (dyn FnMut() + Send)| runtime::stack::with_room(work);
    let config = Config { offer, with_room, ..Config::default() };
    let mut transport = Transport::new(config).map_err(|e| startup_failed(&e.into()))?;
    let filter = connection.filter();
    match step(filter, &mut transport).await {
        Ok(Step::HostKey) => {}
        Ok(Step::Message) => return Err(startup_failed(&SessionError::Closed)),
        Err(e) => return Err(startup_failed(&e)),
    }
    t.easy.note(|| format!("SSH server: {}", transport.server()));
    t.easy.note(|| {
        let [method, cipher] = transport.algorithms();
        format!("SSH connection using {method} / {cipher}")
    });
    if let Err(refused) = judge.judge(t, transport.host_key()) {
        transport.disconnect(9, "host key not verifiable");
        last_words(filter, &mut transport);
        return Err(refused);
    }
    transport.accept_host().map_err(|e| startup_failed(&e.into()))?;
    let asked = authenticate(t, connection, &mut transport).await?;
    t.mark(|info, elapsed| info.app_connect = elapsed);
    let mut session = if asked { Session::with_channel(transport) } else { Session::new(transport) };
    // Bytes that arrived with the server's success message: the next read only returns later ones.
    session.take_in().map_err(|e| super::fault::lost(&e.into()))?;
    park(connection, session);
    Ok(())
}

fn startup_failed(lost: &SessionError) -> Error {
    let why = match (lost, lost.io()) {
        (SessionError::Ssh(e), _) => e.to_string(),
        (_, Some(e)) => crate::transfer::body::os_text(&e),
        _ => "the server closed the connection".to_owned(),
    };
    Error::new(Code::FailedInit, format!("Failure establishing ssh session: {why}"))
}

/// Returns whether a channel may be requested together with the authentication request. OpenSSH's server
/// ignores it until the login succeeds; others disconnect, as RFC 4252 §6 requires. Messages after the
/// request must not depend on its result, as compression does.
fn takes_channel_ahead(t: &Connector, transport: &Transport) -> bool {
    let plain = !t.on(O::SshCompression) && t.long(O::ConnectOnly) == 0;
    plain && transport.server().starts_with("SSH-2.0-OpenSSH")
}

/// Authenticates. Returns true if a channel has been requested already.
async fn authenticate(t: &Connector, connection: &mut Connection, transport: &mut Transport) -> Result<bool> {
    let (user, password) = crate::transfer::credentials::own(t)?;
    let password = Rc::new(Zeroizing::new(password));
    let filter = connection.filter();
    let mut login = Login::new(&user, Vec::new());
    // Methods that the application configured need not wait for the server's list.
    let named = wanted(t, CURLSSH_AUTH_PUBLICKEY).then(|| keys::named(t)).flatten().map(Rc::new);
    let first = named.as_deref().filter(|key| key.has_one_algorithm());
    let mut ready = login.begin(transport, first).map(|()| None);
    let ahead = first.is_some() && takes_channel_ahead(t, transport);
    if ahead {
        Session::ask_ahead(transport).map_err(|e| super::fault::lost(&e.into()))?;
    }
    loop {
        let outcome = match ready.map_err(|e| super::fault::lost(&e.into()))? {
            Some(outcome) => outcome,
            None => {
                step(filter, transport).await.map_err(|e| super::fault::lost(&e))?;
                ready = login.take(transport);
                continue;
            }
        };
        ready = match outcome {
            Outcome::LoggedIn(method) => {
                t.easy.note(|| method_text(method).to_owned());
                t.easy.note(|| "Authentication complete".to_owned());
                return Ok(ahead && login.is_at_once());
            }
            Outcome::Denied => return Err(Error::new(Code::LoginDenied, "Authentication failure")),
            Outcome::Methods(methods) => {
                t.easy.note(|| format!("SSH authentication methods available: {methods}"));
                login.set_ways(ways(t, &methods, &password, named.as_ref()));
                login.go_on(transport)
            }
            Outcome::Banner(text) => {
                t.easy.note(|| ssh::printable(text.trim_end().as_bytes()));
                Ok(None)
            }
            Outcome::AskAgent => {
                let keys = agent_keys(t).await;
                login.agent_keys(transport, keys)
            }
            Outcome::AgentSign(request) => {
                let signature = agent_signature(t, &request).await;
                login.agent_signed(transport, signature)
            }
        };
    }
}

fn method_text(method: &str) -> &'static str {
    match method {
        "publickey" => "Initialized SSH public key authentication",
        "password" => "Initialized password authentication",
        "keyboard-interactive" => "Initialized keyboard interactive authentication",
        "agent" => "Agent based authentication successful",
        _ => "SSH user accepted with no authentication",
    }
}

fn wanted(t: &Connector, bit: u64) -> bool {
    t.long(O::SshAuthTypes) as u64 & bit != 0
}

/// Returns the methods to try, in curl's order (CURLOPT_SSH_AUTH_TYPES(3)). Default key files are read only
/// if the server accepts keys, and the agent is asked only when it is its turn.
fn ways(
    t: &Connector,
    methods: &str,
    password: &Rc<ssh::Secret>,
    named: Option<&Rc<PrivateKey>>,
) -> Vec<AuthMethod> {
    let mut ways = Vec::new();
    match named {
        // It is tried already.
        Some(key) if key.has_one_algorithm() => {}
        Some(key) => ways.push(AuthMethod::Key(key.clone())),
        None if wanted(t, CURLSSH_AUTH_PUBLICKEY) && methods.split(',').any(|m| m == "publickey") => {
            ways.extend(keys::usual(t).into_iter().map(|key| AuthMethod::Key(Rc::new(key))));
        }
        None => {}
    }
    if wanted(t, CURLSSH_AUTH_PASSWORD) {
        ways.push(AuthMethod::Password(password.clone()));
    }
    if wanted(t, CURLSSH_AUTH_AGENT) {
        ways.push(AuthMethod::Agent);
    }
    if wanted(t, CURLSSH_AUTH_KEYBOARD) {
        ways.push(AuthMethod::Keyboard(password.clone()));
    }
    ways
}

async fn agent_keys(t: &Connector) -> Vec<AgentKey> {
    let keys = match ask(t, &agent::ask_keys()).await {
        Some(answer) => agent::keys(&answer).unwrap_or_default(),
        None => Vec::new(),
    };
    if keys.is_empty() {
        t.easy.note(|| "Failure requesting identities to agent".to_owned());
    }
    keys
}

async fn agent_signature(t: &Connector, request: &SignRequest) -> Option<Vec<u8>> {
    let answer = ask(t, &agent::ask_signature(request)).await?;
    agent::signature(&answer).ok().flatten()
}

async fn ask(t: &Connector, question: &[u8]) -> Option<Vec<u8>> {
    let socket = std::env::var_os("SSH_AUTH_SOCK")?;
    let reactor = t.multi.runtime.reactor();
    let asked = ask_agent(reactor, socket.as_ref(), question, None, t.easy.owner_number()).await;
    match asked {
        Ok(answer) => Some(answer),
        Err(e) => {
            t.easy.note(|| format!("Failure connecting to agent: {e}"));
            None
        }
    }
}
