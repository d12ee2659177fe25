//! The properties of schemes that the URL rules need, from the table of schemes.

use tables::scheme::{Family, Scheme};

/// The scheme of this name, in any case.
pub(super) fn scheme(name: &[u8]) -> Option<SchemeInfo> {
    let found = Scheme::from_name(name)?;
    let has_login_options = matches!(found.family(), Family::Imap | Family::Pop3 | Family::Smtp);
    Some(SchemeInfo { default_port: found.default_port(), has_login_options })
}

pub(super) struct SchemeInfo {
    pub default_port: u16,
    /// `user:password;options@` in the authority.
    pub has_login_options: bool,
}
