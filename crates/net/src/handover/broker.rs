//! The process pool's way to the broker of the user: names connections, sends and receives them.
//!
//! The name is the HMAC-SHA-256 of the connection key's canonical encoding under the broker's secret, so the
//! broker compares keys without learning a password. The name also covers the form of the state and the
//! network namespace: two processes in different ones reach different hosts by one address.

use std::sync::Arc;
use std::time::{Duration, Instant};

use broker::{Client, Key, Label, Parcel, Secret, Unavailable};
use ring::hmac;
use runtime::Socket;
use runtime::fd::AsFd;

use super::giver::Giver;
use super::{Facts, MemoryDecoder, Packed, UserNames, obstacle, pack, state, unpack};
use crate::connection::{AnyConnection, Connection};
use crate::connection_key::HashedKey;
use crate::pool::{Broker, GiveOutcome, NoneFromBroker};
use crate::process::Process;
use crate::resolver::DEFAULT_TTL;
use crate::session::SharedPool;
use crate::sys;

/// Separates names of connections from the MACs of other values.
const DOMAIN: &[u8] = b"warmwire connection\0";
/// Longest idle time of a parked connection: that of the process pool.
const IDLE_LIMIT: Duration = Duration::from_secs(118);

/// The broker of this user, as the process pool sees it.
struct UserBroker {
    client: Arc<Client>,
    decode: MemoryDecoder,
    /// None in a process that gives all connections itself, at its end.
    giver: Option<Giver>,
}

impl Process {
    /// Puts the broker of the user behind the pool and the resolver. Later calls do nothing. No system call
    /// is made before a connection or an address is wanted. With `by_helper`, a helper thread gives
    /// connections that the process leaves idle.
    pub fn use_broker(&self, decode: MemoryDecoder, by_helper: bool) {
        if self.pool.has_broker() {
            return;
        }
        let client = Arc::new(Client::new());
        self.resolver.share_names(Arc::new(UserNames::new(client.clone(), DEFAULT_TTL)));
        self.pool.use_client(client, decode, by_helper);
    }
}

impl SharedPool {
    /// Puts this client's broker behind the pool.
    #[doc(hidden)]
    pub fn use_client(self: &Arc<Self>, client: Arc<Client>, decode: MemoryDecoder, by_helper: bool) {
        let giver = by_helper.then(|| Giver::new(self));
        self.set_broker(|| Box::new(UserBroker { client, decode, giver }));
    }
}

impl UserBroker {
    /// Names the connections of a key.
    fn name(&self, key: &HashedKey) -> Result<Key, Unavailable> {
        Ok(name_by(&self.client.secret()?, key))
    }

    fn try_take(&self, key: &HashedKey, now: Instant) -> Result<Option<Box<Connection>>, Unavailable> {
        let greeting = self.client.greet()?;
        let name = name_by(&greeting.secret, key);
        let Some(taken) = self.client.take_greeted(greeting, &name)? else { return Ok(None) };
        let packed = Packed {
            age: taken.age,
            idle: taken.idle,
            uses: taken.uses.into(),
            state: taken.state,
            socket: Socket::new(taken.socket),
        };
        Ok(unpack(packed, key, now, self.decode).ok())
    }

    fn send(&self, key: &HashedKey, packed: &Packed, until: Instant) -> Result<(), Unavailable> {
        let label = Label { scheme: key.scheme_name(), host: &key.origin.host, port: key.origin.port };
        let parcel = Parcel {
            label,
            age: packed.age,
            idle: packed.idle,
            uses: u32::try_from(packed.uses).unwrap_or(u32::MAX),
            idle_limit: IDLE_LIMIT,
            state: &packed.state,
            socket: packed.socket.as_fd(),
        };
        again_after_restart(|| self.client.give(&self.name(key)?, &parcel, until))
    }
}

impl Broker<AnyConnection> for UserBroker {
    fn take(&self, key: &HashedKey, now: Instant) -> Result<AnyConnection, NoneFromBroker> {
        if let Some(obstacle) = obstacle(&Facts::of_key(key)) {
            return Err(NoneFromBroker::Stays(obstacle.text()));
        }
        let taken = again_after_restart(|| self.try_take(key, now)).map_err(|error| none(&error))?;
        taken.map(AnyConnection::Bytes).ok_or(NoneFromBroker::Nothing)
    }

    fn expect_idle(&self) {
        if let Some(giver) = &self.giver {
            giver.wake();
        }
    }

    fn give(&self, connection: AnyConnection, now: Instant, until: Instant) -> GiveOutcome<AnyConnection> {
        let AnyConnection::Bytes(mut connection) = connection else { return GiveOutcome::Stays(connection) };
        // Reads what has arrived for the layers, such as tickets: the broker drops a socket with input.
        if !connection.is_alive() {
            return GiveOutcome::Gone;
        }
        // Without a broker nothing is taken apart.
        if self.client.secret().is_err() {
            return GiveOutcome::Unavailable(connection.into());
        }
        let key = connection.about.key.clone();
        let packed = match pack(connection, now) {
            Ok(packed) => packed,
            Err((_, connection)) => return GiveOutcome::Stays(connection.into()),
        };
        match self.send(&key, &packed, until) {
            Ok(()) => GiveOutcome::Gone,
            // Nothing was sent: the state is still this process's alone.
            Err(error) => match unpack(packed, &key, now, self.decode) {
                Ok(connection) if error == Unavailable::TooLarge => GiveOutcome::Stays(connection.into()),
                Ok(connection) => GiveOutcome::Unavailable(connection.into()),
                Err(_) => GiveOutcome::Gone,
            },
        }
    }
}

/// Names the connections of a key under the broker's secret.
fn name_by(secret: &Secret, key: &HashedKey) -> Key {
    let version = env!("CARGO_PKG_VERSION").as_bytes();
    key_of(secret, &[DOMAIN, state::FORM, version, b"\0"], &key.canonical_bytes())
}

/// Returns the key of a value in this network namespace, under the broker's secret. `head` says which kind of
/// value it is.
pub(super) fn key_of(secret: &Secret, head: &[&[u8]], value: &[u8]) -> Key {
    let mut mac = hmac::Context::with_key(&hmac::Key::new(hmac::HMAC_SHA256, secret.bytes()));
    let (device, number) = sys::network_namespace();
    head.iter().for_each(|part| mac.update(part));
    mac.update(&device.to_be_bytes());
    mac.update(&number.to_be_bytes());
    mac.update(value);
    let tag = mac.sign();
    let tag = tag.as_ref().try_into().expect("a tag of HMAC-SHA-256 has 32 bytes");
    secret.key(tag)
}

/// Returns the reason for a transfer that wanted a connection.
fn none(error: &Unavailable) -> NoneFromBroker {
    match error {
        Unavailable::NotRunning => NoneFromBroker::NotRunning,
        Unavailable::Slow => NoneFromBroker::Slow,
        Unavailable::OtherVersion(_) => NoneFromBroker::OtherVersion,
        Unavailable::System
        | Unavailable::Privileges
        | Unavailable::Folder(_)
        | Unavailable::OtherUser
        | Unavailable::Restarted
        | Unavailable::TooLarge
        | Unavailable::Broken(_) => NoneFromBroker::Unusable,
    }
}

/// Calls once more if the broker was restarted: its secret is another one then.
pub(super) fn again_after_restart<T>(
    mut call: impl FnMut() -> Result<T, Unavailable>,
) -> Result<T, Unavailable> {
    match call() {
        Err(Unavailable::Restarted) => call(),
        outcome => outcome,
    }
}
