//! `--har`, `--timeline` and `--summary`: reports about a run. A record of each ended transfer is the source
//! of the first two. The last one keeps only sums.

mod summary;

pub use summary::{Summary, TransferSummary};

use crate::message::shown;
use crate::outcome::Completion;
use crate::raw::Info;
use crate::raw::archive::Record;
use crate::writeout::Outcome;
use std::time::{Duration, Instant, SystemTime};

/// The records of a run.
pub struct Reports {
    pub records: Vec<Record>,
    began: Instant,
}

impl Reports {
    pub fn new() -> Reports {
        Reports { records: Vec::new(), began: Instant::now() }
    }

    pub fn add(&mut self, ended: &Completion) {
        let transfer = ended.transfer;
        // The origin of the library's times; a late inspection of the end shifts nothing.
        let counted = ended.easy.info(|info| info.started());
        let started = counted.or(transfer.started.get()).unwrap_or(transfer.created);
        let began = started.saturating_duration_since(self.began);
        let date = SystemTime::now().checked_sub(started.elapsed()).unwrap_or(SystemTime::UNIX_EPOCH);
        let tried = transfer.retries.get() > 0;
        let before = if tried { started.saturating_duration_since(transfer.created) } else { Duration::ZERO };
        let number = |info: Info| ended.number(info).unwrap_or(0);
        let text = |info: Info| ended.text(info).map(|text| shown(&text)).unwrap_or_default();
        let record = Record::of(&number, &text, began, date);
        let url = ended.text(Info::EffectiveUrl).or(ended.given_url());
        self.records.push(Record {
            url: url.map(|url| shown(&url)).unwrap_or_default(),
            code: ended.exit_code(),
            error: ended.error_text().map(|text| shown(&text)).unwrap_or_default(),
            before,
            connection: ended.connection(),
            exchanges: transfer.exchanges.borrow().all.clone(),
            ..record
        });
    }

    /// Sorts the entries in the order in which they began.
    pub fn sort(&mut self) {
        self.records.sort_by_key(|record| record.began - record.before);
    }
}
