//! The way to the authenticated state of RFC 9051 section 3: greeting, CAPABILITY, STARTTLS, and AUTHENTICATE
//! or LOGIN; and how a reply is read.

use std::time::Instant;

use net::handover::DecodeError;
use net::handover::codec::{Reader, Writer};
use net::{Memory, Whole};
use tables::{Code, EasyOption as O};
use wire::auth::sasl::Preference;
use wire::imap::{Line, Status, Untagged, argument, classify, literal_at_end, tag};
use zeroize::Zeroizing;

use super::decide::{self, Capabilities, Literals, PlainLogin};
use crate::error::{Error, Result};
use crate::transfer::Transfer;
use crate::transfer::credentials;
use crate::transfer::dialogue::Dialogue;
use crate::transfer::route::plan::Plan;
use crate::transfer::sasl::{self, Outcome, SaslReply, Speaker};
use crate::transfer::starttls::{self, Start};

/// IMAP's own command to log in, as login options call it.
pub const OWN_LOGIN: &str = "LOGIN";

/// A connection that is logged in, or on its way there.
pub struct Session {
    /// Its lines.
    pub dialogue: Dialogue,
    /// The connection's memory.
    pub memory: Box<KeptSession>,
    /// The tag of the command whose reply is read.
    tag: Vec<u8>,
    /// When that is late.
    deadline: Instant,
    /// Inside an untagged response that continues after a literal: remaining octets of the literal.
    within: Option<u64>,
    /// That response is wanted.
    wanted: bool,
}

/// The state of a kept connection.
#[derive(Default)]
pub struct KeptSession {
    /// Number of commands sent; the tags contain it, in an octet as in curl.
    pub commands: u8,
    /// The mailbox that is selected.
    pub mailbox: Option<Vec<u8>>,
    /// Its UIDVALIDITY, or that of the previous mailbox if it reported none.
    pub uid_validity: Option<u32>,
    /// Literals that the server takes unasked.
    pub literals: Literals,
    /// Whether the server has announced IDLE on this connection, to this process.
    pub announces_idle: bool,
}

impl net::Memory for KeptSession {
    fn encode(&self) -> Option<Zeroizing<Vec<u8>>> {
        let KeptSession { commands, mailbox, uid_validity, literals, announces_idle: _ } = self;
        let mut out = Writer::with_capacity(64);
        out.u8(*commands);
        out.option(mailbox.as_ref(), |out, mailbox| out.bytes(mailbox));
        out.option(*uid_validity, Writer::u32);
        out.u8(*literals as u8);
        Some(out.into_bytes())
    }
}

/// Reads the state of a connection from another process.
pub fn decode_memory(bytes: &[u8]) -> Option<Box<dyn Memory>> {
    KeptSession::decode(bytes).ok().map(|session| Box::new(session) as Box<dyn Memory>)
}

impl KeptSession {
    fn decode(bytes: &[u8]) -> std::result::Result<KeptSession, DecodeError> {
        let mut input = Reader::new(bytes);
        let session = KeptSession {
            commands: input.u8()?,
            mailbox: input.option("mailbox", |input| Ok(input.bytes()?.to_vec()))?,
            uid_validity: input.option("UIDVALIDITY", Reader::u32)?,
            literals: match input.u8()? {
                0 => Literals::Asked,
                1 => Literals::Short,
                2 => Literals::Any,
                _ => return Err(DecodeError::Value("literals")),
            },
            announces_idle: false,
        };
        input.end()?;
        Ok(session)
    }
}

/// A line of a reply.
#[derive(Debug)]
pub enum Event {
    /// Untagged, and wanted: all of it.
    Data(Vec<u8>),
    /// The rest of a wanted response, after a literal.
    Rest(Vec<u8>),
    /// The server waits for more; with its text.
    Continue(Vec<u8>),
    /// The reply has ended.
    End(Status),
}

/// A continuation request without a command that needs it.
pub fn unexpected() -> Error {
    Error::new(Code::WeirdServerReply, "Unexpected continuation response")
}

impl Session {
    /// Opens a session: a kept connection, or a new one that logs in.
    pub async fn open(t: &mut Transfer, fresh: bool) -> Result<Session> {
        let link = t.connect(fresh).await?;
        let plan = link.plan.clone();
        let mut whole = link.into_whole()?;
        let known = whole.connection().state.take().and_then(|state| state.take::<KeptSession>());
        let dialogue = Dialogue::new(whole, "imap");
        let deadline = dialogue.deadline(t);
        let log_in = known.is_none();
        let memory = known.unwrap_or_default();
        let mut session =
            Session { dialogue, memory, tag: b"*".to_vec(), deadline, within: None, wanted: false };
        if log_in {
            session.log_in(t, &plan).await?;
        }
        Ok(session)
    }

    /// Back to the pool after a success, closed with a LOGOUT otherwise.
    pub fn end(mut self, t: &Transfer, success: bool) {
        self.prepare_farewell();
        self.dialogue.end(t, success.then_some(self.memory as Box<dyn Memory>));
    }

