//! The completions in the shells themselves: each is asked for the names of all flags, and for the values of
//! every flag that has some.

use super::{bash, fish, zsh};
use crate::doc::values::{Values, values};
use crate::flags;
use std::collections::HashMap;
use std::path::Path;
use std::process::{Command, Stdio};
use testkit::temp::TempDir;

/// Reads command lines from `lines`, and prints each behind `> `, followed by what is offered at its end.
const BASH: &str = r#"source ./completion
while IFS= read -r line; do
  read -ra COMP_WORDS <<<"${line/=/ = }"
  case $line in *' '|*=) COMP_WORDS+=("") ;; esac
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMPREPLY=()
  _warmwire
  printf '> %s\n' "$line"
  printf '%s\n' "${COMPREPLY[@]}"
done <lines
"#;
const FISH: &str = r#"source ./completion
while read line
  printf '> %s\n' "$line"
  complete -C "$line"
end <lines
"#;
/// Completion works in the line editor alone, which wants a terminal. The offers are written to a file.
const ZSH: &str = r#"mv completion _warmwire
cat >inside <<'END'
fpath=($PWD $fpath)
autoload -U compinit
compinit -u -D
zstyle ':completion:*' completer _complete
lines=("${(@f)$(<lines)}")
compadd() {
  local -a options=("${(@)@[1,(i)(-|--)]}") found
  if (( ${options[(I)-[OAD]*]} )); then builtin compadd "$@"; return; fi
  builtin compadd -A found "$@"
  print -rl -- $found >>offered
  builtin compadd "$@"
}
silently() {
  _main_complete
  compstate[list]= compstate[insert]=
}
zle -C offer list-choices silently
all() {
  for line in $lines; do
    BUFFER=$line CURSOR=$#line
    print -r -- "> $line" >>offered
    zle offer
  done
  : >ended
  exit
}
zle -N zle-line-init all
END
zmodload zsh/zpty
zpty inner zsh -f -i
zpty -w inner 'source ./inside'
for turn in {1..600}; do
  [[ -e ended ]] && break
  zpty -rt inner output
  sleep 0.05
done
zpty -d inner
cat offered
"#;

/// Runs the script in the shell, and returns what is offered for each line.
fn offered(shell: &str, script: &str, completion: &str, lines: &str) -> HashMap<String, Vec<String>> {
    let place = TempDir::new("completion").unwrap();
    std::fs::create_dir(place.path().join("afolder")).unwrap();
    for (name, content) in [("afile", ""), ("completion", completion), ("lines", lines), ("script", script)] {
        std::fs::write(place.path().join(name), content).unwrap();
    }
    let out = run(shell, place.path()).unwrap();
    let (text, errors) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert!(out.status.success() && errors.is_empty(), "{shell}: {errors}");
    by_line(&text)
}

fn run(shell: &str, place: &Path) -> std::io::Result<std::process::Output> {
    let flags: &[&str] = match shell {
        "zsh" => &["-f"],
        "fish" => &["-N"],
        _ => &["--norc"],
    };
    Command::new(shell)
        .args(flags)
        .arg("script")
        .current_dir(place)
        .env("TERM", "dumb")
        .env("HOME", place)
        .stdin(Stdio::null())
        .output()
}

/// Parts the output of a script: the offers behind each line.
fn by_line(text: &str) -> HashMap<String, Vec<String>> {
    let mut all: HashMap<String, Vec<String>> = HashMap::new();
    let mut current = String::new();
    for line in text.lines() {
        match line.strip_prefix("> ") {
            Some(line) => current = line.to_owned(),
            None => {
                let offer = line.split('\t').next().unwrap_or_default();
                all.entry(current.clone()).or_default().push(offer.to_owned());
            }
        }
    }
    all
}

#[cfg_attr(not(bash), ignore = "left out: bash is missing: install the package bash")]
#[test]
fn bash_offers_every_flag_and_its_values() {
    offers_every_flag_and_its_values("bash", BASH, &bash());
}

#[cfg_attr(not(zsh), ignore = "left out: zsh is missing: install the package zsh")]
#[test]
fn zsh_offers_every_flag_and_its_values() {
    offers_every_flag_and_its_values("zsh", ZSH, &zsh());
}

#[cfg_attr(not(fish), ignore = "left out: fish is missing: install the package fish")]
#[test]
fn fish_offers_every_flag_and_its_values() {
    offers_every_flag_and_its_values("fish", FISH, &fish());
}

fn offers_every_flag_and_its_values(shell: &str, script: &str, completion: &str) {
    const NAMES: &str = "warmwire --";
    let line = |flag: &flags::Flag| {
        format!("warmwire --{}{}", flag.name, if flag.may_take_argument() { "=" } else { " " })
    };
    let with_values: Vec<_> = flags::all().filter(|flag| values(flag) != Values::Free).collect();
    let mut lines = format!("{NAMES}\n");
    for flag in &with_values {
        lines.push_str(&line(flag));
        lines.push('\n');
    }
    let offered = offered(shell, script, completion, &lines);
    let names = offered.get(NAMES).cloned().unwrap_or_default();
    for flag in flags::all() {
        let name = format!("--{}", flag.name);
        assert!(names.iter().any(|offer| offer.trim_end_matches(['=', '-']) == name), "{shell}: {name}");
    }
    for flag in &with_values {
        let line = line(flag);
        let offers = offered.get(&line).cloned().unwrap_or_default();
        let behind = format!("--{}=", flag.name);
        // zsh quotes an equals sign at the beginning.
        let has = |word: &str| {
            let bare = |offer: &String| {
                offer
                    .trim_start_matches(behind.as_str())
                    .trim_start_matches('\\')
                    .trim_end_matches('/')
                    .to_owned()
            };
            offers.iter().any(|offer| bare(offer) == word)
        };
        match values(flag) {
            Values::Free => {}
            Values::Files => assert!(has("afile"), "{shell}: {line:?} {offers:?}"),
            Values::Folders => {
                assert!(has("afolder") && !has("afile"), "{shell}: {line:?} {offers:?}");
            }
            Values::Words(words) => {
                for word in words {
                    assert!(has(&word) && !has("afile"), "{shell}: {line:?} {word}: {offers:?}");
                }
            }
        }
    }
}
