//! Findings: what the sums mean, with the time that a remedy would save. Pure functions of the sums. A
//! finding that may be wrong is not made.

use std::time::Duration;

use super::totals::{Host, Sum, Totals};
use crate::why::story::EXPIRES_SOON;

/// Something that a program could do better.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub host: String,
    pub text: String,
    /// The estimate of the lost time.
    pub lost: Duration,
    pub remedy: &'static str,
}

/// How often something must happen before it is a habit.
const HABIT: u64 = 2;
/// Shortest mean time of failed attempts that is a finding: a refusal by this machine costs nothing.
const MIN_ATTEMPT: Duration = Duration::from_millis(5);

/// Returns the findings, the most expensive first.
pub fn findings(totals: &Totals) -> Vec<Finding> {
    let mut found: Vec<Finding> = totals.hosts.iter().flat_map(|(name, host)| of_host(name, host)).collect();
    found.sort_by_key(|finding| std::cmp::Reverse(finding.lost));
    found
}

fn of_host(name: &str, host: &Host) -> Vec<Finding> {
    let mut found = connections(host);
    found.extend(waits(host));
    found.into_iter().map(|finding| Finding { host: name.to_owned(), ..finding }).collect()
}

fn finding(sum: &Sum, text: String, remedy: &'static str) -> Finding {
    Finding { host: String::new(), text, lost: sum.time, remedy }
}

fn connections(host: &Host) -> Vec<Finding> {
    let mut found = Vec::new();
    let habit = |sum: &Sum| sum.count >= HABIT;
    if habit(&host.forgotten) {
        let text = format!(
            "{} connections were opened although another handle had left an equal one: a handle for each \
             transfer",
            host.forgotten.count
        );
        found.push(finding(&host.forgotten, text, "set WARMWIRE_POOL=process, or reuse one handle"));
    }
    for (options, sum) in host.differs.iter().filter(|(_, sum)| habit(sum)) {
        let text = format!("{} connections were opened because transfers differ in {options}", sum.count);
        found.push(finding(sum, text, "give the option the same value in all transfers to the host"));
    }
    if habit(&host.evicted) {
        let text =
            format!("{} connections were closed for lack of room and opened again", host.evicted.count);
        found.push(finding(
            &host.evicted,
            text,
            "raise CURLOPT_MAXCONNECTS or CURLMOPT_MAXCONNECTS above the number of hosts",
        ));
    }
    if habit(&host.closed_by_server) {
        let text = format!(
            "{} connections were opened because the server had closed the one before",
            host.closed_by_server.count
        );
        found.push(finding(&host.closed_by_server, text, "turn on keep-alive in the server"));
    }
    if habit(&host.forbidden) {
        let text = format!(
            "{} connections were opened because CURLOPT_FORBID_REUSE or CURLOPT_FRESH_CONNECT is set",
            host.forbidden.count
        );
        found.push(finding(&host.forbidden, text, "do not set these options"));
    }
    found
}

fn waits(host: &Host) -> Vec<Finding> {
    let mut found = Vec::new();
    if host.late_expects.count > 0 {
        let text = format!("{} uploads waited in vain for 100 Continue", host.late_expects.count);
        let remedy = "add the line \"Expect:\" to CURLOPT_HTTPHEADER";
        found.push(finding(&host.late_expects, text, remedy));
    }
    for (redirect, sum) in host.redirects.iter().filter(|(_, sum)| sum.count >= HABIT) {
        let text = format!("{} requests met the same redirect: {redirect}", sum.count);
        found.push(finding(sum, text, "request the URL that the redirect names"));
    }
    if host.timeouts.count > 0 {
        let text = format!("{} transfers ended by a time limit", host.timeouts.count);
        found.push(finding(&host.timeouts, text, "find out why the server is silent, or raise the limit"));
    }
    for (number, (family, remedy)) in FAMILIES.into_iter().enumerate() {
        let dead = &host.dead[number];
        if dead.count >= HABIT && host.alive[number] == 0 && dead.time >= MIN_ATTEMPT * dead.count as u32 {
            let text = format!("{} connections tried {family} first, which always failed", dead.count);
            found.push(finding(dead, text, remedy));
        }
    }
    if let Some(left) = host.expires_in.filter(|left| *left < EXPIRES_SOON) {
        let text = match left {
            ..0 => "the server's certificate has expired".to_owned(),
            _ => format!("the server's certificate expires in {} days", left / 86_400),
        };
        found.push(finding(&Sum::default(), text, "renew it"));
    }
    found
}

const FAMILIES: [(&str, &str); 2] = [
    ("IPv6", "set CURLOPT_IPRESOLVE to CURL_IPRESOLVE_V4, or repair IPv6"),
    ("IPv4", "set CURLOPT_IPRESOLVE to CURL_IPRESOLVE_V6, or repair IPv4"),
];

#[cfg(test)]
mod tests {
    use super::*;
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
        ];
        for (text, least, change) in rows {
            let found = findings(&totals(|host| change(host, *least)));
            assert_eq!(found.len(), 1, "{text}");
            assert!(found[0].text.contains(text), "{}", found[0].text);
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
        let of = |left: i64| findings(&totals(|host| host.expires_in = Some(left))).len();
        assert_eq!([of(-1), of(86_400), of(EXPIRES_SOON)], [1, 1, 0]);
    }

    #[test]
    fn the_most_expensive_comes_first() {
        let found = findings(&totals(|host| (host.evicted, host.forbidden) = (sum(2), sum(3))));
        assert!(found[0].lost > found[1].lost);
    }
}
