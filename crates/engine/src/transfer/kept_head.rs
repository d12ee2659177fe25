//! Kept head: the last request of a URL, from one transfer to the next.

use std::borrow::Cow;
use std::rc::Rc;

use net::exchange::RequestHead;

use crate::settings::{Method, Text};

/// The head of a request without a body, which may be sent again, and the infos that belong to it.
pub struct KeptHead {
    /// Of the settings, when it was made.
    pub generation: u64,
    /// The version of HTTP that it is for.
    pub version: &'static str,
    /// The transfer's method.
    pub method: Method,
    /// The head itself.
    pub head: Rc<RequestHead>,
    /// Whether its reply consists of a head only, too.
    pub head_only: bool,
    /// CURLINFO_EFFECTIVE_METHOD.
    pub effective_method: Cow<'static, str>,
    /// CURLINFO_REFERER.
    pub referer: Option<Text>,
}
