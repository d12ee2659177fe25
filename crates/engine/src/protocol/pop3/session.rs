//! The way to the transaction state of RFC 1939: greeting, CAPA, STLS, and a login by SASL, APOP, or USER and
//! PASS.

use net::{Memory, Whole};
use tables::{Code, EasyOption as O};
use wire::auth::sasl::{Mechanisms, Preference};
use wire::pop3::{Capabilities, Status, apop, status};
use zeroize::Zeroizing;

use super::decide::{self, CapaLine, PlainLogin};
use crate::error::{Error, Result};
use crate::transfer::Transfer;
use crate::transfer::credentials;
use crate::transfer::dialogue::Dialogue;
use crate::transfer::route::plan::Plan;
use crate::transfer::sasl::{self, Outcome, SaslReply, Speaker};
use crate::transfer::starttls::{self, Start};

/// POP3's own way to log in, as login options call it.
pub const OWN_LOGIN: &str = "APOP";

/// A connection that is logged in.
pub struct Session {
    /// Its lines.
    pub dialogue: Dialogue,
}

/// The memory of a kept connection: it is logged in.
struct LoggedIn;

impl Memory for LoggedIn {
    fn encode(&self) -> Option<Zeroizing<Vec<u8>>> {
        Some(Zeroizing::default())
    }
}

/// Reads the state of a connection from another process.
pub fn decode_memory(bytes: &[u8]) -> Option<Box<dyn Memory>> {
    bytes.is_empty().then(|| Box::new(LoggedIn) as Box<dyn Memory>)
}

/// The server's properties that matter for the login.
struct Login<'a> {
    dialogue: &'a mut Dialogue,
    plan: &'a Plan,
    timestamp: Option<Vec<u8>>,
    known: Capabilities,
    protected: bool,
}

impl Session {
    /// Opens a session: a kept connection, or a new one that logs in.
    pub async fn open(t: &mut Transfer, fresh: bool) -> Result<Session> {
        let link = t.connect(fresh).await?;
        let plan = link.plan.clone();
        let mut whole = link.into_whole()?;
        let known = whole.connection().state.take().is_some_and(|state| state.take::<LoggedIn>().is_some());
        let mut dialogue = Dialogue::new(whole, "pop3");
        if !known {
            let protected = plan.tls.is_some();
            let known = Capabilities::default();
            let mut login = Login { dialogue: &mut dialogue, plan: &plan, timestamp: None, known, protected };
            login.run(t).await?;
        }
        dialogue.whole.connection().farewell = b"QUIT\r\n".to_vec();
        Ok(Session { dialogue })
    }

    /// Back to the pool after a success, closed with a QUIT otherwise.
    pub fn end(self, t: &Transfer, success: bool) {
        self.dialogue.end(t, success.then(|| Box::new(LoggedIn) as Box<dyn Memory>));
    }

    /// Returns the connection for the next user.
    pub fn into_whole(mut self) -> Whole {
        self.dialogue.whole.connection().state = Some(Box::new(LoggedIn));
        self.dialogue.whole
    }
}

/// Reads one reply; whether it is `+OK`. Lines that are no reply are passed over.
pub async fn reply(t: &mut Transfer, dialogue: &mut Dialogue) -> Result<bool> {
    let deadline = dialogue.deadline(t);
    loop {
        let line = dialogue.line(t, deadline).await?;
        match status(&line) {
            Some(Status::Ok(_)) => {
                dialogue.answered();
                return Ok(true);
            }
            Some(Status::Err(_) | Status::Continue(_)) => {
                dialogue.answered();
                return Ok(false);
            }
            None => {}
        }
    }
}

