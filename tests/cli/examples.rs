//! The examples of the manual: each command line is accepted, and describes a transfer.

use crate::{clean, empty_folder, tool};
use std::process::{Command, Stdio};

/// Files that the examples name.
const FILES: [&str; 8] =
    ["report.pdf", "mail.txt", "ca.pem", "client.pem", "client.key", "id_ed25519", "page.html", "jar.txt"];

#[test]
fn the_examples_of_the_manual_are_accepted() {
    let folder = empty_folder();
    FILES.iter().for_each(|name| std::fs::write(folder.join(name), "").unwrap());
    std::fs::write(folder.join("options.txt"), "url = https://example.com/\n").unwrap();
    let output = clean(Command::new(tool()).arg("--manual")).output().unwrap();
    let manual = String::from_utf8(output.stdout).unwrap();
    let examples = manual.split_once("\nEXAMPLES\n").unwrap().1.split_once("\nAUTHORS\n").unwrap().0;
    let commands: Vec<&str> = examples.lines().filter_map(|line| line.trim().strip_prefix("curl ")).collect();
    assert!(commands.len() >= 40, "{}", commands.len());
    for command in commands {
        // The shell takes the quotes apart, as for a reader who copies the line.
        let line = format!("\"$TOOL\" --dry-run {command}");
        let mut shell = Command::new("sh");
        clean(&mut shell).args(["-c", &line]).env("TOOL", tool()).env("TOKEN", "abc");
        shell.env("XDG_RUNTIME_DIR", &folder);
        let out = shell.current_dir(&folder).stdin(Stdio::null()).output().unwrap();
        let text = String::from_utf8_lossy(&out.stdout);
        let errors = String::from_utf8_lossy(&out.stderr);
        assert!(out.status.success() && text.contains("://"), "{command}: {text}{errors}");
    }
}
