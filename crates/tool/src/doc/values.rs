//! Values that a shell can offer for a flag's argument.

use crate::flags::{Arg, CATEGORIES, Flag};
use crate::raw;

/// Values of one flag.
#[derive(Debug, PartialEq)]
pub enum Values {
    /// The argument is free text, or there is none.
    Free,
    Files,
    Folders,
    Words(Vec<String>),
}

/// The words that a flag takes, for flags that take no others or usually these.
const WORDS: &[(&str, &[&str])] = &[
    ("aws-sigv4", &["aws"]),
    ("cert-type", &["PEM", "DER", "P12", "ENG", "PROV"]),
    ("delegation", &["none", "policy", "always"]),
    ("ech", &["true", "false", "hard", "grease"]),
    ("engine", &["list"]),
    ("ftp-method", &["multicwd", "nocwd", "singlecwd"]),
    ("ftp-ssl-ccc-mode", &["active", "passive"]),
    ("generate", &["man", "markdown", "bash", "zsh", "fish"]),
    ("httpsig-algo", &["ed25519", "hmac-sha256"]),
    (
        "ip-tos",
        &[
            "AF11",
            "AF12",
            "AF13",
            "AF21",
            "AF22",
            "AF23",
            "AF31",
            "AF32",
            "AF33",
            "AF41",
            "AF42",
            "AF43",
            "CE",
            "CS0",
            "CS1",
            "CS2",
            "CS3",
            "CS4",
            "CS5",
            "CS6",
            "CS7",
            "ECT0",
            "ECT1",
            "EF",
            "LE",
            "LOWCOST",
            "LOWDELAY",
            "MINCOST",
            "RELIABILITY",
            "THROUGHPUT",
            "VOICE-ADMIT",
        ],
    ),
    ("explain-cert", &["text", "json"]),
    ("ipfs-gateway", &["http://localhost:8080"]),
    ("key-type", &["PEM", "DER", "ENG", "PROV"]),
    ("login-options", &["AUTH=PLAIN", "AUTH=LOGIN", "AUTH=NTLM", "AUTH=EXTERNAL", "AUTH=+LOGIN"]),
    ("progress", &["meter", "bar", "bars"]),
    ("proxy-cert-type", &["PEM", "DER", "P12", "ENG", "PROV"]),
    ("proxy-key-type", &["PEM", "DER", "ENG", "PROV"]),
    ("request", &["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"]),
    ("segments", &["auto", "2", "4", "8"]),
    ("summary", &["table", "json"]),
    ("why", &["text", "json"]),
    ("tls-max", &["default", "1.0", "1.1", "1.2", "1.3"]),
    ("trace-config", &["all", "ids", "time", "network", "protocol", "proxy"]),
    ("upload-flags", &["answered", "deleted", "draft", "flagged", "seen"]),
    ("vlan-priority", &["0", "1", "2", "3", "4", "5", "6", "7"]),
];

/// Placeholders of arguments that may name a file among other things.
const FILE_PLACEHOLDERS: &[&str] =
    &["<filename>", "<data|filename>", "<url/file>", "<key/file>", "<key>", "<file>"];

/// Returns the values of a flag.
pub fn values(flag: &Flag) -> Values {
    let words = |words: &[&str]| Values::Words(words.iter().map(|word| (*word).to_owned()).collect());
    if let Some((_, known)) = WORDS.iter().find(|(name, _)| flag.name == *name) {
        return words(known);
    }
    match flag.name.as_str() {
        "help" => {
            let mut names = vec!["all", "category"];
            names.extend(CATEGORIES.iter().map(|(name, _)| *name));
            return words(&names);
        }
        "proto-default" => return words(&raw::schemes()),
        "proto" | "proto-redir" => {
            return Values::Words(raw::schemes().iter().map(|scheme| format!("={scheme}")).collect());
        }
        _ => {}
    }
    match (flag.arg, flag.placeholder()) {
        (Arg::None | Arg::Bool | Arg::Optional(_), _) => Values::Free,
        (Arg::Text(_), "<dir>") | (Arg::File(_), "<dir>" | "<folder>") => Values::Folders,
        (Arg::File(_), _) => Values::Files,
        (Arg::Text(_), placeholder) if FILE_PLACEHOLDERS.contains(&placeholder) => Values::Files,
        (Arg::Text(_), _) => Values::Free,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flags;

    #[test]
    fn words_are_those_of_flags_with_an_argument() {
        for (name, words) in WORDS {
            let flag = flags::all().find(|flag| flag.name == *name).unwrap_or_else(|| panic!("--{name}"));
            assert!(flag.takes_argument() || flag.may_take_argument(), "--{name}");
            // Completions write them between quotes and in lists parted by blanks.
            let sound = |word: &&str| !word.is_empty() && !word.contains([' ', '\'', '"', '\\', '(', ')']);
            assert!(words.iter().all(sound), "--{name}: {words:?}");
        }
    }
}
