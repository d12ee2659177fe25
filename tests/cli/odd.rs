//! A thousand odd command lines for the whole program: it never panics, and a usage error ends with exit code
//! 2 and a reason in one line. The parser alone gets many more in its own tests.

use super::{clean, empty_folder, tool};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use testkit::dice::Dice;
use testkit::http::HttpServer;

const SCRAPS: [&str; 40] = [
    "",
    "-",
    "--",
    "@",
    "@file",
    "@-",
    "=",
    "a=b",
    "a=@file;type=",
    "a=<file;headers=\"",
    "=(",
    "=)",
    "%",
    "%{",
    "%{json}",
    "%output{x}%{http_code}",
    "{a",
    "{a,b}",
    "[1-3]",
    "[1-",
    "[a-z:0]",
    "#1",
    "{{x}}",
    "{{x:url}}",
    "%HOME=1",
    "x[1-2]=abc",
    "-1",
    "0",
    "9999999999999999999",
    "1.5",
    "1k",
    "\u{201c}x",
    "a:b",
    "a,b,-c",
    "all,-ids",
    "2020-01-01",
    "file",
    "dir",
    "127.0.0.1:1",
    "none",
];

/// Returns the long names in the help, except those that would wait for input or write outside the directory.
fn flags() -> Vec<String> {
    let out = Command::new(tool()).args(["--help", "all"]).output().unwrap();
    let text = String::from_utf8(out.stdout).unwrap();
    let names = text.lines().filter_map(|line| line.split_whitespace().find(|word| word.starts_with("--")));
    let left_out = ["--rate", "--retry", "--retry-delay", "--retry-all-errors", "--expect100-timeout"];
    names.filter(|name| !left_out.contains(name)).map(str::to_string).collect()
}

fn line(dice: &mut Dice, flags: &[String], url: &str) -> Vec<String> {
    let mut words = Vec::new();
    for _ in 0..=dice.roll(4) {
        let flag = &flags[dice.roll(flags.len())];
        match dice.roll(8) {
            0 => words.push(format!("{flag}={}", SCRAPS[dice.roll(SCRAPS.len())])),
            1 => words.push(flag.replacen("--", "--no-", 1)),
            2 => words
                .extend([flag.replacen("--", "--expand-", 1), SCRAPS[dice.roll(SCRAPS.len())].to_string()]),
            3 => words.push(SCRAPS[dice.roll(SCRAPS.len())].to_string()),
            4 => words.push(flag.clone()),
            _ => words.extend([flag.clone(), SCRAPS[dice.roll(SCRAPS.len())].to_string()]),
        }
    }
    words.push(url.to_string());
    words
}

/// `ODD_LINES=n` sets the number of lines (1,000).
#[test]
fn odd_command_lines_are_refused_or_run() {
    let count = std::env::var("ODD_LINES").map_or(1000, |text| text.parse().expect("a number"));
    let server = HttpServer::plain();
    let (flags, mut dice) = (flags(), Dice::new(0x51_7c_c1_b7_27_22_0a_95));
    assert!(flags.len() > 270, "{}", flags.len());
    let folder = empty_folder();
    std::fs::create_dir(folder.join("dir")).unwrap();
    let url = server.url("/bytes/10");
    let mut refused = 0;
    for _ in 0..count {
        std::fs::write(folder.join("file"), "url = x\n\"\nform = a\n").unwrap();
        let words = line(&mut dice, &flags, &url);
        let mut command = Command::new(tool());
        clean(&mut command).arg("--max-time").arg("2").args(&words).args(["--max-time", "2"]);
        let out = command.current_dir(&folder).stdin(Stdio::null()).output().unwrap();
        let stderr = String::from_utf8_lossy(&out.stderr);
        assert!(out.status.signal().is_none() && !stderr.contains("panicked"), "{words:?}: {stderr}");
        let code = out.status.code().unwrap();
        assert!(code < 100, "{words:?}: {code} {stderr}");
        // Transfers side by side may have a meter behind it.
        let lines: Vec<&str> = stderr.lines().collect();
        let Some(advice) = lines.iter().rposition(|line| line.contains("try 'curl --help'")) else {
            continue;
        };
        let last = lines[advice.saturating_sub(1)];
        refused += 1;
        assert!([1, 2, 3, 26].contains(&code), "{words:?}: {code} {stderr}");
        // A prompt for a password may precede it.
        assert!(last.contains("curl: "), "{words:?}: {stderr}");
    }
    assert!(refused > count / 5, "{refused} of {count}");
}

#[test]
fn a_wrong_line_of_a_config_file_is_named() {
    let folder = empty_folder();
    std::fs::write(folder.join("config"), "silent\nno-silent\n\nmax-time = soon\n").unwrap();
    let out = super::run(tool(), &["-K", "config", "http://127.0.0.1:1/"], &folder);
    assert_eq!(out.status.code(), Some(2));
    let stderr = String::from_utf8_lossy(&out.stderr);
    let reason = "config:3 config file option 'max-time' expected a proper numerical \ncurl: parameter";
    assert!(stderr.starts_with(&format!("curl: {reason}\n")), "{stderr}");
    std::fs::write(folder.join("config"), "# a comment\nnonsense\n").unwrap();
    let out = super::run(tool(), &["-K", "config", "http://127.0.0.1:1/"], &folder);
    let stderr = String::from_utf8_lossy(&out.stderr);
    let expected = "curl: config:1 config file option 'nonsense' is unknown\n\
                    curl: option -K: found an unknown config option\n";
    assert!(stderr.starts_with(expected), "{stderr}");
}

/// An intended argument that is parsed as something else: the transfer continues with it.
#[test]
fn doubtful_lines_of_a_config_file_are_warned_of() {
    let folder = empty_folder();
    let server = testkit::http::HttpServer::plain();
    let url = server.url("/body");
    std::fs::write(
        folder.join("config"),
        format!("# first\ndata = arg with space\nurl \"{url}\" # rest\nuser-agent 'me'\n"),
    )
    .unwrap();
    let out = super::run(tool(), &["-K", "config", "--no-progress-meter"], &folder);
    assert_eq!((out.status.code(), out.stdout.as_slice()), (Some(0), b"arg".as_slice()));
    let expected = "Warning: config:1 Option 'data' uses argument with unquoted whitespace. This \n\
                    Warning: may cause side-effects. Consider double quotes.\n\
                    Warning: config:3 Option 'user-agent' uses argument with leading single quote. \n\
                    Warning: It is probably a mistake. Consider double quotes.\n";
    assert_eq!(String::from_utf8_lossy(&out.stderr), expected);
}
