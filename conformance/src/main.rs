//! Runs curl's published test cases against a curl command: plays the servers, compares every check.
fn main() {}
