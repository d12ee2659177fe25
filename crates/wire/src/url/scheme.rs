//! What the URL rules depend on per scheme: its default port, and whether the login carries `;options`.

/// A scheme that curl knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scheme {
    pub name: &'static str,
    pub default_port: u16,
    /// `user:password;options@` in the authority (IMAP, POP3 and SMTP).
    pub has_login_options: bool,
}

/// The scheme of this name, in any case.
pub fn scheme(name: &str) -> Option<Scheme> {
    ALL.iter()
        .find(|(known, ..)| known.eq_ignore_ascii_case(name))
        .map(|&(name, default_port, has_login_options)| Scheme { name, default_port, has_login_options })
}

const ALL: &[(&str, u16, bool)] = &[
    ("dict", 2628, false),
    ("file", 0, false),
    ("ftp", 21, false),
    ("ftps", 990, false),
    ("gopher", 70, false),
    ("gophers", 70, false),
    ("http", 80, false),
    ("https", 443, false),
    ("imap", 143, true),
    ("imaps", 993, true),
    ("ldap", 389, false),
    ("ldaps", 636, false),
    ("mqtt", 1883, false),
    ("mqtts", 8883, false),
    ("pop3", 110, true),
    ("pop3s", 995, true),
    ("rtsp", 554, false),
    ("scp", 22, false),
    ("sftp", 22, false),
    ("smb", 445, false),
    ("smbs", 445, false),
    ("smtp", 25, true),
    ("smtps", 465, true),
    ("telnet", 23, false),
    ("tftp", 69, false),
    ("ws", 80, false),
    ("wss", 443, false),
];
