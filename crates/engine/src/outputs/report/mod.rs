//! The doctor: what a program did with the library, and what it could do better. WARMWIRE_REPORT enables it
//! and names where the report goes when the process ends.
//!
//! `totals` adds up the reasons of transfers, `findings` decides what they mean, `page` writes the report.

mod findings;
mod page;
#[cfg(test)]
mod tests;
mod totals;

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use runtime::LockFreeOnce;
use tables::environment::REPORT;

use super::destination::Destination;
use super::per_process::PerProcess;
use crate::why::Record;
use totals::Totals;

/// The sums of the process.
static TOTALS: PerProcess<Totals> = PerProcess::new();
/// Transfers that could not be added, because other threads held the sums.
static UNCOUNTED: AtomicU64 = AtomicU64::new(0);

fn destination() -> &'static Destination {
    static DESTINATION: LockFreeOnce<Destination> = LockFreeOnce::new();
    DESTINATION.get(|| Destination::of(&REPORT))
}

/// Returns whether the environment requests a report.
pub fn is_wanted() -> bool {
    *destination() != Destination::Nowhere
}

/// Runs of a multi handle without a wait between them that are counted together.
pub(crate) const BUSY: u32 = 1000;

/// Adds `BUSY` runs of a multi handle between which the application did not wait.
pub(crate) fn add_busy(time: Duration) {
    let _ = with_totals(|totals| {
        totals.busy.count += u64::from(BUSY);
        totals.busy.time += time;
    });
}

/// Adds a transfer that has ended. The sums of a host are large, so they have a stack frame of their own.
#[cold]
#[inline(never)]
pub(crate) fn add(record: &Record) {
    let added = with_totals(|totals| totals.add(record));
    if added.is_none() {
        UNCOUNTED.fetch_add(1, Ordering::Relaxed);
    }
}

/// Runs `f` on the sums.
fn with_totals<R>(f: impl FnOnce(&mut Totals) -> R) -> Option<R> {
    TOTALS.with(|| Totals::new(Instant::now()), f)
}

/// Writes the report when the process ends. A program that made no transfer gets none.
pub fn write() {
    let page = with_totals(|totals| {
        (totals.transfers > 0).then(|| page::text(totals, Instant::now(), UNCOUNTED.load(Ordering::Relaxed)))
    });
    if let Some(Some(page)) = page {
        destination().write(&REPORT, "txt", &page, append);
    }
}

fn append(path: &Path, page: &[u8]) -> io::Result<()> {
    OpenOptions::new().create(true).append(true).open(path)?.write_all(page)
}
