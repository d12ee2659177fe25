//! The categories of flags.

/// The categories of `--help` with their titles, which are curl's: published cases and programs match the
/// list.
pub const CATEGORIES: &[(&str, &str)] = &[
    ("auth", "Authentication methods"),
    ("connection", "Manage connections"),
    ("curl", "The command line tool itself"),
    ("deprecated", "Legacy"),
    ("dns", "Names and resolving"),
    ("extra", "Options that curl does not have"),
    ("file", "FILE protocol"),
    ("ftp", "FTP protocol"),
    ("global", "Global options"),
    ("http", "HTTP and HTTPS protocol"),
    ("imap", "IMAP protocol"),
    ("important", "The most used options"),
    ("ldap", "LDAP protocol"),
    ("mqtt", "MQTT protocol"),
    ("output", "File system output"),
    ("pop3", "POP3 protocol"),
    ("post", "HTTP POST specific"),
    ("proxy", "Options for proxies"),
    ("scp", "SCP protocol"),
    ("sftp", "SFTP protocol"),
    ("smtp", "SMTP protocol"),
    ("ssh", "SSH protocol"),
    ("telnet", "TELNET protocol"),
    ("tftp", "TFTP protocol"),
    ("timeout", "Timeouts and delays"),
    ("tls", "TLS/SSL related"),
    ("upload", "Upload, sending data"),
    ("verbose", "Tracing, logging etc"),
];
