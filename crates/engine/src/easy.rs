//! The easy handle: settings, results of the last transfer, and the state beside the running future that an
//! application may read or change from inside its callbacks.

mod renewal;

use std::cell::{Cell, OnceCell};
use std::collections::VecDeque;
use std::hint::cold_path;
use std::net::SocketAddr;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use runtime::cell::RefCell;

use net::connection_key::HostKeyJudge;
use net::tls::{Exported, NotImported};
use net::{Presence, SessionStore};
use runtime::TaskId;
use tables::constant::{CURLPAUSE_RECV, CURLPAUSE_SEND};
use tables::easy_option::{Rule, TextRule};
use tables::{Code, EasyOption, LockData};
use wire::policy::Refusal;

use crate::callbacks::{Callbacks, HostKeyFunctions, note};
use crate::info::TransferInfo;
use crate::memories::Memories;
use crate::multi::{Multi, MultiState};
use crate::outputs::{self, Output};
use crate::own_connection::OwnConnection;
use crate::push::Adopted;
use crate::rare::{Nothing, Rare};
use crate::repeated_query::RepeatedQuery;
use crate::settings::{FormerSettings, FtpPipelining, Settings, SmtpPipelining, Text, own_text};
use crate::share::Share;
use crate::stores::headers::Headers;
use crate::stores::{Keeper, Stores, altsvc, cookies, hsts};
use crate::upload_resumption::{UploadMode, UploadResumption};
use crate::websocket::WebSocket;
use crate::why::{Event, Heads, Reasons, Why};

/// An easy handle. A clone is another reference to the same one.
#[derive(Clone)]
pub struct Easy(pub(crate) Rc<EasyState>);

/// The published configuration of a host for Encrypted Client Hello.
pub(crate) struct Published {
    pub host: String,
    /// ECHConfigLists by address; those of the best service first.
    pub at: Vec<(SocketAddr, Arc<[u8]>)>,
}

impl Published {
    /// Creates an empty entry.
    pub fn of(host: &str) -> Published {
        Published { host: host.to_owned(), at: Vec::new() }
    }
}

/// State beside the future. Nothing in it is borrowed while the application is called.
pub struct EasyState {
    /// The application's side.
    pub callbacks: Rc<dyn Callbacks>,
    /// The options that were set.
    pub settings: RefCell<Settings>,
    /// The results of the transfer.
    pub info: RefCell<TransferInfo>,
    /// Header lines received, for the header API.
    pub headers: RefCell<Headers>,
    /// Cookies and other stores of this handle, unless a share has them.
    pub stores: Stores,
    /// Data that transfers leave for the next one with the same settings.
    pub memories: Memories,
    /// Data that depend on the settings alone. They also serve the handle that has this storage next, if the
    /// settings are public.
    pub(crate) derived: Memories,
    /// The settings of the handle that had this storage before.
    pub(crate) former: RefCell<Option<Box<FormerSettings>>>,
    /// Pausing.
    pub flow: PauseState,
    /// The share handle in use.
    pub share: RefCell<Option<Share>>,
    /// The connection of a CURLOPT_CONNECT_ONLY transfer.
    pub connected: RefCell<Option<Box<OwnConnection>>>,
    /// The WebSocket of the transfer, or of that connection.
    pub websocket: RefCell<Option<Box<WebSocket>>>,
    /// A stream that a server has pushed and the application wants: the next transfer reads its reply.
    pub(crate) adopted: Cell<Option<Box<Adopted>>>,
    /// Whether only a connection is wanted, logged in and left in the pool (`process_pool::open`).
    pub(crate) ahead: Cell<bool>,
    /// The host's published configuration for Encrypted Client Hello.
    pub(crate) published: RefCell<Option<Box<Published>>>,
    /// It serves a look-up of another handle's transfer: its connections are apart, and bound to no limits.
    pub(crate) inner: Cell<bool>,
    /// Whether the last CURLOPT_RESOLVE list had an entry for every host: one of an earlier list is void.
    pub(crate) wildcard_pins: Cell<bool>,
    /// How FTP commands are sent; `None` is the default of the process.
    pub ftp_pipelining: Cell<Option<FtpPipelining>>,
    /// warmwire_smtp_pipeline(); `None` is the default from the environment.
    pub smtp_pipelining: Cell<Option<SmtpPipelining>>,
    /// The reasons of the last transfer, if they are kept.
    pub why: Why,
    /// How long a connected transfer may move no byte; `None` is no limit.
    pub stall_limit: Cell<Option<Duration>>,
    /// An IMAP transfer that waits for news of its mailbox, until it is cancelled (RFC 2177), has the pause
    /// between two queries for servers that do not report by themselves.
    pub idles: Cell<Option<Duration>>,
    /// A query that an FTP transfer without a body repeats until its owner ends it.
    pub repeated: OnceCell<Rc<RepeatedQuery>>,
    /// How uploads continue after a cut.
    pub upload_resumption: UploadResumption,
    /// Data of the owner (the C boundary stores its handle's address here).
    pub tag: Cell<usize>,
    /// errno of the system call that made the transfer fail; reset by the next transfer
    /// (CURLINFO_OS_ERRNO.md).
    pub os_errno: Cell<i64>,
    /// CURLINFO_RTSP_CSEQ_RECV: outlives transfers that hear of no other.
    pub rtsp_received: Cell<i64>,
    /// Number of the transfer, unique in the process; -1 before the first.
    pub transfer_id: Cell<i64>,
    pub(crate) multi: RefCell<Weak<MultiState>>,
    pub(crate) task: Cell<Option<TaskId>>,
    /// Its place among the members of its multi handle.
    pub(crate) place: Cell<Option<usize>>,
    /// Its transfer has ended, and the application has not read that message.
    pub(crate) message_waits: Cell<bool>,
    own_multi: RefCell<Option<Multi>>,
    /// A private multi handle that was closed and made as new.
    spare_multi: Cell<Option<Multi>>,
    message: RefCell<String>,
    /// Lines of a session's driver about this transfer's frames.
    frames: RefCell<Rare<Frames>>,
}

