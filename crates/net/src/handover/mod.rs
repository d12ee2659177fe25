//! Idle connections that leave their process: a connection becomes its socket and bytes ([`pack`]), and
//! continues from them in another process ([`unpack`]).
//!
//! A move, never a copy: [`pack`] consumes the connection, so no record is sealed twice under one sequence
//! number. The bytes hold traffic keys in clear; their buffers are wiped. The connection key stays behind: a
//! process finds the bytes by an equal one.

mod broker;
pub mod codec;
pub mod decide;
mod giver;
mod names;
pub mod state;

use std::time::{Duration, Instant};

use runtime::Socket;
use zeroize::Zeroizing;

use crate::connection::{AnyConnection, Connection, Memory};
use crate::connection_key::HashedKey;
use crate::filter::{Filter, SocketFilter, http_proxy::TunnelFilter};
use crate::pool::Ahead;
use crate::tls::rustls::TlsFilter;

pub use codec::DecodeError;
pub use decide::{Facts, Obstacle, obstacle};
pub use names::UserNames;
pub use state::{ConnectionState, Layer, MAX_SIZE, TlsState};

/// A connection between two processes.
pub struct Packed {
    /// Time since it was opened.
    pub age: Duration,
    /// Time since its last use.
    pub idle: Duration,
    /// Number of transfers that have used it.
    pub uses: u64,
    pub state: Zeroizing<Vec<u8>>,
    pub socket: Socket,
}

/// Reads the state of a protocol, as the encoding of its [`Memory`] has it, for a connection that was opened
/// then; `None` if it is invalid.
pub type MemoryDecoder = fn(&HashedKey, &[u8], Instant) -> Option<Box<dyn Memory>>;

/// Returns why a connection cannot leave its process; `None` if it can.
pub fn examine(connection: &AnyConnection) -> Option<Obstacle> {
    match connection {
        AnyConnection::Bytes(connection) => {
            let encoded = connection.state.as_ref().map(|memory| memory.encode().is_some());
            examine_bytes(connection, encoded)
        }
        AnyConnection::Quic(_) => Some(Obstacle::Quic),
    }
}

/// Examines a connection whose protocol has state, and could encode it or not.
fn examine_bytes(connection: &Connection, encoded: Option<bool>) -> Option<Obstacle> {
    obstacle(&Facts {
        inherited: connection.is_inherited(),
        callbacks: connection.private,
        owed: connection.ahead != Ahead::Nothing,
        layers: connection.carrier.portable().err(),
        state: encoded == Some(false),
        ..Facts::of_key(&connection.about.key)
    })
}

/// Turns an idle connection into its socket and bytes. One that cannot leave is returned as it was, with the
/// reason.
pub fn pack(connection: Box<Connection>, now: Instant) -> Result<Packed, (Obstacle, Box<Connection>)> {
    let memory = connection.state.as_ref().map(|memory| memory.encode());
    if let Some(obstacle) = examine_bytes(&connection, memory.as_ref().map(Option::is_some)) {
        return Err((obstacle, connection));
    }
    let Connection { about, carrier, created, last_used, uses, farewell, .. } = *connection;
    let mut layers = Vec::new();
    let mut socket = carrier.take_apart(&mut layers);
    socket.detach();
    let state = ConnectionState {
        endpoints: about.endpoints,
        answers_http10: about.answers_http10,
        address_fresh_ms: about.address_fresh_until.get().map(|until| millis_after(created, until)),
        farewell,
        layers,
        memory: memory.flatten(),
    };
    Ok(Packed {
        age: now.saturating_duration_since(created),
        idle: now.saturating_duration_since(last_used),
        uses,
        state: state.encode(),
        socket,
    })
}

/// Continues a packed connection. An error closes it.
pub fn unpack(
    packed: Packed,
    key: &HashedKey,
    now: Instant,
    decode_memory: MemoryDecoder,
) -> Result<Box<Connection>, DecodeError> {
    let state = ConnectionState::decode(&packed.state)?;
    let (created, last_used) = (now.checked_sub(packed.age), now.checked_sub(packed.idle));
    let (Some(created), Some(last_used)) = (created, last_used) else {
        return Err(DecodeError::Value("age"));
    };
    let memory = match &state.memory {
        Some(bytes) => Some(decode_memory(key, bytes, created).ok_or(DecodeError::Value("protocol state"))?),
        None => None,
    };
    let mut filter: Box<dyn Filter> = Box::new(SocketFilter::new(packed.socket));
    for layer in state.layers {
        filter = match layer {
            Layer::Tunnel => Box::new(TunnelFilter::new(filter)),
            Layer::Tls(tls) => TlsFilter::restore(filter, *tls).ok_or(DecodeError::Value("TLS"))?,
        };
    }
    let mut connection = Box::new(Connection::new(key.clone(), filter, state.endpoints, now));
    (connection.created, connection.last_used) = (created, last_used);
    connection.uses = packed.uses;
    connection.about.answers_http10 = state.answers_http10;
    // A time beyond the clock's range counts as never.
    let fresh_until = |ms| created.checked_add(Duration::from_millis(ms));
    connection.about.address_fresh_until.set(state.address_fresh_ms.and_then(fresh_until));
    connection.farewell = state.farewell;
    connection.state = memory;
    Ok(connection)
}

fn millis_after(from: Instant, to: Instant) -> u64 {
    u64::try_from(to.saturating_duration_since(from).as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
