//! `make warm`: finds the functions of the library that a request, a file by FTP or a mail over a kept
//! connection runs, or a request with a handle of its own, and writes a linker script (crates/capi/warm.ld)
//! that places them together.
//!
//! Measured: between two requests the server and the kernel evict the caches, so that a request pays for each
//! cache line of code and for each page, not for the instructions. With functions spread over the library a
//! GET touched 106 pages of code, with them together 45; CPU per request fell by a tenth.
//!
//! The functions are found by callgrind with the benchmark's own programs, on a library linked with its
//! symbols (`link.sh --symbols`). A name without a match does no harm, so an outdated list still works.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::process::Command;

use testkit::certs::Authority;
use testkit::launch::{Dovecot, Exim, Nginx, Vsftpd};
use testkit::temp::TempDir;

use crate::arguments::Arguments;
use crate::context::{output, program, root};
use crate::rows::mail::message;
use crate::rows::requests::{LARGE, SMALL};
use crate::valgrind::callgrind_name;

/// Requests in a profile: a function that is called less often belongs to the start.
const REQUESTS: u64 = 500;

/// Most functions that one pattern may stand for. Instances of a generic function of std have one name: a
/// hundred cold ones would come with the warm one.
const INSTANCES: usize = 4;

/// Writes the linker script.
pub fn run(arguments: &Arguments) -> io::Result<()> {
    let library = arguments.ours.as_ref().ok_or(io::Error::other("warm wants --ours"))?;
    let authority = Authority::new();
    let nginx = Nginx::start(&authority.good(), &[SMALL, LARGE])?;
    let directory = TempDir::new("warm")?;
    let ca = directory.write("ca.pem", authority.ca_pem())?;
    // These want root.
    let dovecot = Dovecot::start(&authority.good(), &authority)?;
    let exim = Exim::start(&authority.good(), None)?;
    let vsftpd = Vsftpd::start(&[SMALL])?;
    for number in 0..REQUESTS {
        dovecot.deliver("user", &format!("{number:06}"), &message())?;
    }
    let small = format!("/bytes-{SMALL}");
    let times = REQUESTS.to_string();
    let gets = |url: String| ("gets", vec![url, times.clone()], "off");
    let mail = |how: &str, url: String| ("mail", vec![how.to_owned(), times.clone(), url], "off");
    let each =
        |url: String, pool| ("threads", vec![url, times.clone(), "1".to_owned(), "fresh".to_owned()], pool);
    let file = format!("ftp://127.0.0.1:{}{small}", vsftpd.port);
    let files = ["kept", "-", &times, &SMALL.to_string(), &file].map(str::to_owned);
    let runs = [
        gets(nginx.http(&small)),
        gets(nginx.http(&format!("/bytes-{LARGE}"))),
        gets(nginx.https(&small)),
        ("many", vec![nginx.http(&small), times.clone(), "20".to_owned()], "off"),
        each(nginx.http(&small), "off"),
        each(nginx.https(&small), "process"),
        ("ftp", files.to_vec(), "off"),
        mail("fetch", format!("imap://127.0.0.1:{}/INBOX/;MAILINDEX=", dovecot.imap)),
        mail("fetch", format!("pop3://127.0.0.1:{}/", dovecot.pop3)),
        mail("send", format!("smtp://127.0.0.1:{}/client", exim.port)),
    ];
    let mut sections = BTreeMap::new();
    for (number, (name, words, pool)) in runs.iter().enumerate() {
        let profile = directory.path().join(format!("profile-{number}"));
        let mut command = Command::new("valgrind");
        command.args(["--tool=callgrind", "--demangle=no"]);
        command.arg(format!("--callgrind-out-file={}", profile.display()));
        command.arg(program(name)?).args(words);
        command.env("LD_LIBRARY_PATH", library).env("CA", &ca).env("WARMWIRE_POOL", pool);
        output(&mut command)?;
        // Functions of a request stand first, then those of handles that come and go, of files, of mails.
        let kind = match *name {
            "mail" => 3,
            "ftp" => 2,
            "threads" => 1,
            _ => 0,
        };
        for function in warm_functions(&profile)? {
            sections.entry(section(&function)).or_insert(kind);
        }
    }
    let instances = instances(&library.join("libcurl.so.4"))?;
    sections.retain(|section, _| instances.get(section).is_none_or(|number| *number <= INSTANCES));
    let path = root().join("crates/capi/warm.ld");
    let ordered: BTreeSet<(usize, String)> = sections.into_iter().map(|(name, kind)| (kind, name)).collect();
    std::fs::write(&path, script(&ordered))?;
    println!("{}", path.display());
    Ok(())
}

/// Counts the library's functions by the pattern of their section.
fn instances(library: &Path) -> io::Result<BTreeMap<String, usize>> {
    let symbols = output(Command::new("nm").arg("--defined-only").arg(library))?;
    let mut instances = BTreeMap::new();
    for name in symbols.lines().filter_map(|line| line.split_whitespace().nth(2)) {
        *instances.entry(section(name)).or_default() += 1;
    }
    Ok(instances)
}

/// The library's functions that are called as often as there are requests.
fn warm_functions(profile: &Path) -> io::Result<Vec<String>> {
    let text = std::fs::read_to_string(profile)?;
    // The called function is in the caller's object unless another is named.
    let (mut objects, mut names) = (BTreeMap::new(), BTreeMap::new());
    let (mut object, mut called_object, mut called) = ("", "", "");
    let mut calls: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for line in text.lines() {
        match line.split_once('=') {
            Some(("ob", rest)) => {
                (object, called_object) =
                    (callgrind_name(&mut objects, rest), callgrind_name(&mut objects, rest))
            }
            Some(("cob", rest)) => called_object = callgrind_name(&mut objects, rest),
            Some(("fn", rest)) => drop(callgrind_name(&mut names, rest)),
            Some(("cfn", rest)) => called = callgrind_name(&mut names, rest),
            Some(("calls", rest)) => {
                let times = rest.split_whitespace().next().and_then(|times| times.parse().ok()).unwrap_or(0);
                *calls.entry((called_object, called)).or_default() += times;
                called_object = object;
            }
            _ => {}
        }
    }
    let ours =
        calls.into_iter().filter(|((object, _), times)| object.contains("libcurl") && *times >= REQUESTS);
    Ok(ours.map(|((_, name), _)| name.split('\'').next().unwrap_or(name).to_owned()).collect())
}

/// The section of a function in an object file. Hashes of crates and instances change with the compiler and
/// become wildcards, as does what a linker script would misread.
fn section(name: &str) -> String {
    let mut pattern = name.to_owned();
    if let Some(at) = pattern.rfind("17h").filter(|_| pattern.starts_with("_ZN")) {
        pattern.replace_range(at.., "17h*");
    }
    let crates = pattern.split("Cs").enumerate().map(|(number, part)| match part.split_once('_') {
        Some((_, rest)) if number > 0 && name.starts_with("_R") => format!("Cs*_{rest}"),
        _ if number > 0 => format!("Cs{part}"),
        _ => part.to_owned(),
    });
    crates.collect::<String>().replace('$', "?")
}

fn script(sections: &BTreeSet<(usize, String)>) -> String {
    let mut text = String::from(
        "/* What a request runs stands together: bench/src/warm.rs says why, `make warm` wrote it. */\n\
         SECTIONS {\n  .text.warm : {\n",
    );
    sections.iter().for_each(|(_, section)| text.push_str(&format!("    *(.text.{section})\n")));
    text.push_str("  }\n} INSERT BEFORE .text;\n");
    text
}
