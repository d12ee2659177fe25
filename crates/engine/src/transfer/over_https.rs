//! DNS over HTTPS (RFC 8484, CURLOPT_DOH_URL): each query is a POST by a transfer inside the one that needs
//! it.
//!
//! It runs on the same multi handle, so that an event loop sees its sockets, and is dropped with the look-up.
//! As in curl it inherits the application's trust anchors and little else; verification has options of its
//! own. The system resolves the name of the server itself, so that there is no recursion.

use std::rc::Rc;

use runtime::cell::RefCell;

use net::resolver::{NameServers, NoAnswer, PendingAnswer};
use runtime::boxed;
use tables::constant::CURL_HTTP_VERSION_2TLS;
use tables::{Code, EasyOption as O};
use wire::dns::{Answer, Question, Reply};
use wire::policy::Check;

use super::Handles;
use crate::callbacks::{Callbacks, DebugKind, WriteAnswer};
use crate::easy::{Easy, EasyState};
use crate::multi::MultiState;
use crate::settings::{Settings, Text};
use crate::why::Heads;

/// The longest message that DNS knows.
const LONGEST: usize = 65_535;

/// Options that the inner transfer inherits.
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

/// A name server that is queried over HTTPS.
pub struct OverHttps {
    multi: Rc<MultiState>,
    asking: Rc<EasyState>,
    url: Text,
}

impl OverHttps {
    /// Creates the look-ups over HTTPS of the names that this transfer needs.
    pub fn new(t: &Handles, url: &Text) -> OverHttps {
        OverHttps { multi: t.multi.clone(), asking: t.easy.clone(), url: url.clone() }
    }

    /// Creates the handle of the inner transfer, and the buffer of its body.
    fn inner(&self, message: &[u8]) -> Result<(Inner, Rc<Collector>), Code> {
        let outer = self.asking.callbacks.clone();
        let heads = self.asking.why.heads();
        let collector = Rc::new(Collector { outer, heads, body: RefCell::default() });
        let easy = Easy::new(Rc::new(ReplyCallbacks(collector.clone())));
        *easy.0.settings.borrow_mut() = self.settings(message)?;
        easy.keep_reasons(self.asking.why.reasons());
        easy.0.begin_within(&self.multi, &self.asking);
        Ok((Inner(easy), collector))
    }

    fn settings(&self, message: &[u8]) -> Result<Settings, Code> {
        let outer = self.asking.settings.borrow();
        let mut own = Settings::default();
        own.set_text(O::Url, Some(&self.url))?;
        own.set_text(O::DefaultProtocol, Some(b"https"))?;
        own.set_text(O::ProtocolsStr, Some(b"https"))?;
        own.set_long(O::PostFieldSize, message.len() as i64)?;
        own.set_text(O::CopyPostFields, Some(message))?;
        let content_type = &b"Content-Type: application/dns-message"[..];
        own.set_list(O::HttpHeader, Some(vec![content_type.into()]))?;
        own.set_long(O::HttpVersion, CURL_HTTP_VERSION_2TLS)?;
        own.set_long(O::PipeWait, 1)?;
        for (option, of_outer) in [
            (O::SslVerifyPeer, O::DohSslVerifyPeer),
            (O::SslVerifyHost, O::DohSslVerifyHost),
            (O::SslVerifyStatus, O::DohSslVerifyStatus),
            (O::SslOptions, O::SslOptions),
        ] {
            own.set_long(option, outer.long(of_outer))?;
        }
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
}

impl NameServers for OverHttps {
    fn ask(&self, question: Question, _searched: bool) -> PendingAnswer {
        // The number is 0, so that equal questions are equal requests (RFC 8484 section 4.1).
        let inner = self.inner(&question.message(0, None));
        let (multi, asking) = (self.multi.clone(), self.asking.clone());
        boxed(move || async move {
            let Ok((inner, collector)) = inner else { return Err(NoAnswer) };
            let code = (multi.runs.inside)(&multi, &inner.0.0).await;
            let body = collector.body.take();
            explain_denials(&asking, &inner.0);
            match judged(code, &body, &question) {
                Ok(answer) => Ok(answer),
                Err(why) => {
                    asking.note(|| format!("DoH: asking for {} failed: {why}", question.name));
                    Err(NoAnswer)
                }
            }
        })
    }
}

/// Records the refusals of the inner transfer among the reasons of the one that needs it.
fn explain_denials(asking: &EasyState, inner: &Easy) {
    let denials = inner.0.why.read(|record| record.denials().cloned().collect::<Vec<_>>());
    for refusal in denials.into_iter().flatten() {
        asking.explain_denial(&refusal.at(Check::Doh), None);
    }
}

fn judged(code: Code, body: &[u8], question: &Question) -> Result<Answer, String> {
    if code != Code::Ok {
        return Err(format!("code {}", code.id()));
    }
    let reply = Reply::parse(body).map_err(|fault| fault.to_string())?;
    if reply.id() != 0 || !reply.is_to(question, false) {
        return Err("the reply is to another question".to_owned());
    }
    reply.answer(question).map_err(|fault| fault.to_string())
}

/// An inner transfer's handle.
struct Inner(Easy);

impl Drop for Inner {
    fn drop(&mut self) {
        self.0.set_share(None);
    }
}

/// Collects the reply, and passes verbose output on to the application.
struct Collector {
    outer: Rc<dyn Callbacks>,
    /// The heads of the outer transfer, among which the inner one's do not belong.
    heads: Option<Rc<Heads>>,
    body: RefCell<Vec<u8>>,
}

struct ReplyCallbacks(Rc<Collector>);

impl Callbacks for ReplyCallbacks {
    fn write(&self, data: &[u8]) -> WriteAnswer {
        let mut body = self.0.body.borrow_mut();
        if body.len() + data.len() > LONGEST {
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
