//! `--progress=bars`, judged by the contents of a terminal.

use super::{clean, curl};
use crate::{empty_folder, tool};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use testkit::http::HttpServer;

/// A terminal emulator with what bars need; an unknown sequence is a failure.
struct Terminal {
    rows: Vec<Vec<char>>,
    columns: usize,
    at: (usize, usize),
    /// Number of lines that have scrolled off the top.
    gone: usize,
}

impl Terminal {
    fn new(rows: usize, columns: usize) -> Terminal {
        Terminal { rows: vec![vec![' '; columns]; rows], columns, at: (0, 0), gone: 0 }
    }

    fn shows(&mut self, bytes: &[u8]) {
        let text = std::str::from_utf8(bytes).expect("whole letters");
        let mut letters = text.chars();
        while let Some(letter) = letters.next() {
            match letter {
                '\r' => self.at.1 = 0,
                '\n' => self.down(),
                '\x1b' => self.obey(&mut letters),
                letter => self.put(letter),
            }
        }
    }

    fn down(&mut self) {
        self.at.0 += 1;
        if self.at.0 == self.rows.len() {
            self.rows.remove(0);
            self.rows.push(vec![' '; self.columns]);
            (self.at.0, self.gone) = (self.at.0 - 1, self.gone + 1);
        }
    }

    fn put(&mut self, letter: char) {
        assert!(!letter.is_control(), "{letter:?}");
        if self.at.1 == self.columns {
            self.at.1 = 0;
            self.down();
        }
        self.rows[self.at.0][self.at.1] = letter;
        self.at.1 += 1;
    }

    fn obey(&mut self, letters: &mut std::str::Chars) {
        assert_eq!(letters.next(), Some('['));
        let mut count = 0;
        loop {
            match letters.next().unwrap() {
                digit @ '0'..='9' => count = count * 10 + digit as usize - '0' as usize,
                'A' => break self.at.0 = self.at.0.checked_sub(count).expect("the lines are there"),
                'B' => {
                    self.at.0 += count;
                    break assert!(self.at.0 < self.rows.len(), "below the last line");
                }
                'K' => break self.rows[self.at.0][self.at.1..].fill(' '),
                'J' => {
                    self.rows[self.at.0][self.at.1..].fill(' ');
                    break self.rows[self.at.0 + 1..].iter_mut().for_each(|row| row.fill(' '));
                }
                other => panic!("ESC [ {other}"),
            }
        }
    }

    fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> =
            self.rows.iter().map(|row| row.iter().collect::<String>().trim_end().to_owned()).collect();
        lines.truncate(lines.iter().rposition(|line| !line.is_empty()).map_or(0, |at| at + 1));
        lines
    }
}

