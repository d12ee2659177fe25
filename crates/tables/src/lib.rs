//! Facts shared with C: options, infos, codes, schemes, exports, as rows. Data only.
//!
//! Each fact is here and nowhere else. The C headers, COVERAGE.md and the tests of the built library derive
//! from it.

pub mod code;
pub mod constant;
pub mod easy_option;
pub mod environment;
pub mod export;
pub mod feature;
pub mod flag;
pub mod info;
mod inline_text;
pub mod multi_option;
pub mod option_rule;
pub mod reentry;
pub mod scheme;
pub mod share;
pub mod value;
pub mod version;

pub use code::{Code, HeaderCode, MultiCode, ProxyCode, ShareCode, UrlCode};
pub use easy_option::{ArgKind, EasyOption, Support};
pub use flag::Flag;
pub use info::{Info, InfoKind};
pub use multi_option::MultiOption;
pub use reentry::{Entry, Where, allowed};
pub use scheme::Scheme;
pub use share::{LockAccess, LockData, ShareOption};
pub use value::Value;
pub use version::{line as version_line, version};
