//! The command line tool, a drop-in for curl.
fn main() {}
