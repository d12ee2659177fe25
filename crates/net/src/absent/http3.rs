//! HTTP/3 without the feature `http3`: a session and a tunnel that no connection has.

use std::rc::Rc;

use runtime::Runtime;

use crate::http2::Terms;
use crate::session::{QuicWhole, Session};

#[path = "../http3/alpn.rs"]
mod alpn;
#[path = "http3_tunnel.rs"]
pub mod tunnel;

pub use alpn::ALPN;

/// Stands in for the function of HTTP/3: no connection over QUIC exists.
pub fn host(mut whole: QuicWhole, _: Terms, _: &Runtime) -> Rc<dyn Session> {
    whole.connection().carrier.never()
}