/// Lines that wait to be logged; empty unless frames are traced.
#[derive(Default)]
struct Frames(VecDeque<String>);

impl Nothing for Frames {
    const NOTHING: &'static Frames = &Frames(VecDeque::new());
}

/// The layer whose log lines are frames.
pub(crate) const FRAMES: &str = "http/2";

/// Numbers transfers (CURLINFO_XFER_ID).
static NEXT_TRANSFER: AtomicI64 = AtomicI64::new(0);

/// The directions that the application has paused, and the waker of the task that waits for it.
#[derive(Default)]
pub struct PauseState {
    receive: Cell<bool>,
    send: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

impl PauseState {
    /// Whether writing to the application is paused.
    pub fn receive_paused(&self) -> bool {
        self.receive.get()
    }

    /// Whether reading from the application is paused.
    pub fn send_paused(&self) -> bool {
        self.send.get()
    }

    /// Pauses receiving, from the application's callback.
    pub fn pause_receive(&self) {
        self.receive.set(true);
    }

    /// Pauses sending, from the application's callback.
    pub fn pause_send(&self) {
        self.send.set(true);
    }

    /// Waits until receiving may go on.
    pub fn poll_receive(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.poll(&self.receive, cx)
    }

    /// Waits until sending may go on.
    pub fn poll_send(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.poll(&self.send, cx)
    }

    fn poll(&self, paused: &Cell<bool>, cx: &mut Context<'_>) -> Poll<()> {
        if !paused.get() {
            return Poll::Ready(());
        }
        *self.waker.borrow_mut() = Some(cx.waker().clone());
        Poll::Pending
    }

    fn set(&self, receive: bool, send: bool) {
        // Both are set before either is compared: an `||` between the calls would skip the second.
        let (received, sent) = (self.receive.replace(receive), self.send.replace(send));
        if received && !receive || sent && !send {
            let waker = self.waker.borrow_mut().take();
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }
}

impl Easy {
    /// A handle with default settings.
    pub fn new(callbacks: Rc<dyn Callbacks>) -> Easy {
        Easy::with_settings(callbacks, Settings::default())
    }

    /// A handle with default settings that no output of the process sees.
    pub(crate) fn unseen(callbacks: Rc<dyn Callbacks>) -> Easy {
        Easy::with_heads(callbacks, Settings::default(), None)
    }

