//! The way to a session in which mails can be sent: greeting, EHLO or HELO, STARTTLS (RFC 3207), AUTH (RFC
//! 4954).

use net::Whole;
use net::handover::codec::{Reader, Writer};
use tables::{Code, EasyOption as O};
use wire::auth::sasl::Mechanisms;
use wire::smtp::Extensions;
use zeroize::Zeroizing;

use super::decide::{self, Hello, SERVICE_ENDS};
use crate::error::{Error, Result};
use crate::transfer::Transfer;
use crate::transfer::dialogue::{Dialogue, succeeded};
use crate::transfer::route::plan::Plan;
use crate::transfer::sasl::{self, Outcome, SaslReply, Speaker};
use crate::transfer::starttls::{self, Start};

/// Most lines of one reply.
const LINES_LIMIT: usize = 1000;

/// A connection that mails can be sent on.
pub struct Session {
    /// Its lines.
    pub dialogue: Dialogue,
    memory: Memory,
}

/// The memory of a kept connection.
#[derive(Clone, Copy, Default)]
struct Memory {
    extensions: Extensions,
    authenticated: bool,
}

impl net::Memory for Memory {
    fn encode(&self) -> Option<Zeroizing<Vec<u8>>> {
        let mut out = Writer::with_capacity(16);
        let Extensions { starttls, size, smtputf8, pipelining, chunking, auth, mechanisms } = self.extensions;
        let flags = [starttls, size, smtputf8, pipelining, chunking, auth, self.authenticated];
        flags.into_iter().for_each(|flag| out.bool(flag));
        out.u16(mechanisms.bits());
        Some(out.into_bytes())
    }
}

/// Reads the state of a connection from another process.
pub fn decode_memory(bytes: &[u8]) -> Option<Box<dyn net::Memory>> {
    let mut input = Reader::new(bytes);
    let mut flag = || input.bool("SMTP").ok();
    let [starttls, size, smtputf8, pipelining] = [flag()?, flag()?, flag()?, flag()?];
    let [chunking, auth, authenticated] = [flag()?, flag()?, flag()?];
    let mechanisms = Mechanisms::from_bits(input.u16().ok()?)?;
    input.end().ok()?;
    let extensions = Extensions { starttls, size, smtputf8, pipelining, chunking, auth, mechanisms };
    Some(Box::new(Memory { extensions, authenticated }))
}

impl Session {
    /// Opens a session: a kept connection, or a new one that sends EHLO with `name` and logs in.
    pub async fn open(t: &mut Transfer, name: &[u8], fresh: bool) -> Result<Session> {
        let link = t.connect(fresh).await?;
        let plan = link.plan.clone();
        let mut whole = link.into_whole()?;
        let known = whole.connection().state.take().and_then(|state| state.take::<Memory>());
        let dialogue = Dialogue::new(whole, "smtp");
        let is_new = known.is_none();
        let mut session = Session { dialogue, memory: known.map(|known| *known).unwrap_or_default() };
        if is_new {
            session.begin(t, name, &plan).await?;
        }
        session.dialogue.whole.connection().farewell = b"QUIT\r\n".to_vec();
        Ok(session)
    }

    /// Back to the pool after a success, closed with a QUIT otherwise.
    pub fn end(self, t: &Transfer, success: bool) {
        self.dialogue.end(t, success.then(|| Box::new(self.memory) as Box<dyn net::Memory>));
    }

    /// Returns the connection for the next user.
    pub fn into_whole(mut self) -> Whole {
        self.dialogue.whole.connection().state = Some(Box::new(self.memory));
        self.dialogue.whole
    }

    /// Returns the server's extensions.
    pub fn extensions(&self) -> Extensions {
        self.memory.extensions
    }

    /// Whether the server takes names that are not ASCII (RFC 6531).
    pub fn smtputf8(&self) -> bool {
        self.memory.extensions.smtputf8
    }

    /// Whether it takes commands that don't wait for one another's replies (RFC 2920).
    pub fn pipelines(&self) -> bool {
        self.memory.extensions.pipelining
    }

    /// Whether a mail may come in chunks (RFC 3030).
    pub fn takes_chunks(&self) -> bool {
        self.memory.extensions.chunking
    }

    /// Returns whether a login has succeeded.
    pub fn is_authenticated(&self) -> bool {
        self.memory.authenticated
    }

    /// Sends a command and reads the code of its reply.
    pub async fn command(&mut self, t: &mut Transfer, line: &[u8]) -> Result<u16> {
        self.dialogue.send(t, line).await?;
        self.reply(t).await
    }

    /// Reads the code of a reply.
    pub async fn reply(&mut self, t: &mut Transfer) -> Result<u16> {
        read(t, &mut self.dialogue, |_| ()).await
    }

