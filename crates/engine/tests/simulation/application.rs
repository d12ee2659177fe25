//! An application that calls anything allowed on its handles, at random moments, inside callbacks too.

use std::cell::{Cell, RefCell};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use tables::constant::{CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE, CURLPAUSE_RECV, CURLPAUSE_SEND};
use tables::{Code, EasyOption as O};
use warmwire_engine::Easy;
use warmwire_engine::callbacks::{
    Callbacks, CloseHook, OpenSocketAnswer, ProgressCounts, Purpose, ReadAnswer, SeekAnswer, SocketCallbacks,
    SockoptAnswer, Target, Transport, WriteAnswer,
};

use crate::http::HOME;
use crate::http2;
use crate::network::{Network, content, sum};

/// The expected result of a transfer.
#[derive(Clone, Debug)]
pub struct Want {
    pub url: String,
    pub body: Vec<u8>,
    pub upload: Option<Vec<u8>>,
    /// Credentials for the first host.
    pub login: bool,
    pub timeout_ms: i64,
}

impl Want {
    pub fn any(network: &mut Network) -> Want {
        let (calm, size) = (network.shared.calm, network.any_size());
        let dice = &mut network.shared.dice;
        let host = 1 + dice.roll(3) as u8;
        let timeout_ms = if calm { 0 } else { [0, 900, 20_000][dice.roll(3)] };
        let login = dice.roll(2) == 0;
        let by_2 = format!("http://10.0.0.{host}:{}", http2::PORT);
        let (url, body, upload) = match dice.roll(14) {
            0 => (format!("http://10.0.0.{host}/chunks/{size}"), content(size), None),
            1 => (format!("http://10.0.0.{host}/close/{size}"), content(size), None),
            2 => {
                let to = 1 + dice.roll(3);
                (format!("http://10.0.0.{host}/to/{to}/length/{size}"), content(size), None)
            }
            3 | 4 => {
                let body = content(size);
                (format!("http://10.0.0.{host}/sum"), sum(&body).into_bytes(), Some(body))
            }
            5 => (format!("ftp://10.0.0.{host}/{size}"), content(size), None),
            6 => (format!("ftp://10.0.0.{host}/file"), Vec::new(), Some(content(size))),
            7 | 8 => {
                let body = content(size);
                (format!("{by_2}/sum"), sum(&body).into_bytes(), Some(body))
            }
            9 => (format!("{by_2}/to/{}/length/{size}", 1 + dice.roll(3)), content(size), None),
            10..=12 => (format!("{by_2}/length/{size}"), content(size), None),
            _ => (format!("http://10.0.0.{host}/length/{size}"), content(size), None),
        };
        Want { url, body, upload, login, timeout_ms }
    }

    pub fn by_http2(&self) -> bool {
        self.url.contains(&format!(":{}/", http2::PORT))
    }
}

/// State that one handle's callbacks share with the test.
pub struct App {
    network: Rc<RefCell<Network>>,
    pub want: RefCell<Want>,
    pub body: RefCell<Vec<u8>>,
    read_at: Cell<usize>,
    easy: RefCell<Option<Easy>>,
    /// A callback has said that all is over.
    pub gave_up: Cell<bool>,
    pub opened_to: Cell<(u8, u16)>,
    /// Pauses are over: all is to end.
    pub ending: Cell<bool>,
}

pub struct Callee(pub Rc<App>);

impl App {
    pub fn new(network: &Rc<RefCell<Network>>, want: Want) -> Rc<App> {
        Rc::new(App {
            network: network.clone(),
            want: RefCell::new(want),
            body: RefCell::default(),
            read_at: Cell::new(0),
            easy: RefCell::default(),
            gave_up: Cell::new(false),
            opened_to: Cell::new((0, 0)),
            ending: Cell::new(false),
        })
    }

    /// Sets a handle's options, all of them, as after a reset.
    pub fn dress(&self, easy: &Easy) {
        let want = self.want.borrow();
        let text = |option, value: &str| easy.set_text(option, Some(value.as_bytes())).expect("a good value");
        let long = |option, value| {
            easy.state().settings.borrow_mut().set_long(option, value).expect("a good value");
        };
        text(O::Url, &want.url);
        text(O::Proxy, "");
        long(O::FollowLocation, 1);
        long(O::HttpVersion, if want.by_http2() { CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE } else { 0 });
        long(O::PipeWait, self.roll(2) as i64);
        long(O::TimeoutMs, want.timeout_ms);
        long(O::Upload, i64::from(want.upload.is_some()));
        let size = want.upload.as_ref().filter(|_| self.roll(2) == 0);
        long(O::InFileSizeLarge, size.map_or(-1, |body| body.len() as i64));
        long(O::NoProgress, self.roll(2) as i64);
        if want.login && want.url.contains(&format!("//10.0.0.{HOME}")) {
            text(O::UserPwd, "u:p");
        }
    }

    pub fn fresh(&self) {
        self.body.borrow_mut().clear();
        self.read_at.set(0);
        self.gave_up.set(false);
    }

    pub fn know(&self, easy: Option<&Easy>) {
        let old = self.easy.replace(easy.cloned());
        drop(old);
    }

