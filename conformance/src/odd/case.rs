//! One recorded case: the command, the recorded results, and the comparison with a new run.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use testkit::base64::decode;

use super::server::{Request, Server, find};
use crate::diff;
use crate::json::Json;

/// First words of every command line. The two seconds end cases that wait for a missing reply.
const FIRST: [&str; 6] = ["-q", "-sS", "--max-time", "2", "-A", "x"];

pub struct Case {
    pub number: usize,
    pub arguments: Vec<String>,
    keep_open: bool,
    replies: Vec<Vec<u8>>,
    wanted: RunResult,
}

/// The results of a run.
struct RunResult {
    exit: i32,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    outfile: Vec<u8>,
    files: BTreeMap<String, Vec<u8>>,
    requests: Vec<Request>,
}

/// The differences between a run and the record.
#[derive(Default)]
pub struct Difference {
    /// In exit code, output, files or requests.
    pub acts: Option<String>,
    /// In the text on stderr.
    pub words: Option<String>,
}

impl Case {
    pub fn parse(number: usize, line: &str) -> Result<Case, String> {
        let json = Json::parse(line)?;
        let bytes = |name: &str| json.member(name).and_then(Json::text).map(|text| decode(text.as_bytes()));
        let arguments = json.member("args")?.list()?.iter();
        let arguments: Result<_, _> = arguments.map(|a| a.text().map(str::to_owned)).collect();
        let replies: Result<_, _> = json.member("replies")?.list()?.iter().map(base64).collect();
        let Json::Object(files) = json.member("files")? else { return Err("files is no object".into()) };
        let files: Result<_, _> =
            files.iter().map(|(name, text)| Ok::<_, String>((name.clone(), base64(text)?))).collect();
        let requests: Result<_, _> = json.member("requests")?.list()?.iter().map(request).collect();
        let Json::Number(exit) = *json.member("exit")? else { return Err("exit is no number".into()) };
        let wanted = RunResult {
            exit: exit as i32,
            stdout: bytes("stdout")?,
            stderr: bytes("stderr")?,
            outfile: bytes("outfile")?,
            files: files?,
            requests: requests?,
        };
        let keep_open = *json.member("keep_open")? == Json::Bool(true);
        Ok(Case { number, arguments: arguments?, keep_open, replies: replies?, wanted })
    }

    /// Runs it in this folder, which is removed afterwards.
    pub fn play(&self, curl: &Path, folder: &Path) -> Difference {
        let seen = self.run(curl, folder);
        let _ = fs::remove_dir_all(folder);
        match seen {
            Ok((seen, port)) => self.compare(&seen, port, folder),
            Err(e) => Difference { acts: Some(format!("    not run: {e}\n")), words: None },
        }
    }

    fn run(&self, curl: &Path, folder: &Path) -> std::io::Result<(RunResult, u16)> {
        let own = folder.join("own");
        fs::create_dir_all(&own)?;
        let out = folder.join("out");
        if self.arguments.iter().any(|a| a == "-C") {
            fs::write(&out, "01234")?;
        }
        fs::write(folder.join("body"), "upload body\n".repeat(20))?;
        fs::write(folder.join("etag"), "\"abc\"")?;
        let server = Server::start(&self.replies, self.keep_open)?;
        let port = server.port;
        let mut command = Command::new(curl);
        command.args(FIRST).args(self.arguments.iter().map(|a| written(a, folder, port)));
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().to_ascii_lowercase().ends_with("_proxy") {
                command.env_remove(name);
            }
        }
        command.env("HOME", folder).env("CURL_HOME", folder).env("LC_ALL", "C");
        let output = command.current_dir(&own).stdin(Stdio::null()).output();
        let requests = server.stop();
        let output = output?;
        let seen = RunResult {
            exit: output.status.code().unwrap_or(-1),
            stdout: output.stdout,
            stderr: output.stderr,
            outfile: fs::read(&out).unwrap_or_default(),
            files: files_of(&own)?,
            requests,
        };
        Ok((seen, port))
    }

    fn compare(&self, seen: &RunResult, port: u16, folder: &Path) -> Difference {
        let wanted = &self.wanted;
        let plain = |text: &[u8]| timeless(&with_folder(&with_port(text, port), folder));
        let mut acts = String::new();
        if seen.exit != wanted.exit {
            acts += &format!(
                "    exit code {}, curl {}: {}\n",
                seen.exit,
                wanted.exit,
                seen.stderr.escape_ascii()
            );
        }
        let mut differ = |name: &str, wanted: &[u8], seen: &[u8]| {
            let (wanted, seen) = (plain(wanted), plain(seen));
            if wanted != seen {
                acts += &format!("    {name}\n{}", diff::show(&wanted, &seen));
            }
        };
        differ("stdout", &wanted.stdout, &seen.stdout);
        differ("the output file", &wanted.outfile, &seen.outfile);
        differ("files", &joined(&wanted.files), &joined(&seen.files));
        differ("requests", &blanked(&wanted.requests), &blanked(&seen.requests));
        let (before, now) = (plain(&wanted.stderr), plain(&seen.stderr));
        let words = (before != now).then(|| format!("    stderr\n{}", diff::show(&before, &now)));
        Difference { acts: (!acts.is_empty()).then_some(acts), words }
    }
}

fn base64(json: &Json) -> Result<Vec<u8>, String> {
    json.text().map(|text| decode(text.as_bytes()))
}

