//! The command line tool, a drop-in replacement for curl.
//!
//! Two stages: `parse` turns the words into plain requests, `operate` executes them. `flags` has one
//! declaration for each flag.
#![cfg_attr(all(not(test), target_os = "linux", target_env = "gnu"), no_main)]

mod act;
mod apply;
mod bars;
mod bytes;
mod cache;
mod checksum;
mod complete;
mod config_file;
mod devices;
mod doc;
mod dry_run;
mod env;
mod event_lines;
mod flags;
mod form;
mod glob;
mod host_pattern;
mod host_section;
mod input_file;
mod ipfs;
mod libcurl;
mod message;
mod mirror;
mod names;
mod numbers;
mod operate;
mod options;
mod outcome;
mod parallel;
mod parse;
mod pool;
mod prepare;
mod progress;
mod proxy_command;
mod queue;
mod raw;
mod real_world;
mod replace;
mod report;
mod request;
mod resume;
mod retry;
mod run;
mod saved_queue;
mod segments;
mod serial;
mod settings;
mod sink;
mod sockets;
mod spool;
mod ssl_sessions;
mod status;
mod system;
mod text;
mod trace;
mod transfer;
mod url;
mod variables;
mod watch;
mod why;
mod world;
mod writeout;

use bytes::Bytes;
use env::Env;
use input_file::EntryParser;
use message::Messages;
use parse::{Parser, Reader, Stop};
use queue::Queue;
use real_world::RealWorld;
use request::Globals;
use std::io::{self, IsTerminal, Write};
use std::process::exit;
use std::rc::Rc;
use warmwire::{process_pool, recording};

/// Stands in for the allocator of musl, which gives each large block back to the system at once.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

entry::program!(start);

fn start() {
    let code = match system::words() {
        Ok(words) if pool::is_broker(&words) => pool::run_broker(),
        Ok(words) => run(&words),
        Err((at, word)) => no_text(at, &word),
    };
    let _ = system::stdout().flush();
    process_pool::give_all();
    warmwire::write_outputs();
    // Freeing memory before the exit would gain nothing.
    exit(code);
}

/// Reports a word of the command line that is not valid text. Guessing might write to another file than the
/// intended one.
fn no_text(at: usize, word: &str) -> i32 {
    let mut messages = Messages::new(Box::new(system::stderr()), real_world::columns());
    messages.usage(&format!("argument {at} is not Unicode: {}", text::harmless(word)));
    2
}

/// Executes the words and returns the exit code.
fn run(words: &[Bytes]) -> i32 {
    // The handle of a run keeps its connections until its end, when `start` gives them.
    process_pool::without_helper();
    let mut world = RealWorld::new();
    let messages = Messages::new(Box::new(system::stderr()), real_world::columns());
    let messages = messages.on_terminal(io::stderr().is_terminal());
    let mut reader = Reader::new(&mut world, messages);
    reader.read_default_config(words);
    let defaults = reader.parser.request().clone();
    if words.is_empty() && reader.parser.request().targets.is_empty() {
        reader.parser.messages.usage("");
        return 2;
    }
    if let Err(stop) = reader.words(words) {
        return stopped(stop);
    }
    if let Some(file) = &reader.parser.default_config {
        let text = format!("Read config file from '{}'", message::shown(file));
        reader.parser.messages.note(&text);
    }
    let Parser { mut globals, mut messages, mut requests, variables, .. } = reader.parser;
    // The transfers of a mirror are those of --parallel.
    globals.parallel |= globals.mirror.is_on || globals.mirror.sync;
    let count = requests.len();
    if let Some(code) = saved_queue::before_run(&mut globals, &mut messages) {
        return code;
    }
    // A queue does not keep passwords that are typed: its entries ask for them.
    for (at, request) in requests.iter_mut().enumerate().filter(|_| globals.queue.is_none()) {
        complete::ask_passwords(request, at, count);
    }
    if let Some(kind) = globals.pool {
        process_pool::choose(kind);
    }
    globals.follow_names.into_iter().for_each(process_pool::follow_names);
    if let Err(text) = apply_policy(&globals) {
        messages.error(&text);
        return raw::Code::RemoteAccessDenied.id();
    }
    if let Err(text) = choose_recording(&globals) {
        messages.error(&text);
        return raw::Code::WriteError.id();
    }
    if let Some(text) = missing_watch(&globals) {
        messages.error(text);
        return raw::Code::FailedInit.id();
    }
    let entries = EntryParser::new(Box::new(RealWorld::without_input()), &globals, variables, defaults);
    let env = Rc::new(Env::new(globals, messages));
    if env.globals.dry_run {
        return dry_run::run(&env, Queue::new(requests, entries));
    }
    operate::operate(env, requests, entries)
}

