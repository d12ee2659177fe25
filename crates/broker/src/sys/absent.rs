//! Systems without a broker: each call fails.

use std::time::{Duration, Instant};

use crate::{Entry, Key, Parcel, Secret, Status, Taken, Unavailable};

/// Client of a broker that does not exist on this system.
#[derive(Debug, Default)]
pub struct Client(());

/// The answer of a broker.
#[derive(Debug)]
pub struct Greeting {
    pub secret: Secret,
}

impl Client {
    pub fn new() -> Client {
        Client(())
    }

    pub fn secret(&self) -> Result<Secret, Unavailable> {
        Err(Unavailable::System)
    }

    pub fn greet(&self) -> Result<Greeting, Unavailable> {
        Err(Unavailable::System)
    }

    pub fn take_greeted(&self, _: Greeting, _: &Key) -> Result<Option<Taken>, Unavailable> {
        Err(Unavailable::System)
    }

    pub fn take(&self, _: &Key) -> Result<Option<Taken>, Unavailable> {
        Err(Unavailable::System)
    }

    pub fn give(&self, _: &Key, _: &Parcel<'_>, _: Instant) -> Result<(), Unavailable> {
        Err(Unavailable::System)
    }

    pub fn put(&self, _: &Key, _: Duration, _: &[u8], _: Instant) -> Result<(), Unavailable> {
        Err(Unavailable::System)
    }

    pub fn get(&self, _: &Key) -> Result<Option<Entry>, Unavailable> {
        Err(Unavailable::System)
    }

    pub fn status(&self) -> Result<Status, Unavailable> {
        Err(Unavailable::System)
    }

    pub fn stop(&self) -> Result<(), Unavailable> {
        Err(Unavailable::System)
    }
}

/// Fails: this system has no broker.
pub fn run_broker() -> Result<(), String> {
    Err(Unavailable::System.to_string())
}
