//! The doctor: what a program did with the library, and what it could do better. WARMWIRE_REPORT enables it
//! and names where the report goes when the process ends.
//!
//! Each handle then keeps the reasons of its transfers ([`crate::why`]). `totals` adds them up, `findings`
//! decides what they mean, `page` writes the report.

mod findings;
mod page;
#[cfg(test)]
mod tests;
mod totals;

use std::ffi::{OsStr, OsString};
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Mutex, TryLockError};
use std::time::{Duration, Instant};

use runtime::{LockFreeOnce, environment, fork_generation};
use tables::environment::REPORT;

use crate::why::Record;
use totals::Totals;

/// Where the report goes.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Destination {
    Nowhere,
    StandardError,
    /// The report is added to the file's end.
    File(PathBuf),
    /// Each process writes a file of its own.
    Folder(PathBuf),
}

/// Whether reports are on, for handles that are created: decided by the first one.
static STATE: AtomicU8 = AtomicU8::new(UNDECIDED);
const UNDECIDED: u8 = 0;
const OFF: u8 = 1;
const ON: u8 = 2;

/// The sums, and the process that they belong to: a forked child begins anew.
static TOTALS: Mutex<Option<(u64, Totals)>> = Mutex::new(None);
/// Transfers that could not be added, because other threads held the sums.
static UNCOUNTED: AtomicU64 = AtomicU64::new(0);
/// How often a thread tries for the sums.
const TRIES: usize = 1000;

impl Destination {
    fn of(value: Option<OsString>) -> Destination {
        match value {
            None => Destination::Nowhere,
            Some(value) if value == OsStr::new("stderr") => Destination::StandardError,
            Some(value) => {
                let path = PathBuf::from(value);
                // The program may change its working folder before it ends.
                let path = std::path::absolute(&path).unwrap_or(path);
                if path.is_dir() { Destination::Folder(path) } else { Destination::File(path) }
            }
        }
    }
}

fn destination() -> &'static Destination {
    static DESTINATION: LockFreeOnce<Destination> = LockFreeOnce::new();
    DESTINATION.get(|| {
        environment::check();
        Destination::of(environment::value(&REPORT))
    })
}

/// Returns whether handles keep the reasons of their transfers for the report.
pub fn is_on() -> bool {
    match STATE.load(Ordering::Relaxed) {
        UNDECIDED => {
            let on = *destination() != Destination::Nowhere;
            STATE.store(if on { ON } else { OFF }, Ordering::Relaxed);
            on
        }
        state => state == ON,
    }
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

/// Adds a transfer that has ended. The sums of a host are large, so the frame stands alone.
#[cold]
#[inline(never)]
pub(crate) fn add(record: &Record) {
    let added = with_totals(|totals| totals.add(record));
    if added.is_none() {
        UNCOUNTED.fetch_add(1, Ordering::Relaxed);
    }
}

/// Runs `f` on the sums. Waits for no thread that may not exist in a forked child: after some tries it gives
/// up.
fn with_totals<R>(f: impl FnOnce(&mut Totals) -> R) -> Option<R> {
    for _ in 0..TRIES {
        let mut totals = match TOTALS.try_lock() {
            Ok(totals) => totals,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                std::thread::yield_now();
                continue;
            }
        };
        let generation = fork_generation();
        if totals.as_ref().is_none_or(|(known, _)| *known != generation) {
            *totals = Some((generation, Totals::new(Instant::now())));
        }
        return totals.as_mut().map(|(_, totals)| f(totals));
    }
    None
}

/// Writes the report when the process ends. A program that made no transfer gets none.
pub fn write() {
    if STATE.load(Ordering::Relaxed) != ON {
        return;
    }
    let page = with_totals(|totals| {
        (totals.transfers > 0).then(|| page::text(totals, Instant::now(), UNCOUNTED.load(Ordering::Relaxed)))
    });
    let Some(Some(page)) = page else { return };
    let failed = |path: &PathBuf, e: io::Error| {
        // If standard error is closed, the remark is lost.
        let _ = writeln!(io::stderr(), "warmwire: {}: cannot write {}: {e}", REPORT.name, path.display());
    };
    match destination() {
        Destination::Nowhere => {}
        Destination::StandardError => {
            let _ = io::stderr().write_all(page.as_bytes());
        }
        Destination::File(path) => append(path, &page).unwrap_or_else(|e| failed(path, e)),
        Destination::Folder(folder) => {
            let path = folder.join(format!("warmwire-{}.txt", std::process::id()));
            append(&path, &page).unwrap_or_else(|e| failed(&path, e));
        }
    }
}

fn append(path: &PathBuf, page: &str) -> io::Result<()> {
    OpenOptions::new().create(true).append(true).open(path)?.write_all(page.as_bytes())
}

#[cfg(test)]
mod of_destinations {
    use super::*;

    #[test]
    fn values_name_destinations() {
        let of = |value: &str| Destination::of(Some(value.into()));
        assert_eq!(Destination::of(None), Destination::Nowhere);
        assert_eq!(of("stderr"), Destination::StandardError);
        let folder = std::env::temp_dir();
        assert_eq!(of(folder.to_str().unwrap()), Destination::Folder(folder.clone()));
        let file = folder.join("no such file");
        assert_eq!(of(file.to_str().unwrap()), Destination::File(file));
    }
}
