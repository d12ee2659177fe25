//! The rows and programs on the crate `warmwire`.

pub use warmwire as reqwest;

#[path = "programs.rs"]
pub mod programs;
#[path = "rows.rs"]
pub mod rows;
