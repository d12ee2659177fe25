//! How many threads ask the system. tests/resolver_interleavings.rs has smaller ones of its own.

/// Questions asked at once: as many names as curl asks the system for, each for two families.
pub const THREADS: usize = 40;
/// Threads that may exist, with those that are stuck.
pub const MOST_THREADS: usize = 240;
