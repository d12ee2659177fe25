//! Findings: what the sums mean, with the time that a remedy would save. Pure functions of the sums. A
//! finding that may be wrong is not made.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use super::totals::{Host, Sum, Totals};

/// Something that a program could do better.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// A host, or the number of hosts.
    pub host: String,
    /// How often it happened; 0 where that says nothing.
    pub count: u64,
    /// The event, without its number.
    pub what: String,
    /// How often it must happen.
    least: u64,
    /// The estimate of the lost time.
    pub lost: Duration,
    /// The estimate is a lower bound.
    pub lower_bound: bool,
    pub remedy: &'static str,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.count {
            0 => f.write_str(&self.what),
            count => write!(f, "{count} {}", self.what),
        }
    }
}

/// How often something must happen before it is a habit.
const HABIT: u64 = 2;
/// Shortest mean time of failed attempts that is a finding: a refusal by this machine costs nothing.
const MIN_ATTEMPT: Duration = Duration::from_millis(5);
/// Shortest mean time of questions about a name that is a finding: those to this machine cost nothing.
const MIN_QUESTION: Duration = Duration::from_millis(1);
/// Mean time from which a name server is slow: one in the same network answers within a millisecond.
const SLOW_QUESTION: Duration = Duration::from_millis(100);

/// Returns the findings, the most expensive first. What happens with several hosts is one finding.
pub fn findings(totals: &Totals) -> Vec<Finding> {
    let mut merged: BTreeMap<(String, &str), (u64, Finding)> = BTreeMap::new();
    for one in totals.hosts.iter().flat_map(|(name, host)| of_host(name, host)) {
        let (hosts, sum) = merged
            .entry((one.what.clone(), one.remedy))
            .or_insert_with(|| (0, Finding { count: 0, lost: Duration::ZERO, ..one.clone() }));
        *hosts += 1;
        sum.count += one.count;
        sum.lost += one.lost;
    }
    let named = |(hosts, finding): (u64, Finding)| match hosts {
        1 => finding,
        n => Finding { host: format!("{n} hosts"), ..finding },
    };
    let mut found: Vec<Finding> = merged.into_values().map(named).collect();
    if totals.busy.count > 0 {
        let what = "calls of curl_multi_perform without a wait before them keep a processor busy";
        let remedy = "call curl_multi_poll(multi, NULL, 0, 1000, NULL) between the calls";
        found.push(Finding { host: "all hosts".to_owned(), ..habit(&totals.busy, what, remedy) });
    }
    found.retain(|finding| finding.count >= finding.least);
    found.sort_by_key(|finding| Reverse(finding.lost));
    found
}

fn of_host(name: &str, host: &Host) -> Vec<Finding> {
    let mut found = connections(host);
    found.extend(waits(host));
    found.extend(families(host));
    found.extend(names(host));
    found.extend(handshakes(host));
    found.extend(bodies(host));
    found.extend(uploads(host));
    found.retain(|finding| finding.count > 0 || finding.least == 0);
    found.into_iter().map(|finding| Finding { host: name.to_owned(), ..finding }).collect()
}

/// A finding if it happened more than once.
fn habit(sum: &Sum, what: impl Into<String>, remedy: &'static str) -> Finding {
    let (count, lost) = (sum.count, sum.time);
    Finding { host: String::new(), count, what: what.into(), least: HABIT, lost, lower_bound: false, remedy }
}

/// A finding if it happened at all.
fn mistake(sum: &Sum, what: impl Into<String>, remedy: &'static str) -> Finding {
    Finding { least: 1, ..habit(sum, what, remedy) }
}

/// A state of the host.
fn state(what: String, remedy: &'static str) -> Finding {
    Finding { least: 0, ..habit(&Sum::default(), what, remedy) }
}

fn mean(sum: &Sum) -> Duration {
    sum.time / u32::try_from(sum.count.max(1)).unwrap_or(u32::MAX)
}

