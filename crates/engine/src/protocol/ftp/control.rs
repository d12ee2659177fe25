//! The control connection: greeting, TLS, login, working directory, and the commands that an application
//! adds. The state of a kept connection spares the next transfer those commands.

use std::sync::Arc;
use std::time::{Duration, Instant};

use runtime::boxed;
use tables::constant::{CURLFTPSSL_CCC_ACTIVE, CURLFTPSSL_CCC_NONE};
use tables::{Code, EasyOption as O};
use wire::ftp::reply::{REPLY_LIMIT, Reply, ReplyReader};

use super::decide::flight::Flight;
use super::decide::login::{self, Greeting, LoginStep, check_one_line};
use super::decide::{self, directory, servers};
use super::ftp_target::FtpTarget;
use super::idle::one_more;
use super::recorded::{self, Notes, Server};
use super::servers::{Servers, Stream};
use super::session::Session;
use super::timed::before;
use crate::error::{Error, Result};
use crate::settings::Text;
use crate::transfer::Transfer;
use crate::transfer::dialogue::{Dialogue, reply_limit, succeeded};
use crate::transfer::login::ANONYMOUS;
use crate::transfer::route::plan::Plan;
use crate::transfer::starttls;
use crate::why::event::CloseReason;

/// Default time limit for the reply after a file, in milliseconds.
const LAST_REPLY_TIMEOUT_MS: i64 = 60_000;

/// Time limit for the end of TLS.
const CCC_PATIENCE: Duration = Duration::from_secs(10);

/// Time limit for the login on one more connection if another one could be used.
const ONE_MORE_PATIENCE: Duration = Duration::from_millis(500);

/// The control connection of one transfer.
pub struct Control {
    /// The dialogue on it.
    pub dialogue: Dialogue,
    /// Its state for the next transfer.
    pub session: Session,
    /// The plan, for data connections to the server. It becomes the connection's own when TLS is added.
    pub plan: Arc<Plan>,
    /// A reply that arrived while the server was to connect.
    pub early: Option<Reply>,
    /// Commands that have left before their turn.
    pub flight: Flight,
    /// Notes about the transfer, if it is recorded.
    pub notes: Option<Notes>,
    /// The lines of the current reply, if they are wanted.
    pub heard: Option<Vec<Vec<u8>>>,
    /// The first line of the greeting.
    first_line: Vec<u8>,
    /// Whether the file before this one was fetched over the connection a moment ago.
    pub follows: bool,
    /// Whether commands would not be understood any more: not even QUIT is sent.
    pub lost: bool,
    /// Whether the data is complete, and the server has had time for its reply.
    ended: bool,
}

impl Control {
    /// Returns a logged-in control connection: a kept one, or a new one.
    ///
    /// With `together`, the transfer's commands may leave at the end of a login.
    pub async fn open(t: &mut Transfer, fresh: bool, together: bool) -> Result<Box<Control>> {
        check_login(t)?;
        let plan = t.plan()?;
        let crowded = || t.multi.memories.of::<Servers>().borrow().is_crowded(&plan.key.origin);
        if !fresh && one_more(t, &plan.key) && !crowded() {
            t.easy.why.set_in_turns();
            let timer = t.multi.runtime.reactor().sleep(ONE_MORE_PATIENCE);
            let late = || Err(Error::from(Code::OperationTimedout));
            match before(timer, late, boxed(|| Control::on_connection(t, true, together))).await {
                Err(e) if e.code() != Code::AbortedByCallback => {
                    t.multi.memories.of::<Servers>().borrow_mut().note_crowded(&plan.key.origin);
                }
                opened => return opened,
            }
        }
        match boxed(|| Control::on_connection(t, fresh, together)).await {
            // It was closed after the pair of commands that tests pipelining.
            Err(e) if e.retry().is_allowed() => boxed(|| Control::on_connection(t, true, false)).await,
            opened => opened,
        }
    }

    /// Allocates it on the heap, outside the frames of the futures that hold it.
    #[inline(never)]
    fn new(dialogue: Dialogue, session: Session, plan: Arc<Plan>) -> Box<Control> {
        let flight = Flight::default();
        let (early, notes, heard) = (None, None, None);
        let (follows, lost, ended) = (false, false, false);
        let first_line = Vec::new();
        Box::new(Control {
            dialogue,
            session,
            plan,
            early,
            flight,
            notes,
            heard,
            first_line,
            follows,
            lost,
            ended,
        })
    }