/// Runs a command line on a terminal of that size; returns its output, the final screen, and the duration.
fn on_terminal(rows: usize, columns: usize, words: &str) -> (Vec<u8>, Terminal, Duration) {
    let line = format!("stty rows {rows} cols {columns} && exec {} {words}", tool());
    let mut command = Command::new("script");
    clean(&mut command).env_remove("COLUMNS").env("TERM", "xterm").env("SHELL", "/bin/sh");
    command.args(["-qec", &line, "/dev/null"]).current_dir(empty_folder()).stdin(Stdio::null());
    let began = Instant::now();
    let out = command.output().unwrap();
    let mut terminal = Terminal::new(rows, columns);
    terminal.shows(&out.stdout);
    (out.stdout, terminal, began.elapsed())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn each_transfer_has_a_line_and_keeps_it() {
    let server = HttpServer::plain();
    let (quick, slow) = (server.url("/bytes/2000"), server.url("/drip/100/50/bytes/1000"));
    let missing = server.url("/status/404");
    let words = format!(
        "-Z --fail --progress=bars -w '%{{response_code}}\\n' -o a -o b -o c {quick} {slow} {missing}"
    );
    let (bytes, terminal, _) = on_terminal(24, 80, &words);
    let lines = terminal.lines();
    // Messages in between are above the bars.
    assert_eq!(lines.len(), 8, "{lines:#?}");
    assert_eq!(lines[..4].iter().filter(|line| *line == "200").count(), 2, "{lines:#?}");
    for line_text in ["curl: (22) The requested URL returned error: 404", "404"] {
        assert!(lines[..4].iter().any(|line| line == line_text), "{lines:#?}");
    }
    let [first, second, third, sums] = &lines[4..] else { panic!("{lines:#?}") };
    assert!(
        first.starts_with("2000  ") && first.contains("[=====") && first.contains("  2000 "),
        "{lines:#?}"
    );
    assert!(second.starts_with("1000  ") && second.contains("==]   1000 "), "{lines:#?}");
    assert!(third.starts_with("404  ") && third.ends_with("failed (22)"), "{lines:#?}");
    assert!([first, second, sums].iter().all(|line| line.contains("/s in ")), "{lines:#?}");
    assert!(sums.starts_with("3 of 3 done, 1 failed  "), "{lines:#?}");
    // Each message once, and a remaining time while data moved.
    let all = text(&bytes);
    assert_eq!(all.matches("curl: (22)").count(), 1, "{all:?}");
    assert!(all.contains("2 of 3 done, 1 failed, 1 running") && all.contains("0:00:0"), "{all:?}");
    assert_eq!(terminal.gone, 0);
}

/// Any number of transfers: nothing scrolls, no line wraps, and at most ten screens are written per second.
#[test]
fn ten_thousand_transfers_do_not_flicker() {
    let folder = empty_folder();
    std::fs::write(folder.join("file"), "0123456789").unwrap();
    let words = format!("-Z --progress=bars -o /dev/null 'file://{}/file#[1-10000]'", folder.display());
    for (rows, columns) in [(24, 80), (7, 30)] {
        let (bytes, terminal, took) = on_terminal(rows, columns, &words);
        let lines = terminal.lines();
        assert!(lines.last().unwrap().starts_with("10000 of 10000 done"), "{lines:#?}");
        assert!(lines.len() < rows && terminal.gone == 0, "{lines:#?}");
        let frames = took.as_secs() as usize * 10 + 12;
        // A line has escape sequences in addition.
        let most = frames * rows * (columns + 12);
        assert!(bytes.len() < most, "{} bytes in {took:?}, at most {most}", bytes.len());
    }
}

#[test]
fn transfers_without_a_line_are_summed() {
    let server = HttpServer::plain();
    let url = server.url("/drip/100/100/bytes/1500?[1-30]");
    let (bytes, terminal, _) =
        on_terminal(10, 70, &format!("-Z --parallel-immediate --progress=bars -o /dev/null '{url}'"));
    let lines = terminal.lines();
    assert!(text(&bytes).contains("and 23 more "), "{:?}", text(&bytes));
    assert!(lines.len() == 8 && lines[7].starts_with("30 of 30 done"), "{lines:#?}");
    assert!(
        lines[..7].iter().all(|line| line.starts_with("1500") && line.contains("   1500 ")),
        "{lines:#?}"
    );
    assert_eq!(terminal.gone, 0);
}

#[test]
fn without_a_terminal_that_can_it_is_the_meter() {
    let server = HttpServer::plain();
    let url = server.url("/bytes/2000");
    let plain = curl(&["--no-silent", "-Z", "--progress=bars", "-o", "a", &url]).stderr;
    assert!(plain.contains("DL% UL%") && !plain.contains(['[', '\x1b']), "{plain:?}");
    for (flag, head) in [("-Z", "DL% UL%"), ("--no-parallel", "% Received")] {
        let line = format!("TERM=dumb {} {flag} --progress=bars -o a {url}", tool());
        let mut script = Command::new("script");
        clean(&mut script)
            .env("SHELL", "/bin/sh")
            .args(["-qec", &line, "/dev/null"])
            .current_dir(empty_folder());
        let shown = text(&script.stdin(Stdio::null()).output().unwrap().stdout);
        assert!(shown.contains(head) && !shown.contains(['[', '\x1b']), "{flag}: {shown:?}");
    }
}
