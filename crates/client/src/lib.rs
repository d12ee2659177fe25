//! The Rust API of Warmwire.
