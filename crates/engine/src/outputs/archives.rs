//! WARMWIRE_HAR and WARMWIRE_TIMELINE: the records of a process's transfers, written when it ends.
//!
//! A file gets its name when it is complete, so that a process that is killed leaves nothing under it.

use std::time::{Instant, SystemTime};

use runtime::LockFreeOnce;
use tables::environment::{HAR, TIMELINE};

use super::destination::Destination;
use super::per_process::PerProcess;
use super::secrets;
use crate::archive::{Exchange, Record, har, timeline};
use crate::stores::file::write_private;

/// Most records that a process keeps, and most bytes of their heads.
const MAX_RECORDS: usize = 10_000;
const MAX_BYTES: usize = 32 << 20;

/// The records of a process.
struct Records {
    /// When the first transfer began; the picture's times are relative to it.
    began: Instant,
    all: Vec<Record>,
    bytes: usize,
    left_out: u64,
}

static RECORDS: PerProcess<Records> = PerProcess::new();

/// The destinations of the archive and of the picture.
fn destinations() -> &'static [Destination; 2] {
    static DESTINATIONS: LockFreeOnce<[Destination; 2]> = LockFreeOnce::new();
    DESTINATIONS.get(|| [Destination::of(&HAR), Destination::of(&TIMELINE)])
}

/// Returns whether the environment requests an archive.
pub fn are_wanted() -> bool {
    destinations().iter().any(|one| *one != Destination::Nowhere)
}

/// Adds a transfer that has ended. It was started at this time.
#[cold]
pub fn add(started: Instant, record: Record) {
    let size = record.exchanges.iter().map(Exchange::size).sum();
    // If other threads hold the records for long, the transfer is lost.
    let _ = RECORDS.with(|| Records::new(started), |records| records.add(started, record, size));
}

impl Records {
    fn new(began: Instant) -> Records {
        Records { began, all: Vec::new(), bytes: 0, left_out: 0 }
    }

    fn add(&mut self, started: Instant, mut record: Record, size: usize) {
        if self.all.len() == MAX_RECORDS || self.bytes + size > MAX_BYTES {
            self.left_out += 1;
            return;
        }
        if started < self.began {
            let earlier = self.began - started;
            self.all.iter_mut().for_each(|one| one.began += earlier);
            self.began = started;
        }
        record.began = started - self.began;
        self.bytes += size;
        self.all.push(record);
    }
}

/// Writes the files. A process that made no transfer writes none.
pub fn write() {
    let taken = RECORDS.with(
        || Records::new(Instant::now()),
        |records| (std::mem::take(&mut records.all), records.left_out),
    );
    let Some((mut records, left_out)) = taken.filter(|(records, _)| !records.is_empty()) else { return };
    records.sort_by_key(|record| record.began);
    let [archive, picture] = destinations();
    if *archive != Destination::Nowhere {
        archive.write(&HAR, "har", &har(&records, secrets(), left_out), write_private);
    }
    if *picture != Destination::Nowhere {
        let name = match picture {
            Destination::File(path) => path.to_string_lossy().into_owned(),
            _ => String::new(),
        };
        picture.write(&TIMELINE, "svg", &timeline(&records, name.as_bytes()), write_private);
    }
}

/// Returns the moment on the calendar at which a transfer was started.
pub fn date(started: Instant) -> SystemTime {
    SystemTime::now().checked_sub(started.elapsed()).unwrap_or(SystemTime::UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::Exchanges;
    use std::time::Duration;
    use tables::Info;

    fn record(at: Instant, head: usize) -> Record {
        let mut exchanges = Exchanges::of_program();
        exchanges.asked(&[&vec![b'x'; head][..], b"\r\n\r\n"].concat());
        let number = |_: Info| 0;
        let record = Record::of(&number, &|_| String::new(), Duration::ZERO, date(at));
        Record { exchanges: exchanges.all, ..record }
    }

    #[test]
    fn records_are_bounded_by_number_and_by_bytes() {
        let now = Instant::now();
        for (head, least, most) in [(0, MAX_RECORDS, MAX_RECORDS), (1 << 14, 2000, 2100)] {
            let mut records = Records::new(now);
            for _ in 0..MAX_RECORDS + 5 {
                records.add(now, record(now, head), head.max(1));
            }
            assert!((least..=most).contains(&records.all.len()), "{}", records.all.len());
            assert_eq!(records.all.len() as u64 + records.left_out, MAX_RECORDS as u64 + 5);
        }
    }

    /// The transfer that ends first may have begun last.
    #[test]
    fn times_count_from_the_first_that_began() {
        let first = Instant::now();
        let later = first + Duration::from_millis(30);
        let mut records = Records::new(later);
        records.add(later, record(later, 0), 0);
        records.add(first, record(first, 0), 0);
        let began: Vec<_> = records.all.iter().map(|record| record.began.as_millis()).collect();
        assert_eq!(began, [30, 0]);
    }
}
