//! `--why`: prints the reasons of a transfer.

use crate::env::Env;
use crate::options::ToolOption;
use crate::raw::{Callbacks, Easy};
use crate::request::{Request, WhyFormat};
use crate::text::harmless_lines;
use crate::writeout::asks_why;
use std::rc::Rc;
use warmwire::Reasons;

/// Creates the handle of a transfer. It keeps its reasons if a flag or `--write-out` shows them.
pub fn handle(env: &Env, request: &Request, callbacks: Rc<dyn Callbacks>) -> Easy {
    let easy = Easy::new(callbacks);
    let format = request.options.text(ToolOption::WriteOut);
    let shown = env.globals.why.is_some() || format.is_some_and(asks_why);
    easy.keep_reasons(match env.globals.explain_cert {
        Some(_) => Reasons::Certificates,
        None => shown.into(),
    });
    easy
}

/// Prints the reasons of an ended transfer on standard error, in colours if that is a terminal.
pub fn print(env: &Env, easy: &Easy, format: WhyFormat) {
    let Some(why) = easy.why() else { return };
    match format {
        WhyFormat::Json => env.messages.borrow_mut().line(&why.json()),
        WhyFormat::Text => print_text(env, &why.to_string()),
    }
}

/// Prints how the certificates of an ended transfer were checked.
pub fn print_certificates(env: &Env, easy: &Easy, format: WhyFormat) {
    let Some(why) = easy.why() else { return };
    match format {
        WhyFormat::Json => env.messages.borrow_mut().line(&why.certificates_json()),
        WhyFormat::Text => match why.certificates() {
            none if none.is_empty() => print_text(env, NO_CERTIFICATES),
            text => print_text(env, &text),
        },
    }
}

/// The report of a transfer without a TLS handshake.
const NO_CERTIFICATES: &str =
    "  certificate none was checked: the transfer used no TLS, or a connection that was open\n";

fn print_text(env: &Env, text: &str) {
    let mut messages = env.messages.borrow_mut();
    match env.stderr_is_terminal && env.globals.styled {
        true => messages.raw(&styled(&harmless_lines(text.as_bytes()))),
        false => messages.lines(text.as_bytes()),
    }
}

/// Marks heads bold and labels cyan. A label is the first word of an indented line.
fn styled(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() * 2);
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let (body, end) = match line.strip_suffix(b"\n") {
            Some(body) => (body, &b"\n"[..]),
            None => (line, &b""[..]),
        };
        match body.strip_prefix(b"  ") {
            Some(rest) => {
                let label = rest.iter().position(|byte| *byte == b' ').unwrap_or(rest.len());
                let (label, rest) = rest.split_at(label);
                let colour: &[u8] = if label == b"failed" { b"\x1b[31m" } else { b"\x1b[36m" };
                out.extend([b"  ", colour, label, b"\x1b[0m", rest].concat());
            }
            None => out.extend([b"\x1b[1m", body, b"\x1b[0m"].concat()),
        }
        out.extend(end);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_and_labels_are_marked() {
        let styled = styled(b"GET http://h/: 200\n  time        3 ms\n  failed      (7) no\n");
        let wanted = "\x1b[1mGET http://h/: 200\x1b[0m\n  \x1b[36mtime\x1b[0m        3 ms\n\
                      \x20 \x1b[31mfailed\x1b[0m      (7) no\n";
        assert_eq!(String::from_utf8_lossy(&styled), wanted);
    }
}
