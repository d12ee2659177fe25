//! The rows and programs on reqwest.

pub use their_reqwest as reqwest;

#[path = "programs.rs"]
pub mod programs;
#[path = "rows.rs"]
pub mod rows;
