//! Documentation of the flags: `--help`, the manual page, completions. All generated from the declarations.

pub mod complete;
mod examples;
mod failures;
pub mod help;
pub mod manual;
pub mod markdown;
mod pages;
pub mod values;
