//! Flags for FTP.

use super::flag::{Arg, Declaration, FLAG, Multi, Set};
use crate::act;
use crate::options::Key::Lib;
use crate::raw::EasyOption as O;

pub const FLAGS: &[Declaration] = &[
    Declaration {
        name: "append",
        short: 'a',
        categories: &["ftp", "sftp"],
        protocols: "FTP SFTP",
        since: "4.8",
        help: "Add to the remote file when uploading",
        about: "The remote file is appended to instead of being replaced, and made when it does not \
            exist. Some SFTP servers ignore the request.",
        set: Set::On(Lib(O::Append)),
        ..FLAG
    },
    Declaration {
        name: "crlf",
        categories: &["ftp", "smtp"],
        protocols: "FTP SMTP",
        since: "5.7",
        help: "Turn line feeds into CRLF in an upload",
        about: "Useful for servers of old systems and for mail.",
        set: Set::On(Lib(O::Crlf)),
        ..FLAG
    },
    Declaration {
        name: "disable-eprt",
        categories: &["ftp"],
        protocols: "FTP",
        since: "7.10.5",
        help: "No EPRT command for active FTP",
        about: "Only PORT is tried for active transfers over IPv4. --eprt switches it on again.",
        set: Set::Off(Lib(O::FtpUseEprt)),
        ..FLAG
    },
    Declaration {
        name: "disable-epsv",
        categories: &["ftp"],
        protocols: "FTP",
        since: "7.9.2",
        help: "No EPSV command for passive FTP",
        about: "Only PASV is tried for passive transfers over IPv4. --epsv switches it on again.",
        set: Set::Off(Lib(O::FtpUseEpsv)),
        ..FLAG
    },
    Declaration {
        name: "ftp-account",
        arg: Arg::Text("<data>"),
        multi: Multi::Single,
        categories: &["ftp", "auth"],
        protocols: "FTP",
        since: "7.13.0",
        help: "Account to name when an FTP server asks",
        about: "Sent with ACCT when the server wants it after user name and password.",
        set: Set::Text(Lib(O::FtpAccount)),
        ..FLAG
    },
    Declaration {
        name: "ftp-alternative-to-user",
        arg: Arg::Text("<command>"),
        multi: Multi::Single,
        categories: &["ftp"],
        protocols: "FTP",
        since: "7.15.5",
        help: "Command to try when USER fails",
        about: "For servers that let a client certificate stand for the name, for example \"SITE \
            AUTH\".",
        set: Set::Text(Lib(O::FtpAlternativeToUser)),
        ..FLAG
    },
    Declaration {
        name: "ftp-create-dirs",
        categories: &["ftp", "sftp"],
        protocols: "FTP SFTP",
        since: "7.10.7",
        help: "Make missing directories on the server",
        about: "When a directory in the path of the URL does not exist it is made.",
        set: Set::On(Lib(O::FtpCreateMissingDirs)),
        ..FLAG
    },
    Declaration {
        name: "ftp-method",
        arg: Arg::Text("<method>"),
        multi: Multi::Single,
        categories: &["ftp"],
        protocols: "FTP",
        since: "7.15.1",
        help: "How to reach a file in a directory",
        about: "multicwd changes directory step by step, singlecwd once, nocwd gives the whole path \
            with the file.",
        set: Set::Act(act::ftp_method),
        ..FLAG
    },
    Declaration {
        name: "ftp-pasv",
        arg: Arg::None,
        multi: Multi::Mutex,
        categories: &["ftp"],
        protocols: "FTP",
        since: "7.11.0",
        help: "Passive FTP",
        about: "The default; it undoes an earlier --ftp-port.",
        set: Set::Mark(act::ftp_pasv),
        ..FLAG
    },
    Declaration {
        name: "ftp-port",
        short: 'P',
        arg: Arg::Text("<address>"),
        multi: Multi::Single,
        categories: &["ftp"],
        protocols: "FTP",
        since: "4.0",
        help: "Active FTP: the server connects back to us",
        about: "The argument is an address, host name or interface to send to the server, or a \
            dash for the address of the control connection. A port or range may follow a colon.",
        set: Set::Text(Lib(O::FtpPort)),
        ..FLAG
    },
    Declaration {
        name: "ftp-pret",
        categories: &["ftp"],
        protocols: "FTP",
        since: "7.20.0",
        help: "Send PRET before PASV",
        about: "For servers such as drftpd, which need it.",
        set: Set::On(Lib(O::FtpUsePret)),
        ..FLAG
    },
    Declaration {
        name: "ftp-skip-pasv-ip",
        categories: &["ftp"],
        protocols: "FTP",
        since: "7.15.0",
        help: "Ignore the address in a PASV answer",
        about: "The data connection goes to the same address as the control connection. This is the \
            default.",
        set: Set::On(Lib(O::FtpSkipPasvIp)),
        ..FLAG
    },
    Declaration {
        name: "ftp-ssl-ccc-mode",
        arg: Arg::Text("<active/passive>"),
        categories: &["ftp", "tls"],
        protocols: "FTP",
        since: "7.16.2",
        help: "How to end TLS on the control connection",
        about: "passive waits for the server to close the TLS layer, active closes it first. Implies \
            --ftp-ssl-ccc.",
        set: Set::Act(act::ftp_ccc_mode),
        ..FLAG
    },
    Declaration {
        name: "ftp-ssl-ccc",
        categories: &["ftp", "tls"],
        protocols: "FTP",
        since: "7.16.1",
        help: "Clear the control connection after login",
        about: "TLS is shut down once logged in, so that address translators can read the commands.",
        set: Set::Toggle(act::ftp_ccc),
        ..FLAG
    },
    Declaration {
        name: "ftp-ssl-control",
        categories: &["ftp", "tls"],
        protocols: "FTP",
        since: "7.16.0",
        help: "TLS for the login, clear data",
        about: "Fails when the server cannot do TLS; the data connections are not encrypted.",
        set: Set::Field(|r| &mut r.ssl_control),
        ..FLAG
    },
    Declaration {
        name: "list-only",
        short: 'l',
        categories: &["ftp", "pop3", "sftp", "file"],
        protocols: "FTP POP3 SFTP FILE",
        since: "4.0",
        help: "List only mode",
        about: "FTP uses NLST, POP3 lists messages, FILE and SFTP show plain names.",
        set: Set::On(Lib(O::DirListOnly)),
        ..FLAG
    },
    Declaration {
        name: "quote",
        short: 'Q',
        arg: Arg::Text("<command>"),
        multi: Multi::Append,
        categories: &["ftp", "sftp"],
        protocols: "FTP SFTP",
        since: "5.3",
        help: "Send a command to an FTP or SFTP server",
        about: "Before the transfer, or with a leading dash after it, or with a plus just before the \
            data. A star in front lets it fail.",
        set: Set::Act(act::quote),
        ..FLAG
    },
    Declaration {
        name: "use-ascii",
        short: 'B',
        categories: &["ftp", "output", "ldap", "tftp"],
        protocols: "FTP LDAP TFTP",
        since: "5.0",
        help: "Text mode for FTP, LDAP and TFTP",
        about: "Line ends are converted by the server.",
        set: Set::On(Lib(O::TransferText)),
        ..FLAG
    },
];
