//! Who a process is beyond its user: what decides whether another process may do something in its stead.
//!
//! A call is made by an agent that its own command, or one of the same standing and environment, has started: variables,
//! name spaces, groups, capabilities and confinement are the caller's because the agent was born with them. All of it is
//! hashed to the name under which the agent is found. The first that is asked for is the one that has the environment alone in its
//! name: mostly there is one world, and an agent that is of another one says so, since it looks who calls.

use crate::bytes::Bytes;
use crate::raw::hex;
use rustix::process::{Resource, getegid, geteuid, getgid, getrlimit, getuid};
use sha2::{Digest, Sha256};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// What proc(5) says of a process in `status` that another one would have to share.
const LINES: [&str; 10] = [
    "Uid:",
    "Gid:",
    "Groups:",
    "NoNewPrivs:",
    "Seccomp:",
    "CapInh:",
    "CapPrm:",
    "CapEff:",
    "CapBnd:",
    "CapAmb:",
];
/// More than the file has, unless somebody is in very many groups.
const LONGEST_STATUS: usize = 4096;
const NAME_SPACES: [&str; 6] = ["ipc", "mnt", "net", "pid", "user", "uts"];
/// Name spaces that not every kernel has.
const NEWER_NAME_SPACES: [&str; 2] = ["cgroup", "time"];
/// Files that say what a process is confined to: its control groups (resource limits, VRFs, filters of eBPF), and the labels of
/// SELinux, Smack and AppArmor. Not compared are keyrings, scheduling, affinity, and limits other than those of `name`.
const CONFINEMENT: [&str; 3] = ["cgroup", "attr/current", "attr/apparmor/current"];

/// What a shell changes by itself from command to command; handed over with each call instead.
pub const SHELL: [&str; 4] = ["PWD", "OLDPWD", "SHLVL", "_"];
/// What says whether to use an agent is nothing that a transfer could see.
const OWN: [&str; 2] = [super::VARIABLE, super::IDLE_VARIABLE];

/// What a file name in a command, a config file or the environment must not say: it would mean another process.
const OF_THE_PROCESS: [&str; 5] = ["/dev/fd", "/dev/std", "/dev/tty", "/proc/self", "/proc/thread-self"];

/// The standing of a process, as text to be compared.
pub fn of(process: &str) -> io::Result<String> {
    of_folder(&Path::new("/proc").join(process))
}

fn of_folder(folder: &Path) -> io::Result<String> {
    // The file has no size to be asked for, and each read of it costs a system call.
    let mut status = Vec::with_capacity(LONGEST_STATUS);
    fs::File::open(folder.join("status"))?.read_to_end(&mut status)?;
    let status = String::from_utf8_lossy(&status);
    let mut text = String::new();
    for line in status.lines().filter(|line| LINES.iter().any(|name| line.starts_with(name))) {
        text.push_str(line);
        text.push('\n');
    }
    for name in NAME_SPACES {
        let space = fs::read_link(folder.join("ns").join(name))?;
        text.push_str(&format!("{}\n", space.display()));
    }
    for name in NEWER_NAME_SPACES {
        let space = fs::read_link(folder.join("ns").join(name)).unwrap_or_default();
        text.push_str(&format!("{}\n", space.display()));
    }
    text.push_str(&format!("{}\n", fs::read_link(folder.join("root"))?.display()));
    for name in CONFINEMENT {
        // What the kernel does not have, no process has. What it hides of another process differs from one's own.
        let content = fs::read(folder.join(name)).unwrap_or_default();
        text.push_str(&format!("{name} {}\n", String::from_utf8_lossy(&content).trim_end()));
    }
    Ok(text)
}

/// The name of the world of this process: two that share it, and the standing, may stand in for each other.
pub fn name(standing: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(standing);
    hash.update(format!("{:?}\n", getrlimit(Resource::Nofile)));
    for (name, value) in std::env::vars_os().filter(|(name, _)| counts(name)) {
        hash.update([name.as_bytes(), b"=", value.as_bytes(), b"\0"].concat());
    }
    hex::encode(&hash.finalize()[..16])
}

fn counts(name: &OsStr) -> bool {
    !SHELL.iter().chain(&OWN).any(|other| name == *other)
}

/// The values of what is no part of the name.
pub fn shell_variables() -> Vec<(Bytes, Option<Bytes>)> {
    SHELL
        .iter()
        .map(|name| (name.as_bytes().to_vec(), std::env::var_os(name).map(OsString::into_vec)))
        .collect()
}

/// Which build of the program this process runs, also when the file has been replaced since.
pub fn build() -> io::Result<Bytes> {
    let file = fs::metadata("/proc/self/exe")?;
    let text = format!(
        "{} {}:{} {} {}.{}",
        env!("CARGO_PKG_VERSION"),
        file.dev(),
        file.ino(),
        file.size(),
        file.mtime(),
        file.mtime_nsec()
    );
    Ok(text.into_bytes())
}

