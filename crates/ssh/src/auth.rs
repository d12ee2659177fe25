//! User authentication (RFC 4252, keyboard-interactive of RFC 4256): which methods are tried, one after the
//! other. The caller reads files and talks to the agent; this module decides what is sent.

use std::collections::VecDeque;
use std::rc::Rc;

use crate::bytes::{Put, Reader};
use crate::crypto::Secret;
use crate::error::{Error, printable};
use crate::keys::PrivateKey;
use crate::numbers::*;
use crate::transport::{Transport, with_room};

/// Maximum number of banners, and of rounds of questions.
const MAX_BANNERS: usize = 256;
const MAX_ROUNDS: usize = 16;
/// Keys of an agent's that are tried.
const MAX_AGENT_KEYS: usize = 64;

/// An authentication method with its credentials.
#[derive(Clone)]
pub enum AuthMethod {
    Key(Rc<PrivateKey>),
    Password(Rc<Secret>),
    /// The keys of an agent; it is asked for them when it is their turn.
    Agent,
    /// One question is answered with the password.
    Keyboard(Rc<Secret>),
}

/// A key of an agent.
pub struct AgentKey {
    pub blob: Vec<u8>,
}

/// The result of a message.
#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The login succeeded with this method (`agent`: with a key of an agent).
    LoggedIn(&'static str),
    /// No method is left. The server would accept these methods.
    Denied,
    /// The server takes these methods.
    Methods(String),
    /// The server has something to say.
    Banner(String),
    /// The agent's keys are wanted: [`Login::agent_keys`].
    AskAgent,
    /// The agent's signature is wanted: [`Login::agent_signed`].
    AgentSign(SignRequest),
}

/// The data that an agent is to sign.
#[derive(Debug, PartialEq, Eq)]
pub struct SignRequest {
    pub blob: Vec<u8>,
    pub data: Vec<u8>,
    /// SSH_AGENT_RSA_SHA2_256 (2) or _512 (4), of RSA keys.
    pub flags: u32,
}

#[derive(Debug, PartialEq, Eq)]
enum State {
    /// Nothing has been sent.
    Idle,
    /// The list of methods has been requested ("none").
    Nothing,
    Key,
    Password,
    Keyboard(usize),
    /// The agent's list is awaited, not the server's word.
    AgentList,
    /// Whether the server would take the key.
    AgentAsks,
    /// The agent's signature is awaited.
    AgentSigns,
}

/// A log-in.
pub struct Login {
    user: Vec<u8>,
    ways: VecDeque<AuthMethod>,
    state: State,
    methods: Vec<String>,
    agent: VecDeque<AgentKey>,
    password: Option<Rc<Secret>>,
    banners: usize,
    accepted: bool,
    /// A key was proved before the server has said which methods there are.
    ahead: bool,
    /// Whether the server has refused the first request.
    refused: bool,
}

impl Login {
    pub fn new(user: &[u8], ways: impl IntoIterator<Item = AuthMethod>) -> Login {
        Login {
            user: user.to_vec(),
            ways: ways.into_iter().collect(),
            state: State::Idle,
            methods: Vec::new(),
            agent: VecDeque::new(),
            password: None,
            banners: 0,
            accepted: false,
            ahead: false,
            refused: false,
        }
    }

    /// Returns whether the requests of [`Login::begin`] have sufficed so far. If so, messages of the upper
    /// layer that were sent right after them reached an authenticated session.
    pub fn is_at_once(&self) -> bool {
        !self.refused
    }

    /// Sets the methods to try. They may depend on what the server accepts.
    pub fn set_ways(&mut self, ways: impl IntoIterator<Item = AuthMethod>) {
        self.ways = ways.into_iter().collect();
    }

    /// Requests the service and, without waiting, the list of methods. If there is a key, it is proved
    /// without waiting, too (RFC 4252 §4 allows several requests in a row). A server that accepts no keys
    /// refuses it together with the list.
    pub fn begin(&mut self, transport: &mut Transport, first: Option<&PrivateKey>) -> Result<(), Error> {
        let mut message = vec![SERVICE_REQUEST];
        message.put_string("ssh-userauth");
        transport.send(&[&message])?;
        transport.send(&[&self.request("none")])?;
        if let Some(key) = first {
            self.prove(transport, key)?;
            self.ahead = true;
        }
        self.state = State::Nothing;
        Ok(())
    }