/// Returns an error if a flag is about a watch, or about events, and there is none.
fn missing_watch(globals: &Globals) -> Option<&'static str> {
    let has_events = globals.watch.is_some() || globals.mirror.is_on || globals.mirror.sync;
    match globals {
        globals if globals.watch.is_none() && globals.exec.is_some() => Some("--exec needs --watch"),
        globals if globals.watch_json && !has_events => {
            Some("--watch-json needs --watch, --mirror-site or --sync")
        }
        _ => None,
    }
}

/// Applies `--policy`, before the first handle is made. A policy with an error ends the program.
fn apply_policy(globals: &Globals) -> Result<(), String> {
    if let Some(file) = &globals.policy {
        let policy = raw::AccessPolicy::read(system::path(file));
        policy.map_err(|error| format!("--policy: {error}"))?.bind_process();
    }
    Ok(())
}

/// Applies `--record` and `--replay`. The second wins over the first, as with the variables.
fn choose_recording(globals: &Globals) -> Result<(), String> {
    if let Some(folder) = &globals.replay {
        recording::replay(system::path(folder));
    } else if let Some(folder) = &globals.record {
        let failed = |e| format!("--record: {} is no folder to write to: {e}", message::shown(folder));
        recording::record(system::path(folder)).map_err(failed)?;
    }
    Ok(())
}

/// Prints the output of `--help` and similar flags; returns the exit code.
fn stopped(stop: Stop) -> i32 {
    let text = match stop {
        Stop::Wrong(wrong) => return wrong.exit_code(),
        Stop::Next => return 2,
        Stop::Help(about) => {
            doc::help::print(about.as_deref());
            return 0;
        }
        Stop::ShowPool | Stop::EndPool => {
            let (text, code) = if stop == Stop::EndPool { pool::stop() } else { pool::status() };
            let _ = system::stdout().write_all(text.as_bytes());
            return code;
        }
        Stop::Manual => doc::manual::text(),
        Stop::Version => version(),
        Stop::Engines => engines(),
        Stop::CaBundle => String::new(),
        Stop::Generate(what) => match what.as_slice() {
            b"man" => doc::manual::roff(),
            b"markdown" => doc::markdown::text(),
            b"bash" => doc::complete::bash(),
            b"zsh" => doc::complete::zsh(),
            _ => doc::complete::fish(),
        },
    };
    let _ = system::stdout().write_all(text.as_bytes());
    0
}

fn engines() -> String {
    let mut names = raw::engines();
    if names.is_empty() {
        names.push("<none>".to_owned());
    }
    let lines: String = names.iter().map(|name| format!("  {name}\n")).collect();
    format!("Build-time engines:\n{lines}")
}

fn version() -> String {
    let number = raw::CURL_VERSION;
    let (arch, platform, line) = (std::env::consts::ARCH, system::PLATFORM, raw::version_line());
    let schemes = raw::listed_schemes();
    format!(
        "curl {number} ({arch}-{platform}) {line}\nRelease-Date: [unreleased]\nProtocols: {}\nFeatures: {}\n",
        schemes.join(" "),
        raw::features().join(" ")
    )
}
