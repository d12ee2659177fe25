//! The name of this machine.

/// Its name without the domain.
pub fn host_name() -> Vec<u8> {
    let name = rustix::system::uname().nodename().to_bytes().to_vec();
    match name.split(|b| *b == b'.').next() {
        Some(name) if !name.is_empty() => name.to_vec(),
        _ => b"localhost".to_vec(),
    }
}
