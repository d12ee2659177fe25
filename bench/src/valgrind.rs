//! Figures of a command that valgrind counts: instructions and allocations, which do not depend on the
//! machine's load.

use std::collections::BTreeMap;
use std::io;
use std::process::Command;

/// Returns a command that runs `command` under another program: its name and its flags.
pub fn under(command: &Command, outer: &[&str]) -> Command {
    let (name, flags) = outer.split_first().expect("a command has a name");
    let mut whole = Command::new(name);
    whole.args(flags).arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => whole.env(name, value),
            None => whole.env_remove(name),
        };
    }
    whole
}

/// All user instructions of a command.
pub fn instructions(command: &Command) -> io::Result<f64> {
    figure(command, &["--tool=callgrind", "--callgrind-out-file=/dev/null"], "Collected : ")
}

/// How often it allocates.
pub fn allocations(command: &Command) -> io::Result<f64> {
    figure(command, &["--tool=dhat", "--dhat-out-file=/dev/null"], " bytes in ")
}

/// Cost of one of many, from two runs of different length, which removes start and end.
pub fn each((few, many): (usize, usize), counted: impl Fn(usize) -> io::Result<f64>) -> io::Result<f64> {
    Ok((counted(many)? - counted(few)?) / (many - few) as f64)
}

/// Returns the name that a field of callgrind's profile stands for. A profile has each name once, as
/// "(7) name", and its number alone afterwards.
pub fn callgrind_name<'a>(known: &mut BTreeMap<&'a str, &'a str>, field: &'a str) -> &'a str {
    let (number, name) = field.split_once(' ').unwrap_or((field, ""));
    if !name.is_empty() {
        known.insert(number, name);
    }
    known.get(number).copied().unwrap_or_default()
}

/// The number after the first mention of `mark` in the output of a valgrind tool.
fn figure(command: &Command, flags: &[&str], mark: &str) -> io::Result<f64> {
    let output = under(command, &[&["valgrind"], flags].concat()).output()?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        return Err(io::Error::other(text));
    }
    number_behind(&text, mark).ok_or_else(|| io::Error::other(format!("no number behind {mark:?} in {text}")))
}

fn number_behind(text: &str, mark: &str) -> Option<f64> {
    let (_, behind) = text.split_once(mark)?;
    let digits = behind.chars().take_while(|c| c.is_ascii_digit() || *c == ',').filter(|c| *c != ',');
    digits.collect::<String>().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_behind_marks() {
        assert_eq!(number_behind("==1== Total: 5 bytes in 1,234 blocks", " bytes in "), Some(1234.0));
        assert_eq!(number_behind("==1== Collected : 99\n", "Collected : "), Some(99.0));
        assert_eq!(number_behind("nothing", "Collected : "), None);
    }
}
