//! The flags of the command line: their declarations and look-up.
//!
//! Each flag is one declaration in the file of its help category. The parser, `--help`, the manual page, the
//! completions and the keys of config files derive from it. Facts that programs depend on (names, letters,
//! argument kinds) are compared with the table of curl 8.22 in the tests below.

mod auth;
mod categories;
mod connection;
mod curl;
mod deprecated;
mod dns;
mod extra;
mod flag;
mod ftp;
mod http;
mod mail;
mod mirror;
mod output;
mod proxy;
mod scope;
mod ssh;
mod table;
mod tls;
mod transfer;
mod upload;
mod verbose;

pub use categories::CATEGORIES;
pub use flag::{Arg, Multi, Set};
pub use scope::is_per_transfer;
pub use table::Flag;

/// Other spellings: name, the flag meant, whether it means the opposite.
const ALIASES: &[(&str, &str, bool)] = &[
    ("include", "show-headers", false),
    ("ftp-ssl", "ssl", false),
    ("ftp-ssl-reqd", "ssl-reqd", false),
    ("epsv", "disable-epsv", true),
    ("eprt", "disable-eprt", true),
    ("krb4", "krb", false),
];

/// All flags, file by file.
pub fn all() -> impl Iterator<Item = &'static Flag> {
    table::FLAGS.iter()
}

/// All flags in the order of their names.
pub fn sorted() -> Vec<&'static Flag> {
    let mut list: Vec<_> = all().collect();
    list.sort_by_key(|flag| flag.name.as_str());
    list
}

/// Finds a long name, given without dashes and without `no-`; true if it is the negated form.
pub fn long(name: &[u8]) -> Option<(&'static Flag, bool)> {
    // A config file may have a million lines: lengths are compared first.
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

#[cfg(test)]
mod tests {
    use super::flag::Declaration;
    use super::*;
    use std::collections::HashSet;

    fn facts() -> Option<String> {
        let shared = std::env::var_os("WARMWIRE_SHARED").unwrap_or_else(|| "../../../shared".into());
        std::fs::read_to_string(std::path::Path::new(&shared).join("facts/cli_options.tsv")).ok()
    }

    fn declaration(flag: &Flag) -> &'static Declaration {
        let mut all = table::FILES.iter().flat_map(|file| file.iter());
        all.find(|declared| flag.name == declared.name).unwrap()
    }

    #[test]
    fn rows_are_as_declared() {
        let declared: Vec<_> = table::FILES.iter().flat_map(|file| file.iter()).collect();
        assert_eq!(declared.len(), all().count());
        for (flag, declared) in all().zip(declared) {
            let texts = [flag.name, flag.protocols, flag.since, flag.help, flag.about, flag.needs];
            let Declaration { name, protocols, since, help, about, needs, .. } = *declared;
            assert_eq!(texts.map(table::Text::as_str), [name, protocols, since, help, about, needs]);
            assert_eq!(
                (flag.short, flag.multi, flag.secret),
                (declared.short, declared.multi, declared.secret)
            );
            let categories = CATEGORIES.iter().map(|(category, _)| *category);
            for category in categories {
                assert_eq!(flag.in_category(category), declared.categories.contains(&category), "{category}");
            }
            assert_eq!(std::mem::discriminant(&flag.set()), std::mem::discriminant(&declared.set));
            let placeholder = match declared.arg {
                Arg::Text(text) | Arg::File(text) | Arg::Optional(text) => text,
                Arg::None | Arg::Bool => "",
            };
            assert_eq!(flag.placeholder(), placeholder, "--{name}");
        }
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
            let declared = declaration(flag).categories.join(" ");
            assert_eq!(declared, column[5], "categories of --{}", flag.name);
            assert_eq!(flag.protocols, column[6], "protocols of --{}", flag.name);
            assert_eq!(flag.since, column[9], "version of --{}", flag.name);
            seen.insert(flag.name.as_str());
        }
        for flag in all().filter(|flag| !flag.in_category("extra")) {
            assert!(seen.contains(flag.name.as_str()), "--{} is not curl's", flag.name);
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
            assert!(!declaration(flag).categories.is_empty(), "category of --{}", flag.name);
        }
    }

    #[test]
    fn the_kind_of_argument_fits_what_is_set() {
        for flag in all() {
            let wants = match flag.set() {
                Set::Text(_)
                | Set::ExistingFile(_)
                | Set::AnyText(_)
                | Set::List(_)
                | Set::Millis(_)
                | Set::Number(_) => true,
                Set::Act(_) | Set::Config => true,
                Set::Gone => continue,
                _ => false,
            };
            assert_eq!(flag.takes_argument() || flag.may_take_argument(), wants, "--{}", flag.name);
            let no_form = matches!(
                flag.set(),
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
