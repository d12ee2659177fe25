//! Server pushes promised on the stream of a request (RFC 9113 §8.4): the application decides, and the handle
//! that it accepts with starts its transfer with that stream (`pushed`).

use std::rc::Rc;

use net::exchange::Exchange;
use net::http2::Pushed;
use net::{Adopter, HttpLease};
use runtime::cell::none_is_borrowed;
use tables::{Code, MultiCode};
use wire::h2::{ErrorCode, Fields};

use crate::easy::{Easy, EasyState};
use crate::error::{Error, Result};
use crate::multi::{Multi, MultiState};
use crate::push::{Adopted, Answer, Promise};
use crate::transfer::Transfer;

/// Passes on the promises on one transfer's stream.
pub struct Offers {
    easy: Rc<EasyState>,
    multi: Rc<MultiState>,
    adopter: Adopter,
    scheme: &'static str,
    /// The authority of the server: the host with its port, and without it if it is the default one.
    authorities: [Vec<u8>; 2],
}

impl Offers {
    /// Creates the value for a transfer on that stream; `None` without a push function.
    pub fn of(t: &Transfer, lease: &HttpLease) -> Option<Box<Offers>> {
        t.multi.push_function().filter(|_| !t.easy.inner.get())?;
        let adopter = lease.adopter()?;
        let host = t.url.host().unwrap_or_default().to_ascii_lowercase();
        let port = t.url.port_or_default().unwrap_or_default();
        let with_port = [&host, format!(":{port}").as_bytes()].concat();
        let usual = port == t.scheme().default_port();
        let authorities = [if usual { host } else { with_port.clone() }, with_port];
        let (easy, multi) = (t.easy.clone(), t.multi.clone());
        Some(Box::new(Offers { easy, multi, adopter, scheme: t.scheme().name(), authorities }))
    }

    /// Passes new promises to the application's function.
    pub fn pass_promises(&self, exchange: &mut dyn Exchange) -> Result<()> {
        while let Some(pushed) = exchange.take_promise() {
            if !self.offer(pushed) {
                exchange.break_off();
                return Err(Error::new(
                    Code::RecvError,
                    "the application ends the connection of a pushed stream",
                ));
            }
        }
        Ok(())
    }

    /// `false` when the connection is to end.
    fn offer(&self, mut pushed: Pushed) -> bool {
        let Some(url) = self.url(&pushed.fields) else {
            pushed.stream.reset(ErrorCode::PROTOCOL_ERROR);
            return true;
        };
        let Some(function) = self.multi.push_function() else { return true };
        let promise = Promise { url, fields: pushed.fields };
        none_is_borrowed();
        match function(&Easy(self.easy.clone()), &promise) {
            Answer::Denied => true,
            Answer::BreakOff => false,
            Answer::Taken(easy) => {
                let lease = self.adopter.lease(pushed.stream);
                easy.0.adopted.set(Some(Box::new(Adopted { lease, fields: promise.fields })));
                if Multi(self.multi.clone()).add(&easy) != MultiCode::Ok {
                    drop(easy.0.adopted.take());
                }
                true
            }
        }
    }

    /// Returns the promised URL; `None` if this server has no authority for it (RFC 9113 §8.4).
    fn url(&self, fields: &Fields) -> Option<Vec<u8>> {
        let scheme = fields.value(b":scheme")?;
        let authority = fields.value(b":authority")?;
        let path = fields.value(b":path")?;
        let own = self.authorities.iter().any(|known| known.eq_ignore_ascii_case(authority));
        let same = scheme.eq_ignore_ascii_case(self.scheme.as_bytes());
        (own && same && path.starts_with(b"/")).then(|| [scheme, b"://", authority, path].concat())
    }
}
