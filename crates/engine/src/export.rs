//! Posts spans to a collector (WARMWIRE_TRACE) by a handle of its own, on the helper thread. No output of the
//! process sees these requests, no record has them, and no callback of the application is called.

use std::rc::Rc;

use tables::{Code, EasyOption as O};

use crate::callbacks::{Callbacks, WriteAnswer};
use crate::easy::Easy;
use crate::multi::Multi;
use crate::outputs::trace::Exporter;
use crate::settings::Text;

/// Longest time of an export, and of its connection.
const LIMIT_MS: i64 = 10_000;
const CONNECT_LIMIT_MS: i64 = 3_000;

/// The callbacks of an export: the reply's body is of no interest.
struct NoApplication;

impl Callbacks for NoApplication {
    fn write(&self, _: &[u8]) -> WriteAnswer {
        WriteAnswer::All
    }
}

/// Makes the exporter for a URL.
pub fn connect(url: &str) -> Exporter {
    let easy = Easy::unseen(Rc::new(NoApplication));
    // The environment names the collector, not a user of the application.
    easy.0.settings.borrow_mut().set_unguarded();
    easy.own_multi_or(Multi::of_library);
    let prepared = prepare(&easy, url);
    Box::new(move |body| {
        prepared.and_then(|()| post(&easy, body)).map_err(|code| match easy.state().message() {
            text if text.is_empty() => code.text().to_owned(),
            text => text,
        })
    })
}

fn prepare(easy: &Easy, url: &str) -> Result<(), Code> {
    let fields: [Text; 2] = [b"Content-Type: application/json"[..].into(), b"Expect:"[..].into()];
    easy.set_text(O::Url, Some(url.as_bytes()))?;
    easy.set_text(O::ProtocolsStr, Some(b"http,https"))?;
    // The variables for proxies are meant for the application's requests.
    easy.set_text(O::Proxy, Some(b""))?;
    let mut settings = easy.state().settings.borrow_mut();
    settings.set_list(O::HttpHeader, Some(fields.to_vec()))?;
    settings.set_long(O::TimeoutMs, LIMIT_MS)?;
    settings.set_long(O::ConnectTimeoutMs, CONNECT_LIMIT_MS)?;
    settings.set_long(O::FailOnError, 1)?;
    settings.set_long(O::NoSignal, 1)
}

fn post(easy: &Easy, body: &[u8]) -> Result<(), Code> {
    {
        let mut settings = easy.state().settings.borrow_mut();
        settings.set_long(O::PostFieldSize, body.len() as i64)?;
        settings.set_text(O::CopyPostFields, Some(body))?;
    }
    match easy.perform() {
        Code::Ok => Ok(()),
        code => Err(code),
    }
}
