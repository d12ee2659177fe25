//! Flags for logging in: methods, names, tokens and message signatures.

use super::flag::{Arg, Declaration, FLAG, Multi, Set};
use crate::act;
use crate::options::Key::Lib;
use crate::raw::EasyOption as O;

pub const FLAGS: &[Declaration] = &[
    Declaration {
        name: "aws-sigv4",
        arg: Arg::Text("<provider1[:prvdr2[:reg[:srv]]]>"),
        multi: Multi::Single,
        categories: &["auth", "http"],
        protocols: "HTTP",
        since: "7.75.0",
        help: "Sign the request for AWS with version 4 signatures",
        about: "The argument names the provider, and optionally a second provider part, the region \
            and the service; what is left out is taken from the host name. The access key and \
            secret come from --user.",
        set: Set::Act(act::aws_sigv4),
        ..FLAG
    },
    Declaration {
        name: "basic",
        categories: &["auth", "http"],
        protocols: "HTTP",
        since: "7.10.6",
        help: "Log in with HTTP Basic",
        about: "This is what happens anyway when a user name is given; it is of use to undo a method \
            chosen earlier.",
        set: Set::Bits(Lib(O::HttpAuth), 1),
        ..FLAG
    },
    Declaration {
        name: "delegation",
        arg: Arg::Text("<LEVEL>"),
        multi: Multi::Single,
        categories: &["auth"],
        protocols: "GSS/kerberos",
        since: "7.22.0",
        help: "How far GSS-API credentials may be delegated",
        about: "One of none, policy (only when the Kerberos policy says so) and always.",
        set: Set::Act(act::delegation),
        ..FLAG
    },
    Declaration {
        name: "digest",
        categories: &["proxy", "auth", "http"],
        protocols: "HTTP",
        since: "7.10.6",
        help: "Log in with HTTP Digest",
        about: "The password does not travel in the clear. Combine with --user.",
        set: Set::Bits(Lib(O::HttpAuth), 2),
        ..FLAG
    },
    Declaration {
        name: "httpsig-algo",
        arg: Arg::Text("<algorithm>"),
        multi: Multi::Single,
        categories: &["auth", "http"],
        protocols: "HTTP",
        since: "8.22.0",
        help: "Signature algorithm for HTTP messages",
        about: "ed25519, the default, or hmac-sha256 (RFC 9421).",
        set: Set::Act(act::httpsig_algo),
        ..FLAG
    },
    Declaration {
        name: "httpsig-headers",
        arg: Arg::Text("<components>"),
        multi: Multi::Single,
        categories: &["auth", "http"],
        protocols: "HTTP",
        since: "8.22.0",
        help: "Which parts of the request to sign",
        about: "A list separated by blanks: method, authority, path and query, and header names that \
            end in a colon.",
        set: Set::Text(Lib(O::HttpSigHeaders)),
        ..FLAG
    },
    Declaration {
        name: "httpsig-key",
        arg: Arg::Text("<key/file>"),
        multi: Multi::Single,
        categories: &["auth", "http"],
        protocols: "HTTP",
        since: "8.22.0",
        help: "Key for signing HTTP messages",
        about: "The key in hex, or @ and the name of the file that holds it.",
        secret: true,
        set: Set::Act(act::httpsig_key),
        ..FLAG
    },
    Declaration {
        name: "httpsig-keyid",
        arg: Arg::Text("<id>"),
        multi: Multi::Single,
        categories: &["auth", "http"],
        protocols: "HTTP",
        since: "8.22.0",
        help: "Name of the key to tell the server",
        about: "Sent as keyid in the Signature-Input header.",
        set: Set::Text(Lib(O::HttpSigKeyId)),
        ..FLAG
    },
    Declaration {
        name: "negotiate",
        categories: &["auth", "http"],
        protocols: "HTTP",
        since: "7.10.6",
        help: "Log in with Negotiate (SPNEGO)",
        about: "Proves who has a ticket of Kerberos; needs its library. A name, as in --user alice:, only tells connections apart.",
        needs: "SPNEGO",
        set: Set::Bits(Lib(O::HttpAuth), 4),
        ..FLAG
    },
    Declaration {
        name: "netrc-file",
        arg: Arg::File("<filename>"),
        multi: Multi::Single,
        categories: &["auth"],
        since: "7.21.5",
        help: "File with logins, in the format of .netrc",
        about: "Implies --netrc.",
        set: Set::ExistingFile(Lib(O::NetrcFile)),
        ..FLAG
    },
    Declaration {
        name: "netrc-optional",
        categories: &["auth"],
        since: "7.9.8",
        help: "Use .netrc if there is an entry",
        about: "A name in the URL or in --user goes first.",
        set: Set::Field(|r| &mut r.netrc_optional),
        ..FLAG
    },
    Declaration {
        name: "netrc",
        short: 'n',
        categories: &["auth"],
        since: "4.6",
        help: "Take the login from ~/.netrc",
        about: "The machine of the URL is looked for in the file.",
        set: Set::Field(|r| &mut r.netrc),
        ..FLAG
    },
    Declaration {
        name: "ntlm",
        categories: &["auth", "http"],
        protocols: "HTTP",
        since: "7.10.6",
        help: "Log in with NTLM",
        about: "A method of Microsoft's servers that belongs to the connection. Avoid it where you \
            can.",
        needs: "NTLM",
        set: Set::Bits(Lib(O::HttpAuth), 8),
        ..FLAG
    },
    Declaration {
        name: "oauth2-bearer",
        arg: Arg::Text("<token>"),
        multi: Multi::Single,
        categories: &["auth", "imap", "pop3", "smtp", "ldap", "http"],
        protocols: "IMAP LDAP POP3 SMTP HTTP",
        since: "7.33.0",
        help: "Log in with this OAuth 2 bearer token",
        about: "Sent in the Authorization header, or by SASL for mail, with the name from --user.",
        secret: true,
        set: Set::Act(act::oauth2_bearer),
        ..FLAG
    },
    Declaration {
        name: "sasl-authzid",
        arg: Arg::Text("<identity>"),
        multi: Multi::Single,
        categories: &["auth", "imap", "smtp", "pop3", "ldap"],
        protocols: "LDAP IMAP POP3 SMTP",
        since: "7.66.0",
        help: "Identity to act as in SASL PLAIN",
        about: "Besides the one that logs in.",
        set: Set::Text(Lib(O::SaslAuthzId)),
        ..FLAG
    },
    Declaration {
        name: "sasl-ir",
        categories: &["auth", "imap", "pop3", "ldap", "smtp"],
        protocols: "LDAP IMAP POP3 SMTP",
        since: "7.31.0",
        help: "Send the first SASL message with the command",
        about: "Saves a round trip.",
        set: Set::On(Lib(O::SaslIr)),
        ..FLAG
    },
    Declaration {
        name: "service-name",
        arg: Arg::Text("<name>"),
        multi: Multi::Single,
        categories: &["auth"],
        since: "7.43.0",
        help: "Service name for Negotiate",
        about: "Instead of HTTP.",
        set: Set::Text(Lib(O::ServiceName)),
        ..FLAG
    },
    Declaration {
        name: "user",
        short: 'u',
        arg: Arg::Text("<user:password>"),
        multi: Multi::Single,
        categories: &["important", "auth"],
        since: "4.0",
        help: "Server user and password",
        about: "With a name alone the password is asked for.",
        secret: true,
        set: Set::AnyText(Lib(O::UserPwd)),
        ..FLAG
    },
];