fn request(json: &Json) -> Result<Request, String> {
    match json.list()? {
        [head, body] => Ok((base64(head)?, base64(body)?)),
        _ => Err("a request is a head and a body".into()),
    }
}

/// The files in a folder.
fn files_of(folder: &Path) -> std::io::Result<BTreeMap<String, Vec<u8>>> {
    let entries = fs::read_dir(folder)?;
    entries
        .map(|entry| {
            Ok((
                entry
                    .as_ref()
                    .map_or_else(|_| String::new(), |e| e.file_name().to_string_lossy().into_owned()),
                fs::read(entry?.path())?,
            ))
        })
        .collect()
}

fn joined(files: &BTreeMap<String, Vec<u8>>) -> Vec<u8> {
    files.iter().flat_map(|(name, text)| [name.as_bytes(), b":\n", text, b"\n"].concat()).collect()
}

/// An argument with the names of its files.
fn written(argument: &str, folder: &Path, port: u16) -> String {
    let folder = folder.display().to_string();
    let mut argument = argument.replace("%PORT", &port.to_string());
    for (name, file) in [("%OUT", "out"), ("%BODY", "body"), ("%ETAG", "etag")] {
        argument = argument.replace(name, &format!("{folder}/{file}"));
    }
    argument.replace("%TMP", &folder)
}

pub fn with_port(text: &[u8], port: u16) -> Vec<u8> {
    replaced(text, b"%PORT", port.to_string().as_bytes())
}

fn with_folder(text: &[u8], folder: &Path) -> Vec<u8> {
    replaced(text, b"%TMP", folder.display().to_string().as_bytes())
}

fn replaced(text: &[u8], what: &[u8], by: &[u8]) -> Vec<u8> {
    let (mut out, mut rest) = (vec![], text);
    while let Some(at) = find(rest, what) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(by);
        rest = &rest[at + what.len()..];
    }
    out.extend_from_slice(rest);
    out
}

/// Without the numbers in "after 2001 milliseconds".
fn timeless(text: &[u8]) -> Vec<u8> {
    let (mut out, mut rest) = (vec![], text);
    while let Some(at) = find(rest, b"after ") {
        let digits = at + b"after ".len();
        let unit = rest[digits..].iter().position(|b| !b.is_ascii_digit()).map_or(rest.len(), |n| digits + n);
        out.extend_from_slice(&rest[..digits]);
        if rest[unit..].starts_with(b" m") {
            out.push(b'N');
            rest = &rest[unit..];
        } else {
            rest = &rest[digits..];
        }
    }
    out.extend_from_slice(rest);
    out
}

/// Returns the requests without random parts: boundaries, NTLM messages, Digest responses.
fn blanked(requests: &[Request]) -> Vec<u8> {
    let mut out = vec![];
    for (head, body) in requests {
        for part in [head, body] {
            let lines = part.split(|b| *b == b'\n').map(blanked_line);
            out.extend_from_slice(&lines.collect::<Vec<_>>().join(&b'\n'));
            out.push(b'\n');
        }
    }
    out
}

fn blanked_line(line: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(line);
    let (text, end) = text.strip_suffix('\r').map_or((&*text, ""), |text| (text, "\r"));
    let line_of = |shown: String| format!("{shown}{end}").into_bytes();
    if text.starts_with("------------------------") {
        return line_of("B".into());
    }
    if let Some((before, _)) = text.split_once("boundary=") {
        return line_of(format!("{before}B"));
    }
    if let Some((name, _)) = text.split_once(": NTLM ") {
        return line_of(format!("{name}: B"));
    }
    match text.split_once(": Digest ") {
        Some((name, proof)) => {
            let parts = proof.split(", ").map(|part| match part.split_once('=') {
                Some((key @ ("cnonce" | "response"), _)) => key,
                _ => part,
            });
            line_of(format!("{name}: Digest {}", parts.collect::<Vec<_>>().join(", ")))
        }
        None => line.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_parts_of_a_request_are_blanked() {
        let line = |text: &str| String::from_utf8(blanked_line(text.as_bytes())).unwrap();
        assert_eq!(line("--------------------------0a1b--\r"), "B\r");
        assert_eq!(line("Content-Type: x; boundary=--------1"), "Content-Type: x; B");
        assert_eq!(line("Authorization: NTLM TlRM"), "Authorization: B");
        assert_eq!(
            line("A: Digest a=\"b\", cnonce=\"x\", response=\"y\""),
            "A: Digest a=\"b\", cnonce, response"
        );
    }

    #[test]
    fn times_are_no_difference() {
        assert_eq!(timeless(b"after 2001 milliseconds, after 3 days"), b"after N milliseconds, after 3 days");
        assert_eq!(timeless(b"soon after 12"), b"soon after 12");
    }

    /// Differences of a run are reported, in actions and in texts.
    #[test]
    fn differences() {
        let line = r#"{"args":["%PORT"],"keep_open":false,"replies":["QQ=="],"exit":0,"stdout":"","stderr":"","outfile":"",
            "files":{},"requests":[]}"#;
        let case = Case::parse(1, line).unwrap();
        let folder = std::env::temp_dir().join(format!("odd-case-{}", std::process::id()));
        let found = case.play(Path::new("/bin/true"), &folder);
        assert!(found.acts.is_none() && found.words.is_none());
        let found = case.play(Path::new("/bin/false"), &folder);
        assert!(found.acts.unwrap().contains("exit code 1") && found.words.is_none());
        let found = case.play(Path::new("/bin/ls"), &folder);
        assert!(found.acts.is_some() && found.words.is_some());
    }
}