    /// Takes the message that the transport has.
    pub fn take(&mut self, transport: &mut Transport) -> Result<Option<Outcome>, Error> {
        let (number, body) = transport.message().split_first().ok_or(Error::Malformed)?;
        match *number {
            SERVICE_ACCEPT if !self.accepted => {
                self.accepted = true;
                Ok(None)
            }
            USERAUTH_BANNER => {
                self.banners += 1;
                if self.banners > MAX_BANNERS {
                    return Err(Error::Protocol("the server's greetings have no end"));
                }
                Ok(Some(Outcome::Banner(String::from_utf8_lossy(Reader::new(body).string()?).into_owned())))
            }
            USERAUTH_SUCCESS if self.is_expected() => {
                let method = match self.state {
                    State::Password => "password",
                    State::Keyboard(_) => "keyboard-interactive",
                    State::Nothing => "none",
                    State::AgentAsks => "agent",
                    _ => "publickey",
                };
                transport.logged_in();
                Ok(Some(Outcome::LoggedIn(method)))
            }
            USERAUTH_FAILURE if self.is_expected() => {
                let methods = Reader::new(body).names()?.into_iter().map(printable_name).collect();
                self.failed(transport, methods)
            }
            USERAUTH_60 => {
                let body = body.to_vec();
                self.asked(transport, &body)
            }
            _ => Err(Error::Protocol("a message that does not belong to logging in")),
        }
    }

    /// Whether a verdict of the server's may come.
    fn is_expected(&self) -> bool {
        !matches!(self.state, State::Idle | State::AgentList | State::AgentSigns)
    }

    fn failed(&mut self, transport: &mut Transport, methods: Vec<String>) -> Result<Option<Outcome>, Error> {
        let first = self.state == State::Nothing;
        self.methods = methods;
        self.refused |= !first || !self.ahead;
        if first {
            let text = self.methods.join(",");
            self.state = if self.ahead { State::Key } else { State::Idle };
            return Ok(Some(Outcome::Methods(text)));
        }
        if self.state == State::AgentAsks {
            self.agent.pop_front();
            if self.next_agent_key(transport)? {
                return Ok(None);
            }
        }
        self.go_on(transport)
    }

    /// Tries the next way that the server would take, unless a key is tried already.
    pub fn go_on(&mut self, transport: &mut Transport) -> Result<Option<Outcome>, Error> {
        if std::mem::take(&mut self.ahead) {
            return Ok(None);
        }
        let takes = |methods: &[String], way: &AuthMethod| {
            let name = match way {
                AuthMethod::Key(_) | AuthMethod::Agent => "publickey",
                AuthMethod::Password(_) => "password",
                AuthMethod::Keyboard(_) => "keyboard-interactive",
            };
            methods.iter().any(|method| method == name)
        };
        let Some(at) = self.ways.iter().position(|way| takes(&self.methods, way)) else {
            return Ok(Some(Outcome::Denied));
        };
        match self.ways.remove(at) {
            Some(AuthMethod::Key(key)) => self.prove(transport, &key).map(|()| None),
            Some(AuthMethod::Password(password)) => {
                let mut message = zeroize::Zeroizing::new(self.request("password"));
                message.put_flag(false);
                message.put_string(password.as_slice());
                self.state = State::Password;
                transport.send(&[&message]).map(|()| None)
            }
            Some(AuthMethod::Keyboard(password)) => {
                let mut message = self.request("keyboard-interactive");
                message.put_string("");
                message.put_string("");
                self.password = Some(password);
                self.state = State::Keyboard(0);
                transport.send(&[&message]).map(|()| None)
            }
            Some(AuthMethod::Agent) => {
                self.state = State::AgentList;
                Ok(Some(Outcome::AskAgent))
            }
            None => Ok(Some(Outcome::Denied)),
        }
    }

    /// A key of a file: its signature at once, without asking whether the key would do.
    fn prove(&mut self, transport: &mut Transport, key: &PrivateKey) -> Result<(), Error> {
        let (algorithm, named) = key.algorithm(transport.signature_algorithms());
        let mut message = self.public_key_request(true, &named, key.shown());
        let data = signed(transport, &message);
        let signature = with_room(transport.with_room(), || key.sign(algorithm, &data));
        message.put_string(signature.ok_or(Error::Protocol("the key cannot sign"))?);
        self.state = State::Key;
        transport.send(&[&message])
    }

    /// Processes the agent's answer; it is empty if there is no agent or it has no keys.
    pub fn agent_keys(
        &mut self,
        transport: &mut Transport,
        keys: Vec<AgentKey>,
    ) -> Result<Option<Outcome>, Error> {
        self.agent = keys.into_iter().take(MAX_AGENT_KEYS).collect();
        if self.next_agent_key(transport)? { Ok(None) } else { self.go_on(transport) }
    }

    /// Asks whether the server would take the next key: a signature may need its owner's consent.
    fn next_agent_key(&mut self, transport: &mut Transport) -> Result<bool, Error> {
        let Some(key) = self.agent.front() else { return Ok(false) };
        let (algorithm, _) = agent_algorithm(&key.blob, transport.signature_algorithms());
        let message = self.public_key_request(false, &algorithm, &key.blob);
        self.state = State::AgentAsks;
        transport.send(&[&message])?;
        Ok(true)
    }