impl Login<'_> {
    async fn run(&mut self, t: &mut Transfer) -> Result<()> {
        self.greeting(t).await?;
        let understood = self.capabilities(t).await?;
        let wanted = t.long(O::UseSsl);
        match starttls::start(wanted, self.protected, understood && self.known.stls) {
            Start::Skip => {}
            Start::Ask => self.start_tls(t, wanted).await?,
            Start::Fail => return Err(Error::new(Code::UseSslFailed, "STLS not supported.")),
        }
        self.authenticate(t).await
    }

    async fn greeting(&mut self, t: &mut Transfer) -> Result<()> {
        self.dialogue.outstanding = 1;
        let deadline = self.dialogue.deadline(t);
        loop {
            let line = self.dialogue.line(t, deadline).await?;
            if let Some(timestamp) = decide::greeting(&line)? {
                self.timestamp = timestamp;
                self.dialogue.answered();
                return Ok(());
            }
        }
    }

    /// CAPA, which a server need not understand: then it speaks USER and PASS.
    async fn capabilities(&mut self, t: &mut Transfer) -> Result<bool> {
        self.known = Capabilities::default();
        self.dialogue.send(t, b"CAPA").await?;
        let deadline = self.dialogue.deadline(t);
        loop {
            let line = self.dialogue.line(t, deadline).await?;
            let refused = match decide::capa_line(&line) {
                CapaLine::Capability => {
                    self.known.take(&line);
                    continue;
                }
                CapaLine::End => false,
                CapaLine::Refused => true,
            };
            self.dialogue.answered();
            self.known.user |= refused;
            return Ok(!refused);
        }
    }

    /// Sends STLS (RFC 2595 section 4). The capabilities are requested again under TLS.
    async fn start_tls(&mut self, t: &mut Transfer, wanted: i64) -> Result<()> {
        self.dialogue.send(t, b"STLS").await?;
        let agreed = reply(t, self.dialogue).await?;
        self.dialogue.before_upgrade()?;
        if starttls::follows(wanted, agreed, || "STARTTLS denied".to_owned())? {
            self.dialogue.upgrade(t, self.plan).await?;
            self.protected = true;
            self.capabilities(t).await?;
        }
        Ok(())
    }

    /// Logs in with the best method that both sides support; without a user there is no login.
    async fn authenticate(&mut self, t: &mut Transfer) -> Result<()> {
        let Preference { kind, mechanisms } = sasl::preference(t, Some(OWN_LOGIN))?;
        let offered = self.known.sasl;
        if !sasl::can_log_in(t, offered, mechanisms)? {
            return Ok(());
        }
        let outcome = match decide::tries_sasl(kind, offered) {
            true => self.by_sasl(t, mechanisms).await?,
            false => Outcome::Exhausted,
        };
        if outcome == Outcome::Done {
            return Ok(());
        }
        let timestamp = self.timestamp.take();
        let way = decide::without_sasl(&decide::Login {
            has_user: credentials::given(t)?.is_some(),
            has_timestamp: timestamp.is_some(),
            knows_user: self.known.user,
            kind,
        });
        match way {
            PlainLogin::Apop => self.by_timestamp(t, &timestamp.unwrap_or_default()).await,
            PlainLogin::Clear => self.in_clear(t).await,
            PlainLogin::None => Err(sasl::no_way(t, outcome)),
        }
    }

    async fn by_sasl(&mut self, t: &mut Transfer, wanted: Mechanisms) -> Result<Outcome> {
        let offered = self.known.sasl;
        sasl::log_in(t, &mut SaslChannel(self.dialogue), offered, wanted).await
    }

    async fn by_timestamp(&mut self, t: &mut Transfer, timestamp: &[u8]) -> Result<()> {
        let (user, password) = credentials::own(t)?;
        self.dialogue.send(t, &apop(&user, &password, timestamp)).await?;
        match reply(t, self.dialogue).await? {
            true => Ok(()),
            false => Err(Error::new(Code::LoginDenied, "Authentication failed")),
        }
    }

    async fn in_clear(&mut self, t: &mut Transfer) -> Result<()> {
        let (user, password) = credentials::own(t)?;
        for command in [[b"USER ", &user[..]].concat(), [b"PASS ", &password[..]].concat()] {
            self.dialogue.send(t, &command).await?;
            if !reply(t, self.dialogue).await? {
                return Err(Error::new(Code::LoginDenied, "Access denied. -"));
            }
        }
        Ok(())
    }
}

/// SASL in POP3 (RFC 5034).
struct SaslChannel<'a>(&'a mut Dialogue);

impl Speaker for SaslChannel<'_> {
    const SERVICE: &'static str = "pop";
    /// A command has 255 octets at most, AUTH and blanks among them.
    const LIMIT: usize = 255 - 8;

    fn dialogue(&mut self) -> &mut Dialogue {
        self.0
    }

    fn command(&mut self) -> Vec<u8> {
        b"AUTH ".to_vec()
    }

    async fn reply(&mut self, t: &mut Transfer) -> Result<SaslReply> {
        let deadline = self.0.deadline(t);
        loop {
            let line = self.0.line(t, deadline).await?;
            let answer = match status(&line) {
                Some(Status::Ok(_)) => SaslReply::Success,
                Some(Status::Err(_)) => SaslReply::Failure,
                Some(Status::Continue(challenge)) => SaslReply::Continue(challenge.to_vec()),
                None => continue,
            };
            self.0.answered();
            return Ok(answer);
        }
    }
}