    fn roll(&self, sides: usize) -> usize {
        self.network.borrow_mut().shared.dice.roll(sides)
    }

    fn gives_up(&self) -> bool {
        let odd = self.network.borrow_mut().shared.odd(300);
        self.gave_up.set(self.gave_up.get() || odd);
        odd
    }

    fn pauses(&self) -> bool {
        !self.ending.get() && self.roll(12) == 0
    }

    /// Calls something that is allowed inside any callback.
    fn meddle(&self) {
        let Some(easy) = self.easy.borrow().clone() else { return };
        match self.roll(12) {
            0 if !self.ending.get() => drop(easy.pause(i64::from(CURLPAUSE_RECV | CURLPAUSE_SEND))),
            1 => drop(easy.pause(0)),
            2 => drop(easy.set_text(O::UserAgent, Some(b"another"))),
            3 => drop(easy.state().effective_url()),
            4 => drop(easy.duplicate(Rc::new(Nobody))),
            _ => {}
        }
    }
}

/// A copy that is thrown away.
struct Nobody;

impl Callbacks for Nobody {}

impl Callbacks for Callee {
    fn write(&self, data: &[u8]) -> WriteAnswer {
        self.0.meddle();
        if self.0.gives_up() {
            return WriteAnswer::Failed(0);
        }
        if self.0.pauses() {
            return WriteAnswer::Pause;
        }
        self.0.body.borrow_mut().extend_from_slice(data);
        WriteAnswer::All
    }

    fn header(&self, _: &[u8]) -> Option<WriteAnswer> {
        self.0.meddle();
        Some(WriteAnswer::All)
    }

    fn read(&self, buf: &mut [u8]) -> ReadAnswer {
        self.0.meddle();
        if self.0.gives_up() {
            return ReadAnswer::Abort;
        }
        if self.0.pauses() {
            return ReadAnswer::Pause;
        }
        let want = self.0.want.borrow();
        let body = want.upload.as_deref().unwrap_or_default();
        let from = self.0.read_at.get().min(body.len());
        let n = (body.len() - from).min(1 + self.0.roll(buf.len()));
        buf[..n].copy_from_slice(&body[from..from + n]);
        self.0.read_at.set(from + n);
        ReadAnswer::Bytes(n)
    }

    fn seek(&self, offset: u64) -> SeekAnswer {
        self.0.read_at.set(offset as usize);
        SeekAnswer::Done
    }

    fn wants_progress(&self) -> bool {
        true
    }

    fn progress(&self, _: ProgressCounts) -> bool {
        self.0.meddle();
        !self.0.gives_up()
    }

    fn sockets(&self) -> Option<&dyn SocketCallbacks> {
        Some(self)
    }
}

impl SocketCallbacks for Callee {
    fn open(&self, _: Purpose, target: &mut Target, _: Transport) -> OpenSocketAnswer {
        let Target::Ip(address) = target else { return OpenSocketAnswer::Refused };
        let std::net::IpAddr::V4(ip) = address.ip() else { return OpenSocketAnswer::Refused };
        let (host, port) = (ip.octets()[3], address.port());
        // Data connections are under no limit.
        self.0.opened_to.set(if port < 20_000 { (host, port) } else { (0, 0) });
        log(|| format!("open {host}:{port} for {}", self.0.want.borrow().url));
        match self.0.network.borrow_mut().connect(host, port) {
            Some(socket) => OpenSocketAnswer::Socket(socket),
            None => OpenSocketAnswer::Refused,
        }
    }

    fn configure(&self, _: BorrowedFd<'_>, _: Purpose) -> SockoptAnswer {
        SockoptAnswer::AlreadyConnected
    }

    fn close_hook(&self) -> Option<CloseHook> {
        let counter: Arc<AtomicI64> = self.0.network.borrow_mut().counter(self.0.opened_to.get());
        counter.fetch_add(1, Ordering::SeqCst);
        let host = self.0.opened_to.get();
        Some(Box::new(move |fd| {
            log(|| format!("close {} to {host:?}", fd.as_raw_fd()));
            counter.fetch_sub(1, Ordering::SeqCst);
        }))
    }

    fn kin(&self) -> Option<[usize; 2]> {
        Some([1, 1])
    }
}

/// Describes the events, if a single world is run.
pub fn log(what: impl FnOnce() -> String) {
    if std::env::var_os("PLAN").is_some() {
        eprintln!("{}", what());
    }
}

/// Returns whether the code is correct for peers that lie, refuse, fall silent or leave.
pub fn may_be(code: Code, want: &Want) -> bool {
    use Code::*;
    let ftp = want.url.starts_with("ftp");
    match code {
        Ok | CouldntConnect | SendError | RecvError | GotNothing | PartialFile | OperationTimedout
        | WeirdServerReply | UnsupportedProtocol | SendFailRewind => true,
        Http2 | Http2Stream => want.by_http2(),
        _ => {
            let login = matches!(
                code,
                LoginDenied | UploadFailed | QuoteError | RemoteFileNotFound | RemoteAccessDenied
            );
            ftp && (login || format!("{code:?}").starts_with("Ftp"))
        }
    }
}
