//! DNS over HTTPS (RFC 8484, CURLOPT_DOH_URL): each query is a POST by a transfer inside the one that needs
//! it.
//!
//! It runs on the same multi handle, so that an event loop sees its sockets, and is dropped with the look-up.
//! As in curl it inherits the application's trust anchors and little else; verification has options of its
//! own. The system resolves the name of the server itself, so that there is no recursion.

use std::rc::Rc;

use net::resolver::{NameServers, NoAnswer, PendingAnswer};
use runtime::boxed;
use tables::constant::CURL_HTTP_VERSION_2TLS;
use tables::{Code, EasyOption as O};
use wire::dns::{Answer, Question, Reply};
use wire::policy::Check;

use super::Handles;
use super::inner_transfer::{InnerTransfer, inherited};
use crate::easy::{Easy, EasyState};
use crate::multi::MultiState;
use crate::settings::{Settings, Text};

/// The longest message that DNS knows.
const LONGEST: usize = 65_535;

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

    fn settings(&self, message: &[u8]) -> Result<Settings, Code> {
        let outer = self.asking.settings.borrow();
        let mut own = inherited(&outer)?;
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
        ] {
            own.set_long(option, outer.long(of_outer))?;
        }
        Ok(own)
    }
}

impl NameServers for OverHttps {
    fn ask(&self, question: Question, _searched: bool) -> PendingAnswer {
        // The number is 0, so that equal questions are equal requests (RFC 8484 section 4.1).
        let settings = self.settings(&question.message(0, None));
        let (multi, asking) = (self.multi.clone(), self.asking.clone());
        boxed(move || async move {
            let Ok(settings) = settings else { return Err(NoAnswer) };
            let inner = InnerTransfer::new(&multi, &asking, settings, LONGEST);
            let (code, body) = inner.run().await;
            explain_denials(&asking, inner.easy());
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