    async fn on_connection(t: &mut Transfer, fresh: bool, together: bool) -> Result<Box<Control>> {
        let server = match t.multi.recording.get() {
            Some(_) => Server::choose(t)?,
            None => None,
        };
        let link = t.connect(fresh).await?;
        let mut plan = link.plan.clone();
        let mut whole = link.into_whole()?;
        whole.connection().farewell = b"QUIT\r\n".to_vec();
        let known = whole.connection().state.take().and_then(|s| s.take::<Session>());
        let dialogue = Dialogue::new(whole, "ftp");
        if let Some(session) = known {
            if session.tls.is_some() && plan.tls.is_none() {
                Arc::make_mut(&mut plan).tls.clone_from(&session.tls);
            }
            let mut control = Control::new(dialogue, *session, plan);
            control.record(t, server);
            control.resume(t);
            control.tell_entry_path(t);
            return Ok(control);
        }
        let mut control = Control::new(dialogue, Session::default(), plan);
        control.record(t, server);
        boxed(|| control.log_in(t, together)).await?;
        Ok(control)
    }

    /// Begins to record or replay, if that was asked for.
    #[inline]
    fn record(&mut self, t: &Transfer, server: Option<Server>) {
        if t.multi.recording.get().is_some() {
            self.notes = recorded::attach(t, &mut self.dialogue, &mut self.session.server, server);
        }
    }

    /// Returns the connection to the pool if it is in step, and closes it otherwise.
    pub fn end(mut self, t: &Transfer, failure: Option<&Error>) {
        if let Some(notes) = &self.notes {
            notes.end(failure);
        }
        let failure = failure.map(Error::code);
        let harmless = !self.lost && (self.ended || failure.is_none_or(decide::body::is_harmless));
        let keep = harmless && self.can_be_kept() && !self.has_used_its_tickets() && !t.on(O::ForbidReuse);
        if !harmless {
            self.dialogue.whole.connection().farewell.clear();
        }
        if keep {
            self.suspend(t.now());
            self.dialogue.whole.connection().state = Some(Box::new(self.session));
            t.release(self.dialogue.whole);
        } else {
            t.explain_closing(self.dialogue.about(), || {
                if !harmless {
                    CloseReason::Failed
                } else if !self.can_be_kept() {
                    CloseReason::OutOfStep
                } else if self.has_used_its_tickets() {
                    CloseReason::NoSessionLeft
                } else {
                    CloseReason::Forbidden
                }
            });
            t.retire(self.dialogue.whole);
        }
    }

    /// Returns the TLS sessions that data connections resume: some servers require a session of the control
    /// connection.
    pub fn sessions(&self) -> Option<net::SessionStore> {
        let of_filter = || self.dialogue.about().tls.as_ref().and_then(|info| info.sessions.clone());
        self.session.sessions.clone().or_else(of_filter)
    }

    /// Returns whether the next data connection could not be resumed; a server that requires it would refuse
    /// it. After an upload proftpd sends no new ticket: its TLS library delays it until the first write,
    /// which never happens. As everywhere, a ticket is used once.
    fn has_used_its_tickets(&self) -> bool {
        self.session.private_data && self.sessions().is_some_and(|sessions| sessions.is_used_up())
    }

    /// Reads the reply to the first command without one, after the replies to commands sent ahead.
    pub async fn reply(&mut self, t: &mut Transfer) -> Result<Reply> {
        if let Some(early) = self.early.take() {
            return Ok(early);
        }
        self.settle(t).await?;
        self.next_reply(t).await
    }

    /// Reads the reply after a file or listing; its time limit has already begun.
    pub async fn last_reply(&mut self, t: &mut Transfer) -> Result<Reply> {
        if let Some(early) = self.early.take() {
            return Ok(early);
        }
        self.settle(t).await?;
        let deadline = last_deadline(t);
        t.easy.info.borrow_mut().last_reply_owed = true;
        let reply = self.reply_by(t, deadline).await;
        t.easy.info.borrow_mut().last_reply_owed = false;
        self.ended = !reply.as_ref().is_err_and(|e| e.code() == Code::OperationTimedout);
        reply
    }

    /// Reads one reply to its last line.
    pub async fn next_reply(&mut self, t: &mut Transfer) -> Result<Reply> {
        let deadline = self.dialogue.deadline(t);
        self.reply_by(t, deadline).await
    }