fn connections(host: &Host) -> Vec<Finding> {
    let mut found = vec![
        habit(
            &host.forgotten,
            "connections were opened although another handle had left an equal one: a handle for each \
             transfer",
            "set WARMWIRE_POOL=process in the environment, or reuse one handle",
        ),
        habit(
            &host.evicted,
            "connections were closed for lack of room and opened again",
            "raise CURLOPT_MAXCONNECTS or CURLMOPT_MAXCONNECTS above the number of hosts",
        ),
        habit(
            &host.closed_by_server,
            "connections were opened because the server had closed the one before",
            "turn on keep-alive in the server",
        ),
        habit(
            &host.forbidden,
            "connections were opened because CURLOPT_FORBID_REUSE or CURLOPT_FRESH_CONNECT is set",
            "do not set these options",
        ),
        habit(
            &host.beside,
            "connections were opened beside others, because an option forbids HTTP/2",
            "leave CURLOPT_HTTP_VERSION at its default: HTTP/2 needs one connection",
        ),
    ];
    found.extend(host.differs.iter().map(|(options, sum)| {
        let what = format!("connections were opened because transfers differ in {options}");
        habit(sum, what, "give the option the same value in all transfers to the host")
    }));
    found
}

fn waits(host: &Host) -> Vec<Finding> {
    let expect = "add the line \"Expect:\" to CURLOPT_HTTPHEADER";
    let late = "find out why the server is silent, or raise the limit";
    let mut found = vec![
        mistake(&host.late_expects, "uploads waited in vain for 100 Continue", expect),
        mistake(&host.timeouts, "transfers ended by a time limit", late),
    ];
    found.extend(host.redirects.iter().map(|(redirect, sum)| {
        let what = format!("requests met the same redirect: {redirect}");
        habit(sum, what, "request the URL that the redirect names")
    }));
    if let Some((expiry, notice)) = host.expiry.as_ref().and_then(|expiry| Some((expiry, expiry.notice()?))) {
        found.push(match &expiry.authority {
            None => state(format!("the server's certificate {notice}"), "renew it"),
            Some(authority) => state(
                format!("the certificate of the server's authority ({authority}) {notice}"),
                "let the server send the authority's new certificate, or renew the trusted certificates",
            ),
        });
    }
    found
}

const FAMILIES: [(&str, &str); 2] = [
    ("IPv6", "set CURLOPT_IPRESOLVE to CURL_IPRESOLVE_V4, or repair IPv6"),
    ("IPv4", "set CURLOPT_IPRESOLVE to CURL_IPRESOLVE_V6, or repair IPv4"),
];

fn families(host: &Host) -> Vec<Finding> {
    let mut found = Vec::new();
    for (number, (family, remedy)) in FAMILIES.into_iter().enumerate() {
        let dead = &host.dead[number];
        if host.alive[number] == 0 && mean(dead) >= MIN_ATTEMPT {
            let what = format!("connections tried {family} first, which always failed");
            found.push(habit(dead, what, remedy));
        }
    }
    found
}

fn names(host: &Host) -> Option<Finding> {
    let (again, all) = (&host.asked_again, &host.asked);
    if again.count > 0 && mean(again) >= MIN_QUESTION {
        let remedy = "reuse one handle, or share CURL_LOCK_DATA_DNS; keep CURLOPT_DNS_CACHE_TIMEOUT above 0";
        return Some(habit(again, "look-ups of a name whose answer was known", remedy));
    }
    if mean(all) >= SLOW_QUESTION {
        // Without the time of each, so that several hosts are one finding.
        let what = "look-ups of a name took 100 ms or more each";
        return Some(habit(all, what, "run a caching resolver on this machine"));
    }
    None
}

fn handshakes(host: &Host) -> [Finding; 2] {
    [
        habit(
            &host.uncached,
            "full handshakes, because CURLOPT_SSL_SESSIONID_CACHE is off",
            "leave CURLOPT_SSL_SESSIONID_CACHE on",
        ),
        habit(
            &host.unshared,
            "full handshakes, although another handle had a session to resume",
            "reuse one handle, or share CURL_LOCK_DATA_SSL_SESSION",
        ),
    ]
}

