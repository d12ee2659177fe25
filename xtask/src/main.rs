//! Generated files, tidy checks, benchmark and demo drivers behind the Makefile.
fn main() {}