    async fn reply_by(&mut self, t: &mut Transfer, deadline: Instant) -> Result<Reply> {
        let mut reader = ReplyReader::new(REPLY_LIMIT);
        loop {
            let line = self.dialogue.line(t, deadline).await?;
            if line.contains(&0) {
                self.dialogue.outstanding = usize::MAX;
                return Err(Error::new(Code::WeirdServerReply, "Nul byte in server response line"));
            }
            if self.dialogue.lines == 1 && !self.dialogue.whole.is_reused() {
                self.first_line.clone_from(&line);
            }
            if let Some(heard) = &mut self.heard {
                heard.push(line.clone());
            }
            let taken = reader.take_line(&line);
            let Some(reply) = taken.map_err(|_| Error::new(Code::WeirdServerReply, "too long a reply"))?
            else {
                continue;
            };
            self.dialogue.answered();
            t.easy.info.borrow_mut().response_code = i64::from(reply.code);
            if reply.code == 421 {
                self.dialogue.outstanding = usize::MAX;
                t.easy.note(|| "We got a 421 - timeout".to_owned());
                return Err(Error::from(Code::OperationTimedout));
            }
            return Ok(reply);
        }
    }

    /// Greeting, TLS, user and password, first directory.
    async fn log_in(&mut self, t: &mut Transfer, together: bool) -> Result<()> {
        self.dialogue.outstanding = 1;
        let greeting = self.reply(t).await?;
        if let Some(program) = servers::program(&self.first_line) {
            self.session.stream = Stream::Believed;
            self.session.confirms_late = program.confirms_late;
        }
        let protected = self.plan.tls.is_some();
        match login::after_greeting(greeting.code, protected, starttls::is_demanded(t.long(O::UseSsl))) {
            Greeting::LogIn => {
                self.start_tls(t).await?;
                self.authenticate(t).await?;
            }
            Greeting::LoggedIn => {}
            Greeting::Fail => {
                let code = greeting.code;
                let text = format!("Got a {code:03} ftp-server response when 220 was expected");
                return Err(Error::new(Code::WeirdServerReply, text));
            }
        }
        self.protect_data(t).await?;
        if together && let Ok(target) = FtpTarget::of(t) {
            self.send_flight(t, &target, true).await?;
        }
        self.read_entry_path(t).await
    }

    /// AUTH TLS (RFC 4217 §4), before anything confidential.
    async fn start_tls(&mut self, t: &mut Transfer) -> Result<()> {
        let wanted = t.long(O::UseSsl);
        if wanted == 0 || self.plan.tls.is_some() {
            return Ok(());
        }
        for mechanism in login::tls_mechanisms(t.long(O::FtpSslAuth)) {
            let reply = self.command(t, &[b"AUTH ", mechanism].concat()).await?;
            self.dialogue.before_upgrade()?;
            if login::starts_tls(reply.code) {
                let config = self.dialogue.upgrade(t, &self.plan).await?;
                self.session.tls = Some(config.clone());
                Arc::make_mut(&mut self.plan).tls = Some(config);
                return Ok(());
            }
        }
        if starttls::is_demanded(wanted) {
            return Err(Error::new(Code::UseSslFailed, ""));
        }
        Ok(())
    }

    /// USER, PASS, ACCT (RFC 959 §5.4). CURLOPT_FTP_ALTERNATIVE_TO_USER(3) is sent if either of the first two
    /// is refused.
    async fn authenticate(&mut self, t: &mut Transfer) -> Result<()> {
        let (user, password) = credentials(t)?;
        let mut other = t.text(O::FtpAlternativeToUser);
        let mut reply = self.command(t, &[b"USER ", &user[..]].concat()).await?;
        loop {
            if login::asks_for_password(reply.code) {
                reply = self.command(t, &[b"PASS ", &password[..]].concat()).await?;
            }
            match login::after_login(reply.code) {
                LoginStep::Done => return Ok(()),
                LoginStep::Account => return self.tell_account(t).await,
                LoginStep::Refused => {
                    let code = reply.code;
                    let denied = || Error::new(Code::LoginDenied, format!("Access denied: {code:03}"));
                    let other = other.take().ok_or_else(denied)?;
                    check_one_line(&other, "Control byte in FTP alternative-to-user command")?;
                    reply = self.command(t, &other).await?;
                }
            }
        }
    }

