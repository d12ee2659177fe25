//! URL schemes: one row per scheme that curl knows, with its `CURLPROTO_` bit, default port and traits.
//!
//! `built` says whether this library supports it, for most schemes by a feature of this crate; a known scheme
//! that is not built in returns CURLE_UNSUPPORTED_PROTOCOL. Bits above 31 and those of ws and wss are
//! internal, as in curl: CURLOPT_PROTOCOLS_STR selects them by name, the old bitmask options cannot.

/// Schemes of one family are the same protocol, with and without TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    Http,
    Ws,
    Ftp,
    Ssh,
    Telnet,
    Ldap,
    Dict,
    File,
    Tftp,
    Imap,
    Pop3,
    Smtp,
    Rtsp,
    Rtmp,
    Gopher,
    Smb,
    Mqtt,
}

impl Family {
    /// Its name in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            Family::Http => "http",
            Family::Ws => "ws",
            Family::Ftp => "ftp",
            Family::Ssh => "ssh",
            Family::Telnet => "telnet",
            Family::Ldap => "ldap",
            Family::Dict => "dict",
            Family::File => "file",
            Family::Tftp => "tftp",
            Family::Imap => "imap",
            Family::Pop3 => "pop3",
            Family::Smtp => "smtp",
            Family::Rtsp => "rtsp",
            Family::Rtmp => "rtmp",
            Family::Gopher => "gopher",
            Family::Smb => "smb",
            Family::Mqtt => "mqtt",
        }
    }

    /// Returns whether its requests are HTTP's: a WebSocket starts as one.
    pub const fn asks_by_http(self) -> bool {
        matches!(self, Family::Http | Family::Ws)
    }
}

/// The scope of credentials.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Login {
    /// The protocol has none.
    None,
    /// Each request carries them; a connection serves several users (methods that authenticate the
    /// connection, such as NTLM, tie them all the same).
    Request,
    /// The connection logs in once; it serves one user.
    Connection,
}

struct Row {
    name: &'static str,
    bit: u64,
    port: u16,
    family: Family,
    tls: bool,
    network: bool,
    login: Login,
    built: bool,
}

macro_rules! schemes {
    ($($variant:ident, $name:literal, $bit:literal, $port:literal, $family:ident, $tls:literal, $network:literal, $login:ident, $built:expr;)*) => {
        /// A URL scheme.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Scheme { $($variant,)* }

        impl Scheme {
            pub const ALL: &'static [Scheme] = &[$(Scheme::$variant,)*];

            const fn row(self) -> &'static Row {
                match self {
                    $(Scheme::$variant => &Row {
                        name: $name,
                        bit: 1 << $bit,
                        port: $port,
                        family: Family::$family,
                        tls: $tls,
                        network: $network,
                        login: Login::$login,
                        built: $built,
                    },)*
                }
            }
        }
    };
}

impl Scheme {
    /// Finds a scheme by its name, ignoring case.
    pub fn from_name(name: impl AsRef<[u8]>) -> Option<Self> {
        let name = name.as_ref();
        Self::ALL.iter().copied().find(|scheme| scheme.name().as_bytes().eq_ignore_ascii_case(name))
    }

    /// Lower case.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// Its `CURLPROTO_` bit.
    pub const fn bit(self) -> u64 {
        self.row().bit
    }

    /// 0 for file.
    pub const fn default_port(self) -> u16 {
        self.row().port
    }

    pub const fn family(self) -> Family {
        self.row().family
    }

    /// TLS from the first byte.
    pub const fn tls(self) -> bool {
        self.row().tls
    }

    /// Whether a transfer opens a connection.
    pub const fn network(self) -> bool {
        self.row().network
    }

    pub const fn login(self) -> Login {
        self.row().login
    }

    /// Whether this library speaks it.
    pub const fn built(self) -> bool {
        self.row().built
    }

    /// The names of all built schemes, sorted, as curl_version_info(3) lists them.
    pub fn built_names() -> Vec<&'static str> {
        let mut names: Vec<_> = Self::ALL.iter().filter(|s| s.built()).map(|s| s.name()).collect();
        names.sort_unstable();
        names
    }

    /// Returns the names that `curl -V` and curl-config list, sorted. They include those that the tool
    /// fetches through a gateway.
    pub fn listed_names() -> Vec<&'static str> {
        let mut names = Self::built_names();
        names.extend(["ipfs", "ipns"]);
        names.sort_unstable();
        names
    }
}

