//! The Rust API of Warmwire.
//!
//! Two ways in. [`get`] and [`Handle`] are for programs that want a transfer done: set options, give closures,
//! perform. [`Easy`], [`Multi`] and [`Callbacks`] are the engine's own handles, for programs that drive many
//! transfers from an event loop of their own. Options, infos and codes are curl's, one row each in [`tables`].
//!
//! ```no_run
//! let mut handle = warmwire::Handle::new();
//! handle.set(warmwire::EasyOption::Url, "https://example.com/").unwrap();
//! let reply = handle.fetch().unwrap();
//! println!("{} {}", reply.status, reply.body.len());
//! ```

mod form;
mod handle;
mod value;

pub use engine::callbacks::{self, Callbacks};
pub use engine::easy::EasyState;
pub use engine::info::TransferInfo;
pub use engine::multi::{Limits, Message};
pub use engine::share::Locks;
pub use engine::stores::headers::{Field, Headers, Origin};
pub use engine::{Easy, ExtraFd, Multi, Settings, Share, meter};
pub use form::{Form, FormSource};
pub use handle::{Failure, Handle, Reply, get};
pub use tables::{Code, EasyOption, Info, MultiCode};
pub use value::Value;
pub use {tables, wire};
