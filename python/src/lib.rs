//! The native half of the Python package `warmwire`: transfers and their results. `python/warmwire` defines
//! the requests and replies of Python programs.
//!
//! The interpreter's lock is released whenever the engine runs. The engine calls Python for one thing, memory
//! for a large body ([`body`]): data to send is passed in, and other received data is taken out.
//!
//! An interpreter without that lock stays without it: an engine's transfers are behind a mutex, pools are
//! shared by threads anyway, results do not change, and a batch refuses a second thread with an error.

mod body;
mod columns;
mod engine;
mod heads;
mod options;
mod outcome;
mod process_mutex;
mod upload;
mod watcher;

use pyo3::prelude::*;
use warmwire::{Code, EasyOption};

/// Codes, by number: name and text.
#[pyfunction]
fn codes() -> Vec<(i32, &'static str, &'static str)> {
    Code::ALL.iter().map(|code| (code.id(), code.name(), code.text())).collect()
}

/// Options of a transfer, by name without `CURLOPT_`: number, kind of value.
#[pyfunction]
fn known_options() -> Vec<(&'static str, i32, String)> {
    EasyOption::ALL
        .iter()
        .map(|option| (option.name(), option.id(), format!("{:?}", option.kind())))
        .collect()
}

/// Must be the first call in the child of a fork: connections and events of the parent are left alone.
#[pyfunction]
fn after_fork_in_child() {
    warmwire::after_fork_in_child();
}

#[pymodule(gil_used = false)]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<columns::Buffer>()?;
    module.add_class::<columns::Columns>()?;
    module.add_class::<engine::Engine>()?;
    module.add_class::<engine::Pool>()?;
    module.add_class::<outcome::Outcome>()?;
    module.add_class::<upload::Upload>()?;
    module.add_class::<watcher::Watcher>()?;
    module.add_function(wrap_pyfunction!(codes, module)?)?;
    module.add_function(wrap_pyfunction!(known_options, module)?)?;
    module.add_function(wrap_pyfunction!(after_fork_in_child, module)?)?;
    module.add_function(wrap_pyfunction!(heads::parse_heads, module)?)?;
    module.add("STALL_LIMIT_MS", options::STALL_LIMIT_MS)?;
    module.add("EXPLAIN", options::EXPLAIN)?;
    module.add("ACCESS_POLICY", options::ACCESS_POLICY)?;
    module.add("FOLLOW_NAMES", options::FOLLOW_NAMES)?;
    module.add("PRIORITY", options::PRIORITY)?;
    module.add("CURL_VERSION", warmwire::CURL_VERSION)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}
