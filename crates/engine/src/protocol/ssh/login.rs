//! From a connected socket to a session on which somebody is logged in: key exchange, the server's key, our proofs.

use std::rc::Rc;

use net::Connection;
use net::ssh::{Lost, ask_agent, last_words, park, step};
use ssh::agent;
use ssh::auth::{AgentKey, Login, Outcome, SignRequest, Way};
use ssh::{Config, Offer, Step, Transport};
use tables::constant::{
    CURLSSH_AUTH_AGENT, CURLSSH_AUTH_KEYBOARD, CURLSSH_AUTH_PASSWORD, CURLSSH_AUTH_PUBLICKEY,
};
use tables::{Code, EasyOption as O};
use zeroize::Zeroizing;

use super::host::Judge;
use super::keys;
use crate::error::{Error, Result};
use crate::transfer::Transfer;
use crate::transfer::plan::Plan;

/// Logs in on a new connection and parks the session there.
pub async fn log_in(t: &Transfer, plan: &Plan, connection: &mut Connection) -> Result<()> {
    let judge = Judge::new(t, plan)?;
    let offer =
        Offer { host_keys: judge.preferred(), compression: t.on(O::SshCompression), ..Offer::default() };
    let config = Config { offer, ..Config::default() };
    let mut transport = Transport::new(config).map_err(|e| startup_failed(&e.into()))?;
    let filter = connection.filter.as_mut();
    match step(filter, &mut transport).await {
        Ok(Step::HostKey) => {}
        Ok(Step::Message) => return Err(startup_failed(&Lost::Closed)),
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
    authenticate(t, connection, &mut transport).await?;
    t.mark(|info, elapsed| info.app_connect = elapsed);
    park(connection, transport);
    Ok(())
}

fn startup_failed(lost: &Lost) -> Error {
    let why = match (lost, lost.io()) {
        (Lost::Ssh(e), _) => e.to_string(),
        (_, Some(e)) => crate::transfer::body::os_text(&e),
        _ => "the server closed the connection".to_owned(),
    };
    Error::new(Code::FailedInit, format!("Failure establishing ssh session: {why}"))
}

async fn authenticate(t: &Transfer, connection: &mut Connection, transport: &mut Transport) -> Result<()> {
    let (user, password) = crate::transfer::login::own(t)?;
    let password = Rc::new(Zeroizing::new(password));
    let filter = connection.filter.as_mut();
    let mut login = Login::new(&user, Vec::new());
    let mut ready = login.begin(transport).map(|()| None);
    loop {
        let outcome = match ready.map_err(|e| super::lost(&e.into()))? {
            Some(outcome) => outcome,
            None => {
                step(filter, transport).await.map_err(|e| super::lost(&e))?;
                ready = login.take(transport);
                continue;
            }
        };
        ready = match outcome {
            Outcome::LoggedIn(method) => {
                t.easy.note(|| format!("Initialized {} authentication", told(method)));
                t.easy.note(|| "Authentication complete".to_owned());
                return Ok(());
            }
            Outcome::Denied => return Err(Error::new(Code::LoginDenied, "Authentication failure")),
            Outcome::Methods(methods) => {
                t.easy.note(|| format!("SSH authentication methods available: {methods}"));
                login.set_ways(ways(t, &methods, &password));
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

fn told(method: &str) -> &'static str {
    match method {
        "publickey" => "SSH public key",
        "password" => "password",
        "keyboard-interactive" => "keyboard interactive",
        _ => "no",
    }
}

/// What is tried, in curl's order (CURLOPT_SSH_AUTH_TYPES(3)). Files are read only where the server takes keys, and the agent
/// is asked for nothing unless it is its turn.
fn ways(t: &Transfer, methods: &str, password: &Rc<ssh::Secret>) -> Vec<Way> {
    let types = t.long(O::SshAuthTypes) as u64;
    let wanted = |bit: u64| types & bit != 0;
    let mut ways = Vec::new();
    if wanted(CURLSSH_AUTH_PUBLICKEY) && methods.split(',').any(|method| method == "publickey") {
        ways.extend(keys::of(t).into_iter().map(|key| Way::Key(Rc::new(key))));
    }
    if wanted(CURLSSH_AUTH_PASSWORD) {
        ways.push(Way::Password(password.clone()));
    }
    if wanted(CURLSSH_AUTH_AGENT) {
        ways.push(Way::Agent);
    }
    if wanted(CURLSSH_AUTH_KEYBOARD) {
        ways.push(Way::Keyboard(password.clone()));
    }
    ways
}

async fn agent_keys(t: &Transfer) -> Vec<AgentKey> {
    let keys = match ask(t, &agent::ask_keys()).await {
        Some(answer) => agent::keys(&answer).unwrap_or_default(),
        None => Vec::new(),
    };
    if keys.is_empty() {
        t.easy.note(|| "Failure requesting identities to agent".to_owned());
    }
    keys
}

async fn agent_signature(t: &Transfer, request: &SignRequest) -> Option<Vec<u8>> {
    let answer = ask(t, &agent::ask_signature(request)).await?;
    agent::signature(&answer).ok().flatten()
}

async fn ask(t: &Transfer, question: &[u8]) -> Option<Vec<u8>> {
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
