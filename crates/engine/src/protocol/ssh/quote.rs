//! The commands of CURLOPT_QUOTE(3) and CURLOPT_POSTQUOTE(3) for SFTP: their names, their arguments, and the
//! request for each.

use ssh::sftp::{Attrs, Reply, Request, Status};
use tables::{Code, EasyOption as O};

use super::channel::{Sftp, attrs, status};
use super::fault::words;
use super::path;
use crate::callbacks::DebugKind;
use crate::error::{Error, Result};
use crate::transfer::Transfer;

/// Runs the commands of a list; `path` is the URL's. A refusal is ignored for a command that begins with an
/// asterisk, and so is an owner that is not a number; an unknown command always fails.
pub async fn run(t: &mut Transfer, sftp: &mut Sftp, list: O, path: &[u8]) -> Result<()> {
    let commands = t.easy.settings.borrow().list(list);
    for command in commands.iter() {
        let command = command.to_vec();
        t.easy.note(|| format!("Sending quote commands: {}", String::from_utf8_lossy(&command)));
        let (command, may_fail) = match command.strip_prefix(b"*") {
            Some(rest) => (rest, true),
            None => (command.as_slice(), false),
        };
        if command.eq_ignore_ascii_case(b"pwd") {
            tell_path(t, path)?;
            continue;
        }
        let parsed = match Command::parse(command, &sftp.home().await?) {
            Ok(parsed) => parsed,
            Err(Failed::Owner(_)) if may_fail => continue,
            Err(Failed::Owner(text) | Failed::Syntax(text)) => {
                return Err(Error::new(Code::QuoteError, text));
            }
        };
        match run_command(t, sftp, &parsed).await? {
            Err(status) if !may_fail => {
                let text = format!("{} failed: {}", parsed.shown(), words(status));
                return Err(Error::new(Code::QuoteError, text));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Delivers a path in the form of an FTP server's reply to PWD.
fn tell_path(t: &mut Transfer, path: &[u8]) -> Result<()> {
    let line = [b"257 \"", path, b"\" is current directory.\n"].concat();
    t.easy.callbacks.debug_if_wanted(DebugKind::HeaderOut, b"PWD\n");
    t.easy.callbacks.debug_if_wanted(DebugKind::HeaderIn, &line);
    t.flow.writer.header(&line, t.on(O::Header))
}

async fn run_command(
    t: &mut Transfer,
    sftp: &mut Sftp,
    command: &Command,
) -> Result<std::result::Result<(), Status>> {
    match command {
        Command::Attributes { change, path } => change_attributes(sftp, change, path).await,
        Command::Statvfs(path) => statvfs(t, sftp, path).await,
        Command::Link(target, link) => sftp.done(&Request::SymLink { target, link }).await,
        Command::MakeDir(path) => {
            let mode = Attrs::mode(t.long(O::NewDirectoryPerms) as u32);
            sftp.done(&Request::MakeDir { path, attrs: mode }).await
        }
        Command::Rename(from, to) => rename(sftp, from, to).await,
        Command::Remove(path) => sftp.done(&Request::Remove { path }).await,
        Command::RemoveDir(path) => sftp.done(&Request::RemoveDir { path }).await,
    }
}

/// A file that is in the way is replaced where the server can do that at once.
async fn rename(sftp: &mut Sftp, from: &[u8], to: &[u8]) -> Result<std::result::Result<(), Status>> {
    match sftp.client.extensions().posix_rename {
        true => sftp.done(&Request::PosixRename { from, to }).await,
        false => sftp.done(&Request::Rename { from, to }).await,
    }
}

async fn change_attributes(
    sftp: &mut Sftp,
    change: &Change,
    path: &[u8],
) -> Result<std::result::Result<(), Status>> {
    let wanted = match change {
        Change::Mode(mode) => Attrs::mode(*mode),
        // The request contains both of a pair: the other one is unchanged.
        change => {
            let now = match sftp.ask(&Request::Stat { path }, attrs).await? {
                Ok(now) => now,
                Err(why) => return Ok(Err(why)),
            };
            let (owner, group) = now.owners.unwrap_or_default();
            let (accessed, modified) = now.times.unwrap_or_default();
            match *change {
                Change::Owner(owner) => Attrs { owners: Some((owner, group)), ..Attrs::default() },
                Change::Group(group) => Attrs { owners: Some((owner, group)), ..Attrs::default() },
                Change::Accessed(at) => Attrs { times: Some((at, modified)), ..Attrs::default() },
                Change::Modified(at) => Attrs { times: Some((accessed, at)), ..Attrs::default() },
                Change::Mode(_) => Attrs::default(),
            }
        }
    };
    sftp.done(&Request::SetStat { path, attrs: wanted }).await
}

async fn statvfs(t: &mut Transfer, sftp: &mut Sftp, path: &[u8]) -> Result<std::result::Result<(), Status>> {
    const NAMES: [&str; 11] = [
        "f_bsize",
        "f_frsize",
        "f_blocks",
        "f_bfree",
        "f_bavail",
        "f_files",
        "f_ffree",
        "f_favail",
        "f_fsid",
        "f_flag",
        "f_namemax",
    ];
    if !sftp.client.extensions().statvfs {
        return Ok(Err(Status::OP_UNSUPPORTED));
    }
    let request = Request::Statvfs { path };
    let answer = sftp.ask(&request, |reply| match reply.statvfs() {
        Some(numbers) => Ok(numbers),
        None => Err(match reply {
            Reply::Status(Status::OK, _) => Status::FAILURE,
            reply => status(reply).err().unwrap_or(Status::FAILURE),
        }),
    });
    let numbers = match answer.await? {
        Ok(numbers) => numbers.0,
        Err(why) => return Ok(Err(why)),
    };
    let lines: String =
        NAMES.iter().zip(numbers).map(|(name, number)| format!("{name}: {number}\n")).collect();
    let text = format!("statvfs:\n{lines}");
    t.flow.writer.header(text.as_bytes(), t.on(O::Header))?;
    Ok(Ok(()))
}

/// The attribute of a file to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Mode(u32),
    Owner(u32),
    Group(u32),
    Accessed(u32),
    Modified(u32),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Command {
    Attributes { change: Change, path: Vec<u8> },
    Link(Vec<u8>, Vec<u8>),
    MakeDir(Vec<u8>),
    Rename(Vec<u8>, Vec<u8>),
    Remove(Vec<u8>),
    RemoveDir(Vec<u8>),
    Statvfs(Vec<u8>),
}

/// Why a line is no command.
#[derive(Debug)]
enum Failed {
    Syntax(String),
    /// All is well but for the number of a user or a group.
    Owner(String),
}

impl Command {
    /// Describes the command for a message.
    fn shown(&self) -> String {
        let (name, paths) = match self {
            Command::Attributes { path, .. } => ("Attempt to set SFTP stats for", [path, &Vec::new()]),
            Command::Link(target, link) => ("symlink", [target, link]),
            Command::MakeDir(path) => ("mkdir", [path, &Vec::new()]),
            Command::Rename(from, to) => ("rename", [from, to]),
            Command::Remove(path) => ("rm", [path, &Vec::new()]),
            Command::RemoveDir(path) => ("rmdir", [path, &Vec::new()]),
            Command::Statvfs(path) => ("statvfs", [path, &Vec::new()]),
        };
        let quoted = |path: &Vec<u8>| format!("\"{}\"", ssh::printable(path));
        match paths {
            [one, none] if none.is_empty() => format!("{name} {}", quoted(one)),
            [from, to] => format!("{name} {} to {}", quoted(from), quoted(to)),
        }
    }

    fn parse(line: &[u8], home: &[u8]) -> std::result::Result<Command, Failed> {
        let shown = String::from_utf8_lossy(line);
        let syntax = |text: &str| Failed::Syntax(text.to_owned());
        let (name, rest) = match line.iter().position(|b| *b == b' ') {
            Some(at) => line.split_at(at),
            None => return Err(Failed::Syntax(format!("Syntax error command '{shown}', missing parameter"))),
        };
        let bad = || Failed::Syntax(format!("Syntax error: Bad first parameter to '{shown}'"));
        let (first, rest) = word(rest, home).ok_or_else(bad)?;
        let name = NAMES.iter().find(|(known, _)| known.as_bytes() == name);
        let (name, words) = name.ok_or_else(|| syntax("Unknown SFTP command"))?;
        let bad = || {
            let at = match *name {
                "ln" | "symlink" => "ln/symlink",
                "rename" => "rename",
                _ => &*shown,
            };
            Failed::Syntax(format!("Syntax error in {at}: Bad second parameter"))
        };
        let (second, rest) = match words {
            1 => (Vec::new(), rest),
            _ => word(rest, home).ok_or_else(bad)?,
        };
        if !rest.trim_ascii().is_empty() {
            return Err(syntax("Suspicious data after the command line"));
        }
        Command::of(name, first, second)
    }

    fn of(name: &'static str, first: Vec<u8>, second: Vec<u8>) -> std::result::Result<Command, Failed> {
        let number = |radix: u32, most: u32, what: &str| {
            let digits =
                std::str::from_utf8(&first).ok().filter(|text| text.bytes().all(|b| b.is_ascii_digit()));
            let number = digits.and_then(|text| u32::from_str_radix(text, radix).ok()).filter(|n| *n <= most);
            number.ok_or_else(|| format!("Syntax error: {name} {what} not a number"))
        };
        let date = || {
            let bad = || Failed::Syntax(format!("incorrect date format for {name}"));
            let at = wire::date::parse(&first).ok_or_else(bad)?;
            u32::try_from(at).map_err(|_| Failed::Syntax("date overflow".to_owned()))
        };
        let change = match name {
            "ln" | "symlink" => return Ok(Command::Link(first, second)),
            "rename" => return Ok(Command::Rename(first, second)),
            "mkdir" => return Ok(Command::MakeDir(first)),
            "rm" => return Ok(Command::Remove(first)),
            "rmdir" => return Ok(Command::RemoveDir(first)),
            "statvfs" => return Ok(Command::Statvfs(first)),
            "chmod" => Change::Mode(number(8, 0o7777, "permissions").map_err(Failed::Syntax)?),
            "chown" => Change::Owner(number(10, u32::MAX, "uid").map_err(Failed::Owner)?),
            "chgrp" => Change::Group(number(10, u32::MAX, "gid").map_err(Failed::Owner)?),
            "atime" => Change::Accessed(date()?),
            _ => Change::Modified(date()?),
        };
        Ok(Command::Attributes { change, path: second })
    }
}

/// Names of commands, and how many words each wants.
const NAMES: [(&str, u8); 12] = [
    ("chgrp", 2),
    ("chmod", 2),
    ("chown", 2),
    ("atime", 2),
    ("mtime", 2),
    ("ln", 2),
    ("symlink", 2),
    ("rename", 2),
    ("mkdir", 1),
    ("rm", 1),
    ("rmdir", 1),
    ("statvfs", 1),
];

/// Returns the next word: up to a blank, or between quotation marks, where a backslash escapes one.
fn word<'a>(line: &'a [u8], home: &[u8]) -> Option<(Vec<u8>, &'a [u8])> {
    let blank = |b: &u8| matches!(b, b' ' | b'\t');
    let line = &line[line.iter().take_while(|b| blank(b)).count()..];
    let quote = *line.first()?;
    if quote != b'"' && quote != b'\'' {
        let end = line.iter().position(blank).unwrap_or(line.len());
        return Some((path::at_home(&line[..end], home), &line[end..]));
    }
    let mut out = Vec::new();
    let mut rest = line[1..].iter().enumerate();
    while let Some((at, byte)) = rest.next() {
        match *byte {
            b if b == quote => return (!out.is_empty()).then(|| (out, &line[at + 2..])),
            b'\\' => match rest.next() {
                Some((_, escaped @ (b'"' | b'\'' | b'\\'))) => out.push(*escaped),
                _ => return None,
            },
            b => out.push(b),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> std::result::Result<Command, Failed> {
        Command::parse(line.as_bytes(), b"/users/u")
    }

    #[test]
    fn quotes_and_spaces_separate_words() {
        let two = |line: &str| match parse(line) {
            Ok(Command::Rename(a, b)) => (String::from_utf8(a).unwrap(), String::from_utf8(b).unwrap()),
            other => panic!("{line}: {other:?}"),
        };
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(two("rename a b"), pair("a", "b"));
        assert_eq!(two("rename   'a b'  \"c \\\" \\\\d\"  "), pair("a b", "c \" \\d"));
        assert_eq!(two("rename /~/a /~2/b"), pair("/users/u/a", "/~2/b"));
    }

    #[test]
    fn malformed_commands_are_errors() {
        for bad in [
            "mkdir",
            "mkdir ",
            "nonsense foo bar",
            "rename a",
            "mkdir a b",
            "mkdir 'a",
            "mkdir ''",
            "mkdir 'a\\b'",
            "chmod rw a",
            "chmod 10000 a",
            "chmod 8 a",
            "chown x a",
            "chgrp 4294967296 a",
            "mtime never a",
            "MKDIR a",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }

    /// As curl says it; the second: whether an asterisk excuses it.
    #[test]
    fn texts_of_malformed_commands() {
        for (line, text, excused) in [
            ("rm", "Syntax error command 'rm', missing parameter", false),
            ("rm ", "Syntax error: Bad first parameter to 'rm '", false),
            ("foo ", "Syntax error: Bad first parameter to 'foo '", false),
            ("foo bar", "Unknown SFTP command", false),
            ("chmod 644", "Syntax error in chmod 644: Bad second parameter", false),
            ("ln a", "Syntax error in ln/symlink: Bad second parameter", false),
            ("rename a", "Syntax error in rename: Bad second parameter", false),
            ("rm a b", "Suspicious data after the command line", false),
            ("chmod 999 a", "Syntax error: chmod permissions not a number", false),
            ("chgrp abc a", "Syntax error: chgrp gid not a number", true),
            ("mtime never a", "incorrect date format for mtime", false),
            ("atime '1 Jan 2200' a", "date overflow", false),
        ] {
            match parse(line) {
                Err(Failed::Syntax(message)) => assert_eq!((&*message, false), (text, excused), "{line}"),
                Err(Failed::Owner(message)) => assert_eq!((&*message, true), (text, excused), "{line}"),
                Ok(command) => panic!("{line}: {command:?}"),
            }
        }
    }

    #[test]
    fn attributes() {
        let change = |line: &str| match parse(line) {
            Ok(Command::Attributes { change, path }) if path == b"f" => change,
            other => panic!("{line}: {other:?}"),
        };
        assert_eq!(change("chmod 644 f"), Change::Mode(0o644));
        assert_eq!(change("chown 12 f"), Change::Owner(12));
        assert_eq!(change("chgrp 13 f"), Change::Group(13));
        assert_eq!(change("mtime 'Thu, 01 Jan 1970 00:00:09 GMT' f"), Change::Modified(9));
        assert_eq!(change("atime \"Thu, 01 Jan 1970 00:00:08 GMT\" f"), Change::Accessed(8));
    }
}
