//! The broker's tables: parked connections and small records, each with a limit and a lifetime. Without I/O;
//! the caller names the time.
//!
//! Both are short vectors in order of arrival, the newest last: 256 comparisons of 32 bytes take a few
//! microseconds.

use std::time::{Duration, Instant};

use crate::message::{Mac, Parked, Times};

/// A parked connection.
#[derive(Debug)]
pub struct Slot<C> {
    /// Names the slot as long as the broker lives.
    pub number: u64,
    pub connection: C,
    mac: Mac,
    scheme: String,
    host: String,
    port: u16,
    opened: Instant,
    used: Instant,
    until: Instant,
    uses: u32,
}

/// Facts about a connection that is to be parked.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'a> {
    pub mac: Mac,
    pub scheme: &'a str,
    pub host: &'a str,
    pub port: u16,
    pub times: Times,
    pub idle_limit: Duration,
}

/// The parked connections.
#[derive(Debug)]
pub struct Table<C> {
    slots: Vec<Slot<C>>,
    limit: usize,
    idle_limit: Duration,
    next: u64,
}

impl<C> Table<C> {
    pub fn new(limit: usize, idle_limit: Duration) -> Table<C> {
        Table { slots: Vec::new(), limit, idle_limit, next: 0 }
    }

    /// Parks a connection and returns its number. Returns the connection if it has been idle for too long.
    /// The caller has made room.
    pub fn park(&mut self, arrival: &Arrival<'_>, connection: C, now: Instant) -> Result<u64, C> {
        let limit = arrival.idle_limit.min(self.idle_limit);
        let left = limit.saturating_sub(arrival.times.idle);
        if left.is_zero() || self.is_full() {
            return Err(connection);
        }
        let number = self.next;
        self.next += 1;
        self.slots.push(Slot {
            number,
            connection,
            mac: arrival.mac,
            scheme: arrival.scheme.to_owned(),
            host: arrival.host.to_owned(),
            port: arrival.port,
            opened: before(now, arrival.times.age),
            used: before(now, arrival.times.idle),
            until: now + left,
            uses: arrival.times.uses,
        });
        Ok(number)
    }

    pub fn is_full(&self) -> bool {
        self.slots.len() >= self.limit
    }

    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Removes the oldest connection.
    pub fn evict(&mut self) -> Option<Slot<C>> {
        (!self.slots.is_empty()).then(|| self.slots.remove(0))
    }

    /// Removes the newest connection of a key.
    pub fn take(&mut self, mac: &Mac) -> Option<Slot<C>> {
        let place = self.slots.iter().rposition(|slot| slot.mac == *mac)?;
        Some(self.slots.remove(place))
    }

    /// Removes the connection of that number.
    pub fn remove(&mut self, number: u64) -> Option<Slot<C>> {
        let place = self.slots.iter().position(|slot| slot.number == number)?;
        Some(self.slots.remove(place))
    }

    /// The connection of that number.
    pub fn get(&self, number: u64) -> Option<&C> {
        self.slots.iter().find(|slot| slot.number == number).map(|slot| &slot.connection)
    }

    /// Removes the connections whose time is over.
    pub fn expire(&mut self, now: Instant) -> Vec<Slot<C>> {
        self.slots.extract_if(.., |slot| slot.until <= now).collect()
    }

    /// The next instant at which a connection expires.
    pub fn next_end(&self) -> Option<Instant> {
        self.slots.iter().map(|slot| slot.until).min()
    }

    /// Lists the connections from that place on.
    pub fn list(&self, from: usize, now: Instant) -> impl Iterator<Item = Parked> {
        self.slots.iter().skip(from).map(move |slot| slot.describe(now))
    }
}

impl<C> Slot<C> {
    pub fn times(&self, now: Instant) -> Times {
        let (age, idle) = (now.duration_since(self.opened), now.duration_since(self.used));
        Times { age, idle, uses: self.uses }
    }

    fn describe(&self, now: Instant) -> Parked {
        let Times { age, idle, uses } = self.times(now);
        Parked { scheme: self.scheme.clone(), host: self.host.clone(), port: self.port, age, idle, uses }
    }
}

/// Returns the instant that long ago; for an absurd time, one year ago.
fn before(now: Instant, time: Duration) -> Instant {
    const LONGEST: Duration = Duration::from_hours(24 * 365);
    now.checked_sub(time.min(LONGEST)).unwrap_or(now)
}

/// A record in the table.
#[derive(Debug)]
pub struct Stored<V> {
    mac: Mac,
    pub value: V,
    until: Instant,
}

/// The records.
#[derive(Debug)]
pub struct Records<V> {
    stored: Vec<Stored<V>>,
    limit: usize,
}

impl<V> Records<V> {
    pub fn new(limit: usize) -> Records<V> {
        Records { stored: Vec::new(), limit }
    }

    /// Stores a record. It replaces that of its key, and the oldest one if there are too many.
    pub fn put(&mut self, mac: Mac, value: V, time_to_live: Duration, now: Instant) {
        const LONGEST: Duration = Duration::from_hours(24 * 7);
        self.stored.retain(|stored| stored.until > now && stored.mac != mac);
        if self.stored.len() >= self.limit && !self.stored.is_empty() {
            self.stored.remove(0);
        }
        let until = now + time_to_live.min(LONGEST);
        self.stored.push(Stored { mac, value, until });
    }

