//! PAC files: fetches one, and evaluates it on a helper thread. The transfer answers its look-ups.
//!
//! The evaluator is registered by a program that has one ([`use_pac`]): the JavaScript engine is no part of
//! libcurl.

use std::fs::{self, File};
use std::future::poll_fn;
use std::io::Read;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use net::resolver::ResolveOptions;
use runtime::{LockFreeOnce, boxed, offload};
use tables::{Code, EasyOption as O};
use wire::escape::{self, Reject};
use wire::proxy_list::{self, ProxyEntry};

use crate::archive::redact::without_login;
use crate::error::{Error, Result};
use crate::settings::Settings;
use crate::transfer::Connector;
use crate::transfer::inner_transfer::{InnerTransfer, inherited};

/// Largest file; browsers have this limit, too.
const MAX_SIZE: usize = 1 << 20;
/// Longest time to fetch it.
const FETCH_MS: i64 = 10_000;
/// Longest time of all look-ups of one evaluation.
const LOOK_UPS: Duration = Duration::from_secs(10);
/// Longest wait for an evaluation beside its look-ups. The evaluator stops a file sooner, unless the file is
/// inside a function of the JavaScript engine.
const EVALUATION: Duration = Duration::from_secs(3);
/// Most files that are kept.
const KEPT: usize = 8;

/// A question to a PAC file.
pub struct PacQuery {
    /// The text of the file.
    pub script: Arc<str>,
    /// The URL; one of HTTPS has neither path nor query.
    pub url: String,
    /// Its host.
    pub host: String,
}

/// Looks up the addresses of a name for a PAC file.
pub type PacLookUp = Box<dyn Fn(&str) -> Vec<IpAddr>>;

/// Evaluates a PAC file: returns the result of FindProxyForURL, or the reason of its failure. It is called
/// on a helper thread, and stops a file that takes too much time or memory.
pub type PacEvaluator = fn(&PacQuery, PacLookUp) -> Result<String, String>;

static EVALUATOR: LockFreeOnce<Option<PacEvaluator>> = LockFreeOnce::new();

/// Registers the evaluator of PAC files. The first one stays.
pub fn use_pac(evaluator: PacEvaluator) {
    EVALUATOR.get(|| Some(evaluator));
}

/// A PAC file that was fetched.
struct PacFile {
    script: Arc<str>,
    /// An evaluation did not come back. No thread may begin another one.
    hangs: AtomicBool,
}

/// Files by URL, the last one first.
type PacFiles = Vec<(String, Arc<PacFile>)>;

/// The files of the process.
static FILES: LockFreeOnce<Mutex<PacFiles>> = LockFreeOnce::new();

/// A look-up that the thread of an evaluation waits for.
struct NameQuestion {
    name: String,
    answer: SyncSender<Vec<IpAddr>>,
}

/// Passes questions from the thread of an evaluation to the transfer.
#[derive(Default)]
struct QuestionDesk {
    state: Mutex<(Option<NameQuestion>, Option<Waker>)>,
}

impl QuestionDesk {
    /// Asks, on the thread of the evaluation. Without an answer in time there is no address.
    fn ask(&self, name: &str, end: Instant) -> Vec<IpAddr> {
        let (answer, answered) = sync_channel(1);
        let Ok(mut state) = self.state.lock() else { return Vec::new() };
        state.0 = Some(NameQuestion { name: name.to_owned(), answer });
        let waiting = state.1.take();
        drop(state);
        waiting.into_iter().for_each(Waker::wake);
        answered.recv_timeout(end.saturating_duration_since(Instant::now())).unwrap_or_default()
    }