    /// Returns the connection for the next user.
    pub fn into_whole(mut self) -> Whole {
        self.prepare_farewell();
        self.dialogue.whole.connection().state = Some(self.memory);
        self.dialogue.whole
    }

    fn prepare_farewell(&mut self) {
        let tag = tag(self.dialogue.about().id, self.memory.commands.wrapping_add(1));
        self.dialogue.whole.connection().farewell = [&tag[..], b" LOGOUT\r\n"].concat();
    }

    /// Whether this mailbox is selected, with that UIDVALIDITY as far as both are known.
    pub fn has_selected(&self, mailbox: &[u8], uid_validity: Option<u32>) -> bool {
        let KeptSession { mailbox: selected, uid_validity: known, .. } = &*self.memory;
        decide::is_selected(selected.as_deref(), *known, mailbox, uid_validity)
    }

    /// Returns whether the server accepts a literal of this length without a continuation request.
    pub fn takes_unasked(&self, size: u64) -> bool {
        decide::takes_unasked(self.memory.literals, size)
    }

    /// Sends a command with the next tag.
    pub async fn command(&mut self, t: &mut Transfer, command: &[u8]) -> Result<()> {
        let line = [&self.next_tag()[..], command].concat();
        self.dialogue.send(t, &line).await?;
        self.deadline = self.dialogue.deadline(t);
        Ok(())
    }

    /// Sets the deadline of the next line.
    pub fn wait_until(&mut self, deadline: Instant) {
        self.deadline = deadline;
    }

    /// Ends a command that ended in a literal.
    pub async fn end_command(&mut self, t: &mut Transfer) -> Result<()> {
        self.dialogue.send(t, b"").await?;
        self.deadline = self.dialogue.deadline(t);
        Ok(())
    }

    /// The next tag and a blank.
    fn next_tag(&mut self) -> Vec<u8> {
        self.memory.commands = self.memory.commands.wrapping_add(1);
        self.tag = tag(self.dialogue.about().id, self.memory.commands);
        [&self.tag[..], b" "].concat()
    }

