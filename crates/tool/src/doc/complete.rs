//! Completions for bash, zsh and fish.

use super::values::{Values, values};
use crate::flags::{self, Arg, Flag};

/// The names the program is installed under.
const PROGRAMS: &[&str] = &["curl", "warmwire"];

/// Returns bash's completion. Bash takes `--name=word` apart at the equals sign, so `before` is looked up
/// behind it.
pub fn bash() -> String {
    let mut long = Vec::new();
    let (mut cases, mut files, mut folders, mut texts) = (String::new(), Vec::new(), Vec::new(), Vec::new());
    for flag in flags::sorted() {
        let equals = if flag.may_take_argument() { "=" } else { "" };
        long.push(format!("--{}{equals}", flag.name));
        if flag.may_take_argument() {
            long.push(format!("--{}", flag.name));
        }
        match values(flag) {
            Values::Words(words) if flag.may_take_argument() => {
                cases.push_str(&bash_case(&[format!("--{}=", flag.name)], &words));
            }
            Values::Words(words) => cases.push_str(&bash_case(&spelled(flag), &words)),
            Values::Files => files.extend(spelled(flag)),
            Values::Folders => folders.extend(spelled(flag)),
            Values::Free if flag.takes_argument() => texts.extend(spelled(flag)),
            Values::Free => {}
        }
    }
    format!(
        "_warmwire() {{\n\
         \x20   local word=\"${{COMP_WORDS[COMP_CWORD]}}\" before=\"${{COMP_WORDS[COMP_CWORD-1]}}\"\n\
         \x20   if [ \"$word\" = = ]; then before=\"$before=\" word=\n\
         \x20   elif [ \"$before\" = = ]; then before=\"${{COMP_WORDS[COMP_CWORD-2]}}=\"\n\
         \x20   fi\n\
         \x20   case \"$before\" in\n\
         {cases}\
         \x20       {}) COMPREPLY=($(compgen -f -- \"$word\")); return ;;\n\
         \x20       {}) COMPREPLY=($(compgen -d -- \"$word\")); return ;;\n\
         \x20       {}) COMPREPLY=(); return ;;\n\
         \x20   esac\n\
         \x20   case \"$word\" in\n\
         \x20       -*) COMPREPLY=($(compgen -W '{}' -- \"$word\")) ;;\n\
         \x20       *) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n\
         \x20   esac\n\
         }}\n\
         complete -o filenames -F _warmwire {}\n",
        files.join("|"),
        folders.join("|"),
        texts.join("|"),
        long.join(" "),
        PROGRAMS.join(" ")
    )
}

fn bash_case(names: &[String], words: &[String]) -> String {
    let words = words.join(" ");
    format!("        {}) COMPREPLY=($(compgen -W '{words}' -- \"$word\")); return ;;\n", names.join("|"))
}

/// Returns both spellings of a flag.
fn spelled(flag: &Flag) -> Vec<String> {
    let short = (flag.short != '\0').then(|| format!("-{}", flag.short));
    short.into_iter().chain([format!("--{}", flag.name)]).collect()
}

/// Returns zsh's completion: a list of option definitions for `_arguments`.
pub fn zsh() -> String {
    let mut out = format!("#compdef {}\n\n_arguments -s -S \\\n", PROGRAMS.join(" "));
    for flag in flags::sorted() {
        let help =
            flag.help.replace('\'', "'\\''").replace('[', "\\[").replace(']', "\\]").replace(':', "\\:");
        let message = flag.placeholder().trim_matches(['<', '>']).replace(['\'', ':', '[', ']'], " ");
        let action = match values(flag) {
            Values::Free => String::new(),
            Values::Files => "_files".to_owned(),
            Values::Folders => "_files -/".to_owned(),
            Values::Words(words) => format!("({})", words.join(" ").replace(':', "\\:").replace('=', "\\=")),
        };
        // The equals sign is part of the name: the argument follows it, or is missing.
        let (equals, argument) = match flag.arg {
            Arg::None | Arg::Bool => ("", String::new()),
            Arg::Optional(_) => ("=-", format!("::{message}:{action}")),
            Arg::Text(_) | Arg::File(_) => ("", format!(":{message}:{action}")),
        };
        let long = format!("--{}{equals}", flag.name);
        if flag.short == '\0' {
            out.push_str(&format!("  '*{long}[{help}]{argument}' \\\n"));
        } else {
            out.push_str(&format!("  '*'{{-{},{long}}}'[{help}]{argument}' \\\n", flag.short));
        }
    }
    out.push_str("  '*:url:_urls'\n");
    out
}

/// Returns fish's completion.
pub fn fish() -> String {
    let mut out = String::new();
    for program in PROGRAMS {
        for flag in flags::sorted() {
            let short = if flag.short == '\0' { String::new() } else { format!(" -s '{}'", flag.short) };
            let required = if flag.takes_argument() { " -r" } else { "" };
            let argument = match values(flag) {
                Values::Free if flag.takes_argument() => " -f".to_owned(),
                Values::Free => String::new(),
                Values::Files => " -F".to_owned(),
                Values::Folders => " -f -a '(__fish_complete_directories)'".to_owned(),
                Values::Words(words) => format!(" -f -a '{}'", words.join(" ")),
            };
            let help = flag.help.replace('\\', "\\\\").replace('\'', "\\'");
            out.push_str(&format!(
                "complete -c {program}{short} -l {}{required}{argument} -d '{help}'\n",
                flag.name
            ));
        }
    }
    out
}

#[cfg(test)]
mod shells;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flag_is_completed() {
        for text in [bash(), zsh(), fish()] {
            for flag in flags::all() {
                assert!(text.contains(flag.name.as_str()), "--{}", flag.name);
            }
        }
    }
}
