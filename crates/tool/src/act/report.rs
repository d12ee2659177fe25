//! Flags about output: traces, messages, write-out, pictures, help.

use super::{not_blank, read};
use crate::message::shown;
use crate::numbers;
use crate::options::ToolOption;
use crate::parse::{Done, Parser, Stop, Wrong};
use crate::request::{SummaryFormat, WhyFormat};
use crate::trace::TraceKind;
use std::io::{self, IsTerminal};

pub fn help(_: &mut Parser, _: &str, text: &[u8]) -> Done {
    Err(Stop::Help(Some(text.to_vec())))
}

pub fn manual(_: &mut Parser, _: &str, on: bool) -> Done {
    if on { Err(Stop::Manual) } else { Ok(()) }
}

pub fn version(_: &mut Parser, _: &str, on: bool) -> Done {
    if on { Err(Stop::Version) } else { Ok(()) }
}

pub fn generate(_: &mut Parser, _: &str, text: &[u8]) -> Done {
    match text {
        b"man" | b"markdown" | b"bash" | b"zsh" | b"fish" => Err(Stop::Generate(text.to_vec())),
        _ => Err(Wrong::Allowed("takes man, markdown, bash, zsh or fish").into()),
    }
}

pub fn libcurl(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    parser.globals.libcurl = Some(not_blank(text)?.to_vec());
    Ok(())
}

pub fn har(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    parser.globals.har = Some(not_blank(text)?.to_vec());
    Ok(())
}

pub fn policy(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    parser.globals.policy = Some(not_blank(text)?.to_vec());
    Ok(())
}

pub fn record(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    parser.globals.record = Some(not_blank(text)?.to_vec());
    Ok(())
}

pub fn replay(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    parser.globals.replay = Some(not_blank(text)?.to_vec());
    Ok(())
}

pub fn timeline(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    parser.globals.timeline = Some(not_blank(text)?.to_vec());
    Ok(())
}

pub fn summary(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    parser.globals.summary = Some(table_or_json(text)?);
    Ok(())
}

pub(super) fn table_or_json(text: &[u8]) -> Result<SummaryFormat, Wrong> {
    match text {
        b"" | b"table" => Ok(SummaryFormat::Table),
        b"json" => Ok(SummaryFormat::Json),
        _ => Err(Wrong::Allowed("takes table or json")),
    }
}

pub fn why(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    parser.globals.why = Some(why_format(text)?);
    Ok(())
}

pub fn explain_cert(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    parser.globals.explain_cert = Some(why_format(text)?);
    Ok(())
}

fn why_format(text: &[u8]) -> Result<WhyFormat, Wrong> {
    match text {
        b"" | b"text" => Ok(WhyFormat::Text),
        b"json" => Ok(WhyFormat::Json),
        _ => Err(Wrong::Allowed("takes text or json")),
    }
}

/// Reads the interval of a watch.
pub fn watch(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    const WRONG: Wrong = Wrong::Allowed("takes a time from 1ms to 24h, such as 200ms, 5s or 10m");
    parser.globals.watch = Some(numbers::interval(text).ok_or(WRONG)?);
    Ok(())
}

pub fn exec(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    parser.globals.exec = Some(not_blank(text)?.to_vec());
    Ok(())
}

pub fn progress(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    let (bar, bars) = match text {
        b"meter" => (false, false),
        b"bar" => (true, false),
        b"bars" => (false, true),
        _ => return Err(Wrong::Allowed("takes meter, bar or bars").into()),
    };
    parser.globals.progress_bar = bar;
    parser.globals.progress_bars = bars;
    Ok(())
}

pub fn stderr(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    let terminal = text == b"-" && io::stdout().is_terminal();
    match parser.world.message_file(text) {
        Ok(sink) => parser.messages.redirect(sink, terminal),
        Err(_) => {
            let name = shown(text);
            parser.messages.warn(&format!("Failed to open {name}"));
        }
    }
    Ok(())
}

pub fn trace(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    begin_trace(parser, text, TraceKind::Hex, "--trace overrides an earlier trace/verbose option")
}

pub fn trace_ascii(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    begin_trace(parser, text, TraceKind::Ascii, "--trace-ascii overrides an earlier trace/verbose option")
}

fn begin_trace(parser: &mut Parser, text: &[u8], kind: TraceKind, warning: &str) -> Done {
    let file = not_blank(text)?.to_vec();
    if parser.globals.trace != TraceKind::None && parser.globals.trace != kind {
        parser.messages.warn(warning);
    }
    parser.globals.trace_file = Some(file);
    parser.globals.trace = kind;
    parser.messages.tracing = true;
    Ok(())
}

/// Handles the words of `--trace-config`; unknown layers are ignored, as in curl.
pub fn trace_config(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    parser.globals.trace_config_given = true;
    configure_trace(parser, text);
    Ok(())
}

fn configure_trace(parser: &mut Parser, text: &[u8]) {
    for word in text.split(|byte| *byte == b',' || *byte == b' ').filter(|word| !word.is_empty()) {
        let (on, name) = match word[0] {
            b'-' => (false, &word[1..]),
            b'+' => (true, &word[1..]),
            _ => (true, word),
        };
        let name = name.to_ascii_lowercase();
        let all = name == b"all";
        if all || name == b"ids" {
            parser.globals.trace_ids = on;
        }
        if all || name == b"time" {
            parser.globals.trace_time = on;
        }
        parser.globals.layers.set(&shown(&name), on);
    }
}

/// Each further v in one bundle increases the output.
pub fn verbose(parser: &mut Parser, _: &str, on: bool) -> Done {
    if !on {
        parser.globals.verbosity = 0;
        parser.globals.trace = TraceKind::None;
        parser.messages.tracing = false;
        configure_trace(parser, b"-all");
        return Ok(());
    }
    if parser.verbose_in_bundle == 0 {
        parser.globals.verbosity = 0;
        if !parser.globals.trace_config_given {
            configure_trace(parser, b"-all");
        }
    }
    match parser.globals.verbosity {
        0 => {
            parser.globals.trace_file = Some(b"%".to_vec());
            if !matches!(parser.globals.trace, TraceKind::None | TraceKind::Plain) {
                parser.messages.warn("-v, --verbose overrides an earlier trace option");
            }
            parser.globals.trace = TraceKind::Plain;
        }
        1 => configure_trace(parser, b"ids,time,protocol"),
        2 => {
            parser.globals.trace = TraceKind::Ascii;
            configure_trace(parser, b"ssl,read,write");
        }
        3 => configure_trace(parser, b"network"),
        _ => return Ok(()),
    }
    parser.globals.verbosity += 1;
    parser.messages.tracing = true;
    Ok(())
}

/// Sets the format itself, or reads `@file`, whose line ends are removed.
pub fn write_out(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    let format = match text.strip_prefix(b"@") {
        Some(file) => {
            let format = super::without_line_ends(&read(parser, file)?);
            if format.is_empty() {
                parser.messages.warn(&format!("Failed to read {}", shown(file)));
            }
            format
        }
        None => text.to_vec(),
    };
    parser.request().options.set_text(ToolOption::WriteOut, &format);
    Ok(())
}
