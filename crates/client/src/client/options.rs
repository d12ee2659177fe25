//! Options that a client sets for all its requests, and a request for itself.

use std::time::Duration;

use tables::EasyOption;

use crate::transfers::Choices;
use crate::{AccessPolicy, PlainValue, Reasons};

/// Default limit of buffered body; beyond it the sender has to wait.
pub(super) const WINDOW: usize = 128 * 1024;

/// Options as the caller set them. Those of a request come after those of its client.
#[derive(Clone, Default)]
pub(crate) struct Options {
    pub list: Vec<(EasyOption, PlainValue)>,
    pub window: Option<usize>,
    /// How long a transfer may move no byte.
    pub read_timeout: Option<Duration>,
    /// Which reasons of a transfer are kept.
    pub explain: Option<Reasons>,
    /// Those of the client; of a request only the priority.
    pub choices: Choices,
    pub access_policy: Option<AccessPolicy>,
}

impl Options {
    pub fn set(&mut self, option: EasyOption, value: impl Into<PlainValue>) {
        self.list.push((option, value.into()));
    }

    pub fn has(&self, option: EasyOption) -> bool {
        self.list.iter().any(|(known, _)| *known == option)
    }

    /// Sets what both builders set.
    pub fn set_timeout(&mut self, option: EasyOption, limit: Option<Duration>) {
        self.set(option, limit.map_or(0, milliseconds));
    }

    /// Adds the options of a request to a copy of those of its client.
    pub fn with(&self, more: Options) -> Options {
        let mut list = Vec::with_capacity(self.list.len() + more.list.len() + 6);
        list.extend(self.list.iter().cloned());
        list.extend(more.list);
        Options {
            list,
            window: more.window.or(self.window),
            read_timeout: more.read_timeout.or(self.read_timeout),
            explain: more.explain.or(self.explain),
            choices: Choices {
                priority: more.choices.priority.or(self.choices.priority),
                ..self.choices.clone()
            },
            access_policy: more.access_policy.or_else(|| self.access_policy.clone()),
        }
    }
}

/// Converts a duration to the milliseconds that options take. Zero would be no limit.
pub(super) fn milliseconds(limit: Duration) -> i64 {
    i64::try_from(limit.as_nanos().div_ceil(1_000_000)).unwrap_or(i64::MAX).max(1)
}
