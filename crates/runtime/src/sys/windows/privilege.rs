//! Whether the process has more privileges than its user: on Windows, a file cannot give them.

/// Never: the environment is the program's own.
pub fn secure_execution() -> bool {
    false
}