    fn with_settings(callbacks: Rc<dyn Callbacks>, settings: Settings) -> Easy {
        let heads = outputs::has(Output::Archives).then(Rc::<Heads>::default);
        let easy = Easy::with_heads(callbacks, settings, heads.clone());
        easy.keep_reasons(Reasons::Off);
        heads.into_iter().for_each(|heads| easy.0.why.set_heads(heads));
        easy
    }

    /// Creates a handle that collects the heads of its transfers, if there is a place for them.
    fn with_heads(callbacks: Rc<dyn Callbacks>, settings: Settings, heads: Option<Rc<Heads>>) -> Easy {
        Easy(Rc::new(EasyState::new(crate::watched::watched(callbacks, heads), settings)))
    }

    /// Keeps the reasons of coming transfers, or stops to keep them. Outputs of the process need them.
    pub fn keep_reasons(&self, reasons: Reasons) {
        self.0.why.keep(reasons.max(outputs::need_reasons().into()));
    }

    /// Returns the state beside the future.
    pub fn state(&self) -> &EasyState {
        &self.0
    }

    /// Returns a copy with the same settings, without connections, cookies and share
    /// (curl_easy_duphandle.md).
    pub fn duplicate(&self, callbacks: Rc<dyn Callbacks>) -> Easy {
        let copy = Easy::with_settings(callbacks, self.0.settings.borrow().own_copy());
        copy.0.stores.copy_from(&self.0.stores);
        crate::stores::duplicated(copy.0.keeper());
        copy.0.info.borrow_mut().effective_url = self.0.info.borrow().effective_url.as_ref().map(own_text);
        copy.0.ftp_pipelining.set(self.0.ftp_pipelining.get());
        copy.0.smtp_pipelining.set(self.0.smtp_pipelining.get());
        copy.keep_reasons(self.0.why.reasons());
        copy.0.stall_limit.set(self.0.stall_limit.get());
        copy.0.idles.set(self.0.idles.get());
        copy.0.upload_resumption.copy_from(&self.0.upload_resumption);
        copy
    }

    /// curl_easy_reset: default settings; connections, cookies and the share stay.
    pub fn reset(&self) {
        let method_free = Settings::default();
        let old = self.0.settings.replace(method_free);
        drop(old);
        *self.0.info.borrow_mut() = TransferInfo::default();
        self.0.memories.clear();
        self.0.derived.clear();
        self.0.flow.set(false, false);
        self.0.ftp_pipelining.set(None);
        self.0.smtp_pipelining.set(None);
        self.keep_reasons(Reasons::Off);
        self.0.stall_limit.set(None);
        self.0.idles.set(None);
        self.0.upload_resumption.set(UploadMode::Plain);
    }

    /// CURLOPT_SHARE.
    pub fn set_share(&self, share: Option<Share>) {
        let old = self.0.share.replace(share.clone());
        let tag = self.0.tag.get();
        for with in [&old, &share].into_iter().flatten() {
            self.0.stores.shared(with);
        }
        if let Some(old) = old {
            old.around(LockData::Share, tag, || old.detach_handle());
        }
        if let Some(share) = share {
            share.around(LockData::Share, tag, || share.attach_handle());
        }
    }

    /// Sets a string or blob option. Files of stores and cookie commands are read at once, into the handle's
    /// stores or the share's.
    // exhaustive: options
    pub fn set_text(&self, option: EasyOption, value: Option<&[u8]>) -> Result<(), Code> {
        self.0.settings.borrow_mut().set_text(option, value)?;
        let Rule::Text(rule) = option.rule() else { return Ok(()) };
        match rule {
            TextRule::AltsvcFile => value.into_iter().for_each(|name| altsvc::load(self.0.keeper(), name)),
            // Reported at once, until a transfer has something else to report.
            TextRule::Url if !self.in_transfer() => self.0.info.borrow_mut().effective_url = None,
            TextRule::Referer if !self.in_transfer() => self.0.info.borrow_mut().note_referer(None),
            TextRule::HstsFile => hsts::add_file(self.0.keeper(), value),
            TextRule::CookieFile => cookies::add_file(self.0.keeper(), value),
            TextRule::CookieJar if value.is_some() => cookies::jar_named(self.0.keeper()),
            TextRule::CookieCommand => value.into_iter().for_each(|v| cookies::command(self.0.keeper(), v)),
            TextRule::Url | TextRule::Referer | TextRule::CookieJar => {}
            TextRule::Plain | TextRule::Login(..) | TextRule::StoredAs(_) | TextRule::Protocols(_) => {}
            TextRule::Module | TextRule::Ech | TextRule::Encodings => {}
            TextRule::Interface | TextRule::NameServers | TextRule::Ipv4 | TextRule::Ipv6 => {}
        }
        Ok(())
    }

