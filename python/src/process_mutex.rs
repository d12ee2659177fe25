//! The mutex of what Python's threads share, which a forked child must not use.

use std::sync::{Mutex, MutexGuard};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use warmwire::fork_generation;

/// A mutex whose value belongs to the process that created it.
pub struct ProcessMutex<T> {
    value: Mutex<T>,
    /// The owner, for the error in a child: "an engine".
    name: &'static str,
    /// The process, counted in forks: asking the system for its number would cost each call more than the
    /// lock does.
    generation: u64,
}

impl<T> ProcessMutex<T> {
    pub fn new(value: T, name: &'static str) -> ProcessMutex<T> {
        ProcessMutex { value: Mutex::new(value), name, generation: fork_generation() }
    }

    /// Locks the value. Releases the interpreter's lock while it waits. Fails in the child of a fork.
    pub fn lock(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, T>> {
        if self.generation != fork_generation() {
            return Err(PyRuntimeError::new_err(format!("{} does not outlive a fork", self.name)));
        }
        Ok(match self.value.try_lock() {
            Ok(value) => value,
            Err(_) => {
                pyo3::sync::MutexExt::lock_py_attached(&self.value, py).unwrap_or_else(|e| e.into_inner())
            }
        })
    }

    /// Locks the value on a thread that has released the interpreter's lock.
    pub fn lock_detached(&self) -> MutexGuard<'_, T> {
        self.value.lock().unwrap_or_else(|e| e.into_inner())
    }
}
