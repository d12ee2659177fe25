//! Documentation of the flags: `--help`, the manual page, completions. All generated from the declarations.

pub mod complete;
pub mod help;
pub mod manual;
mod pages;
pub mod values;
