//! pacparser (libpacparser1), another implementation of PAC files in C, must return the same results.

use std::io::Write;
use std::process::{Command, Stdio};

use warmwire_pac::find_proxies;

/// Conditions in JavaScript, with `url` and `host`, whose value must be equal. Ranges of days that go beyond
/// Saturday are none: pacparser 1.3.6 lets them match nothing, Firefox the days of both weeks.
const CONDITIONS: &[&str] = &[
    "isPlainHostName(host)",
    "isPlainHostName('www')",
    "dnsDomainIs(host, '.example.com')",
    "dnsDomainIs('www', '.example.com')",
    "dnsDomainIs('example.com', 'ample.com')",
    "localHostOrDomainIs(host, 'www.example.com')",
    "localHostOrDomainIs('www', 'www.example.com')",
    "localHostOrDomainIs('home.example.com', 'www.example.com')",
    "dnsDomainLevels(host)",
    "dnsDomainLevels('www')",
    "shExpMatch(host, '*.example.com')",
    "shExpMatch(url, 'http://*/people/*')",
    "shExpMatch(url, '*/people')",
    "shExpMatch('a.b', 'a?b')",
    "shExpMatch('', '*')",
    "isInNet('10.1.2.3', '10.0.0.0', '255.0.0.0')",
    "isInNet('10.1.2.3', '10.1.2.0', '255.255.255.128')",
    "isInNet('10.1.2.3', '11.0.0.0', '255.0.0.0')",
    "isInNet('10.1.2.3', '10.1.2.3', '255.255.255.255')",
    "isInNetEx('10.1.2.3', '10.0.0.0/8')",
    "isInNetEx('10.1.2.3', '10.1.2.128/25')",
    "isInNetEx('2001:db8::1', '2001:db8::/32')",
    "isInNetEx('2001:db9::1', '2001:db8::/32')",
    "isResolvable('127.0.0.1')",
    "dnsResolve('127.0.0.1')",
    "convert_addr('104.16.41.2')",
    "weekdayRange('SUN', 'SAT')",
    "weekdayRange('SUN', 'SAT', 'GMT')",
    "weekdayRange('SUN') || weekdayRange('MON', 'SAT')",
    "weekdayRange('SUN') && weekdayRange('MON')",
    "dateRange(1, 31)",
    "dateRange('JAN', 'DEC')",
    "dateRange(1995, 2099)",
    "dateRange(1995, 1997)",
    "dateRange(1, 'JAN', 1995, 31, 'DEC', 2099)",
    "dateRange(1, 'JAN', 1995, 31, 'DEC', 1996)",
    "dateRange('JAN', 1995, 'DEC', 2099, 'GMT')",
    "timeRange(0, 0, 0, 23, 59, 59)",
    "timeRange(0, 0, 23, 59)",
    "timeRange(0, 0, 0, 23, 59, 59, 'GMT')",
    "timeRange(new Date().getHours()) || new Date().getMinutes() == 0",
    "typeof undeclared",
    "undeclared = host.length",
    "/^www\\.(example|test)\\.com$/.test(host)",
    "url.substring(0, 5) + host.toUpperCase().split('.').reverse().join('.')",
    "[1, 2, 3].indexOf(2) + parseInt('08', 10)",
];

/// Whole files, whose result or failure must be equal.
const FILES: &[&str] = &[
    "function FindProxyForURL(url, host) { return 'PROXY a:1; DIRECT'; }",
    "FindProxyForURL = function (url, host) { return host; }",
    "var p = 'PROXY a:1';\n\
     function FindProxyForURL(url, host) { if (url.indexOf('https:') == 0) return p; return 'DIRECT' }",
    "function FindProxyForURL(url, host) { return missing(); }",
    "function FindProxyForURL(url, host) {",
    "function other() {}",
    "",
];

/// Returns the answers of pacparser; `None` for failures. `None` if the library is missing.
fn judged(questions: &[(String, &str, &str)]) -> Option<Vec<Option<String>>> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/pacparser.py");
    let mut child =
        Command::new("python3").arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
    let mut input = child.stdin.take().unwrap();
    for (script, url, host) in questions {
        // A Rust string in debug form is a JSON string for these characters.
        if writeln!(input, "[{script:?}, {url:?}, {host:?}]").is_err() {
            break;
        }
    }
    drop(input);
    let out = child.wait_with_output().ok().filter(|out| out.status.success())?;
    let text = String::from_utf8(out.stdout).unwrap();
    let answer = |line: &str| (line != "null").then(|| line.trim_matches('"').to_owned());
    Some(text.lines().map(answer).collect())
}

#[test]
fn results_are_those_of_pacparser() {
    let sites = [
        ("http://www.example.com/people/ann?x=1", "www.example.com"),
        ("https://www/", "www"),
        ("http://10.1.2.3:8080/people", "10.1.2.3"),
        ("ftp://ftp.test.com/", "ftp.test.com"),
    ];
    let condition = |text: &&str| format!("function FindProxyForURL(url, host) {{ return String({text}); }}");
    let files = CONDITIONS.iter().map(condition).chain(FILES.iter().map(|file| (*file).to_owned()));
    let questions: Vec<_> =
        files.flat_map(|file| sites.iter().map(move |(url, host)| (file.clone(), *url, *host))).collect();
    let Some(answers) = judged(&questions) else {
        testkit::left_out("python3 or libpacparser1 is missing");
    };
    assert_eq!(answers.len(), questions.len());
    let mut different = Vec::new();
    for ((script, url, host), theirs) in questions.iter().zip(&answers) {
        let ours = find_proxies(script, url, host, Box::new(|_| Vec::new()));
        if ours.as_ref().ok() != theirs.as_ref() {
            different.push(format!("{script} for {url}: {ours:?}, not {theirs:?}"));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}
