//! Programs in Perl and PHP. The same script runs on each libcurl, in turn, next to the language's own
//! clients.

use std::io;
use std::process::Command;

use testkit::launch::Nginx;

use super::requests::SMALL;
use crate::context::{Bench, Subject, numbers, root};
use crate::measure::{CPU, Case, TIME};

/// A language's interpreter, script and clients.
struct Language {
    interpreter: &'static str,
    script: &'static str,
    secure: bool,
    workloads: &'static [Workload],
}

struct Workload {
    name: &'static str,
    count: usize,
    /// The script's argument for the workload, if it knows several.
    word: Option<&'static str>,
    clients: &'static [Client],
}

struct Client {
    name: &'static str,
    word: &'static str,
    /// Runs on each library.
    curl: bool,
    /// WARMWIRE_POOL for a row that only ours has.
    pool: Option<&'static str>,
}

const fn curl(name: &'static str, word: &'static str) -> Client {
    Client { name, word, curl: true, pool: None }
}

const fn other(name: &'static str, word: &'static str) -> Client {
    Client { name, word, curl: false, pool: None }
}

const PERL_CLIENTS: [Client; 5] = [
    curl("WWW::Curl", "curl"),
    other("Hijk", "hijk"),
    other("Furl", "furl"),
    other("HTTP::Tiny", "tiny"),
    other("LWP", "lwp"),
];

const PERL: Language = Language {
    interpreter: "perl",
    script: "clients.pl",
    secure: false,
    workloads: &[
        Workload { name: "GET of 1 KB", count: 2000, word: Some("get"), clients: &PERL_CLIENTS },
        Workload { name: "POST, urlencoded", count: 1000, word: Some("post"), clients: &PERL_CLIENTS },
        // HTTP::Tiny, Furl and Hijk offer no multipart form.
        Workload {
            name: "POST, multipart form",
            count: 1000,
            word: Some("form"),
            clients: &[curl("WWW::Curl", "curl"), other("LWP", "lwp")],
        },
    ],
};

const PHP: Language = Language {
    interpreter: "php",
    script: "clients.php",
    secure: true,
    workloads: &[Workload {
        name: "HTTPS GET of 1 KB",
        count: 300,
        word: None,
        clients: &[
            curl("a handle per request", "naive"),
            Client {
                name: "the same, WARMWIRE_POOL=process",
                word: "naive",
                curl: false,
                pool: Some("process"),
            },
            curl("one easy handle", "kept"),
            curl("one multi handle, in turn", "multi"),
            curl("one multi handle, 8 at once", "parallel"),
            other("file_get_contents", "stream"),
        ],
    }],
};

pub fn perl(bench: &Bench) -> io::Result<Vec<Case>> {
    measure(bench, &PERL)
}

pub fn php(bench: &Bench) -> io::Result<Vec<Case>> {
    measure(bench, &PHP)
}

fn measure(bench: &Bench, language: &Language) -> io::Result<Vec<Case>> {
    let nginx = Nginx::start(&bench.authority.good(), &[SMALL])?;
    language.workloads.iter().map(|workload| language.case(bench, workload, &nginx)).collect()
}

/// The runners of a client: one that uses libcurl runs on each, the pool only on ours, the others once.
fn runners<'a>(bench: &'a Bench, workload: &Workload) -> Vec<(&'static Client, Option<&'a Subject>)> {
    let subjects = |client: &Client| -> Vec<Option<&Subject>> {
        let all = bench.subjects.iter();
        match (client.curl, client.pool) {
            (true, _) => all.filter(|subject| subject.has_library()).map(Some).collect(),
            (false, Some(_)) => all.filter(|subject| subject.ours).map(Some).collect(),
            (false, None) => vec![None],
        }
    };
    let clients = workload.clients.iter();
    clients.flat_map(|client| subjects(client).into_iter().map(move |subject| (client, subject))).collect()
}

impl Language {
    fn case(&self, bench: &Bench, workload: &Workload, nginx: &Nginx) -> io::Result<Case> {
        let runners = runners(bench, workload);
        let name = |(client, subject): &(&Client, Option<&Subject>)| match subject {
            Some(subject) => format!("{}, {}", subject.name, client.name),
            None => client.name.to_owned(),
        };
        let names: Vec<String> = runners.iter().map(name).collect();
        let count = bench.count(workload.count);
        Case::in_turns(workload.name, bench.turns(), &names, &[CPU, TIME], |at| {
            let (client, subject) = runners[at];
            let mut command = Command::new(self.interpreter);
            command.arg(root().join("bench/programs").join(self.script)).arg(client.word).args(workload.word);
            command.arg(count.to_string()).arg(match self.secure {
                true => nginx.https(&format!("/bytes-{SMALL}")),
                false => nginx.http(""),
            });
            bench.prepare(&mut command, subject);
            if let Some(pool) = client.pool {
                command.env("WARMWIRE_POOL", pool);
            }
            let seconds = numbers(&mut command)?;
            Ok(seconds.iter().map(|seconds| seconds * 1e6 / count as f64).collect())
        })
    }
}
