//! Whether the process runs with more rights than its user: no file's mark gives them here.

/// Never: the environment is the program's own.
pub fn secure_execution() -> bool {
    false
}
