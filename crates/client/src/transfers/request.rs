//! A transfer to start.

use std::time::Duration;

use engine::Choices;
use tables::EasyOption;

use super::data::{Sink, Upload};
use crate::{AccessPolicy, Reasons, Value};

/// A transfer to start.
pub struct Request {
    /// Options, in the order in which they are set.
    pub options: Vec<(EasyOption, Value)>,
    /// The data that [`EasyOption::Upload`] sends.
    pub upload: Upload,
    /// The destination of the body.
    pub sink: Sink,
    /// Limit of buffered body in bytes; beyond it the sender has to wait.
    pub window: usize,
    /// Whether [`Transfers::next_news`](super::Transfers::next_news) reports an opened connection.
    pub reports_connection: bool,
    /// How long a connected transfer may move no byte; `None` is no limit.
    pub stall_limit: Option<Duration>,
    /// Which reasons of the transfer are kept.
    pub explain: Reasons,
    /// The TLS library, and proxies by scheme.
    pub choices: Choices,
    /// The policy that it must satisfy, beside that of the process.
    pub access_policy: Option<AccessPolicy>,
}