fn bodies(host: &Host) -> [Finding; 4] {
    // Text shrinks to a third, at least.
    let uncompressed = Sum { time: host.uncompressed.time * 2 / 3, ..host.uncompressed };
    let reads = Sum { count: host.small_reads, time: Duration::ZERO };
    let rounds = host.ftp_rounds.div_ceil(host.ftp_files.count.max(1));
    let bytes = host.small_bytes / host.small_reads.max(1);
    [
        habit(
            &uncompressed,
            "texts came uncompressed, because no coding was asked for",
            "set CURLOPT_ACCEPT_ENCODING to \"\"",
        ),
        habit(
            &host.ftp_files,
            format!("files by FTP took {rounds} round trips each on an open connection"),
            "set WARMWIRE_FTP=turns, or call warmwire_ftp_pipeline()",
        ),
        habit(
            &reads,
            format!("calls of CURLOPT_READFUNCTION gave {bytes} bytes each"),
            "fill the buffer that the function gets",
        ),
        habit(
            &host.without_cookie,
            "requests without a cookie were refused, while others to the host had cookies",
            "share CURL_LOCK_DATA_COOKIE between handles that set CURLOPT_COOKIEFILE",
        ),
    ]
}

fn uploads(host: &Host) -> [Finding; 2] {
    // Measured on links of 20 to 100 ms. Buffers of 32 to 256 KB: the system's figure is 74 to 89 % of what a
    // larger one saves, because an acknowledgement ends the wait before a third of the buffer is free.
    // Windows of these sizes: 46 to 68 %, since the congestion window has then grown no further. A receiver
    // that does not read: all.
    let by_buffer = Sum { time: host.by_buffer.time * 5 / 4, ..host.by_buffer };
    let by_window = mistake(
        &host.by_window,
        "uploads waited for the receiver, whose window was full",
        "let the receiver read sooner, or give it a larger buffer (net.ipv4.tcp_rmem) or window (HTTP/2)",
    );
    [
        Finding { lower_bound: true, ..by_window },
        mistake(
            &by_buffer,
            "uploads waited because the send buffer held no more",
            "raise the last value of net.ipv4.tcp_wmem here, and set no SO_SNDBUF",
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::why::event::CertificateExpiry;
    use std::time::Instant;

    fn totals(change: impl FnOnce(&mut Host)) -> Totals {
        let mut totals = Totals::new(Instant::now());
        change(totals.hosts.entry("h.test:443".to_owned()).or_default());
        totals
    }

    fn sum(count: u64) -> Sum {
        Sum { count, time: Duration::from_millis(40 * count) }
    }

    /// Each finding is made from two on, or from one where one is a mistake; and not below.
    #[test]
    fn a_habit_is_a_finding_and_a_single_event_is_none() {
        type Change = fn(&mut Host, u64);
        #[rustfmt::skip]
        let rows: &[(&str, u64, Change)] = &[
            ("a handle for each transfer", 2, |host, n| host.forgotten = sum(n)),
            ("differ in CURLOPT_X", 2, |host, n| host.differs.extend([("CURLOPT_X".to_owned(), sum(n))])),
            ("for lack of room", 2, |host, n| host.evicted = sum(n)),
            ("the server had closed", 2, |host, n| host.closed_by_server = sum(n)),
            ("CURLOPT_FORBID_REUSE", 2, |host, n| host.forbidden = sum(n)),
            ("waited in vain for 100 Continue", 1, |host, n| host.late_expects = sum(n)),
            ("the same redirect: a", 2, |host, n| host.redirects.extend([("a -> b".to_owned(), sum(n))])),
            ("ended by a time limit", 1, |host, n| host.timeouts = sum(n)),
            ("tried IPv6 first", 2, |host, n| host.dead[0] = sum(n)),
            ("look-ups of a name whose answer was known", 2, |host, n| host.asked_again = sum(n)),
            ("SESSIONID_CACHE is off", 2, |host, n| host.uncached = sum(n)),
            ("another handle had a session", 2, |host, n| host.unshared = sum(n)),
            ("an option forbids HTTP/2", 2, |host, n| host.beside = sum(n)),
            ("files by FTP took 3 round trips", 2, |h, n| (h.ftp_files, h.ftp_rounds) = (sum(n), 3 * n)),
            ("the receiver, whose window was full", 1, |host, n| host.by_window = sum(n)),
            ("requests without a cookie", 2, |host, n| host.without_cookie = sum(n)),
        ];
        for (text, least, change) in rows {
            let found = findings(&totals(|host| change(host, *least)));
            assert_eq!(found.len(), 1, "{text}");
            assert!(found[0].to_string().contains(text), "{}", found[0]);
            assert_eq!((found[0].lost, found[0].host.as_str()), (sum(*least).time, "h.test:443"), "{text}");
            assert_eq!(findings(&totals(|host| change(host, least - 1))), [], "{text}");
        }
    }

    #[test]
    fn a_family_that_answers_now_and_then_is_not_dead() {
        let change = |host: &mut Host| (host.dead[0], host.alive[0]) = (sum(9), 1);
        assert_eq!(findings(&totals(change)), []);
    }

    #[test]
    fn a_quick_refusal_is_no_finding() {
        let quick = Sum { count: 100, time: Duration::from_millis(21) };
        assert_eq!(findings(&totals(|host| host.dead[0] = quick)), []);
    }

    #[test]
    fn certificates_are_named_when_they_end_soon() {
        let of = |left: i64, authority: Option<&str>| {
            let (lifetime, authority) = (90 * 86_400, authority.map(str::to_owned));
            findings(&totals(|host| host.expiry = Some(CertificateExpiry { left, lifetime, authority })))
        };
        let counts = [-1, 86_400, 30 * 86_400].map(|left| of(left, None).len());
        assert_eq!(counts, [1, 1, 0]);
        let found = format!("{:?}", of(86_400, Some("CN = root")));
        assert!(found.contains("the server's authority (CN = root) expires in 1 day"), "{found}");
    }

    #[test]
    fn questions_to_this_machine_are_no_finding_and_slow_ones_are() {
        let of = |again: bool, ms: u64| {
            let sum = Sum { count: 3, time: Duration::from_micros(3000 * ms / 10) };
            let change =
                |host: &mut Host| *(if again { &mut host.asked_again } else { &mut host.asked }) = sum;
            findings(&totals(change)).len()
        };
        assert_eq!([of(true, 9), of(true, 10), of(false, 999), of(false, 1000)], [0, 1, 0, 1]);
    }

    /// A poll of sixty servers with a handle for each, twice: one mistake at each of them.
    #[test]
    fn a_mistake_with_many_hosts_is_one_finding() {
        let mut totals = Totals::new(Instant::now());
        for number in 0..60 {
            totals.hosts.entry(format!("h{number}.test:21")).or_default().forgotten = sum(1);
        }
        let found = findings(&totals);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].host.as_str(), found[0].count, found[0].lost), ("60 hosts", 60, sum(60).time));
    }

    #[test]
    fn texts_shrink_to_a_third() {
        let found = findings(&totals(|host| host.uncompressed = sum(3)));
        assert_eq!((found.len(), found[0].lost), (1, sum(2).time));
    }

    /// As measured: see `uploads`.
    #[test]
    fn a_larger_send_buffer_saves_more_than_the_system_counts() {
        let found = findings(&totals(|host| host.by_buffer = sum(4)));
        assert_eq!((found.len(), found[0].lost), (1, sum(5).time));
        assert_eq!(findings(&totals(|host| host.by_buffer = sum(0))), []);
    }

    #[test]
    fn what_costs_a_processor_is_a_finding_without_a_host() {
        let mut busy = totals(|_| {});
        busy.busy = sum(3000);
        let found = findings(&busy);
        assert_eq!((found.len(), found[0].host.as_str()), (1, "all hosts"));
        assert!(found[0].to_string().starts_with("3000 calls of curl_multi_perform without a wait"));
        assert_eq!(findings(&totals(|host| (host.small_reads, host.small_bytes) = (640, 640))).len(), 1);
    }

    #[test]
    fn the_most_expensive_comes_first() {
        let found = findings(&totals(|host| (host.evicted, host.forbidden) = (sum(2), sum(3))));
        assert!(found[0].lost > found[1].lost);
    }
}
