//! Server push (RFC 9113 §8.4; CURLMOPT_PUSHFUNCTION(3)): a server says on one stream that it will answer a request nobody made.
//! It is told that it may only when the multi handle has somebody to ask; the application says yes with a handle of its own,
//! whose transfer then reads the reply, or the stream is reset.

use std::rc::Rc;

use net::exchange::Exchange;
use net::http2::Pushed;
use net::{Adopter, Lease};
use runtime::cell::none_is_borrowed;
use tables::{Code, MultiCode};
use wire::h2::{ErrorCode, Fields};

use crate::easy::{Easy, EasyState};
use crate::error::{Error, Result};
use crate::multi::{Multi, MultiState};
use crate::transfer::Transfer;

/// What a server has promised.
pub struct Promise {
    /// Where the reply would have been asked for.
    pub url: Vec<u8>,
    /// The fields of that request, pseudo-fields first, in their order.
    pub fields: Fields,
}

/// What the application says to it.
pub enum Answer {
    /// This handle reads the reply.
    Taken(Easy),
    /// Nobody does.
    Denied,
    /// Nobody does, and the connection ends.
    BreakOff,
}

/// CURLMOPT_PUSHFUNCTION: asked for the handle on whose stream the promise came.
pub type PushFunction = Rc<dyn Fn(&Easy, &Promise) -> Answer>;

/// A stream that a handle was made for, until its transfer begins.
pub struct Adopted {
    /// The right to it.
    pub lease: Lease,
    /// The request that it answers.
    pub fields: Fields,
}

impl Adopted {
    /// Whether the reply has no body, whatever it announces.
    pub fn head_only(&self) -> bool {
        self.fields.value(b":method") == Some(b"HEAD")
    }
}

/// Hands on what is promised on one transfer's stream.
pub struct Offers {
    easy: Rc<EasyState>,
    multi: Rc<MultiState>,
    adopter: Adopter,
    scheme: &'static str,
    /// For whom the server speaks: the host with its port, and without it where that is the usual one.
    authorities: [Vec<u8>; 2],
}

impl Offers {
    /// For a transfer on that stream; `None` where nobody would be asked.
    pub fn of(t: &Transfer, lease: &Lease) -> Option<Box<Offers>> {
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

    /// Asks the application about what has been promised since.
    pub fn look(&self, exchange: &mut dyn Exchange) -> Result<()> {
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
                *easy.0.adopted.borrow_mut() = Some(Box::new(Adopted { lease, fields: promise.fields }));
                if Multi(self.multi.clone()).add(&easy) != MultiCode::Ok {
                    drop(easy.0.adopted.take());
                }
                true
            }
        }
    }

    /// What is promised; `None` of what this server has no say in (RFC 9113 §8.4).
    fn url(&self, fields: &Fields) -> Option<Vec<u8>> {
        let scheme = fields.value(b":scheme")?;
        let authority = fields.value(b":authority")?;
        let path = fields.value(b":path")?;
        let own = self.authorities.iter().any(|known| known.eq_ignore_ascii_case(authority));
        let same = scheme.eq_ignore_ascii_case(self.scheme.as_bytes());
        (own && same && path.starts_with(b"/")).then(|| [scheme, b"://", authority, path].concat())
    }
}
