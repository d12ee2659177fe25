//! What is printed about the flags themselves: `--help`, the manual page, completions. All from the declarations.

pub mod complete;
pub mod help;
pub mod manual;
mod pages;
pub mod values;
