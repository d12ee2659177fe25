//! The cases, grouped by subject.

mod bindings;
mod broker;
mod cuts;
mod ftp;
mod getting;
mod git;
mod http2;
mod http3;
mod installed;
mod lookups;
mod loops;
mod mail;
mod negotiate;
mod openssl;
mod options;
mod others;
mod policy;
mod pooling;
mod process;
mod proxy_http3;
mod real;
mod recording;
mod reentry;
mod refusals;
mod report;
mod small;
mod socks;
mod ssh;
mod stacks;
mod stores;
mod tls;
mod twin;
mod valgrind;
mod values;
mod wild;

use crate::runner::{Case, Context};

/// Every case.
pub fn all() -> Vec<Case> {
    let groups = [
        getting::cases(),
        refusals::cases(),
        stores::cases(),
        tls::cases(),
        real::cases(),
        recording::cases(),
        reentry::cases(),
        process::cases(),
        ftp::cases(),
        options::cases(),
        lookups::cases(),
        policy::cases(),
        pooling::cases(),
        broker::cases(),
        report::cases(),
        valgrind::cases(),
        others::cases(),
        bindings::cases(),
        cuts::cases(),
        git::cases(),
        http2::cases(),
        http3::cases(),
        proxy_http3::cases(),
        installed::cases(),
        loops::cases(),
        mail::cases(),
        negotiate::cases(),
        openssl::cases(),
        small::cases(),
        socks::cases(),
        ssh::cases(),
        stacks::cases(),
        values::cases(),
        wild::cases(),
        twin::cases(),
    ];
    let mut all: Vec<Case> = groups.into_iter().flatten().collect();
    all.iter_mut().for_each(|case| case.either_tls = EITHER_TLS.contains(&case.name));
    all
}

fn case(name: &'static str, run: fn(&Context)) -> Case {
    Case { name, run, ours_only: false, either_tls: false, deep: false }
}

fn ours(name: &'static str, run: fn(&Context)) -> Case {
    Case { ours_only: true, ..case(name, run) }
}

fn deep(case: Case) -> Case {
    Case { deep: true, ..case }
}

/// Cases that must pass with either TLS library: these run a second time on our library with the system's
/// OpenSSL. Cases without TLS are not among them, nor with QUIC (always rustls), nor for one library only
/// (`valgrind-openssl` has its own, `pycurl-cadata` requests it itself).
const EITHER_TLS: [&str; 53] = [
    "small-stacks",
    "certificates-refused",
    "certificates-accepted-unverified",
    "missing-ca-file",
    "ca-file-opened-late-and-once",
    "tls-connection-kept",
    "not-tls-at-all",
    "stapled-answers",
    "options-tls",
    "cut-at-every-byte-tls",
    "share-8-threads-tls",
    "fork-with-live-tls-connections",
    "pool-tls-and-threads",
    "ftp-vsftpd",
    "git-https",
    "mail-tls",
    "mail-certificates",
    "negotiate-over-tls",
    "slapd-logins",
    "http2-nginx",
    "pycurl",
    "wild-check-curl",
    "get-from-nginx",
    "nginx-downloads",
    "squid-plain-and-tunnel",
    "squid-credentials",
    "http2-goaway-each-100-requests",
    "debian-curl-command-lines",
    "debian-curl-parallel",
    "debian-curl-exit-codes",
    "php-easy-multi-share",
    "perl-www-curl",
    "pool-http2-and-threads",
    "pool-mail",
    "mail-logins",
    "cuts-https",
    "cuts-http2-tls",
    "cuts-pop3-stls",
    "cuts-imap-starttls",
    "cuts-smtp-starttls",
    "cuts-https-proxy",
    "cuts-ftps",
    "multi-taken-down-in-any-state",
    "wild-ostree",
    "wild-samtools",
    "smart-card",
    "provider-keys",
    "servers-of-old",
    "asked-for-a-certificate-late",
    "cmake-download-and-upload",
    "http2-restart-nginx",
    "gophernicus-selectors",
    "mail-scram-with-a-channel",
];

/// The check sum that programs print for the pattern of this length.
fn sum(length: usize) -> String {
    format!("{:016x}", testkit::body::fnv1a(&testkit::body::pattern(length)))
}

/// The ways to drive a multi handle that `fetch -w` knows.
const WAYS: [&str; 5] = ["poll", "wait", "fdset", "waitfds", "event"];