    /// Returns the next question, on the thread of the transfer.
    fn poll_question(&self, cx: &Context<'_>) -> Poll<NameQuestion> {
        let Ok(mut state) = self.state.lock() else { return Poll::Pending };
        match state.0.take() {
            Some(question) => Poll::Ready(question),
            None => {
                state.1 = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

/// A step of an evaluation, as the transfer sees it.
enum Step {
    Ended(std::io::Result<Result<String, String>>),
    Asks(NameQuestion),
}

impl Connector {
    /// Returns the proxies that a PAC file names for the current URL.
    pub(super) async fn proxies_by_pac(&self, pac_url: &str) -> Result<Vec<ProxyEntry>> {
        let shown = String::from_utf8_lossy(&without_login(pac_url.as_bytes())).into_owned();
        let failed = |reason: &str| {
            Error::new(Code::CouldntResolveProxy, format!("The PAC file {shown} cannot be used: {reason}"))
        };
        let Some(evaluator) = *EVALUATOR.get(|| None) else {
            let reason =
                "this library has no JavaScript engine; the tool, the Rust crate and the Python package have";
            return Err(failed(reason).with_code(Code::NotBuiltIn));
        };
        let file = boxed(|| self.pac_file(pac_url)).await.map_err(|reason| failed(&reason))?;
        if file.hangs.load(Ordering::Relaxed) {
            return Err(failed("an earlier evaluation has not ended"));
        }
        let (url, host) = self.pac_arguments();
        let query = PacQuery { script: file.script.clone(), url, host };
        let result =
            boxed(|| self.evaluate(evaluator, query, &file)).await.map_err(|reason| failed(&reason))?;
        self.easy.note(|| format!("PAC file {shown}: {result}"));
        proxy_list::parse_pac_result(&result).map_err(|bad| failed(&format!("it names no proxy by '{bad}'")))
    }

    /// Evaluates on a helper thread, and answers its look-ups.
    async fn evaluate(
        &self,
        evaluator: PacEvaluator,
        query: PacQuery,
        file: &PacFile,
    ) -> Result<String, String> {
        let desk = Arc::new(QuestionDesk::default());
        let (asking, look_ups_end) = (desk.clone(), Instant::now() + LOOK_UPS);
        let work = move || evaluator(&query, Box::new(move |name: &str| asking.ask(name, look_ups_end)));
        let mut work = pin!(offload(self.multi.runtime.reactor(), "pac", work));
        let mut end = self.now() + EVALUATION;
        loop {
            let step = boxed(|| async {
                Ok(poll_fn(|cx| match work.as_mut().poll(cx) {
                    Poll::Ready(result) => Poll::Ready(Step::Ended(result)),
                    Poll::Pending => desk.poll_question(cx).map(Step::Asks),
                })
                .await)
            });
            let late = || Error::from(Code::OperationTimedout);
            let Ok(step) = self.within(Some(end), late, step).await else {
                file.hangs.store(true, Ordering::Relaxed);
                return Err("its evaluation does not end".to_owned());
            };
            match step {
                Step::Ended(result) => return result.map_err(|error| error.to_string()).flatten(),
                Step::Asks(question) => {
                    let from = self.now();
                    let _ =
                        question.answer.send(self.addresses_for_pac(&question.name, from + LOOK_UPS).await);
                    end += self.now().saturating_duration_since(from);
                }
            }
        }
    }

    async fn addresses_for_pac(&self, name: &str, end: Instant) -> Vec<IpAddr> {
        let options = ResolveOptions::default();
        let found = boxed(|| self.look_up(name, 80, &options));
        let found = self.within(Some(end), || Error::from(Code::OperationTimedout), found).await;
        found.map(|found| found.list.iter().map(|address| address.ip()).collect()).unwrap_or_default()
    }

    /// Returns the arguments of FindProxyForURL. As in browsers, path and query of a URL by TLS are none of
    /// the file's business; login and fragment never are.
    fn pac_arguments(&self) -> (String, String) {
        let host = self.url.host_ascii().unwrap_or_default();
        let host = String::from_utf8_lossy(&host).into_owned();
        let (scheme, bytes) = (self.scheme(), |part: &[u8]| String::from_utf8_lossy(part).into_owned());
        let port = self.url.port().map_or_else(String::new, |port| format!(":{port}"));
        let mut url = format!("{}://{host}{port}", scheme.name().to_ascii_lowercase());
        match scheme.tls() {
            true => url.push('/'),
            false => {
                url += &bytes(self.url.path());
                url += &self.url.query().map_or_else(String::new, |query| format!("?{}", bytes(query)));
            }
        }
        (url, host.trim_matches(['[', ']']).to_owned())
    }

    /// Returns a PAC file that was fetched earlier, or fetches it.
    async fn pac_file(&self, url: &str) -> Result<Arc<PacFile>, String> {
        let files = || FILES.get(Mutex::default).try_lock().ok();
        let known = files().and_then(|files| files.iter().find(|(known, _)| known == url).cloned());
        if let Some((_, file)) = known {
            return Ok(file);
        }
        let text = match url.strip_prefix("file://") {
            Some(path) => read_file(path)?,
            None => self.fetch_pac(url).await?,
        };
        let script = Arc::from(String::from_utf8_lossy(&text).as_ref());
        let file = Arc::new(PacFile { script, hangs: AtomicBool::new(false) });
        if let Some(mut files) = files() {
            files.truncate(KEPT - 1);
            files.insert(0, (url.to_owned(), file.clone()));
        }
        Ok(file)
    }

    async fn fetch_pac(&self, url: &str) -> Result<Vec<u8>, String> {
        let settings = self.pac_settings(url).map_err(|code| code.text().to_owned())?;
        let inner = InnerTransfer::new(&self.multi, &self.easy, settings, MAX_SIZE);
        let (code, text) = inner.run().await;
        match code {
            Code::Ok => Ok(text),
            Code::WriteError => Err(format!("it is larger than {} MiB", MAX_SIZE >> 20)),
            _ => Err(inner.easy().0.message()),
        }
    }

    /// Returns the settings of the transfer that fetches a file: directly, with the trust anchors and name
    /// servers of this handle, under its policy.
    fn pac_settings(&self, url: &str) -> Result<Settings, Code> {
        let outer = self.easy.settings.borrow();
        let mut own = inherited(&outer)?;
        own.set_text(O::Url, Some(url.as_bytes()))?;
        own.set_text(O::Proxy, Some(b""))?;
        for option in [O::ProtocolsStr, O::RedirProtocolsStr] {
            own.set_text(option, Some(b"http,https"))?;
        }
        for (option, value) in [(O::FollowLocation, 1), (O::FailOnError, 1), (O::TimeoutMs, FETCH_MS)] {
            own.set_long(option, value)?;
        }
        Ok(own)
    }
}

/// Reads a file by the path of its URL.
fn read_file(path: &str) -> Result<Vec<u8>, String> {
    let path = path.strip_prefix("localhost").unwrap_or(path);
    let path = escape::decode(path.as_bytes(), Reject::Nothing).unwrap_or_default();
    let path = crate::sys::path_of_url(path).ok_or("its URL has no path")?;
    let plain = |error: std::io::Error| error.to_string();
    // A pipe or a device could block or never end.
    if !fs::metadata(&path).map_err(plain)?.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    let mut text = Vec::new();
    let file = File::open(&path).map_err(plain)?;
    file.take(MAX_SIZE as u64 + 1).read_to_end(&mut text).map_err(plain)?;
    match text.len() > MAX_SIZE {
        true => Err(format!("it is larger than {} MiB", MAX_SIZE >> 20)),
        false => Ok(text),
    }
}
