//! Flags for sending mail.

use super::flag::{Arg, Declaration, FLAG, Multi, Set};
use crate::options::Key::Lib;
use crate::raw::EasyOption as O;

pub const FLAGS: &[Declaration] = &[
    Declaration {
        name: "login-options",
        arg: Arg::Text("<options>"),
        multi: Multi::Single,
        categories: &["imap", "pop3", "smtp", "auth", "ldap"],
        protocols: "IMAP LDAP POP3 SMTP",
        since: "7.34.0",
        help: "Login options for IMAP, POP3, SMTP and LDAP",
        about: "For example AUTH=NTLM, to choose a mechanism.",
        set: Set::AnyText(Lib(O::LoginOptions)),
        ..FLAG
    },
    Declaration {
        name: "mail-auth",
        arg: Arg::Text("<address>"),
        multi: Multi::Single,
        categories: &["smtp"],
        protocols: "SMTP",
        since: "7.25.0",
        help: "Address of the original sender of a mail",
        about: "Added to MAIL FROM as AUTH, for relays.",
        set: Set::Text(Lib(O::MailAuth)),
        ..FLAG
    },
    Declaration {
        name: "mail-from",
        arg: Arg::Text("<address>"),
        multi: Multi::Single,
        categories: &["smtp"],
        protocols: "SMTP",
        since: "7.20.0",
        help: "Sender of the mail",
        about: "The envelope sender.",
        set: Set::Text(Lib(O::MailFrom)),
        ..FLAG
    },
    Declaration {
        name: "mail-rcpt-allowfails",
        categories: &["smtp"],
        protocols: "SMTP",
        since: "7.69.0",
        help: "Go on when some recipients are refused",
        about: "The transfer fails only when all of them are.",
        set: Set::On(Lib(O::MailRcptAllowFails)),
        ..FLAG
    },
    Declaration {
        name: "mail-rcpt",
        arg: Arg::Text("<address>"),
        multi: Multi::Append,
        categories: &["smtp"],
        protocols: "SMTP",
        since: "7.20.0",
        help: "Recipient of the mail",
        about: "Can be given many times. With VRFY and EXPN it is the name to ask for.",
        set: Set::List(Lib(O::MailRcpt)),
        ..FLAG
    },
];