    /// Handles message number 60, whose meaning depends on the last request.
    fn asked(&mut self, transport: &mut Transport, body: &[u8]) -> Result<Option<Outcome>, Error> {
        match self.state {
            State::AgentAsks => {
                let key = self.agent.front().ok_or(Error::Malformed)?;
                let (algorithm, flags) = agent_algorithm(&key.blob, transport.signature_algorithms());
                let message = self.public_key_request(true, &algorithm, &key.blob);
                let request =
                    SignRequest { blob: key.blob.clone(), data: signed(transport, &message), flags };
                self.state = State::AgentSigns;
                Ok(Some(Outcome::AgentSign(request)))
            }
            State::Keyboard(round) if round < MAX_ROUNDS => {
                self.answer(transport, body)?;
                self.state = State::Keyboard(round + 1);
                Ok(None)
            }
            // The password has expired, and a new one cannot be set.
            State::Password => self.go_on(transport),
            _ => Err(Error::Protocol("a question that does not belong to logging in")),
        }
    }

    /// The agent has signed, or does not want to.
    pub fn agent_signed(
        &mut self,
        transport: &mut Transport,
        signature: Option<Vec<u8>>,
    ) -> Result<Option<Outcome>, Error> {
        let Some(signature) = signature else {
            self.agent.pop_front();
            return if self.next_agent_key(transport)? { Ok(None) } else { self.go_on(transport) };
        };
        let key = self.agent.front().ok_or(Error::Malformed)?;
        let (algorithm, _) = agent_algorithm(&key.blob, transport.signature_algorithms());
        let mut message = self.public_key_request(true, &algorithm, &key.blob);
        message.put_string(signature);
        // If it is refused, the next key is tried.
        self.state = State::AgentAsks;
        transport.send(&[&message]).map(|()| None)
    }

    /// Answers a single hidden question with the password, and any other with an empty text.
    fn answer(&self, transport: &mut Transport, body: &[u8]) -> Result<(), Error> {
        let mut reader = Reader::new(body);
        for _ in 0..3 {
            reader.string()?; // name, instruction, language
        }
        let questions = reader.u32()?;
        // Room for everything: a buffer that grows leaves copies of secrets behind.
        let room = 9 + 4 * (questions.min(256) as usize) + self.password.as_ref().map_or(0, |p| p.len());
        let mut message = zeroize::Zeroizing::new(Vec::with_capacity(room));
        message.push(USERAUTH_INFO_RESPONSE);
        message.put_u32(questions);
        let mut answered = false;
        for _ in 0..questions {
            reader.string()?;
            let shown = reader.flag()?;
            match &self.password {
                Some(password) if !answered && (!shown || questions == 1) => {
                    message.put_string(password.as_slice());
                    answered = true;
                }
                _ => message.put_string(""),
            }
        }
        transport.send(&[&message])
    }

    fn request(&self, method: &str) -> Vec<u8> {
        let mut message = vec![USERAUTH_REQUEST];
        message.put_string(&self.user);
        message.put_string("ssh-connection");
        message.put_string(method);
        message
    }

    fn public_key_request(&self, signed: bool, algorithm: &str, blob: &[u8]) -> Vec<u8> {
        let mut message = self.request("publickey");
        message.put_flag(signed);
        message.put_string(algorithm);
        message.put_string(blob);
        message
    }
}

/// Returns the data to sign (RFC 4252 §7).
fn signed(transport: &Transport, message: &[u8]) -> Vec<u8> {
    let mut data = Vec::with_capacity(message.len() + 68);
    data.put_string(transport.session_id());
    data.extend_from_slice(message);
    data
}

/// Returns the algorithm by which an agent shall sign with a key, and the flags that select it.
fn agent_algorithm(blob: &[u8], taken: &[String]) -> (String, u32) {
    use crate::public::CERT_SUFFIX;
    let name = crate::public::type_of(blob);
    let (plain, suffix) = match name.strip_suffix(CERT_SUFFIX) {
        Some(plain) => (plain, CERT_SUFFIX),
        None => (name, ""),
    };
    if plain != "ssh-rsa" {
        return (name.to_owned(), 0);
    }
    let only_256 = taken.iter().any(|t| t == "rsa-sha2-256") && !taken.iter().any(|t| t == "rsa-sha2-512");
    match only_256 {
        true => (format!("rsa-sha2-256{suffix}"), 2),
        false => (format!("rsa-sha2-512{suffix}"), 4),
    }
}

fn printable_name(name: &str) -> String {
    printable(name.as_bytes())
}
