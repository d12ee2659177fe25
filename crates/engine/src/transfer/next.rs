//! The outcome of one request of a transfer, and the way in which a connection becomes the application's.

use std::future::poll_fn;

use wire::url::Url;

use super::Transfer;
use super::body::send_failed;
use crate::error::{Error, Result};
use crate::own_connection::OwnConnection;

/// The step that follows a request.
#[derive(Default)]
pub enum Next {
    /// None: the transfer is complete.
    #[default]
    Done,
    /// A redirect.
    Follow(Box<Url>),
    /// Repeat the same URL (authentication, a refused expectation).
    Again,
    /// None: the reply was read to its end and its connection can serve again, but the transfer fails (too
    /// many redirects).
    Stop(Error),
}

/// Passes the connection to the application (CURLOPT_CONNECT_ONLY(3)).
pub async fn give(t: &Transfer, mut connection: net::Connection) -> Result<Next> {
    // Flushed now, because nobody does later: a layer may hold back the end of its handshake for the first
    // bytes written, and the server may be the one that speaks first.
    let filter = connection.filter();
    poll_fn(|cx| filter.poll_flush(cx)).await.map_err(|e| send_failed(&e))?;
    // Not dropped under the borrow: closing the previous connection calls the application.
    let before = t.easy.connected.replace(Some(Box::new(OwnConnection::new(connection))));
    drop(before);
    t.easy.info.borrow_mut().rare.handed_over = true;
    Ok(Next::Done)
}
