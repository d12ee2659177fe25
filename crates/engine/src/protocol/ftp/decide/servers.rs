//! Server programs that are known by their greeting, and how each handles commands that wait for no reply.

/// A program that reads a stream of commands: each is served, in order, however many arrive together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Program {
    /// The beginning of the first line of its greeting, behind `220 ` or `220-`.
    greeting: &'static str,
    /// Whether it confirms a file one round trip after its last byte, and reads no command in between: vsftpd
    /// closes the data connection with SO_LINGER and waits until its end is acknowledged; proftpd waits until
    /// the client has closed it, too.
    pub confirms_late: bool,
}

const fn reader(greeting: &'static str) -> Program {
    Program { greeting, confirms_late: false }
}

/// A server with a greeting of its administrator's is unknown, whatever program it is.
const PROGRAMS: [Program; 6] = [
    Program { confirms_late: true, ..reader("(vsFTPd") },
    Program { confirms_late: true, ..reader("ProFTPD") },
    reader("pyftpdlib"),
    reader("FileZilla Server"),
    reader("Microsoft FTP Service"),
    reader("--------- Welcome to Pure-FTPd"),
];

/// Returns the program whose greeting has this first line.
pub fn program(first_line: &[u8]) -> Option<Program> {
    let text = first_line.strip_prefix(b"220 ").or_else(|| first_line.strip_prefix(b"220-"))?;
    PROGRAMS.into_iter().find(|program| text.starts_with(program.greeting.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_known_by_the_beginning_of_their_greeting() {
        let rows = [
            ("vsftpd 3.0", "220 (vsFTPd 3.0.3)\r\n", Some(true)),
            ("proftpd 1.3", "220 ProFTPD Server (Debian) [::ffff:127.0.0.1]\r\n", Some(true)),
            ("pyftpdlib 2.0", "220 pyftpdlib 2.0.1 ready.\r\n", Some(false)),
            ("FileZilla Server 1.8", "220-FileZilla Server 1.8.2\r\n", Some(false)),
            ("FileZilla Server 0.9", "220-FileZilla Server version 0.9.41 beta\r\n", Some(false)),
            ("IIS 10", "220 Microsoft FTP Service\r\n", Some(false)),
            ("IIS 10 with a banner", "220-Microsoft FTP Service\r\n", Some(false)),
            (
                "pure-ftpd 1.0",
                "220---------- Welcome to Pure-FTPd [privsep] [TLS] ----------\r\n",
                Some(false),
            ),
            ("vsftpd with ftpd_banner", "220 Welcome to our files\r\n", None),
            ("proftpd with ServerIdent off", "220 198.51.100.1 FTP server ready\r\n", None),
            ("a name that is not at the beginning", "220 no (vsFTPd 3.0.3)\r\n", None),
            ("RFC 959 §4.2: another case is another text", "220 PROFTPD Server\r\n", None),
            ("RFC 959 §5.4: another code", "120 (vsFTPd 3.0.3)\r\n", None),
            ("RFC 959 §5.4: no text", "220", None),
        ];
        for (name, greeting, wanted) in rows {
            let found = program(greeting.as_bytes()).map(|program| program.confirms_late);
            assert_eq!(found, wanted, "{name}");
        }
    }
}