/// Why nobody else may make this call, if that is so.
pub fn own_business(words: &[Bytes]) -> Option<&'static str> {
    if getuid() != geteuid() || getgid() != getegid() {
        return Some("the program runs as another user than its caller");
    }
    let measured = [Resource::Cpu, Resource::Fsize, Resource::As, Resource::Data];
    if measured.into_iter().any(|resource| getrlimit(resource).current.is_some()) {
        return Some("the process has limits on its own CPU time, memory or file size");
    }
    let mut values = std::env::vars_os().filter(|(name, _)| counts(name)).map(|(_, value)| value);
    if words.iter().any(|word| names_the_process(word)) || values.any(|v| names_the_process(v.as_bytes())) {
        return Some("a file name means another file in each process");
    }
    let input = rustix::stdio::stdin();
    let foreground = || rustix::termios::tcgetpgrp(input).ok();
    if rustix::termios::isatty(input) && foreground() != Some(rustix::process::getpgrp()) {
        return Some("a job in the background must not read from its terminal");
    }
    (words.iter().map(Vec::len).sum::<usize>() > super::link::LONGEST / 2)
        .then_some("the command is too long")
}

fn names_the_process(text: &[u8]) -> bool {
    let slashes = text.iter().enumerate().filter(|(_, byte)| **byte == b'/');
    slashes
        .map(|(at, _)| &text[at..])
        .any(|rest| OF_THE_PROCESS.iter().any(|name| rest.starts_with(name.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_the_standing_of_its_child() {
        let own = of("self").unwrap();
        assert!(own.contains("Uid:") && own.contains("net:["), "{own}");
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let of_child = of(&child.id().to_string());
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(of_child.unwrap(), own);
        assert_ne!(name(&own), name(""));
    }

    /// A call from another control group or under another label is not this agent's to make.
    #[test]
    fn confinement_is_part_of_the_standing() {
        let folder = std::env::temp_dir().join(format!("warmwire-standing-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("ns")).unwrap();
        fs::create_dir_all(folder.join("attr/apparmor")).unwrap();
        for name in NAME_SPACES {
            std::os::unix::fs::symlink(format!("{name}:[1]"), folder.join("ns").join(name)).unwrap();
        }
        std::os::unix::fs::symlink("/", folder.join("root")).unwrap();
        fs::write(folder.join("status"), "Uid:\t0\n").unwrap();
        let mut seen = vec![of_folder(&folder).unwrap()];
        for (name, content) in [
            ("cgroup", "0::/user.slice/a.scope\n"),
            ("cgroup", "0::/user.slice/b.scope\n"),
            ("attr/current", "unconfined\n"),
            ("attr/current", "system_u:system_r:a_t:s0\0"),
            ("attr/apparmor/current", "profile (enforce)\n"),
        ] {
            fs::write(folder.join(name), content).unwrap();
            seen.push(of_folder(&folder).unwrap());
        }
        std::os::unix::fs::symlink("time:[2]", folder.join("ns/time")).unwrap();
        seen.push(of_folder(&folder).unwrap());
        for (at, one) in seen.iter().enumerate() {
            assert!(!seen[..at].contains(one), "{one}");
        }
    }

    /// Every variable is part of the name but those that are handed over with each call, and those that say
    /// whether there is an agent: a variable that is not known parts two worlds.
    #[test]
    fn unknown_variables_count() {
        for name in
            ["HOME", "LD_PRELOAD", "SSL_CERT_FILE", "https_proxy", "A_NEW_VARIABLE", "PWD2", "pwd", ""]
        {
            assert!(counts(OsStr::new(name)), "{name}");
        }
        let mut left_out: Vec<Bytes> = shell_variables().into_iter().map(|(name, _)| name).collect();
        assert_eq!(left_out, ["PWD", "OLDPWD", "SHLVL", "_"].map(|name| name.as_bytes().to_vec()));
        left_out.extend(["WARMWIRE_AGENT", "WARMWIRE_AGENT_IDLE"].map(|name| name.as_bytes().to_vec()));
        for name in left_out {
            assert!(!counts(OsStr::from_bytes(&name)), "{name:?}");
        }
    }

    #[test]
    fn files_of_the_process_are_found() {
        for word in ["/dev/fd/63", "@/dev/stdin", "file=/proc/self/environ", "x//dev/tty"] {
            assert!(names_the_process(word.as_bytes()), "{word}");
        }
        for word in ["dev/fd", "https://host/dev/f", "/proc/1/status"] {
            assert!(!names_the_process(word.as_bytes()), "{word}");
        }
    }
}