// variant, name, bit, port, family, tls, network, login, built
schemes! {
    Http,     "http",     0,   80,    Http,    false, true, Request,     true;
    Https,    "https",    1,   443,   Http,    true, true, Request,     true;
    Ws,       "ws",       30,  80,    Ws,      false, true, Request,     true;
    Wss,      "wss",      31,  443,   Ws,      true, true, Request,     true;
    Ftp,      "ftp",      2,   21,    Ftp,     false, true, Connection,  cfg!(feature = "ftp");
    Ftps,     "ftps",     3,   990,   Ftp,     true, true, Connection,  cfg!(feature = "ftp");
    Scp,      "scp",      4,   22,    Ssh,     false, true, Connection,  cfg!(feature = "ssh");
    Sftp,     "sftp",     5,   22,    Ssh,     false, true, Connection,  cfg!(feature = "ssh");
    Telnet,   "telnet",   6,   23,    Telnet,  false, true, None,        cfg!(feature = "telnet");
    Ldap,     "ldap",     7,   389,   Ldap,    false, true, Connection,  cfg!(feature = "ldap");
    Ldaps,    "ldaps",    8,   636,   Ldap,    true, true, Connection,  cfg!(feature = "ldap");
    Dict,     "dict",     9,   2628,  Dict,    false, true, None,        cfg!(feature = "dict");
    File,     "file",     10,  0,     File,    false, false, None,        cfg!(feature = "file");
    Tftp,     "tftp",     11,  69,    Tftp,    false, true, None,        cfg!(feature = "tftp");
    Imap,     "imap",     12,  143,   Imap,    false, true, Connection,  cfg!(feature = "mail");
    Imaps,    "imaps",    13,  993,   Imap,    true, true, Connection,  cfg!(feature = "mail");
    Pop3,     "pop3",     14,  110,   Pop3,    false, true, Connection,  cfg!(feature = "mail");
    Pop3s,    "pop3s",    15,  995,   Pop3,    true, true, Connection,  cfg!(feature = "mail");
    Smtp,     "smtp",     16,  25,    Smtp,    false, true, Connection,  cfg!(feature = "mail");
    Smtps,    "smtps",    17,  465,   Smtp,    true, true, Connection,  cfg!(feature = "mail");
    Rtsp,     "rtsp",     18,  554,   Rtsp,    false, true, Connection,  cfg!(feature = "rtsp");
    Rtmp,     "rtmp",     19,  1935,  Rtmp,    false, true, Connection,  false;
    Rtmpt,    "rtmpt",    20,  80,    Rtmp,    false, true, Connection,  false;
    Rtmpe,    "rtmpe",    21,  1935,  Rtmp,    false, true, Connection,  false;
    Rtmpte,   "rtmpte",   22,  80,    Rtmp,    false, true, Connection,  false;
    Rtmps,    "rtmps",    23,  443,   Rtmp,    true, true, Connection,  false;
    Rtmpts,   "rtmpts",   24,  443,   Rtmp,    true, true, Connection,  false;
    Gopher,   "gopher",   25,  70,    Gopher,  false, true, None,        cfg!(feature = "gopher");
    Gophers,  "gophers",  29,  70,    Gopher,  true, true, None,        cfg!(feature = "gopher");
    Smb,      "smb",      26,  445,   Smb,     false, true, Connection,  false;
    Smbs,     "smbs",     27,  445,   Smb,     true, true, Connection,  false;
    Mqtt,     "mqtt",     28,  1883,  Mqtt,    false, true, Connection,  cfg!(feature = "mqtt");
    Mqtts,    "mqtts",    32,  8883,  Mqtt,    true, true, Connection,  cfg!(feature = "mqtt");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constant;
    use std::collections::HashSet;

    #[test]
    fn public_bits_are_the_headers() {
        for scheme in Scheme::ALL {
            let name = format!("CURLPROTO_{}", scheme.name().to_uppercase());
            if let Some(row) = constant::ALL.iter().find(|c| c.name == name) {
                assert_eq!(row.value as u64, scheme.bit(), "{name}");
            }
        }
    }

    #[test]
    fn bits_and_names_are_unique() {
        let bits: HashSet<_> = Scheme::ALL.iter().map(|s| s.bit()).collect();
        assert_eq!(bits.len(), Scheme::ALL.len());
        for &scheme in Scheme::ALL {
            assert_eq!(Scheme::from_name(scheme.name().to_uppercase()), Some(scheme));
        }
    }

    #[test]
    fn a_secure_scheme_has_a_plain_sibling() {
        for scheme in Scheme::ALL.iter().filter(|s| s.tls()) {
            assert!(
                Scheme::ALL.iter().any(|s| !s.tls() && s.family() == scheme.family()),
                "{}",
                scheme.name()
            );
        }
    }
}
