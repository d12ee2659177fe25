//! The names of mechanisms, sets of them, and the choice made by login options (`AUTH=...`).

use super::Login;
use super::gssapi::is_of_a_realm;

/// A mechanism. The order is that in which they are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mechanism {
    External,
    Gssapi,
    ScramSha256Plus,
    ScramSha1Plus,
    ScramSha256,
    ScramSha1,
    DigestMd5,
    CramMd5,
    Ntlm,
    OauthBearer,
    Xoauth2,
    Plain,
    Login,
    Anonymous,
}

use Mechanism::{
    Anonymous, CramMd5, DigestMd5, External, Gssapi, Login as LoginName, Ntlm, OauthBearer, Plain, ScramSha1,
    ScramSha1Plus, ScramSha256, ScramSha256Plus, Xoauth2,
};

impl Mechanism {
    /// All, the best first.
    pub const ALL: [Mechanism; 14] = [
        External,
        Gssapi,
        ScramSha256Plus,
        ScramSha1Plus,
        ScramSha256,
        ScramSha1,
        DigestMd5,
        CramMd5,
        Ntlm,
        OauthBearer,
        Xoauth2,
        Plain,
        LoginName,
        Anonymous,
    ];

    /// Mechanisms that must be chosen explicitly: EXTERNAL (the user is that of the connection), ANONYMOUS,
    /// and those that curl does not support.
    const CHOSEN: [Mechanism; 4] = [External, ScramSha256Plus, ScramSha1Plus, Anonymous];

    /// Returns the registered name.
    pub fn name(self) -> &'static str {
        match self {
            External => "EXTERNAL",
            Gssapi => "GSSAPI",
            ScramSha256Plus => "SCRAM-SHA-256-PLUS",
            ScramSha1Plus => "SCRAM-SHA-1-PLUS",
            ScramSha256 => "SCRAM-SHA-256",
            ScramSha1 => "SCRAM-SHA-1",
            DigestMd5 => "DIGEST-MD5",
            CramMd5 => "CRAM-MD5",
            Ntlm => "NTLM",
            OauthBearer => "OAUTHBEARER",
            Xoauth2 => "XOAUTH2",
            Plain => "PLAIN",
            LoginName => "LOGIN",
            Anonymous => "ANONYMOUS",
        }
    }

    fn of_name(name: &[u8]) -> Option<Mechanism> {
        Mechanism::ALL.into_iter().find(|m| m.name().as_bytes().eq_ignore_ascii_case(name))
    }

    /// Returns whether the client sends the first message. The others respond to a challenge.
    pub fn speaks_first(self) -> bool {
        !matches!(self, DigestMd5 | CramMd5)
    }

    /// Whether the TLS channel is part of the proof.
    pub fn is_bound(self) -> bool {
        matches!(self, ScramSha256Plus | ScramSha1Plus)
    }

    /// Returns whether the login has what the mechanism needs. EXTERNAL applies only without a password.
    pub fn suits(self, who: &Login) -> bool {
        match self {
            External => who.password.is_empty(),
            Anonymous => true,
            Gssapi => who.is_given && is_of_a_realm(&who.user),
            ScramSha256Plus | ScramSha1Plus => who.is_given && !who.channels.is_empty(),
            OauthBearer | Xoauth2 => who.bearer.is_some(),
            _ => who.is_given,
        }
    }
}

/// A set of mechanisms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mechanisms(u16);

impl Mechanisms {
    pub const NONE: Mechanisms = Mechanisms(0);
    /// The mechanisms used without a choice.
    pub const DEFAULT: Mechanisms = {
        let (mut all, mut at) = ((1 << Mechanism::ALL.len()) - 1, 0);
        while at < Mechanism::CHOSEN.len() {
            all &= !(1 << Mechanism::CHOSEN[at] as u16);
            at += 1;
        }
        Mechanisms(all)
    };

    /// Returns the set as one bit for each mechanism, in the order of [`Mechanism::ALL`].
    pub fn bits(self) -> u16 {
        self.0
    }

    /// Returns the set with these bits; `None` if one of them stands for no mechanism.
    pub fn from_bits(bits: u16) -> Option<Mechanisms> {
        (bits >> Mechanism::ALL.len() == 0).then_some(Mechanisms(bits))
    }

    pub fn insert(&mut self, mechanism: Mechanism) {
        self.0 |= 1 << mechanism as u16;
    }

    pub fn remove(&mut self, mechanism: Mechanism) {
        self.0 &= !(1 << mechanism as u16);
    }

    pub fn has(self, mechanism: Mechanism) -> bool {
        self.0 & (1 << mechanism as u16) != 0
    }

    pub fn both(self, other: Mechanisms) -> Mechanisms {
        Mechanisms(self.0 & other.0)
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Takes a server's list of names, separated by blanks; unknown ones are passed over.
    pub fn offer(&mut self, names: &[u8]) {
        let names = names.split(|b| b.is_ascii_whitespace());
        names.filter_map(Mechanism::of_name).for_each(|mechanism| self.insert(mechanism));
    }
}

/// Which ways to log in may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Any,
    /// Only SASL.
    Sasl,
    /// Only the protocol's own command: POP3's APOP, IMAP's LOGIN.
    Own,
}

/// The choice made by login options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preference {
    pub kind: Kind,
    pub mechanisms: Mechanisms,
}

/// Login options without any known value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadOption;

impl Preference {
    /// Parses `AUTH=NAME`, several of them separated by semicolons (CURLOPT_LOGIN_OPTIONS(3)). `own` is the
    /// name of the protocol's own command after a plus sign, if it has one; `usual` is the set used without a
    /// choice.
    pub fn parse(options: &[u8], own: Option<&str>, usual: Mechanisms) -> Result<Preference, BadOption> {
        let mut chosen: Option<Mechanisms> = None;
        let mut owns = false;
        for option in options.split(|b| *b == b';').filter(|option| !option.is_empty()) {
            let (key, value) = option.split_at_checked(5).ok_or(BadOption)?;
            if !key.eq_ignore_ascii_case(b"AUTH=") {
                return Err(BadOption);
            }
            if own.is_some_and(|own| {
                value.strip_prefix(b"+").is_some_and(|v| v.eq_ignore_ascii_case(own.as_bytes()))
            }) {
                (owns, chosen) = (true, Some(Mechanisms::NONE));
            } else if value == b"*" {
                (owns, chosen) = (false, Some(Mechanisms::DEFAULT));
            } else {
                let mechanism = Mechanism::of_name(value).ok_or(BadOption)?;
                chosen.get_or_insert_default().insert(mechanism);
            }
        }
        let mechanisms = chosen.unwrap_or(usual);
        let kind = match mechanisms {
            _ if owns => Kind::Own,
            Mechanisms::DEFAULT => Kind::Any,
            _ => Kind::Sasl,
        };
        Ok(Preference { kind, mechanisms })
    }
}
