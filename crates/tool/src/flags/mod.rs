//! The flags of the command line: what one is, and how one is found.
//!
//! Each flag is one declaration in the file of its help category. The parser, `--help`, the manual page, the
//! completions and the keys of config files are all read off these declarations. Facts that programs depend on
//! (names, letters, argument kinds) are compared with the table of curl 8.22 in the tests below.

mod auth;
mod connection;
mod curl;
mod deprecated;
mod dns;
mod extra;
mod ftp;
mod http;
mod mail;
mod output;
mod proxy;
mod ssh;
mod tls;
mod transfer;
mod upload;
mod verbose;

use crate::parse::{Done, Parser};
use crate::request::{Globals, Request};

/// One flag of the command line.
#[derive(Clone, Copy)]
pub struct Flag {
    /// The documented long name; one that starts with `no-` is found without that prefix.
    pub name: &'static str,
    /// The single letter, or a null character.
    pub short: char,
    pub arg: Arg,
    pub multi: Multi,
    pub categories: &'static [&'static str],
    /// Schemes it is about, as shown in the manual.
    pub protocols: &'static str,
    /// The curl version that brought it.
    pub since: &'static str,
    /// One line for `--help`.
    pub help: &'static str,
    /// A paragraph for the manual page.
    pub about: &'static str,
    /// A feature of the library that may be missing, named as in `curl -V`.
    pub needs: &'static str,
    /// The argument holds a secret, which the list of processes must not show.
    pub secret: bool,
    pub set: Set,
}

