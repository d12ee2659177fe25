//! Limits of resolver threads. tests/resolver_interleavings.rs has smaller ones.

/// Maximum number of concurrent queries: as many names as in curl, each for two families.
pub const THREADS: usize = 40;
/// Maximum number of threads, including stuck ones.
pub const MOST_THREADS: usize = 240;
