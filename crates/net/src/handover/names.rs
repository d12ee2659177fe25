//! Looked-up names that travel between processes: a process finds in the broker what another one has asked
//! the system, while it is fresh.
//!
//! The key covers all that decides about an answer: the name and the family, the network namespace, the files
//! of the system's resolver and its variables. So a changed /etc/hosts is another key. Only answers of the
//! system's resolver travel. Those of servers that a handle names stay in its process: their lifetimes and
//! identities are the handle's. That a name has no addresses of one family travels, too, but only beside the
//! addresses of the other: a name without any may get some at any time.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use broker::{Client, Key, Unavailable};

use super::broker::{again_after_restart, key_of};
use crate::resolver::{Family, Found, SharedNames};
use crate::sys;

/// Separates names of records from the MACs of other values.
const DOMAIN: &[u8] = b"warmwire name 1\0";
/// Variables that getaddrinfo reads: resolv.conf(5), hostname(7).
const VARIABLES: [&str; 3] = ["LOCALDOMAIN", "RES_OPTIONS", "HOSTALIASES"];
/// How long storing may take: it delays the answer.
const PATIENCE: Duration = Duration::from_millis(5);

/// The names in the broker of this user.
#[derive(Debug)]
pub struct UserNames {
    client: Arc<Client>,
    lifetime: Duration,
}

impl UserNames {
    /// Returns the names of a broker; each is fresh for that long.
    pub fn new(client: Arc<Client>, lifetime: Duration) -> UserNames {
        UserNames { client, lifetime }
    }

    fn key(&self, name: &str, family: Family) -> Result<Key, Unavailable> {
        let kind: &[u8] = if family == Family::V4 { b"4" } else { b"6" };
        let mut parts = vec![kind.to_vec(), sys::resolver_state()];
        for variable in VARIABLES {
            let value = std::env::var_os(variable);
            parts.push(value.map_or(b"0".to_vec(), |value| [b"1", value.as_encoded_bytes()].concat()));
        }
        parts.push(name.as_bytes().to_vec());
        // A length precedes each part, so that different lists have different bytes.
        let parts = parts.iter().flat_map(|part| [(part.len() as u64).to_be_bytes().to_vec(), part.clone()]);
        Ok(key_of(&self.client.secret()?, &[DOMAIN], &parts.collect::<Vec<_>>().concat()))
    }
}

impl UserNames {
    fn get(&self, name: &str, family: Family) -> Option<(Vec<Found>, Duration)> {
        let entry = again_after_restart(|| self.client.get(&self.key(name, family)?)).ok()??;
        Some((decode(&entry.value, family)?, entry.left))
    }
}

impl SharedNames for UserNames {
    fn find(&self, name: &str, family: Family) -> Option<(Vec<Found>, Duration)> {
        let (found, left) = self.get(name, family)?;
        if found.is_empty() {
            let other = if family == Family::V4 { Family::V6 } else { Family::V4 };
            self.get(name, other).filter(|(found, _)| !found.is_empty())?;
        }
        Some((found, left))
    }

    fn store(&self, name: &str, family: Family, found: &[Found]) {
        let until = Instant::now() + PATIENCE;
        let value = encode(found);
        let put = || self.client.put(&self.key(name, family)?, self.lifetime, &value, until);
        // Without a broker the name stays in this process.
        let _ = again_after_restart(put);
    }
}

/// Writes each address with its scope.
fn encode(found: &[Found]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (address, scope) in found {
        match address {
            IpAddr::V4(address) => bytes.extend(address.octets()),
            IpAddr::V6(address) => bytes.extend(address.octets()),
        }
        bytes.extend(scope.to_be_bytes());
    }
    bytes
}

/// Reads the addresses; `None` if the bytes are none.
fn decode(bytes: &[u8], family: Family) -> Option<Vec<Found>> {
    let size = if family == Family::V4 { 8 } else { 20 };
    let entries = bytes.chunks(size).map(|entry| {
        let (address, scope) = entry.split_last_chunk::<4>()?;
        let address = match family {
            Family::V4 => IpAddr::from(Ipv4Addr::from(<[u8; 4]>::try_from(address).ok()?)),
            Family::V6 => IpAddr::from(Ipv6Addr::from(<[u8; 16]>::try_from(address).ok()?)),
        };
        Some((address, u32::from_be_bytes(*scope)))
    });
    entries.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_arrive_as_they_were_sent() {
        let four: Vec<Found> = vec![("192.0.2.1".parse().unwrap(), 0), ("192.0.2.2".parse().unwrap(), 0)];
        let six: Vec<Found> = vec![("fe80::1".parse().unwrap(), 7), ("2001:db8::".parse().unwrap(), 0)];
        assert_eq!(decode(&encode(&four), Family::V4), Some(four.clone()));
        assert_eq!(decode(&encode(&six), Family::V6), Some(six.clone()));
        for cut in 1..40 {
            let whole = cut % 20 == 0;
            assert_eq!(decode(&encode(&six)[..cut], Family::V6).is_some(), whole, "{cut}");
        }
        assert_eq!(decode(b"", Family::V4), Some(Vec::new()));
    }
}
