//! The parts of a transfer. A protocol handler is one async function that gets a [`Transfer`]; most of what
//! it calls asks for one part alone: the [`Handles`], the [`Route`], the [`Connector`], the [`Flow`]. No
//! protocol is known here.

pub mod ask;
pub mod auth;
pub mod body;
pub mod client_reader;
pub mod client_writer;
pub mod connect;
pub mod connector;
pub mod credentials;
mod datagrams;
pub mod dialogue;
pub mod explained;
#[cfg(test)]
pub mod fixture;
pub mod flow;
mod gssapi;
pub mod guard;
pub mod handles;
mod inner_transfer;
pub mod kept_head;
pub mod link;
pub mod login;
mod look_up;
pub mod mail_commands;
mod name_check;
pub mod negotiate;
pub mod next;
mod over_https;
mod policy_tls;
pub mod proxies;
pub mod proxy;
#[cfg_attr(not(feature = "http3"), path = "absent_quic.rs")]
mod quic;
mod race_report;
pub mod rate_limit;
pub mod recording;
pub mod replay;
pub mod replayed_peer;
pub mod route;
pub mod sasl;
pub mod secret;
mod secure;
pub mod sending;
mod sessions;
mod socks;
mod stall;
pub mod starttls;
pub mod tls_options;
mod tunnel;
pub mod usual_keys;
pub mod watch;

#[cfg(test)]
mod rows;

use std::ops::{Deref, DerefMut};
use std::rc::Rc;

use tables::EasyOption as O;

use crate::easy::EasyState;
use crate::multi::MultiState;
use crate::settings::Method;
pub use connector::Connector;
pub use flow::Flow;
pub use handles::Handles;
use replay::Repeatable;
pub use route::Route;
use route::target::Target;

/// Everything that protocol handlers work with. It lives inside the transfer's future: whatever the
/// application may read or change meanwhile is in [`EasyState`] instead.
///
/// It is made of layers, and each gives access to the one below: a transfer has a [`Connector`], that has a
/// [`Route`], that has the [`Handles`]. A function asks for the lowest layer that it needs.
pub struct Transfer {
    /// How to get there, and where.
    pub connector: Connector,
    /// Bodies, and the pace at which they move.
    pub flow: Flow,
    /// The request method, which redirects may change.
    pub method: Method,
}

impl Deref for Transfer {
    type Target = Connector;

    #[inline]
    fn deref(&self) -> &Connector {
        &self.connector
    }
}

impl DerefMut for Transfer {
    #[inline]
    fn deref_mut(&mut self) -> &mut Connector {
        &mut self.connector
    }
}

impl AsRef<Handles> for Transfer {
    fn as_ref(&self) -> &Handles {
        self
    }
}

impl Repeatable for Transfer {}

impl Transfer {
    /// Creates the transfer that the settings ask for.
    #[inline]
    pub fn new(multi: Rc<MultiState>, easy: Rc<EasyState>, url: Rc<Target>) -> Transfer {
        let settings = easy.settings.borrow();
        // CURLOPT_NOBODY stays on when CURLOPT_POSTFIELDS is set after it, and means HEAD.
        let body_less = settings.on(O::NoBody) && settings.method != Method::Put;
        let method = if body_less { Method::Head } else { settings.method };
        let auth = easy.memories.of::<auth::Memory>();
        auth.borrow_mut().begin(&settings);
        drop(settings);
        let handles = Handles { easy, multi };
        let flow = Flow::new(handles.clone());
        let connector = Connector::new(Route::new(handles, url), auth);
        Transfer { connector, flow, method }
    }
}