/// Whether a flag takes an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arg {
    /// No argument and no `--no-` form.
    None,
    /// On, or off with `--no-`.
    Bool,
    /// A text, shown with this placeholder.
    Text(&'static str),
    /// The name of a file, shown with this placeholder.
    File(&'static str),
    /// A text that may be left out: on a command line it stands after an equals sign, or not at all.
    Optional(&'static str),
}

/// What giving a flag more than once means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Multi {
    Single,
    Append,
    Boolean,
    Mutex,
    Custom,
    PerUrl,
}

/// What a flag does to the request being described. Options are named as in libcurl without `CURLOPT_`; names in
/// lower case belong to the tool itself.
#[derive(Clone, Copy)]
pub enum Set {
    /// A text that must not be empty.
    Text(&'static str),
    /// The name of a file that must be there when the flag is read.
    ExistingFile(&'static str),
    /// A text that may be empty.
    AnyText(&'static str),
    /// One more entry of a list.
    List(&'static str),
    /// 1 or 0.
    On(&'static str),
    /// 0 or 1.
    Off(&'static str),
    /// Bits of a mask, set or cleared.
    Bits(&'static str, i64),
    /// A constant.
    Fixed(&'static str, i64),
    /// Seconds with a fraction, kept as milliseconds.
    Millis(&'static str),
    /// A number that is not negative.
    Number(&'static str),
    Field(fn(&mut Request) -> &mut bool),
    NotField(fn(&mut Request) -> &mut bool),
    Global(fn(&mut Globals) -> &mut bool),
    NotGlobal(fn(&mut Globals) -> &mut bool),
    /// Something of its own with an argument, which is empty where it may be left out and is.
    Act(fn(&mut Parser, &Flag, &[u8]) -> Done),
    /// Something of its own that is switched on or off.
    Toggle(fn(&mut Parser, &Flag, bool) -> Done),
    /// Something of its own without an argument.
    Mark(fn(&mut Parser) -> Done),
    /// Accepted with a warning.
    Gone,
    /// Needs a library that is never built in.
    Absent,
}

/// The start of every declaration; what is left out there stands here.
const FLAG: Flag = Flag {
    name: "",
    short: '\0',
    arg: Arg::Bool,
    multi: Multi::Boolean,
    categories: &[],
    protocols: "",
    since: "",
    help: "",
    about: "",
    needs: "",
    secret: false,
    set: Set::Gone,
};

/// Other spellings: name, the flag meant, whether it means the opposite.
const ALIASES: &[(&str, &str, bool)] = &[
    ("include", "show-headers", false),
    ("ftp-ssl", "ssl", false),
    ("ftp-ssl-reqd", "ssl-reqd", false),
    ("epsv", "disable-epsv", true),
    ("eprt", "disable-eprt", true),
    ("krb4", "krb", false),
];

/// The categories of `--help`, with what they hold.
pub const CATEGORIES: &[(&str, &str)] = &[
    ("auth", "Logging in"),
    ("connection", "Making and keeping connections"),
    ("curl", "The tool itself"),
    ("deprecated", "Accepted for old command lines"),
    ("dns", "Looking up names"),
    ("extra", "What this program adds to curl"),
    ("file", "The FILE scheme"),
    ("ftp", "FTP"),
    ("global", "Options for the whole command line"),
    ("http", "HTTP and HTTPS"),
    ("imap", "IMAP"),
    ("important", "The most used options"),
    ("ldap", "LDAP"),
    ("mqtt", "MQTT"),
    ("output", "Files and what goes into them"),
    ("pop3", "POP3"),
    ("post", "Posting to HTTP servers"),
    ("proxy", "Proxies"),
    ("scp", "SCP"),
    ("sftp", "SFTP"),
    ("smtp", "SMTP"),
    ("ssh", "SSH"),
    ("telnet", "Telnet"),
    ("tftp", "TFTP"),
    ("timeout", "Time limits"),
    ("tls", "TLS and certificates"),
    ("upload", "Uploading"),
    ("verbose", "Traces, messages and reports"),
];

const FILES: &[&[Flag]] = &[
    auth::FLAGS,
    connection::FLAGS,
    curl::FLAGS,
    deprecated::FLAGS,
    dns::FLAGS,
    extra::FLAGS,
    ftp::FLAGS,
    http::FLAGS,
    mail::FLAGS,
    output::FLAGS,
    proxy::FLAGS,
    ssh::FLAGS,
    tls::FLAGS,
    transfer::FLAGS,
    upload::FLAGS,
    verbose::FLAGS,
];

/// All flags, file by file.
pub fn all() -> impl Iterator<Item = &'static Flag> {
    FILES.iter().flat_map(|file| file.iter())
}

/// All flags in the order of their names.
pub fn sorted() -> Vec<&'static Flag> {
    let mut list: Vec<_> = all().collect();
    list.sort_by_key(|flag| flag.name);
    list
}

/// Finds a long name, given without dashes and without `no-`; true when it means the opposite.
pub fn long(name: &[u8]) -> Option<(&'static Flag, bool)> {
    // A config file may have a million lines: lengths are compared before anything else is asked.
    let usual = all().find(|flag| flag.name.as_bytes() == name && !flag.is_negated());
    let negated = || all().find(|flag| flag.is_negated() && flag.key().as_bytes() == name);
    if let Some(flag) = usual.or_else(negated) {
        return Some((flag, false));
    }
    let (_, target, opposite) = ALIASES.iter().find(|(alias, ..)| alias.as_bytes() == name)?;
    all().find(|flag| flag.name == *target).map(|flag| (flag, *opposite))
}

/// Finds a single letter.
pub fn short(letter: u8) -> Option<&'static Flag> {
    all().find(|flag| flag.short != '\0' && flag.short as u32 == u32::from(letter))
}

impl Flag {
    /// The name the parser looks for.
    pub fn key(&self) -> &'static str {
        if self.is_negated() { &self.name[3..] } else { self.name }
    }

    /// Documented in its `--no-` form, as `--no-buffer`.
    pub fn is_negated(&self) -> bool {
        self.name.starts_with("no-")
    }

    /// Takes the next word for its argument if none stands with it.
    pub fn takes_argument(&self) -> bool {
        matches!(self.arg, Arg::Text(_) | Arg::File(_))
    }

    pub fn may_take_argument(&self) -> bool {
        matches!(self.arg, Arg::Optional(_))
    }

    pub fn placeholder(&self) -> &'static str {
        match self.arg {
            Arg::Text(text) | Arg::File(text) | Arg::Optional(text) => text,
            Arg::None | Arg::Bool => "",
        }
    }

    pub fn in_category(&self, category: &str) -> bool {
        self.categories.contains(&category)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn facts() -> Option<String> {
        let shared = std::env::var_os("WARMWIRE_SHARED").unwrap_or_else(|| "../../../shared".into());
        std::fs::read_to_string(std::path::Path::new(&shared).join("facts/cli_options.tsv")).ok()
    }

    #[test]
    fn names_letters_and_kinds_are_those_of_curl() {
        let Some(facts) = facts() else { return };
        let mut seen = HashSet::new();
        for line in facts.lines().skip(1) {
            let column: Vec<&str> = line.split('\t').collect();
            let flag = all().find(|flag| flag.name == column[0]);
            let flag = flag.unwrap_or_else(|| panic!("--{} is missing", column[0]));
            let letter = column[1].chars().next().unwrap_or('\0');
            assert_eq!(flag.short, letter, "letter of --{}", flag.name);
            assert_eq!(flag.placeholder(), column[2], "argument of --{}", flag.name);
            assert_eq!(format!("{:?}", flag.multi).to_lowercase(), column[3].replace("per-URL", "perurl"));
            let scope = if flag.in_category("global") { "global" } else { "" };
            assert_eq!(scope, column[4], "scope of --{}", flag.name);
            assert_eq!(flag.categories.join(" "), column[5], "categories of --{}", flag.name);
            assert_eq!(flag.protocols, column[6], "protocols of --{}", flag.name);
            assert_eq!(flag.since, column[9], "version of --{}", flag.name);
            seen.insert(flag.name);
        }
        for flag in all().filter(|flag| !flag.in_category("extra")) {
            assert!(seen.contains(flag.name), "--{} is not curl's", flag.name);
        }
    }

    #[test]
    fn names_and_letters_are_unique() {
        let mut names = HashSet::new();
        let mut letters = HashSet::new();
        for flag in all() {
            assert!(names.insert(flag.key()), "--{} twice", flag.name);
            assert!(flag.short == '\0' || letters.insert(flag.short), "-{} twice", flag.short);
        }
        for (alias, target, _) in ALIASES {
            assert!(names.insert(alias), "{alias} twice");
            assert!(all().any(|flag| flag.name == *target));
        }
    }

    #[test]
    fn every_flag_is_described() {
        for flag in all() {
            assert!(!flag.help.is_empty() && !flag.about.is_empty(), "--{}", flag.name);
            assert!(flag.help.len() <= 60 && !flag.help.ends_with('.'), "help of --{}", flag.name);
            assert!(flag.about.ends_with('.'), "text of --{}", flag.name);
            assert!(!flag.categories.is_empty(), "category of --{}", flag.name);
            for category in flag.categories {
                assert!(CATEGORIES.iter().any(|(name, _)| name == category), "{category}");
            }
        }
    }

    #[test]
    fn the_kind_of_argument_fits_what_is_set() {
        for flag in all() {
            let wants = match flag.set {
                Set::Text(_)
                | Set::ExistingFile(_)
                | Set::AnyText(_)
                | Set::List(_)
                | Set::Millis(_)
                | Set::Number(_) => true,
                Set::Act(_) => true,
                Set::Gone | Set::Absent => continue,
                _ => false,
            };
            assert_eq!(flag.takes_argument() || flag.may_take_argument(), wants, "--{}", flag.name);
            let no_form = matches!(
                flag.set,
                Set::On(_)
                    | Set::Off(_)
                    | Set::Bits(..)
                    | Set::Field(_)
                    | Set::NotField(_)
                    | Set::Global(_)
                    | Set::NotGlobal(_)
                    | Set::Toggle(_)
            );
            assert_eq!(matches!(flag.arg, Arg::Bool), no_form, "--{}", flag.name);
        }
    }

    #[test]
    fn aliases_and_negations_are_found() {
        assert_eq!(long(b"buffer").unwrap().0.name, "no-buffer");
        assert!(long(b"epsv").unwrap().1);
        assert_eq!(short(b'N').unwrap().name, "no-buffer");
        assert!(long(b"no-buffer").is_none());
        assert!(long(b"").is_none());
    }
}
