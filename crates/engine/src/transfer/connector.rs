//! Connector of a transfer: opens connections along its route. The phases are `impl Connector` in other
//! files: the pool and sockets (`connect`), names (`look_up`), TLS (`secure`), QUIC (`quic`).

use std::cell::{Cell, OnceCell};
use std::ops::{Deref, DerefMut};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use net::Connection;
use net::tls::Late;
use runtime::cell::RefCell;

use super::auth;
use super::replayed_peer::ReplayedPeer;
use super::route::Route;
use super::route::plan::Plan;
use crate::error::Result;

/// Logs in on a new connection, before any transfer may use it.
pub type LogIn =
    for<'a> fn(&'a Connector, &'a Plan, &'a mut Connection) -> Pin<Box<dyn Future<Output = Result<()>> + 'a>>;

/// Opens connections along a route.
pub struct Connector {
    /// Where the connections lead.
    pub route: Route,
    /// The state of HTTP authentication, which the handle keeps between transfers. A tunnel uses the proxy's
    /// side while it connects.
    pub auth: Rc<RefCell<auth::Memory>>,
    /// The recorded exchange that answers the current request, if exchanges are replayed.
    pub replayed: Option<Box<ReplayedPeer>>,
    /// The log-in that a new connection needs before it is shared; set by the handler of the protocol.
    pub log_in: Option<LogIn>,
    /// A TLS handshake that completes during the request.
    pub(super) late: Option<Arc<Late>>,
    /// Whether a Kerberos ticket was used to open the last connection.
    pub(super) ticket_used: Cell<bool>,
    /// User name of the Kerberos tickets, once it was looked up.
    pub(super) ticket_user: OnceCell<Option<String>>,
}

impl Connector {
    /// Creates a connector for this route.
    #[inline]
    pub fn new(route: Route, auth: Rc<RefCell<auth::Memory>>) -> Connector {
        Connector {
            route,
            auth,
            replayed: None,
            log_in: None,
            late: None,
            ticket_used: Cell::new(false),
            ticket_user: OnceCell::new(),
        }
    }
}

impl Deref for Connector {
    type Target = Route;

    #[inline]
    fn deref(&self) -> &Route {
        &self.route
    }
}

impl DerefMut for Connector {
    #[inline]
    fn deref_mut(&mut self) -> &mut Route {
        &mut self.route
    }
}
