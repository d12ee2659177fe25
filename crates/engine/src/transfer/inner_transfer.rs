//! Transfers of the library itself inside one of the application: a query of DNS over HTTPS, a PAC file.
//!
//! An inner transfer runs on the multi handle of the outer one, so that an event loop sees its sockets, and
//! is dropped with it. The application sees no more of it than verbose output.

use std::rc::Rc;

use runtime::cell::RefCell;
use tables::{Code, EasyOption as O};

use crate::callbacks::{Callbacks, DebugKind, WriteAnswer};
use crate::easy::{Easy, EasyState};
use crate::multi::MultiState;
use crate::settings::Settings;
use crate::why::Heads;

/// Options of the outer transfer that an inner one inherits.
const TEXTS: [O; 12] = [
    O::CaInfo,
    O::CaInfoBlob,
    O::CaPath,
    O::CrlFile,
    O::SslEcCurves,
    O::SslSignatureAlgorithms,
    O::SslCipherList,
    O::Tls13Ciphers,
    O::DnsServers,
    O::DnsInterface,
    O::DnsLocalIp4,
    O::DnsLocalIp6,
];

/// Returns the settings that an inner transfer has from the outer one: trust anchors, name servers, pinned
/// addresses and the policy. As in curl it inherits little else.
pub(super) fn inherited(outer: &Settings) -> Result<Settings, Code> {
    let mut own = Settings::default();
    own.set_long(O::SslOptions, outer.long(O::SslOptions))?;
    for option in TEXTS {
        if let Some(text) = outer.text(option) {
            own.set_text(option, Some(&text))?;
        }
    }
    if outer.is_set(O::Resolve) {
        own.set_list(O::Resolve, Some(outer.list(O::Resolve).to_vec()))?;
    }
    own.set_policy(outer.policy().cloned());
    Ok(own)
}

/// A transfer whose body is stored.
pub(super) struct InnerTransfer {
    easy: Easy,
    multi: Rc<MultiState>,
    collector: Rc<Collector>,
}

impl InnerTransfer {
    /// Creates a transfer with these settings. It fails if its body is longer than `longest`.
    pub(super) fn new(
        multi: &Rc<MultiState>,
        outer: &Rc<EasyState>,
        settings: Settings,
        longest: usize,
    ) -> InnerTransfer {
        let callbacks = outer.callbacks.clone();
        let heads = outer.why.heads();
        let collector = Rc::new(Collector { outer: callbacks, heads, body: RefCell::default(), longest });
        let easy = Easy::new(Rc::new(ReplyCallbacks(collector.clone())));
        *easy.0.settings.borrow_mut() = settings;
        easy.keep_reasons(outer.why.reasons());
        easy.0.begin_within(multi, outer);
        InnerTransfer { easy, multi: multi.clone(), collector }
    }

    /// Runs the transfer to its end. Returns its result and its body.
    pub(super) async fn run(&self) -> (Code, Vec<u8>) {
        let code = (self.multi.runs.inside)(&self.multi, &self.easy.0).await;
        (code, self.collector.body.take())
    }

    /// Returns the handle of the transfer.
    pub(super) fn easy(&self) -> &Easy {
        &self.easy
    }
}

impl Drop for InnerTransfer {
    fn drop(&mut self) {
        self.easy.set_share(None);
    }
}

/// Collects the reply, and passes verbose output on to the application.
struct Collector {
    outer: Rc<dyn Callbacks>,
    /// The heads of the outer transfer, among which the inner one's do not belong.
    heads: Option<Rc<Heads>>,
    body: RefCell<Vec<u8>>,
    longest: usize,
}

struct ReplyCallbacks(Rc<Collector>);

impl Callbacks for ReplyCallbacks {
    fn write(&self, data: &[u8]) -> WriteAnswer {
        let mut body = self.0.body.borrow_mut();
        if body.len() + data.len() > self.0.longest {
            return WriteAnswer::Failed(0);
        }
        body.extend_from_slice(data);
        WriteAnswer::All
    }

    fn wants_debug(&self) -> bool {
        self.0.outer.wants_debug()
    }

    fn traces(&self, layer: &str) -> bool {
        self.0.outer.traces(layer)
    }

    fn debug(&self, kind: DebugKind, data: &[u8]) {
        let pause = |paused| self.0.heads.iter().for_each(|heads| heads.paused.set(paused));
        pause(true);
        self.0.outer.debug(kind, data);
        pause(false);
    }
}