    /// Returns the value of a key and its remaining lifetime.
    pub fn get(&self, mac: &Mac, now: Instant) -> Option<(&V, Duration)> {
        let stored = self.stored.iter().find(|stored| stored.mac == *mac && stored.until > now)?;
        Some((&stored.value, stored.until - now))
    }

    pub fn len(&self) -> usize {
        self.stored.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn arrival(mac: u8, idle: u64, idle_limit: u64) -> Arrival<'static> {
        let times = Times { age: 10 * SECOND, idle: Duration::from_secs(idle), uses: 1 };
        let idle_limit = Duration::from_secs(idle_limit);
        Arrival { mac: [mac; 32], scheme: "https", host: "h", port: 443, times, idle_limit }
    }

    #[test]
    fn the_newest_connection_of_a_key_is_taken_once() {
        let mut table = Table::new(4, 118 * SECOND);
        let now = Instant::now();
        for (mac, connection) in [(1, "old"), (1, "new"), (2, "other")] {
            table.park(&arrival(mac, 0, 118), connection, now).unwrap();
        }
        let taken: Vec<_> = (0..3).map(|_| table.take(&[1; 32]).map(|slot| slot.connection)).collect();
        assert_eq!(taken, [Some("new"), Some("old"), None]);
        assert_eq!(table.take(&[3; 32]).map(|slot| slot.connection), None);
        assert_eq!(table.len(), 1);
    }

    #[test]
    fn a_full_table_wants_room() {
        let mut table = Table::new(2, 118 * SECOND);
        let now = Instant::now();
        table.park(&arrival(1, 0, 118), 1, now).unwrap();
        table.park(&arrival(2, 0, 118), 2, now).unwrap();
        assert_eq!(table.park(&arrival(3, 0, 118), 3, now), Err(3));
        assert_eq!(table.evict().unwrap().connection, 1);
        table.park(&arrival(3, 0, 118), 3, now).unwrap();
    }

    /// The shorter of both limits counts, and the time that the connection was idle before.
    #[test]
    fn idle_connections_expire() {
        let mut table = Table::new(9, 118 * SECOND);
        let now = Instant::now();
        for (number, (idle, limit)) in [(0, 5), (4, 5), (0, 1000), (100, 1000)].into_iter().enumerate() {
            table.park(&arrival(1, idle, limit), number, now).unwrap();
        }
        assert_eq!(table.park(&arrival(1, 5, 5), 9, now), Err(9));
        assert_eq!(table.next_end(), Some(now + SECOND));
        let mut gone_at = |seconds: u32| -> Vec<usize> {
            table.expire(now + seconds * SECOND).into_iter().map(|slot| slot.connection).collect()
        };
        assert_eq!(gone_at(0), []);
        assert_eq!(gone_at(1), [1]);
        assert_eq!(gone_at(5), [0]);
        assert_eq!(gone_at(18), [3]);
        assert_eq!(gone_at(117), []);
        assert_eq!(gone_at(118), [2]);
    }

    #[test]
    fn times_go_on_while_parked() {
        let mut table = Table::new(1, 118 * SECOND);
        let now = Instant::now();
        table.park(&arrival(1, 3, 118), (), now).unwrap();
        let listed: Vec<_> = table.list(0, now + SECOND).collect();
        assert_eq!((listed[0].age, listed[0].idle, listed[0].uses), (11 * SECOND, 4 * SECOND, 1));
        assert_eq!(table.list(1, now).count(), 0);
        assert_eq!(table.take(&[1; 32]).unwrap().times(now + 2 * SECOND).idle, 5 * SECOND);
    }

    #[test]
    fn absurd_times_do_no_harm() {
        let mut table = Table::new(1, 118 * SECOND);
        let now = Instant::now();
        let mut absurd = arrival(1, 0, 0);
        absurd.idle_limit = Duration::MAX;
        absurd.times.age = Duration::MAX;
        table.park(&absurd, (), now).unwrap();
        let mut records = Records::new(1);
        records.put([1; 32], (), Duration::MAX, now);
        assert!(table.next_end().unwrap() <= now + 118 * SECOND);
    }

    #[test]
    fn a_record_stays_until_it_is_replaced_or_expires() {
        let mut records = Records::new(10);
        let now = Instant::now();
        for value in [1, 2] {
            records.put([1; 32], value, SECOND, now);
        }
        for _ in 0..2 {
            assert_eq!(records.get(&[1; 32], now), Some((&2, SECOND)));
        }
        assert_eq!(records.len(), 1);
        assert_eq!(records.get(&[1; 32], now + SECOND), None);
    }

    #[test]
    fn records_have_limits() {
        let mut records = Records::new(3);
        let now = Instant::now();
        for mac in 0..5 {
            records.put([mac; 32], mac, SECOND, now);
        }
        let kept: Vec<_> = (0..5).map(|mac| records.get(&[mac; 32], now).map(|(value, _)| *value)).collect();
        assert_eq!(kept, [None, None, Some(2), Some(3), Some(4)]);
    }
}
