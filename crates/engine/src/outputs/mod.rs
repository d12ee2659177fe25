//! Files and reports about a process's transfers, which variables of the environment ask for:
//! WARMWIRE_REPORT, WARMWIRE_HAR, WARMWIRE_TIMELINE, WARMWIRE_LOG and WARMWIRE_TRACE. The application takes
//! no part in them.
//!
//! Each handle then keeps the reasons of its transfers ([`crate::why`]). When a transfer has ended, each
//! output takes what it needs. Log and spans leave as they are made, the others when the process ends.

pub mod archives;
mod destination;
pub mod log;
mod per_process;
pub mod report;
pub mod trace;

use std::sync::atomic::{AtomicU8, Ordering};

use runtime::environment;
use tables::environment::HAR_SECRETS;

use crate::archive::Secrets;

/// An output of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Output {
    /// WARMWIRE_REPORT.
    Report = 2,
    /// WARMWIRE_HAR or WARMWIRE_TIMELINE.
    Archives = 4,
    /// WARMWIRE_LOG.
    Log = 8,
    /// WARMWIRE_TRACE.
    Trace = 16,
}

/// The outputs that are on, as bits: decided when the first handle is created. 0 before that.
static STATE: AtomicU8 = AtomicU8::new(0);
const DECIDED: u8 = 1;

#[inline]
fn state() -> u8 {
    match STATE.load(Ordering::Relaxed) {
        0 => decide(),
        state => state,
    }
}

#[cold]
fn decide() -> u8 {
    environment::check();
    let outputs = [
        (Output::Report, report::is_wanted()),
        (Output::Archives, archives::are_wanted()),
        (Output::Log, log::is_wanted()),
        (Output::Trace, trace::is_wanted()),
    ];
    let on = outputs.iter().filter(|(_, wanted)| *wanted);
    let state = on.fold(DECIDED, |bits, (output, _)| bits | *output as u8);
    STATE.store(state, Ordering::Relaxed);
    state
}

/// Returns whether an output needs the reasons of transfers.
#[inline]
pub fn need_reasons() -> bool {
    state() != DECIDED
}

/// Returns whether an output is on.
#[inline]
pub fn has(output: Output) -> bool {
    state() & output as u8 != 0
}

/// Writes what was collected, when the process ends.
pub fn write() {
    // A process without a handle writes nothing.
    if STATE.load(Ordering::Relaxed) == 0 {
        return;
    }
    if has(Output::Archives) {
        archives::write();
    }
    if has(Output::Report) {
        report::write();
    }
    if has(Output::Trace) {
        trace::finish();
    }
}

/// Returns whether archives of this process contain secrets (WARMWIRE_HAR_SECRETS).
pub fn secrets() -> Secrets {
    match environment::text(&HAR_SECRETS).as_deref() {
        Some("yes") => Secrets::Kept,
        _ => Secrets::Omitted,
    }
}