    /// CURLINFO_COOKIELIST.
    pub fn cookies(&self) -> Vec<Vec<u8>> {
        cookies::list(self.0.keeper())
    }

    /// Whether the handle is in a multi handle now.
    pub fn multi(&self) -> Option<Multi> {
        self.0.multi.borrow().upgrade().map(Multi)
    }

    /// Whether the transfer is under way.
    pub fn in_transfer(&self) -> bool {
        self.0.task.get().is_some()
    }

    /// Returns the TLS sessions that may leave the process (curl_easy_ssls_export(3)): those of the system's
    /// library, from the share or the multi handle that this handle uses. rustls does not export sessions: a
    /// handle that uses it, and has no others, gets NOT_BUILT_IN.
    pub fn export_sessions(&self) -> Result<Vec<Exported>, Code> {
        let Some(sessions) = self.sessions() else { return self.writes_sessions().map(|()| Vec::new()) };
        let exported = self.0.locked(LockData::SslSession, || sessions.export());
        if exported.is_empty() {
            self.writes_sessions()?;
        }
        Ok(exported)
    }

    /// Stores a session that was exported, here or elsewhere. `name` or, without it, `proof` identifies
    /// server and settings.
    pub fn import_session(&self, name: Option<&str>, proof: &[u8], session: &[u8]) -> Result<(), Code> {
        self.writes_sessions()?;
        let sessions = self.sessions().ok_or(Code::BadFunctionArgument)?;
        let import = || sessions.import(name, proof, session);
        self.0.locked(LockData::SslSession, import).map_err(|why| match why {
            NotImported::OtherOwner => Code::BadFunctionArgument,
            NotImported::Session => Code::ReadError,
        })
    }

    fn writes_sessions(&self) -> Result<(), Code> {
        if self.0.settings.borrow().uses_system_tls() { Ok(()) } else { Err(Code::NotBuiltIn) }
    }

    /// Returns the store of the share, if it shares sessions, or of the multi handle.
    fn sessions(&self) -> Option<SessionStore> {
        let share = self.0.share.borrow().as_ref().and_then(|share| share.sessions().cloned());
        share.or_else(|| Some(self.multi().or_else(|| self.own_multi())?.0.sessions.clone()))
    }

    /// The private multi of [`perform`](Self::perform), when there is one.
    pub fn own_multi(&self) -> Option<Multi> {
        self.0.own_multi.borrow().clone()
    }

    /// Returns the private multi, created on first use.
    pub(crate) fn own_multi_or(&self, make: impl FnOnce() -> Multi) -> Multi {
        self.0.own_multi.borrow_mut().get_or_insert_with(make).clone()
    }

    /// curl_easy_pause: the new state of both directions, as CURLPAUSE_* bits.
    pub fn pause(&self, bits: i64) -> Code {
        // Before it has started there is nothing to pause.
        if !self.in_transfer() || self.0.info.borrow().started.is_none() {
            // A connection that the application uses itself can be paused, without effect.
            let connected = self.0.connected.borrow().is_some();
            return if connected { Code::Ok } else { Code::BadFunctionArgument };
        }
        let receive = bits & i64::from(CURLPAUSE_RECV) != 0;
        let pauses = receive && !self.0.flow.receive_paused();
        self.0.flow.set(receive, bits & i64::from(CURLPAUSE_SEND) != 0);
        if let Some(multi) = self.multi() {
            if let Some(task) = self.0.task.get().filter(|_| pauses && !multi.in_run()) {
                multi.wake(task); // so that it withdraws the interest in its socket
            }
            multi.report_changes();
            if multi.was_stopped() {
                return Code::AbortedByCallback;
            }
        }
        Code::Ok
    }

