//! A user with a password.

/// User and password.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Login {
    /// User name.
    pub user: Vec<u8>,
    /// Password.
    pub password: Vec<u8>,
}

/// FTP's user without a name (RFC 1635).
pub const ANONYMOUS: &[u8] = b"anonymous";