    /// Returns the next wanted line of the reply, and any that is not untagged. Other tags, and unsolicited
    /// untagged lines, are skipped; the contents of a literal are never parsed as lines.
    pub async fn next(&mut self, t: &mut Transfer, wanted: impl Fn(Untagged<'_>) -> bool) -> Result<Event> {
        loop {
            let line = self.dialogue.line(t, self.deadline).await?;
            if let Some(left) = self.within {
                self.within = decide::literal_left(&line, left);
                match self.wanted {
                    true => return Ok(Event::Rest(line)),
                    false => continue,
                }
            }
            if line.contains(&0) {
                self.dialogue.outstanding = usize::MAX;
                return Err(Error::new(Code::WeirdServerReply, "Nul byte in server response line"));
            }
            match classify(&line, &self.tag) {
                Line::Tagged(status) => {
                    self.dialogue.answered();
                    return Ok(Event::End(status));
                }
                Line::Untagged(untagged) => {
                    self.dialogue.last_words += usize::from(untagged.is(b"BYE"));
                    self.within = literal_at_end(&line);
                    self.wanted = wanted(untagged);
                    if self.wanted {
                        return Ok(Event::Data(line));
                    }
                }
                Line::Continue(text) => {
                    self.dialogue.answered();
                    return Ok(Event::Continue(text.to_vec()));
                }
                Line::Other => {}
            }
        }
    }

    /// Records that the literal after the last line was read elsewhere: its response continues after it.
    pub fn literal_taken(&mut self, t: &Transfer) {
        self.within = Some(0);
        self.deadline = self.dialogue.deadline(t);
    }

    /// Reads a reply to its end and ignores its contents; `refused` is the error if the server says no.
    pub async fn finish(&mut self, t: &mut Transfer, refused: Code) -> Result<()> {
        loop {
            match self.next(t, |_| false).await? {
                Event::End(Status::Ok) => return Ok(()),
                Event::End(_) => return Err(Error::from(refused)),
                Event::Continue(_) => return Err(unexpected()),
                Event::Data(_) | Event::Rest(_) => {}
            }
        }
    }

    async fn log_in(&mut self, t: &mut Transfer, plan: &Plan) -> Result<()> {
        let recognised = self.greeting(t).await?;
        let (understood, mut known) = self.capabilities(t).await?;
        let wanted = t.long(O::UseSsl);
        let offered = decide::offers_starttls(understood, &known, recognised);
        match starttls::start(wanted, plan.tls.is_some(), offered) {
            Start::Skip => {}
            Start::Ask => {
                if self.start_tls(t, plan, wanted).await? {
                    known = self.capabilities(t).await?.1;
                }
            }
            Start::Fail => return Err(Error::new(Code::UseSslFailed, "STARTTLS not available.")),
        }
        if recognised { Ok(()) } else { self.authenticate(t, &known).await }
    }

    /// Whether the server knows already who we are (PREAUTH).
    async fn greeting(&mut self, t: &mut Transfer) -> Result<bool> {
        self.dialogue.outstanding = 1;
        let recognised = match self.next(t, |_| false).await? {
            Event::Continue(_) => return Err(unexpected()),
            Event::End(status) => decide::is_recognised(status),
            Event::Data(_) | Event::Rest(_) => None,
        };
        let weird = || Error::new(Code::WeirdServerReply, "Got unexpected imap-server response");
        let recognised = recognised.ok_or_else(weird)?;
        if recognised {
            t.easy.note(|| "PREAUTH connection, already authenticated".to_owned());
        }
        Ok(recognised)
    }

    /// CAPABILITY (RFC 9051 section 6.1.1), and whether it was understood.
    pub async fn capabilities(&mut self, t: &mut Transfer) -> Result<(bool, Capabilities)> {
        let mut known = Capabilities::default();
        self.command(t, b"CAPABILITY").await?;
        loop {
            match self.next(t, |line| line.is(b"CAPABILITY")).await? {
                Event::Data(line) => Untagged(&line[2..]).words().for_each(|word| known.take(word)),
                Event::Rest(_) => {}
                Event::Continue(_) => return Err(unexpected()),
                Event::End(status) => {
                    self.memory.literals = known.literals;
                    self.memory.announces_idle |= known.idle;
                    return Ok((status == Status::Ok, known));
                }
            }
        }
    }

    /// Sends STARTTLS (RFC 9051 section 6.2.1). The capabilities are requested again under TLS.
    async fn start_tls(&mut self, t: &mut Transfer, plan: &Plan, wanted: i64) -> Result<bool> {
        self.command(t, b"STARTTLS").await?;
        let Event::End(status) = self.next(t, |_| false).await? else { return Err(unexpected()) };
        self.dialogue.before_upgrade()?;
        let denied = || "STARTTLS denied".to_owned();
        let follows = starttls::follows(wanted, status == Status::Ok, denied)?;
        if follows {
            self.dialogue.upgrade(t, plan).await?;
        }
        Ok(follows)
    }

    /// Logs in with the best method that both sides support; without a user there is no login.
    async fn authenticate(&mut self, t: &mut Transfer, known: &Capabilities) -> Result<()> {
        let Preference { kind, mechanisms } = sasl::preference(t, Some(OWN_LOGIN))?;
        let offered = known.mechanisms;
        if !sasl::can_log_in(t, offered, mechanisms)? {
            return Ok(());
        }
        let mut outcome = Outcome::Exhausted;
        if known.tries_sasl(kind, mechanisms) {
            let mut talk = SaslChannel { session: self, sends_first: known.initial_response };
            outcome = sasl::log_in(t, &mut talk, offered, mechanisms).await?;
        }
        if outcome == Outcome::Done {
            return Ok(());
        }
        let login = decide::Login {
            disabled: known.login_disabled,
            kind,
            has_user: credentials::credentials(t)?.is_some(),
            has_token: sasl::has_token(t),
        };
        match decide::without_sasl(&login) {
            PlainLogin::Login => self.in_clear(t).await,
            PlainLogin::Nobody => Ok(()),
            PlainLogin::None => Err(sasl::no_way(t, outcome)),
        }
    }

    /// LOGIN (RFC 9051 section 6.2.3).
    async fn in_clear(&mut self, t: &mut Transfer) -> Result<()> {
        let (user, password) = credentials::own(t)?;
        let command = [b"LOGIN ", &argument(&user)[..], b" ", &argument(&password)].concat();
        self.command(t, &command).await?;
        loop {
            match self.next(t, |_| false).await? {
                Event::End(Status::Ok) => return Ok(()),
                Event::End(_) => return Err(Error::new(Code::LoginDenied, "Access denied.")),
                Event::Continue(_) => return Err(unexpected()),
                Event::Data(_) | Event::Rest(_) => {}
            }
        }
    }
}

/// SASL in IMAP (RFC 9051 section 6.2.2).
struct SaslChannel<'a> {
    session: &'a mut Session,
    sends_first: bool,
}

impl Speaker for SaslChannel<'_> {
    const SERVICE: &'static str = "imap";
    const LIMIT: usize = 0;

    fn dialogue(&mut self) -> &mut Dialogue {
        &mut self.session.dialogue
    }

    /// Returns whether the initial response is sent with the command (SASL-IR, RFC 4959).
    fn sends_first(&self) -> bool {
        self.sends_first
    }

    fn command(&mut self) -> Vec<u8> {
        [&self.session.next_tag()[..], b"AUTHENTICATE "].concat()
    }

    async fn reply(&mut self, t: &mut Transfer) -> Result<SaslReply> {
        self.session.deadline = self.session.dialogue.deadline(t);
        loop {
            match self.session.next(t, |_| false).await? {
                Event::Continue(challenge) => return Ok(SaslReply::Continue(challenge)),
                Event::End(Status::Ok) => return Ok(SaslReply::Success),
                Event::End(_) => return Ok(SaslReply::Failure),
                Event::Data(_) | Event::Rest(_) => {}
            }
        }
    }
}
