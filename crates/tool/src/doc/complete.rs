//! Completions for bash, zsh and fish.

use crate::flags::{self, Arg, CATEGORIES, Flag};

/// The names the program is installed under.
const PROGRAMS: &[&str] = &["curl", "warmwire"];

pub fn bash() -> String {
    let long: Vec<String> = flags::sorted().iter().map(|flag| format!("--{}", flag.name)).collect();
    let files: Vec<String> = spelled(|flag| matches!(flag.arg, Arg::File(_)));
    let texts: Vec<String> = spelled(|flag| matches!(flag.arg, Arg::Text(_)) && flag.name != "help");
    let categories: Vec<&str> = CATEGORIES.iter().map(|(name, _)| *name).collect();
    format!(
        "_warmwire() {{\n\
         \x20   local word=\"${{COMP_WORDS[COMP_CWORD]}}\" before=\"${{COMP_WORDS[COMP_CWORD-1]}}\"\n\
         \x20   case \"$before\" in\n\
         \x20       -h|--help) COMPREPLY=($(compgen -W 'all category {}' -- \"$word\")); return ;;\n\
         \x20       {}) COMPREPLY=($(compgen -f -- \"$word\")); return ;;\n\
         \x20       {}) COMPREPLY=(); return ;;\n\
         \x20   esac\n\
         \x20   case \"$word\" in\n\
         \x20       -*) COMPREPLY=($(compgen -W '{}' -- \"$word\")) ;;\n\
         \x20       *) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n\
         \x20   esac\n\
         }}\n\
         complete -o filenames -F _warmwire {}\n",
        categories.join(" "),
        files.join("|"),
        texts.join("|"),
        long.join(" "),
        PROGRAMS.join(" ")
    )
}

/// Both spellings of the flags that fit.
fn spelled(wanted: fn(&Flag) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    for flag in flags::sorted().into_iter().filter(|flag| wanted(flag)) {
        if flag.short != '\0' {
            found.push(format!("-{}", flag.short));
        }
        found.push(format!("--{}", flag.name));
    }
    found
}

pub fn zsh() -> String {
    let mut out = format!("#compdef {}\n\n_arguments -s -S \\\n", PROGRAMS.join(" "));
    for flag in flags::sorted() {
        let help =
            flag.help.replace('\'', "'\\''").replace('[', "\\[").replace(']', "\\]").replace(':', "\\:");
        let argument = match flag.arg {
            Arg::File(_) => ":file:_files".to_string(),
            Arg::Text(_) if flag.name == "help" => "::category:_warmwire_categories".to_string(),
            // Behind the name, with an equals sign or not at all.
            Arg::Optional(name) => format!("-::{}:", name.trim_matches(['<', '>'])),
            Arg::Text(name) => {
                format!(":{}:", name.trim_matches(['<', '>']).replace(['\'', ':', '[', ']'], " "))
            }
            _ => String::new(),
        };
        let long = format!("--{}", flag.name);
        if flag.short == '\0' {
            out.push_str(&format!("  '*{long}[{help}]{argument}' \\\n"));
        } else {
            out.push_str(&format!("  '*'{{-{},{long}}}'[{help}]{argument}' \\\n", flag.short));
        }
    }
    out.push_str("  '*:url:_urls'\n");
    let names: Vec<&str> = CATEGORIES.iter().map(|(name, _)| *name).collect();
    let categories = format!(
        "(( $+functions[_warmwire_categories] )) ||\n_warmwire_categories() {{ compadd all category {} }}\n\n",
        names.join(" ")
    );
    let body = out.find("_arguments").expect("written above");
    out.insert_str(body, &categories);
    out
}

pub fn fish() -> String {
    let mut out = String::new();
    for program in PROGRAMS {
        for flag in flags::sorted() {
            let short = if flag.short == '\0' { String::new() } else { format!(" -s '{}'", flag.short) };
            let argument = match flag.arg {
                Arg::File(_) => " -r -F",
                Arg::Text(_) if flag.name == "help" => "",
                Arg::Text(_) => " -x",
                _ => "",
            };
            let help = flag.help.replace('\\', "\\\\").replace('\'', "\\'");
            out.push_str(&format!("complete -c {program}{short} -l {}{argument} -d '{help}'\n", flag.name));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flag_is_completed() {
        for text in [bash(), zsh(), fish()] {
            for flag in flags::all() {
                assert!(text.contains(flag.name), "--{}", flag.name);
            }
        }
    }
}
