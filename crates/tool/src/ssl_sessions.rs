//! `--ssl-sessions`: TLS sessions in a file, loaded before the first transfer and saved after the last. Each
//! line has a proof of the session's server and settings, a colon, and the session, both in base64, in curl's
//! format. The file contains secrets.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::rc::Rc;

use crate::env::Env;
use crate::message::{os_text, shown};
use crate::raw::base64;
use crate::raw::{Callbacks, Code, Easy, Share};
use crate::system::{path, private};

/// The longest line that is read; a session has 16 KB at most.
const MAX_LINE: usize = 64 * 1024;
/// Lines that are read of one file.
const MAX_LINES: usize = 10_000;

const HEAD: &str =
    "# TLS sessions, kept by warmwire. Whoever reads this may resume them: keep it to yourself.\n";

/// No transfer is made with it.
struct Silent;

impl Callbacks for Silent {}

/// The handle through which sessions go in and out.
fn handle(share: &Share) -> Easy {
    let easy = Easy::new(Rc::new(Silent));
    easy.set_share(Some(share.clone()));
    easy
}

/// A file that is not there yet is none; a line that is no session is passed over with a warning.
pub fn load(env: &Env, share: &Share, name: &[u8]) -> Result<(), Code> {
    let file = match File::open(path(name)) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            env.note(&format!("SSL session file does not exist (yet?): {}", shown(name)));
            return Ok(());
        }
        Err(error) => {
            env.warn(&format!("SSL session file {} cannot be read: {}", shown(name), os_text(&error)));
            return Ok(());
        }
    };
    let easy = handle(share);
    let mut lines = BufReader::new(file);
    for number in 1..=MAX_LINES {
        let mut line = Vec::new();
        let read = lines.by_ref().take(MAX_LINE as u64 + 1).read_until(b'\n', &mut line);
        if read.map_err(|_| Code::FailedInit)? == 0 {
            break;
        }
        if line.len() > MAX_LINE {
            env.warn(&format!("line {number} of SSL session file {} is too long", shown(name)));
            break;
        }
        let line = line.trim_ascii();
        if line.is_empty() || line.starts_with(b"#") {
            continue;
        }
        let Some((proof, session)) = parts(line) else {
            env.warn(&format!("unrecognized line {number} in ssl session file {}", shown(name)));
            continue;
        };
        match easy.import_session(None, &proof, &session) {
            Ok(()) => {}
            Err(Code::NotBuiltIn) => return Err(Code::NotBuiltIn),
            Err(code) => {
                env.warn(&format!("import of session from line {number} rejected({})", code.id()));
            }
        }
    }
    Ok(())
}

fn parts(line: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let colon = line.iter().position(|byte| *byte == b':')?;
    Some((base64::decode(&line[..colon])?, base64::decode(line[colon + 1..].trim_ascii())?))
}

/// Writes a temporary file and renames it, so that neither a full disk nor another process sees an incomplete
/// one.
pub fn save(env: &Env, share: &Share, name: &[u8]) -> Result<(), Code> {
    let exported = handle(share).export_sessions()?;
    let mut text = HEAD.as_bytes().to_vec();
    for one in exported {
        text.extend(format!("{}:{}\n", base64::encode(&one.proof), base64::encode(&one.packed)).bytes());
    }
    let target = path(name);
    let written = match fs::symlink_metadata(target) {
        // A device or a link is written to directly.
        Ok(found) if !found.is_file() => fs::write(target, &text),
        _ => {
            let beside = [name, format!(".{}.tmp", std::process::id()).as_bytes()].concat();
            let beside = path(&beside);
            let mut options = OpenOptions::new();
            let opened = private(options.write(true).create_new(true)).open(beside);
            let done =
                opened.and_then(|mut file| file.write_all(&text)).and_then(|()| fs::rename(beside, target));
            if done.is_err() {
                let _ = fs::remove_file(beside);
            }
            done
        }
    };
    if let Err(error) = written {
        env.warn(&format!("Failed to create SSL session file {}: {}", shown(name), os_text(&error)));
    }
    Ok(())
}