    async fn tell_account(&mut self, t: &mut Transfer) -> Result<()> {
        let Some(account) = t.text(O::FtpAccount) else {
            return Err(Error::new(Code::LoginDenied, "ACCT requested but none available"));
        };
        check_one_line(&account, "Control byte in FTP account")?;
        login::check_account(self.command(t, &[b"ACCT ", &account[..]].concat()).await?.code)
    }

    /// PBSZ and PROT (RFC 4217 §9), and back to plain text commands if wanted.
    async fn protect_data(&mut self, t: &mut Transfer) -> Result<()> {
        if self.plan.tls.is_none() {
            return Ok(());
        }
        self.session.tls = self.plan.tls.clone();
        self.command(t, b"PBSZ 0").await?;
        let wanted = t.long(O::UseSsl);
        let reply = self.command(t, login::prot_command(wanted)).await?;
        self.session.private_data = login::data_is_private(wanted, reply.code)?;
        self.clear_commands(t).await
    }

    /// CCC (RFC 2228): plain text commands again, so that a firewall can read them. The login was protected.
    async fn clear_commands(&mut self, t: &mut Transfer) -> Result<()> {
        let mode = t.long(O::FtpSslCcc);
        if mode == CURLFTPSSL_CCC_NONE || !login::clears_commands(self.command(t, b"CCC").await?.code) {
            return Ok(());
        }
        let failed = || Error::new(Code::WeirdServerReply, "Failed to clear the command channel (CCC)");
        let mut connection = self.dialogue.whole.take();
        if mode == CURLFTPSSL_CCC_ACTIVE {
            connection.filter().say_goodbye();
        }
        let deadline = t.now() + CCC_PATIENCE;
        let ended = async {
            let mut buf = vec![0; 32 * 1024];
            match connection.filter().read(&mut buf).await {
                Ok(0) => Ok(()),
                _ => Err(failed()),
            }
        };
        t.within(Some(deadline), failed, ended).await?;
        connection.filter().say_goodbye();
        self.session.sessions = connection.carrier.tls().and_then(|info| info.sessions.clone());
        connection.carrier = connection.carrier.uncover().ok_or_else(failed)?;
        connection.note_layers();
        self.dialogue.whole.restore(connection);
        Ok(())
    }

    /// PWD returns the directory that relative paths start from.
    async fn read_entry_path(&mut self, t: &mut Transfer) -> Result<()> {
        let asked = t.now();
        let reply = match self.proves_at_login(t) {
            true => self.prove_stream(t).await?,
            false => self.command(t, b"PWD").await?,
        };
        self.session.pace = t.now().saturating_duration_since(asked);
        self.take_entry_path(&reply)?;
        let relative = self.session.entry_path.as_ref().is_some_and(|d| !d.starts_with(b"/"));
        if relative {
            self.ask_system(t).await?;
        }
        self.tell_entry_path(t);
        Ok(())
    }

    fn take_entry_path(&mut self, reply: &Reply) -> Result<()> {
        if let Some(path) = login::entry_path(reply)? {
            self.session.entry_path = Some(path);
        }
        Ok(())
    }

    /// OS/400 needs a command for the usual syntax of directory names.
    async fn ask_system(&mut self, t: &mut Transfer) -> Result<()> {
        let reply = self.command(t, b"SYST").await?;
        if login::is_os400(&reply) && self.command(t, b"SITE NAMEFMT 1").await?.code == 250 {
            let reply = self.command(t, b"PWD").await?;
            self.take_entry_path(&reply)?;
        }
        Ok(())
    }

    fn tell_entry_path(&self, t: &Transfer) {
        t.easy.info.borrow_mut().rare.ftp_entry_path = self.session.entry_path.as_deref().map(Text::from);
    }

    /// QUOTE, PREQUOTE and POSTQUOTE commands; one that begins with "*" may fail.
    pub async fn quote(&mut self, t: &mut Transfer, option: O) -> Result<()> {
        let commands = t.easy.settings.borrow().list(option);
        for command in commands.iter() {
            let (command, may_fail) = login::quoted(command);
            let reply = self.command(t, command).await?;
            login::check_quoted(option, command, reply.code, may_fail)?;
        }
        Ok(())
    }