    /// Applies a new speed limit: a transfer that waits because of the old one is polled again.
    pub fn pace_changed(&self) {
        if let (Some(multi), Some(task)) = (self.multi(), self.0.task.get()) {
            multi.wake(task);
            multi.report_changes();
        }
    }

    /// curl_easy_upkeep: looks after the idle connections that this handle may use.
    pub fn upkeep(&self) {
        let interval_ms = self.0.settings.borrow().long(EasyOption::UpkeepIntervalMs);
        let interval = Duration::from_millis(interval_ms.max(0) as u64);
        for multi in [self.multi(), self.own_multi()].into_iter().flatten() {
            multi.upkeep(interval);
        }
        let share = self.0.share.borrow().clone();
        if let Some(share) = share {
            share.upkeep(interval, self.0.tag.get());
        }
    }

    /// Closes what belongs only to this handle. A handle in a multi is removed first.
    pub fn close(&self) {
        if let Some(multi) = self.multi() {
            let _ = multi.remove(self);
        }
        drop(self.0.connected.take());
        drop(self.0.websocket.take());
        crate::stores::save_at_close(self.0.keeper());
        let own = self.0.own_multi.borrow_mut().take();
        if let Some(own) = own {
            let spare = self.0.spare_multi.replace(own.close_for_another());
            drop(spare);
        }
        self.set_share(None);
    }
}

impl EasyState {
    /// Inside the application's lock functions where the data is a share's.
    pub(crate) fn locked<R>(&self, data: LockData, f: impl FnOnce() -> R) -> R {
        let share = self.share.borrow().clone().filter(|share| share.shares(data));
        match share {
            Some(share) => share.around(data, self.tag.get(), f),
            None => f(),
        }
    }

    /// The text of the last failure.
    pub fn message(&self) -> String {
        self.message.borrow().clone()
    }

    /// Returns the URL last used or, before a request, the URL that was set.
    pub fn effective_url(&self) -> Text {
        let used = self.info.borrow().effective_url.clone();
        used.or_else(|| self.settings.borrow().text(EasyOption::Url)).unwrap_or_default()
    }

    /// Returns the HTTP method last used or, before a request, the one that the options select, whatever the
    /// scheme.
    pub fn effective_method(&self) -> Vec<u8> {
        let used = &self.info.borrow().effective_method;
        let settings = self.settings.borrow();
        match settings.text(EasyOption::CustomRequest) {
            _ if !used.is_empty() => used.as_bytes().to_vec(),
            Some(custom) => custom.to_vec(),
            None if settings.on(EasyOption::NoBody) => b"HEAD".to_vec(),
            None => settings.method.verb().as_bytes().to_vec(),
        }
    }

    /// The handle as its stores know it.
    pub(crate) fn keeper(&self) -> Keeper<'_> {
        let (stores, share, settings) = (&self.stores, &self.share, &self.settings);
        Keeper { stores, share, settings, callbacks: self.callbacks.as_ref(), tag: self.tag.get() }
    }

    /// The handle as the reactor and the pool know it.
    pub fn owner_number(&self) -> u64 {
        self.tag.get() as u64
    }

    /// Returns the key of the functions that judge the keys of SSH servers.
    pub(crate) fn host_key_judge(&self) -> Option<HostKeyJudge> {
        Some(match self.callbacks.host_key_judge()? {
            HostKeyFunctions::At(addresses) => HostKeyJudge::Functions(addresses),
            HostKeyFunctions::OfHandle => HostKeyJudge::Handle(self.owner_number()),
        })
    }

    /// Stores the text of a failure and copies it to the application's buffer.
    pub fn set_message(&self, text: &str) {
        text.clone_into(&mut self.message.borrow_mut());
        self.callbacks.fail(text);
    }

    /// Resets transfer state, so that nothing of an earlier transfer is reported.
    pub(crate) fn begin(&self) {
        *self.info.borrow_mut() = TransferInfo::default();
        self.os_errno.set(0);
        self.headers.borrow_mut().clear();
        self.frames.take();
        self.flow.set(false, false);
        self.message.borrow_mut().clear();
        self.transfer_id.set(NEXT_TRANSFER.fetch_add(1, Ordering::Relaxed));
    }

