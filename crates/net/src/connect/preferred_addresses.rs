//! Addresses that won a race although another one was tried first. They are tried first for a while (RFC
//! 6555, section 4.2, suggests ten minutes), so that an unreachable family costs its delay once.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

const KEPT: Duration = Duration::from_secs(600);
/// Hosts remembered; beyond it the oldest are forgotten.
const HOSTS: usize = 1000;

/// By host and port.
#[derive(Default)]
pub struct PreferredAddresses(HashMap<(String, u16), (SocketAddr, Instant)>);

impl PreferredAddresses {
    pub fn of(&self, host: &str, port: u16, now: Instant) -> Option<SocketAddr> {
        let (address, since) = self.0.get(&(host.to_ascii_lowercase(), port))?;
        (now.saturating_duration_since(*since) < KEPT).then_some(*address)
    }

    /// Records a winner. If it would have been tried first anyway, nothing is stored.
    pub fn note(&mut self, host: &str, port: u16, list: &[SocketAddr], winner: SocketAddr, now: Instant) {
        let host = (host.to_ascii_lowercase(), port);
        let first = list.iter().find(|a| a.is_ipv6()).or(list.first());
        if first == Some(&winner) || !list.contains(&winner) {
            self.0.remove(&host);
            return;
        }
        if self.0.len() >= HOSTS {
            self.make_room(now);
        }
        self.0.insert(host, (winner, now));
    }

    fn make_room(&mut self, now: Instant) {
        self.0.retain(|_, (_, since)| now.saturating_duration_since(*since) < KEPT);
        if self.0.len() >= HOSTS {
            let mut since: Vec<Instant> = self.0.values().map(|(_, since)| *since).collect();
            since.sort_unstable();
            let middle = since[since.len() / 2];
            self.0.retain(|_, (_, since)| *since > middle);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_not_first_for_ten_minutes() {
        let (six, four): (SocketAddr, SocketAddr) =
            ("[::1]:80".parse().unwrap(), "127.0.0.1:80".parse().unwrap());
        let (mut preferred_addresses, now) = (PreferredAddresses::default(), Instant::now());
        preferred_addresses.note("a.test", 80, &[four, six], six, now);
        assert_eq!(preferred_addresses.of("a.test", 80, now), None);
        preferred_addresses.note("A.test", 80, &[four, six], four, now);
        assert_eq!(preferred_addresses.of("a.Test", 80, now), Some(four));
        assert_eq!(preferred_addresses.of("a.test", 81, now), None);
        assert_eq!(preferred_addresses.of("a.test", 80, now + KEPT), None);
        preferred_addresses.note("a.test", 80, &[four, six], six, now);
        assert_eq!(preferred_addresses.of("a.test", 80, now), None, "the first one lives again");
    }

    #[test]
    fn a_bounded_number_of_hosts() {
        let (mut preferred_addresses, start) = (PreferredAddresses::default(), Instant::now());
        let list: [SocketAddr; 2] = ["127.0.0.1:80".parse().unwrap(), "127.0.0.2:80".parse().unwrap()];
        for n in 0..3 * HOSTS {
            let now = start + Duration::from_millis(n as u64);
            preferred_addresses.note(&format!("host{n}"), 80, &list, list[1], now);
            assert!(preferred_addresses.0.len() <= HOSTS);
        }
        assert!(preferred_addresses.of(&format!("host{}", 3 * HOSTS - 1), 80, start).is_some());
    }
}
