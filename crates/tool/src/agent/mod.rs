//! `--agent`: a process that keeps connections warm between invocations.
//!
//! An agent is the tool itself, started by a command and outliving it. It runs one call at a time, and
//! becomes its caller: working directory, umask and standard streams are the caller's, and `run` is the
//! function that the command would have called. Environment, namespaces and rights come from the command that
//! started it; a caller of another `standing` uses another agent. Concurrent commands have one each. So no
//! code exists twice, and what a call leaves in the process is what makes the next one fast: the pool of
//! connections, trust anchors, memory.
//!
//! `caller` is the command's side, `worker` the agent's, `link` their protocol, `folder` their meeting place,
//! `control` implements `--agent-status` and `--agent-stop`.

mod caller;
mod control;
mod folder;
mod link;
mod standing;
mod worker;

use crate::bytes::Bytes;
use crate::flags::{self, Set};

pub use caller::call;
pub use control::{status, stop};
pub use worker::{Caller, is_agent, serve};

/// Whether this system supports agents.
pub const BUILT: bool = true;
/// `auto` makes every command use an agent.
pub const VARIABLE: &str = "WARMWIRE_AGENT";
/// How long agents stay, in seconds, where no option says it.
pub const IDLE_VARIABLE: &str = "WARMWIRE_AGENT_IDLE";
/// As long as the pool keeps a connection.
const IDLE_S: u32 = 120;
const LONGEST_IDLE_S: u32 = 7 * 24 * 3600;

/// The agent options of a command line.
#[derive(Debug, PartialEq, Eq)]
pub struct AgentOptions {
    /// Whether to use one.
    pub wanted: bool,
    pub idle_s: u32,
}

impl AgentOptions {
    /// Parses only these options, by the rules of the parser. An invalid command line wants no agent.
    pub fn of(words: &[Bytes], variable: Option<&str>, idle: Option<&str>) -> AgentOptions {
        let mut wish =
            AgentOptions { wanted: variable == Some("auto"), idle_s: seconds(idle).unwrap_or(IDLE_S) };
        let nobody = AgentOptions { wanted: false, idle_s: IDLE_S };
        let mut at = 0;
        while let Some(word) = words.get(at) {
            at += 1;
            let Some(rest) = word.strip_prefix(b"-") else { continue };
            if rest == b"-" {
                break;
            }
            let next = words.get(at).map(Vec::as_slice);
            let Some(takes_next) = wish.option(rest, next) else { return nobody };
            at += usize::from(takes_next);
        }
        wish
    }

    /// Parses an option without its first dash; returns whether it takes the next word. Returns `None` if no
    /// agent may see it.
    fn option(&mut self, word: &[u8], next: Option<&[u8]>) -> Option<bool> {
        let Some(long) = word.strip_prefix(b"-") else {
            for (at, letter) in word.iter().enumerate() {
                if flags::short(*letter)?.takes_argument() {
                    return Some(at + 1 == word.len());
                }
            }
            return Some(false);
        };
        let (long, on) = long.strip_prefix(b"no-").map_or((long, true), |rest| (rest, false));
        let long = long.strip_prefix(b"expand-").unwrap_or(long);
        let mut halves = long.splitn(2, |byte| *byte == b'=');
        let (name, inline) = (halves.next()?, halves.next());
        let (flag, _) = flags::long(name)?;
        match flag.name {
            "agent" => self.wanted = on,
            "agent-status" | "agent-stop" => return None,
            "agent-idle" => {
                let text = inline.or(next).and_then(|text| std::str::from_utf8(text).ok());
                self.idle_s = seconds(text)?;
            }
            _ => {}
        }
        Some(flag.takes_argument() && !matches!(flag.set, Set::Mark(_)) && inline.is_none())
    }
}

/// Values of the variables that are none, in words. They count as if the variable were not set.
fn odd_values(variable: Option<&str>, idle: Option<&str>) -> Vec<String> {
    let known = |value: &&str| matches!(*value, "auto" | "" | "0" | "no" | "none" | "off");
    let odd = variable.filter(|value| !known(value)).map(|value| {
        format!(
            "{VARIABLE}={} is unknown, no agent is used; `auto` uses one for all commands",
            value.escape_debug()
        )
    });
    let number = |value: &&str| value.is_empty() || seconds(Some(value)).is_some();
    let idle = idle.filter(|value| !number(value)).map(|value| {
        format!("{IDLE_VARIABLE}={} is not a number of seconds, {IDLE_S} are used", value.escape_debug())
    });
    odd.into_iter().chain(idle).collect()
}

fn seconds(text: Option<&str>) -> Option<u32> {
    text?.parse().ok().map(|seconds: u32| seconds.clamp(1, LONGEST_IDLE_S))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wish(line: &str, variable: Option<&str>) -> (bool, u32) {
        let words: Vec<Bytes> = line.split(' ').map(|word| word.as_bytes().to_vec()).collect();
        let wish = AgentOptions::of(&words, variable, None);
        (wish.wanted, wish.idle_s)
    }

    #[test]
    fn options_are_told_from_arguments() {
        assert_eq!(wish("--agent http://h/", None), (true, IDLE_S));
        assert_eq!(wish("http://h/ -sSo f --agent", None), (true, IDLE_S));
        assert_eq!(wish("-H --agent http://h/", None), (false, IDLE_S));
        assert_eq!(wish("-so --agent http://h/", None), (false, IDLE_S));
        assert_eq!(wish("--header=x --agent http://h/", None), (true, IDLE_S));
        assert_eq!(wish("http://h/ -- --agent", None), (false, IDLE_S));
        assert_eq!(wish("--agent --agent-idle 9 http://h/", None), (true, 9));
        assert_eq!(wish("--agent --agent-idle=9 http://h/", None), (true, 9));
    }

    #[test]
    fn values_that_are_none_are_told() {
        assert!(odd_values(None, None).is_empty() && odd_values(Some("auto"), Some("9")).is_empty());
        assert!(odd_values(Some("no"), Some("")).is_empty());
        let odd = odd_values(Some("yes"), Some("soon"));
        assert!(
            odd[0].starts_with("WARMWIRE_AGENT=yes is unknown")
                && odd[1].starts_with("WARMWIRE_AGENT_IDLE=soon")
        );
    }

    #[test]
    fn the_environment_asks_and_the_words_decide() {
        assert_eq!(wish("http://h/", Some("auto")), (true, IDLE_S));
        assert_eq!(wish("http://h/", Some("no")), (false, IDLE_S));
        assert_eq!(wish("--no-agent http://h/", Some("auto")), (false, IDLE_S));
        for line in ["--agent-stop", "--agent-status", "--unheard-of x", "-€"] {
            assert_eq!(wish(line, Some("auto")), (false, IDLE_S), "{line}");
        }
    }
}
