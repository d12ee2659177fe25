//! The connections of a run and their transfers: concurrent transfers on one connection, on different
//! streams, have separate lines.

use super::Record;
use std::collections::BTreeMap;
use std::time::Duration;

/// The first phase in which a transfer uses its connection: name resolution, which takes no time on an
/// existing connection.
pub const FIRST_PHASE: usize = 2;

/// A connection.
#[derive(Debug, PartialEq, Eq)]
pub struct Lane {
    pub connection: i64,
    /// Maximum number of concurrent transfers.
    pub streams: usize,
    /// Its transfers, in order of their start.
    pub rows: Vec<Carried>,
}

/// A transfer on it.
#[derive(Debug, PartialEq, Eq)]
pub struct Carried {
    /// Its place among the records.
    pub record: usize,
    pub line: usize,
    /// Since the run began.
    pub from: Duration,
}

/// All connections, in the order of their numbers.
pub fn lanes(records: &[Record]) -> Vec<Lane> {
    let mut carried: BTreeMap<i64, Vec<(Duration, usize)>> = BTreeMap::new();
    for (at, record) in records.iter().enumerate().filter(|(_, record)| record.connection >= 0) {
        let waited: Duration = record.phases[..FIRST_PHASE].iter().sum();
        carried.entry(record.connection).or_default().push((record.began + waited, at));
    }
    carried.into_iter().map(|(connection, came)| lane(connection, came, records)).collect()
}

fn lane(connection: i64, mut came: Vec<(Duration, usize)>, records: &[Record]) -> Lane {
    came.sort_unstable();
    // On a connection without streams one comes after the other, though the clock may have seen the end of
    // one late.
    let shared = came.iter().any(|(_, record)| shares(&records[*record]));
    // When each line is free again.
    let mut ends: Vec<Duration> = Vec::new();
    let mut rows = Vec::with_capacity(came.len());
    for (from, record) in came {
        let line = ends.iter().position(|end| *end <= from || !shared).unwrap_or(ends.len());
        let until = records[record].began + records[record].total();
        match ends.get_mut(line) {
            Some(end) => *end = until,
            None => ends.push(until),
        }
        rows.push(Carried { record, line, from });
    }
    Lane { connection, streams: ends.len(), rows }
}

/// Returns whether the transfer had a stream or channel of a shared connection.
fn shares(record: &Record) -> bool {
    record.stream().is_some() || ["sftp:", "scp:"].iter().any(|scheme| record.url.starts_with(scheme))
}

#[cfg(test)]
mod tests {
    use super::super::tests::record;
    use super::*;

    #[test]
    fn streams_at_a_time_stand_beside_each_other() {
        // Each takes 47 ms, the first 10 of which it waits.
        let at = |began: u64, connection: i64| Record {
            began: Duration::from_millis(began),
            connection,
            ..record()
        };
        let records = [at(0, 3), at(20, 3), at(30, 0), at(40, 3), at(50, -1), at(90, 3)];
        let found = lanes(&records);
        assert_eq!(
            found.iter().map(|lane| (lane.connection, lane.streams)).collect::<Vec<_>>(),
            [(0, 1), (3, 2)]
        );
        let lines: Vec<(usize, usize)> = found[1].rows.iter().map(|row| (row.record, row.line)).collect();
        assert_eq!(lines, [(0, 0), (1, 1), (3, 0), (5, 0)]);
        assert_eq!(found[1].rows[1].from, Duration::from_millis(30));
        let plain = records.map(|record| Record { exchanges: Vec::new(), ..record });
        assert!(lanes(&plain).iter().all(|lane| lane.streams == 1));
    }
}
