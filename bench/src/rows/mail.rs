//! Small mails sent and fetched over a link of 20 ms, the same C program on each library. The servers
//! are Exim and Dovecot, which want root, behind testkit's link.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use testkit::launch::{Dovecot, Exim};
use testkit::link::Link;

use crate::context::{Bench, numbers};
use crate::measure::{CPU, Case, FAILED, INSTRUCTIONS, TIME};
use crate::valgrind::{each, instructions};

/// As long as the mails that are sent.
const SIZE: usize = 2048;
const MAILS: usize = 300;
/// The wait between two mails leaves caches cold, by varying amounts: one run is not enough.
const RUNS: usize = 3;
const ROUND_TRIP: Duration = Duration::from_millis(20);

pub fn measure(bench: &Bench) -> io::Result<Vec<Case>> {
    let program = bench.program("mail")?;
    let mails = bench.count(MAILS);
    let dovecot = Dovecot::start(&bench.authority.good(), &bench.authority)?;
    let exim = Exim::start(&bench.authority.good(), None)?;
    for n in 0..mails {
        dovecot.deliver("user", &format!("{n:06}"), &message())?;
    }
    let link = Link::new(ROUND_TRIP)?;
    let door = |port: u16| link.door(SocketAddr::from(([127, 0, 0, 1], port))).map(|address| address.port());
    let ways = [
        ("sent by SMTP", "send", format!("smtp://127.0.0.1:{}/client", door(exim.port)?)),
        ("fetched by IMAP", "fetch", format!("imap://127.0.0.1:{}/INBOX/;MAILINDEX=", door(dovecot.imap)?)),
        ("fetched by POP3", "fetch", format!("pop3://127.0.0.1:{}/", door(dovecot.pop3)?)),
    ];
    let case = |(way, how, url): &(&str, &str, String)| {
        let command = |at: usize, count: usize| {
            let mut command = bench.command(&program, &bench.subjects[at]);
            command.args([*how, &count.to_string(), url]);
            command
        };
        let runs = bench.turns().at_most(RUNS);
        let mut case = Case::in_turns(*way, runs, &bench.names(), &[CPU, TIME, FAILED], |at| {
            numbers(&mut command(at, mails))
        })?;
        case.add(INSTRUCTIONS, |at| each((5, 25), |count| instructions(&command(at, count))))?;
        Ok(case)
    };
    ways.iter().map(case).collect()
}

/// A mail of that size.
pub fn message() -> Vec<u8> {
    let mut mail = b"Subject: a small one\r\n\r\n".to_vec();
    while mail.len() < SIZE {
        let line = (SIZE - mail.len()).min(78);
        // No line is so short that its end is all of it.
        let line = if SIZE - mail.len() - line == 1 { line - 1 } else { line };
        mail.extend(std::iter::repeat_n(b'm', line - 2));
        mail.extend_from_slice(b"\r\n");
    }
    mail
}
