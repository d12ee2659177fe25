//! The name of this machine.

/// Its name without the domain.
pub fn host_name() -> Vec<u8> {
    let name = std::env::var("COMPUTERNAME").unwrap_or_default();
    let name = name.split('.').next().filter(|name| !name.is_empty());
    name.unwrap_or("localhost").as_bytes().to_vec()
}
