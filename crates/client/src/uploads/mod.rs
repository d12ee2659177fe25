//! Uploads that survive their process: what is kept of one until it is complete (docs/decisions/0016). Where
//! it continues is decided by [`wire::upload`].

mod attempts;
mod held;
mod record;

pub use attempts::is_retryable;
pub use held::Held;
pub use record::{Record, Stamp, key};
pub use wire::upload::compare;