    async fn begin(&mut self, t: &mut Transfer, name: &[u8], plan: &Plan) -> Result<()> {
        self.dialogue.outstanding = 1;
        let greeting = self.reply(t).await?;
        if !succeeded(greeting) {
            let text = format!("Got unexpected smtp-server response: {greeting}");
            return Err(Error::new(Code::WeirdServerReply, text));
        }
        let wanted = t.long(O::UseSsl);
        let protected = plan.tls.is_some();
        let may_be_old = decide::may_be_old(protected, starttls::is_demanded(wanted));
        if !self.hello(t, name, may_be_old).await? {
            return Ok(());
        }
        match starttls::start(wanted, protected, self.memory.extensions.starttls) {
            Start::Skip => {}
            Start::Ask => {
                if self.start_tls(t, plan).await? && !self.hello(t, name, true).await? {
                    return Ok(());
                }
            }
            Start::Fail => return Err(Error::new(Code::UseSslFailed, "STARTTLS not supported.")),
        }
        self.authenticate(t).await
    }

    /// Sends EHLO. Returns false for a server that supports only HELO: it has no extensions, neither TLS nor
    /// logins.
    async fn hello(&mut self, t: &mut Transfer, name: &[u8], may_be_old: bool) -> Result<bool> {
        let denied = |code| Error::new(Code::RemoteAccessDenied, format!("Remote access denied: {code}"));
        self.dialogue.send(t, &[b"EHLO ", name].concat()).await?;
        let mut extensions = Extensions::default();
        let take = |line: &[u8]| {
            wire::smtp::line(line).into_iter().for_each(|line| extensions.take(line.text));
        };
        let code = read(t, &mut self.dialogue, take).await?;
        self.memory.extensions = Extensions::default();
        match decide::after_ehlo(code, may_be_old) {
            Hello::Extended => {
                self.memory.extensions = extensions;
                return Ok(true);
            }
            Hello::Denied => return Err(denied(code)),
            Hello::Plain => {}
        }
        let code = self.command(t, &[b"HELO ", name].concat()).await?;
        if succeeded(code) { Ok(false) } else { Err(denied(code)) }
    }

    /// Whether TLS has begun.
    async fn start_tls(&mut self, t: &mut Transfer, plan: &Plan) -> Result<bool> {
        let code = self.command(t, b"STARTTLS").await?;
        self.dialogue.before_upgrade()?;
        let text = || format!("STARTTLS denied, code {code}");
        let follows = starttls::follows(t.long(O::UseSsl), code == 220, text)?;
        if follows {
            self.dialogue.upgrade(t, plan).await?;
        }
        Ok(follows)
    }

    /// Sends AUTH, if the server offers it and there is a user.
    async fn authenticate(&mut self, t: &mut Transfer) -> Result<()> {
        let wanted = sasl::preference(t, None)?.mechanisms;
        let Extensions { auth, mechanisms, .. } = self.memory.extensions;
        if !auth || !sasl::can_log_in(t, mechanisms, wanted)? {
            return Ok(());
        }
        match sasl::log_in(t, &mut SaslChannel(&mut self.dialogue), mechanisms, wanted).await? {
            Outcome::Done => self.memory.authenticated = true,
            none => return Err(sasl::no_way(t, none)),
        }
        Ok(())
    }
}

/// Reads a reply to its last line, each of which is shown; its code.
pub async fn read(t: &mut Transfer, dialogue: &mut Dialogue, mut show: impl FnMut(&[u8])) -> Result<u16> {
    let deadline = dialogue.deadline(t);
    for _ in 0..LINES_LIMIT {
        let received = dialogue.line(t, deadline).await?;
        let Some(line) = wire::smtp::line(&received) else { continue };
        show(&received);
        if line.code == SERVICE_ENDS {
            dialogue.last_words += 1;
        }
        if line.is_last {
            dialogue.answered();
            t.easy.info.borrow_mut().response_code = i64::from(line.code);
            if line.code == SERVICE_ENDS
                && dialogue.whole.is_reused()
                && dialogue.lines == dialogue.last_words
            {
                return Err(dialogue
                    .stale_or(Error::new(Code::WeirdServerReply, "the server has ended the connection")));
            }
            return Ok(line.code);
        }
    }
    dialogue.outstanding = usize::MAX;
    Err(Error::new(Code::WeirdServerReply, "too long a reply"))
}

/// SASL in SMTP (RFC 4954).
struct SaslChannel<'a>(&'a mut Dialogue);

impl Speaker for SaslChannel<'_> {
    const SERVICE: &'static str = "smtp";
    /// A command has 512 octets at most, AUTH and blanks among them.
    const LIMIT: usize = 512 - 8;

    fn dialogue(&mut self) -> &mut Dialogue {
        self.0
    }

    fn command(&mut self) -> Vec<u8> {
        b"AUTH ".to_vec()
    }

    async fn reply(&mut self, t: &mut Transfer) -> Result<SaslReply> {
        let mut challenge = Vec::new();
        let last = |line: &[u8]| {
            wire::smtp::line(line).into_iter().for_each(|line| challenge = line.text.trim_ascii().to_vec());
        };
        let code = read(t, self.0, last).await?;
        Ok(decide::sasl_reply(code, challenge))
    }
}
