//! Flags for TLS and certificates.

use super::flag::{Arg, Declaration, FLAG, Multi, Set};
use crate::act;
use crate::options::{Key::Lib, Key::Tool, ToolOption};
use crate::raw::EasyOption as O;

pub const FLAGS: &[Declaration] = &[
    Declaration {
        name: "ca-native",
        categories: &["tls"],
        protocols: "TLS",
        since: "8.2.0",
        help: "Also trust the certificates of the operating system",
        about: "Certificates in the system's own store are accepted in addition to those of --cacert \
            and --capath.",
        set: Set::Bits(Lib(O::SslOptions), 16),
        ..FLAG
    },
    Declaration {
        name: "cacert",
        arg: Arg::File("<file>"),
        multi: Multi::Single,
        categories: &["tls"],
        protocols: "TLS",
        since: "7.5",
        help: "Trust the certificate authorities in this file",
        about: "The server's certificate must be signed by one of the PEM certificates in the file. \
            Without the option the environment variables CURL_CA_BUNDLE, SSL_CERT_DIR and \
            SSL_CERT_FILE are asked, then the default place.",
        set: Set::ExistingFile(Lib(O::CaInfo)),
        ..FLAG
    },
    Declaration {
        name: "capath",
        arg: Arg::File("<dir>"),
        multi: Multi::Single,
        categories: &["tls"],
        protocols: "TLS",
        since: "7.9.8",
        help: "Trust the certificate authorities in this directory",
        about: "Names a directory of PEM certificates. Several directories are separated by a colon.",
        set: Set::Text(Lib(O::CaPath)),
        ..FLAG
    },
    Declaration {
        name: "cert-status",
        categories: &["tls"],
        protocols: "TLS",
        since: "7.41.0",
        help: "Demand a stapled OCSP answer from the server",
        about: "The transfer fails when the server sends no certificate status, or one that does not \
            say the certificate is good.",
        set: Set::On(Lib(O::SslVerifyStatus)),
        ..FLAG
    },
    Declaration {
        name: "cert-type",
        arg: Arg::Text("<type>"),
        multi: Multi::Single,
        categories: &["tls"],
        protocols: "TLS",
        since: "7.9.3",
        help: "Format of the client certificate (PEM, DER, P12)",
        about: "Says how the file given with --cert is encoded. PEM is assumed when nothing is said.",
        set: Set::Text(Lib(O::SslCertType)),
        ..FLAG
    },
    Declaration {
        name: "cert",
        short: 'E',
        arg: Arg::File("<certificate[:password]>"),
        multi: Multi::Single,
        categories: &["tls"],
        protocols: "TLS",
        since: "5.0",
        help: "Show this client certificate, with its pass phrase",
        about: "The certificate is presented when the server asks for one. A colon separates the \
            file from the pass phrase of its key; write \\: for a colon that belongs to the name. \
            The key may stand in the same file or be given with --key.",
        secret: true,
        set: Set::Act(act::cert),
        ..FLAG
    },
    Declaration {
        name: "ciphers",
        arg: Arg::Text("<list>"),
        multi: Multi::Single,
        categories: &["tls"],
        protocols: "TLS",
        since: "7.9",
        help: "Cipher suites allowed up to TLS 1.2",
        about: "A list of cipher suites separated by colons, for TLS 1.2 and older. See also \
            --tls13-ciphers.",
        set: Set::Text(Lib(O::SslCipherList)),
        ..FLAG
    },
    Declaration {
        name: "crlfile",
        arg: Arg::File("<file>"),
        multi: Multi::Single,
        categories: &["tls"],
        protocols: "TLS",
        since: "7.19.7",
        help: "Check certificates against this revocation list",
        about: "A PEM file with certificate revocation lists.",
        set: Set::ExistingFile(Lib(O::CrlFile)),
        ..FLAG
    },
    Declaration {
        name: "curves",
        arg: Arg::Text("<list>"),
        multi: Multi::Single,
        categories: &["tls"],
        protocols: "TLS",
        since: "7.73.0",
        help: "Key exchange groups to offer in TLS",
        about: "Names of elliptic curves or groups separated by colons, in order of preference.",
        set: Set::Text(Lib(O::SslEcCurves)),
        ..FLAG
    },
    Declaration {
        name: "ech",
        arg: Arg::Text("<config>"),
        multi: Multi::Single,
        categories: &["tls"],
        protocols: "HTTPS",
        since: "8.8.0",
        help: "Use Encrypted Client Hello in TLS",
        about: "The argument is false, grease, true, hard, ecl:LIST or pn:NAME.",
        set: Set::Act(act::ech),
        ..FLAG
    },
    Declaration {
        name: "engine",
        arg: Arg::Text("<name>"),
        multi: Multi::Single,
        categories: &["tls"],
        protocols: "TLS",
        since: "7.9.3",
        help: "Crypto engine to use",
        about: "An engine of the system's OpenSSL or, where none has that name, a provider. With the word list the engines \
                known are printed.",
        set: Set::Act(act::engine),
        ..FLAG
    },
    Declaration {
        name: "insecure",
        short: 'k',
        categories: &["tls", "sftp", "scp", "ssh"],
        protocols: "TLS SFTP SCP",
        since: "7.10",
        help: "Do not verify the server",
        about: "Every TLS certificate, and every SSH host key, is accepted. Whoever sits between can \
            read and change all.",
        set: Set::Field(|r| &mut r.insecure),
        ..FLAG
    },
    Declaration {
        name: "key-type",
        arg: Arg::Text("<type>"),
        multi: Multi::Single,
        categories: &["tls"],
        protocols: "TLS",
        since: "7.9.3",
        help: "Format of the private key (PEM, DER)",
        about: "PEM is assumed when nothing is said.",
        set: Set::Text(Lib(O::SslKeyType)),
        ..FLAG
    },
    Declaration {
        name: "key",
        arg: Arg::File("<key>"),
        multi: Multi::Single,
        categories: &["tls", "sftp", "scp", "ssh"],
        protocols: "TLS SCP SFTP",
        since: "7.9.3",
        help: "Private key file",
        about: "For a TLS client certificate, or for logging in over SSH.",
        set: Set::Text(Tool(ToolOption::Key)),
        ..FLAG
    },
    Declaration {
        name: "no-alpn",
        categories: &["tls", "http"],
        protocols: "HTTPS",
        since: "7.36.0",
        help: "No ALPN in TLS",
        about: "The protocol is then not negotiated in the handshake.",
        set: Set::On(Lib(O::SslEnableAlpn)),
        ..FLAG
    },
    Declaration {
        name: "no-sessionid",
        categories: &["tls"],
        protocols: "TLS",
        since: "7.16.0",
        help: "No reuse of TLS sessions",
        about: "Each connection makes a full handshake.",
        set: Set::On(Lib(O::SslSessionIdCache)),
        ..FLAG
    },
    Declaration {
        name: "pass",
        arg: Arg::Text("<phrase>"),
        multi: Multi::Single,
        categories: &["tls", "sftp", "scp", "ssh", "auth"],
        protocols: "TLS SCP SFTP",
        since: "7.9.3",
        help: "Pass phrase of the private key",
        about: "For --key, in TLS and SSH.",
        secret: true,
        set: Set::Text(Lib(O::KeyPasswd)),
        ..FLAG
    },
    Declaration {
        name: "pinnedpubkey",
        arg: Arg::Text("<hashes>"),
        multi: Multi::Single,
        categories: &["tls"],
        protocols: "TLS",
        since: "7.39.0",
        help: "Accept this public key only",
        about: "The name of a PEM or DER file, or sha256// and the digest in base64; several digests \
            are separated by semicolons.",
        set: Set::Text(Lib(O::PinnedPublicKey)),
        ..FLAG
    },
    Declaration {
        name: "proxy-ca-native",
        categories: &["tls"],
        protocols: "TLS",
        since: "8.2.0",
        help: "Trust the system's certificates for the proxy",
        about: "As --ca-native, for an HTTPS proxy.",
        set: Set::Bits(Lib(O::ProxySslOptions), 16),
        ..FLAG
    },
    Declaration {
        name: "sigalgs",
        arg: Arg::Text("<list>"),
        multi: Multi::Single,
        categories: &["tls"],
        protocols: "TLS",
        since: "8.14.0",
        help: "Signature algorithms to offer in TLS",
        about: "A list separated by colons.",
        set: Set::Text(Lib(O::SslSignatureAlgorithms)),
        ..FLAG
    },
    Declaration {
        name: "ssl-allow-beast",
        categories: &["tls"],
        protocols: "TLS",
        since: "7.25.0",
        help: "Leave out a TLS 1.0 safeguard",
        about: "For old servers that stumble over it.",
        set: Set::Bits(Lib(O::SslOptions), 1),
        ..FLAG
    },
    Declaration {
        name: "ssl-auto-client-cert",
        categories: &["tls"],
        protocols: "TLS",
        since: "7.77.0",
        help: "Let the system pick a client certificate",
        about: "On Windows only.",
        set: Set::Bits(Lib(O::SslOptions), 32),
        ..FLAG
    },
    Declaration {
        name: "ssl-no-revoke",
        categories: &["tls"],
        protocols: "TLS",
        since: "7.44.0",
        help: "No revocation checks",
        about: "On Windows only.",
        set: Set::Bits(Lib(O::SslOptions), 2),
        ..FLAG
    },
    Declaration {
        name: "ssl-reqd",
        categories: &["tls", "imap", "pop3", "smtp", "ldap", "ftp"],
        protocols: "FTP IMAP POP3 SMTP LDAP",
        since: "7.20.0",
        help: "Demand TLS",
        about: "Fails when a mail, LDAP or FTP server cannot switch to TLS.",
        set: Set::Field(|r| &mut r.ssl_required),
        ..FLAG
    },
    Declaration {
        name: "ssl-revoke-best-effort",
        categories: &["tls"],
        protocols: "TLS",
        since: "7.70.0",
        help: "Ignore missing revocation data",
        about: "On Windows only.",
        set: Set::Bits(Lib(O::SslOptions), 8),
        ..FLAG
    },
    Declaration {
        name: "ssl-sessions",
        arg: Arg::File("<filename>"),
        multi: Multi::Single,
        categories: &["tls"],
        protocols: "TLS",
        since: "8.12.0",
        help: "Keep TLS sessions in this file",
        about: "Loaded at the start and saved at the end. The file holds secrets. TLS is spoken by the system's OpenSSL then, \
                which alone lets its sessions out.",
        set: Set::Act(act::ssl_sessions),
        ..FLAG
    },
    Declaration {
        name: "ssl",
        categories: &["tls", "imap", "pop3", "smtp", "ldap", "ftp"],
        protocols: "FTP IMAP POP3 SMTP LDAP",
        since: "7.20.0",
        help: "Try TLS",
        about: "A mail, LDAP or FTP server is asked for TLS, and without it the transfer goes on in \
            the clear. --ssl-reqd is safer.",
        set: Set::Toggle(act::ssl),
        ..FLAG
    },
    Declaration {
        name: "tls-earlydata",
        categories: &["tls"],
        protocols: "TLS",
        since: "8.11.0",
        help: "Send the request with the TLS handshake",
        about: "When a session is resumed. Such data can be replayed by others.",
        set: Set::Bits(Lib(O::SslOptions), 64),
        ..FLAG
    },
    Declaration {
        name: "tls-max",
        arg: Arg::Text("<VERSION>"),
        multi: Multi::Single,
        categories: &["tls"],
        protocols: "TLS",
        since: "7.54.0",
        help: "Highest TLS version",
        about: "default, 1.0, 1.1, 1.2 or 1.3.",
        set: Set::Act(act::tls_max),
        ..FLAG
    },
    Declaration {
        name: "tls13-ciphers",
        arg: Arg::Text("<list>"),
        multi: Multi::Single,
        categories: &["tls"],
        protocols: "TLS",
        since: "7.61.0",
        help: "Cipher suites of TLS 1.3",
        about: "A list separated by colons.",
        set: Set::Text(Lib(O::Tls13Ciphers)),
        ..FLAG
    },
    Declaration {
        name: "tlsauthtype",
        arg: Arg::Text("<type>"),
        multi: Multi::Single,
        categories: &["tls", "auth"],
        protocols: "TLS",
        since: "7.21.4",
        help: "TLS-SRP login type (without effect)",
        about: "Kept so that old command lines work.",
        set: Set::Gone,
        ..FLAG
    },
    Declaration {
        name: "tlspassword",
        arg: Arg::Text("<string>"),
        multi: Multi::Single,
        categories: &["tls", "auth"],
        protocols: "TLS",
        since: "7.21.4",
        help: "TLS-SRP password (without effect)",
        about: "Kept so that old command lines work.",
        secret: true,
        set: Set::Gone,
        ..FLAG
    },
    Declaration {
        name: "tlsuser",
        arg: Arg::Text("<name>"),
        multi: Multi::Single,
        categories: &["tls", "auth"],
        protocols: "TLS",
        since: "7.21.4",
        help: "TLS-SRP user name (without effect)",
        about: "Kept so that old command lines work.",
        secret: true,
        set: Set::Gone,
        ..FLAG
    },
    Declaration {
        name: "tlsv1.0",
        arg: Arg::None,
        multi: Multi::Mutex,
        categories: &["tls"],
        protocols: "TLS",
        since: "7.34.0",
        help: "TLS 1.0 or later",
        about: "The lowest version accepted.",
        set: Set::Mark(act::tlsv1),
        ..FLAG
    },
    Declaration {
        name: "tlsv1.1",
        arg: Arg::None,
        multi: Multi::Mutex,
        categories: &["tls"],
        protocols: "TLS",
        since: "7.34.0",
        help: "TLS 1.1 or later",
        about: "The lowest version accepted.",
        set: Set::Mark(act::tlsv11),
        ..FLAG
    },
    Declaration {
        name: "tlsv1.2",
        arg: Arg::None,
        multi: Multi::Mutex,
        categories: &["tls"],
        protocols: "TLS",
        since: "7.34.0",
        help: "TLS 1.2 or later",
        about: "The lowest version accepted, and the default.",
        set: Set::Mark(act::tlsv12),
        ..FLAG
    },
    Declaration {
        name: "tlsv1.3",
        arg: Arg::None,
        multi: Multi::Mutex,
        categories: &["tls"],
        protocols: "TLS",
        since: "7.52.0",
        help: "TLS 1.3 or later",
        about: "The lowest version accepted.",
        set: Set::Mark(act::tlsv13),
        ..FLAG
    },
    Declaration {
        name: "tlsv1",
        short: '1',
        arg: Arg::None,
        multi: Multi::Mutex,
        categories: &["tls"],
        protocols: "TLS",
        since: "7.9.2",
        help: "TLS 1.0 or later",
        about: "Any version of TLS 1.",
        set: Set::Mark(act::tlsv1),
        ..FLAG
    },
];
