//! `cargo xtask docs`: the guide. Copies docs/guide to target/guide, adds the reference pages, checks
//! pages, links and commands, and runs mdbook if it is installed. `--check` stops before mdbook.
//!
//! The reference pages are generated from the tables and the tool and kept nowhere.

mod blocks;
mod commands;
mod environment;
mod facts;
mod links;
mod names;
mod reference;
mod rooms;

use crate::{Report, files};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Texts beside the guide whose commands, names and links are checked as those of its pages.
const TEXTS: [&str; 4] = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"];

/// Builds the guide, or with `check` only its sources.
pub fn run(check: bool) -> Report {
    let target = files::target().join("guide");
    let _ = fs::remove_dir_all(&target);
    for path in files::below("docs/guide") {
        let inside = path.strip_prefix("docs/guide/").expect("below lists paths under the folder");
        copy(&files::root().join(&path), &target.join(inside))?;
    }
    let manual = manual()?;
    check_texts(&manual)?;
    let pages = reference::pages(&manual)?;
    for (name, text) in &pages {
        write(&target.join("src/reference").join(name), text)?;
    }
    for picture in files::below("bench/pictures") {
        let inside = picture.strip_prefix("bench/").expect("below lists paths under the folder");
        copy(&files::root().join(&picture), &target.join("src/reference").join(inside))?;
    }
    links::check(&target.join("src"))?;
    let place = target.join("book").join("index.html");
    if check {
        return Ok(format!("guide: {} generated pages, all links lead to a file", pages.len()));
    }
    match Command::new(files::target().join("tools/bin/mdbook")).arg("build").arg(&target).status() {
        Ok(status) if status.success() => Ok(format!("guide: {}", place.display())),
        Ok(status) => Err(format!("mdbook ended with {status}")),
        Err(error) => Err(format!("mdbook: {error}; install it with `sh tests/install.sh guide`")),
    }
}

/// Checks the blocks and names of all texts that are written by hand; the error lists each fault.
fn check_texts(manual: &str) -> Result<(), String> {
    let commands = commands::Commands::of(manual);
    let mut faults = rooms::faults();
    faults.extend(environment::faults(&commands));
    let names = names::Names::read();
    let guide = files::below("docs/guide/src").into_iter().filter(|path| path.ends_with(".md"));
    for page in guide.chain(TEXTS.map(str::to_owned)) {
        let text = files::text(&page);
        faults.extend(blocks::faults(&page, &text, &commands));
        faults.extend(names.faults(&page, &text, &commands));
    }
    let outside = files::below("docs").into_iter().filter(|path| !path.starts_with("docs/guide/"));
    for page in outside.filter(|path| path.ends_with(".md")).chain(TEXTS.map(str::to_owned)) {
        faults.extend(links::faults(&page, &files::text(&page)));
    }
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n")) }
}

/// The tool's manual as Markdown.
fn manual() -> Result<String, String> {
    // With the features that the tests of the workspace choose: they use the same compiled crates.
    output(Command::new("make").args(["--no-print-directory", "--silent", "tool-quick"]))?;
    output(Command::new(files::target().join("debug/warmwire")).args(["--generate", "markdown"]))
}

/// Runs a command and returns its standard output, or its standard error as the error.
fn output(command: &mut Command) -> Result<String, String> {
    let output = command.current_dir(files::root()).output();
    let output = output.map_err(|error| format!("{}: {error}", command.get_program().display()))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    String::from_utf8(output.stdout).map_err(|error| error.to_string())
}

fn copy(from: &Path, to: &PathBuf) -> Result<(), String> {
    let folder = to.parent().expect("a file has a folder");
    fs::create_dir_all(folder)
        .and_then(|()| fs::copy(from, to))
        .map_err(|error| format!("{}: {error}", from.display()))?;
    Ok(())
}

fn write(to: &Path, text: &str) -> Result<(), String> {
    let folder = to.parent().expect("a file has a folder");
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(to, text))
        .map_err(|error| format!("{}: {error}", to.display()))
}