    /// Continues after this run of the multi handle, so that other transfers run.
    pub(crate) fn poll_next_turn(&self, cx: &Context<'_>) -> Poll<()> {
        match self.multi.borrow().upgrade() {
            Some(multi) => {
                multi.runtime.wake_later(cx.waker().clone());
                Poll::Pending
            }
            None => Poll::Ready(()),
        }
    }

    /// Like `begin`, for a transfer inside another one, which is not a member of the multi handle.
    pub(crate) fn begin_within(self: &Rc<Self>, multi: &Rc<MultiState>, outer: &EasyState) {
        self.inner.set(true);
        self.tag.set(outer.tag.get());
        *self.multi.borrow_mut() = Rc::downgrade(multi);
        Easy(self.clone()).set_share(outer.share.borrow().clone());
    }

    /// Forgets the connection when the handle leaves the multi handle whose pool has it; one in a share's
    /// pool stays reachable.
    pub(crate) fn forget_socket(&self) {
        let shared = self.share.borrow().as_ref().is_some_and(|share| share.pool().is_some());
        if !shared {
            self.info.borrow_mut().presence = Presence::default();
        }
    }

    /// Logs a line of a layer, if the layer is traced.
    #[inline]
    pub(crate) fn trace(&self, layer: &str, text: impl FnOnce() -> String) {
        if self.callbacks.wants_debug() {
            cold_path();
            if self.callbacks.traces(layer) {
                self.note(|| format!("[{}] {}", layer.to_ascii_uppercase(), text()));
            }
        }
    }

    /// Stores a frame of its stream, from the session's driver. The transfer's own task logs it: a jump or an
    /// exception out of the application's callback must not cost another transfer its connection.
    pub(crate) fn saw_frame(&self, line: String) {
        // A stream whose transfer was jumped out of still exists, without a task.
        if self.task.get().is_some() || self.inner.get() {
            self.frames.borrow_mut().0.push_back(line);
        }
    }

    /// Logs the stored frames.
    #[inline]
    pub(crate) fn tell_frames(&self) {
        if !self.frames.borrow().0.is_empty() {
            cold_path();
            while let Some(line) = { self.frames.borrow_mut().0.pop_front() } {
                self.trace(FRAMES, || line);
            }
        }
    }

    /// Records a decision, if the reasons of the transfer are kept.
    #[inline]
    pub(crate) fn explain(&self, event: impl FnOnce() -> Event) {
        if self.why.is_on() {
            cold_path();
            self.record_event(None, event());
        }
    }

    /// Records a refusal by a policy, if the reasons are kept. The end of a transfer repeats a refusal that
    /// was recorded where it happened; it stays one event.
    pub(crate) fn explain_denial(&self, refusal: &Refusal, address: Option<SocketAddr>) {
        if !self.why.is_denied(refusal) {
            self.explain(|| Event::Denied { refusal: refusal.clone(), address });
        }
    }

    /// Records a decision that was made at `now`, or now, and logs it. An event is large, so the frame stands
    /// alone.
    #[cold]
    #[inline(never)]
    pub(crate) fn record_event(&self, now: Option<Instant>, event: Event) {
        let Some(multi) = self.multi.borrow().upgrade() else { return };
        let now = now.unwrap_or_else(|| multi.runtime.reactor().now());
        if outputs::has(Output::Log) {
            outputs::log::event(self.transfer_id.get(), self.why.since_start(now), &event);
        }
        self.why.add(now, event);
    }

    /// Informational text for a verbose transfer.
    #[inline]
    pub(crate) fn note(&self, text: impl FnOnce() -> String) {
        note(self.callbacks.as_ref(), text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four of pycurl's tests stop at this.
    #[test]
    fn both_directions_go_on_together() {
        let flow = PauseState::default();
        for (receive, send) in [(true, true), (true, false), (false, true)] {
            flow.set(receive, send);
            assert_eq!((flow.receive_paused(), flow.send_paused()), (receive, send));
            flow.set(false, false);
            assert_eq!((flow.receive_paused(), flow.send_paused()), (false, false));
        }
    }
}