    /// CWD into the URL's directories, unless a kept connection is there already. A whole path in every
    /// command (CURLFTPMETHOD_NOCWD) needs none and does not change the directory.
    pub async fn change_directory(&mut self, t: &mut Transfer, target: &FtpTarget) -> Result<()> {
        let Some(folder) = &target.folder else { return Ok(()) };
        let known = self.session.directory.take();
        if directory::is_in_folder(self.dialogue.whole.is_reused(), known.as_deref(), folder) {
            t.easy.note(|| "Request has same path as previous transfer".to_owned());
        } else {
            self.walk(t, &target.location.directories).await?;
        }
        self.session.directory = Some(folder.clone());
        Ok(())
    }

    async fn walk(&mut self, t: &mut Transfer, folders: &[Vec<u8>]) -> Result<()> {
        if directory::starts_at_entry(self.dialogue.whole.is_reused(), folders)
            && let Some(entry) = self.session.entry_path.clone()
        {
            self.enter(t, &entry, false).await?;
        }
        let create = t.long(O::FtpCreateMissingDirs) > 0;
        for folder in folders {
            self.enter(t, folder, create).await?;
        }
        Ok(())
    }

    async fn enter(&mut self, t: &mut Transfer, folder: &[u8], create: bool) -> Result<()> {
        let cwd = [b"CWD ", folder].concat();
        if succeeded(self.command(t, &cwd).await?.code) {
            return Ok(());
        }
        if create {
            let made = succeeded(self.command(t, &[b"MKD ", folder].concat()).await?.code);
            if !directory::enters_after_mkd(made, t.long(O::FtpCreateMissingDirs)) {
                let text = format!("Failed to MKD dir: {:03}", t.easy.info.borrow().response_code);
                return Err(Error::new(Code::RemoteAccessDenied, text));
            }
            if succeeded(self.command(t, &cwd).await?.code) {
                return Ok(());
            }
        }
        Err(Error::new(Code::RemoteAccessDenied, "Server denied you to change to the given directory"))
    }

    /// Sends MDTM if a time is requested or compared; returns whether the document is to be transferred.
    pub async fn document_wanted(&mut self, t: &mut Transfer, target: &FtpTarget) -> Result<bool> {
        let condition = t.long(O::TimeCondition);
        if !directory::asks_for_time(t.on(O::FileTime), condition, target.location.file.is_some()) {
            return Ok(true);
        }
        let reply = self.command(t, &[b"MDTM ", target.file()].concat()).await?;
        let Some(modified) = (reply.code == 213).then(|| reply.modified()).flatten() else {
            t.easy.note(|| "MDTM failed: file does not exist or permission problem, continuing".to_owned());
            return Ok(true);
        };
        t.easy.info.borrow_mut().file_time = modified;
        let unmet = directory::is_unmet(condition, modified, t.long(O::TimeValueLarge));
        if unmet {
            t.easy.note(|| "The requested document is not new enough".to_owned());
            t.easy.info.borrow_mut().condition_unmet = true;
        }
        Ok(!unmet)
    }

    /// Sends TYPE, unless the server has this type already.
    pub async fn set_type(&mut self, t: &mut Transfer, data_type: u8) -> Result<()> {
        if !directory::needs_type(self.session.data_type, data_type) {
            return Ok(());
        }
        let reply = self.command(t, &[b"TYPE ", &[data_type][..]].concat()).await?;
        if !succeeded(reply.code) {
            return Err(Error::new(Code::FtpCouldntSetType, "Could not set desired mode"));
        }
        self.session.data_type = Some(data_type);
        Ok(())
    }
}

/// Returns the deadline of the reply after a file.
fn last_deadline(t: &Transfer) -> Instant {
    t.now() + reply_limit(t.long(O::ServerResponseTimeoutMs), LAST_REPLY_TIMEOUT_MS)
}

/// User and password must each fit on a line; this is checked before connecting.
fn check_login(t: &Transfer) -> Result<()> {
    for given in [O::Username, O::Password].into_iter().filter_map(|option| t.text(option)) {
        check_one_line(&given, "control code detected in credentials")?;
    }
    crate::transfer::credentials::check_url(t)
}

/// Returns the user of the login; anonymous if none was given. A given name is sent as it is, even an empty
/// one.
fn credentials(t: &Transfer) -> Result<(Vec<u8>, Vec<u8>)> {
    Ok(match crate::transfer::credentials::given(t)? {
        Some(login) => (login.user, login.password),
        None => (ANONYMOUS.to_vec(), b"ftp@example.com".to_vec()),
    })
}
