//! A report about a server's certificates ([`TrustReport`]) as lines of text and as JSON.

use net::tls::certinfo;
use net::tls::checks::Check;
use net::tls::ocsp::StapledStatus;
use net::tls::trust_report::{CertificateFacts, ChainLink, Failure, Outcome, SignatureState, TrustReport};
use wire::json::Writer;

/// Most names in one line.
const MAX_NAMES: usize = 8;

/// A line of a report: its label and its text.
pub type Line = (&'static str, String);

/// Returns the lines of a report: the verdict, each certificate, and the checks by their outcomes.
pub fn lines(host: &str, report: &TrustReport) -> Vec<Line> {
    let verdict = match &report.refusal {
        Some(reason) => format!("{host} is refused: {reason}"),
        None => format!("{host} is accepted"),
    };
    let mut out = vec![("certificate", verdict)];
    for (at, link) in report.chain.iter().enumerate() {
        out.extend(certificate(if at == 0 { "server" } else { "authority" }, at, &link.facts));
        out.push(("", signature(link)));
    }
    for facts in &report.unused {
        out.push(("not used", format!("{} (sent, not part of the chain)", facts.subject)));
    }
    if report.chain.is_empty() {
        out.push(("server", format!("{} certificates were sent, the first cannot be read", report.sent)));
    }
    out.extend(checks(report));
    out
}

/// Returns the lines about one certificate, without its signature.
fn certificate(label: &'static str, at: usize, facts: &CertificateFacts) -> Vec<Line> {
    let size = facts.key_bits.map_or(String::new(), |bits| format!(" of {bits} bits"));
    let dates = format!("{} to {}", certinfo::date(facts.not_before), certinfo::date(facts.not_after));
    let mut out = vec![
        (label, format!("{}; serial number {}", facts.subject, facts.serial)),
        ("", format!("issued by {}", facts.issuer)),
        ("", format!("valid {dates}; key {}{size}", facts.key)),
    ];
    let authority = facts.is_authority.map(|is_authority| match (is_authority, facts.path_length) {
        (true, Some(below)) => format!("an authority with at most {below} below"),
        (true, None) => "an authority".to_owned(),
        (false, _) => "no authority".to_owned(),
    });
    let names = (!facts.names.is_empty()).then(|| listed(&facts.names));
    let staple = facts.must_staple.then(|| "requires a stapled OCSP response".to_owned());
    let limits = [("only for", &facts.permitted), ("not for", &facts.excluded)];
    let limits = limits.map(|(what, trees)| (!trees.is_empty()).then(|| format!("{what} {}", listed(trees))));
    let purposes = [&facts.extended_key_usage, &facts.key_usage].map(Option::clone);
    let known: Vec<String> =
        [names, authority].into_iter().chain(purposes).chain(limits).chain([staple]).flatten().collect();
    match known.is_empty() {
        true if at == 0 => out.push(("", "no alternative names".to_owned())),
        true => {}
        false => out.push(("", known.join("; "))),
    }
    out
}

fn listed(names: &[String]) -> String {
    let shown = names[..names.len().min(MAX_NAMES)].join(", ");
    match names.len().saturating_sub(MAX_NAMES) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

fn signature(ChainLink { facts, signature, is_sent }: &ChainLink) -> String {
    let source = if *is_sent { "sent by the server" } else { "from the trusted certificates" };
    let signed = &facts.signed_with;
    match signature {
        SignatureState::Verified => format!("{source}; signed with {signed}, verified"),
        SignatureState::Wrong => format!("{source}; signed with {signed}, NOT by the key of the next"),
        SignatureState::Trusted => format!("{source}; trusted as it is"),
        SignatureState::NotVerified => format!("{source}; signed with {signed}, not verified"),
    }
}

/// Returns a line for each failed check, and one for all of each other outcome.
fn checks(report: &TrustReport) -> Vec<Line> {
    let named = |is_of: fn(&Outcome) -> bool| {
        let names = report.checks.iter().filter(|(_, outcome)| is_of(outcome)).map(|(check, _)| check.name());
        names.collect::<Vec<_>>().join(", ")
    };
    let rows = [
        ("passed", named(|outcome| *outcome == Outcome::Passed)),
        ("not reached", named(|outcome| *outcome == Outcome::NotReached)),
        ("not asked", named(|outcome| *outcome == Outcome::NotAsked)),
    ];
    let failed = report.checks.iter().filter_map(|(check, outcome)| match outcome {
        Outcome::Failed(failure) => Some(("failed", failed(*check, failure))),
        Outcome::Ignored(failure) => Some(("ignored", failed(*check, failure))),
        Outcome::Passed | Outcome::NotReached | Outcome::NotAsked => None,
    });
    let [passed, rest @ ..] = rows;
    let lines = std::iter::once(passed).chain(failed).chain(rest);
    lines.filter(|(_, text)| !text.is_empty()).collect()
}

fn failed(check: Check, Failure { text, result, at }: &Failure) -> String {
    let of = match at {
        Some(0) => " (of the server's certificate)".to_owned(),
        Some(at) => format!(" (of authority {at})"),
        None => String::new(),
    };
    let number = result.map_or(String::new(), |result| format!(" ({result})"));
    format!("{}: {text}{number}{of}", check.name())
}

/// Writes the members of a report.
pub fn json(json: &mut Writer, host: &str, report: &TrustReport) {
    json.key("host").text(host);
    json.key("accepted").boolean(report.refusal.is_none());
    if let Some(reason) = &report.refusal {
        json.key("reason").text(reason);
    }
    json.key("sent").number(report.sent);
    json.key("chain").array(|json| {
        for link in &report.chain {
            json.object(|json| {
                facts(json, &link.facts);
                json.key("signature").text(signature_name(link.signature));
                json.key("sent").boolean(link.is_sent);
            });
        }
    });
    json.key("unused").array(|json| {
        report.unused.iter().for_each(|one| json.object(|json| facts(json, one)));
    });
    json.key("stapled").text(stapled_name(&report.stapled));
    json.key("checks").array(|json| {
        for (check, outcome) in &report.checks {
            json.object(|json| self::outcome(json, *check, outcome));
        }
    });
}

fn facts(json: &mut Writer, facts: &CertificateFacts) {
    let texts = |json: &mut Writer, key: &str, all: &[String]| {
        json.key(key).array(|json| all.iter().for_each(|text| json.text(text)));
    };
    json.key("subject").text(&facts.subject);
    json.key("issuer").text(&facts.issuer);
    json.key("serial").text(&facts.serial);
    json.key("key").text(&facts.key);
    if let Some(bits) = facts.key_bits {
        json.key("key_bits").number(bits);
    }
    json.key("signed_with").text(&facts.signed_with);
    json.key("not_before").number(facts.not_before);
    json.key("not_after").number(facts.not_after);
    texts(json, "names", &facts.names);
    for (key, text) in [("key_usage", &facts.key_usage), ("extended_key_usage", &facts.extended_key_usage)] {
        if let Some(text) = text {
            json.key(key).text(text);
        }
    }
    if let Some(is_authority) = facts.is_authority {
        json.key("authority").boolean(is_authority);
    }
    if let Some(length) = facts.path_length {
        json.key("path_length").number(length);
    }
    texts(json, "permitted", &facts.permitted);
    texts(json, "excluded", &facts.excluded);
    json.key("must_staple").boolean(facts.must_staple);
}

fn outcome(json: &mut Writer, check: Check, outcome: &Outcome) {
    json.key("check").text(check.name().to_lowercase().replace(' ', "-"));
    let (name, failure) = match outcome {
        Outcome::Passed => ("passed", None),
        Outcome::Failed(failure) => ("failed", Some(failure)),
        Outcome::Ignored(failure) => ("ignored", Some(failure)),
        Outcome::NotReached => ("not-reached", None),
        Outcome::NotAsked => ("not-asked", None),
    };
    json.key("outcome").text(name);
    if let Some(Failure { text, result, at }) = failure {
        json.key("reason").text(text);
        if let Some(result) = result {
            json.key("result").number(result);
        }
        if let Some(at) = at {
            json.key("certificate").number(at);
        }
    }
}

fn signature_name(state: SignatureState) -> &'static str {
    match state {
        SignatureState::Verified => "verified",
        SignatureState::Wrong => "wrong",
        SignatureState::Trusted => "trusted",
        SignatureState::NotVerified => "not-verified",
    }
}

fn stapled_name(status: &StapledStatus) -> &'static str {
    match status {
        StapledStatus::Absent => "absent",
        StapledStatus::Good => "good",
        StapledStatus::Revoked(_) => "revoked",
        StapledStatus::Unknown => "unknown",
        StapledStatus::Invalid(_) => "invalid",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(subject: &str, issuer: &str) -> CertificateFacts {
        CertificateFacts {
            subject: subject.to_owned(),
            issuer: issuer.to_owned(),
            serial: "05".to_owned(),
            key: "rsaEncryption".to_owned(),
            key_bits: Some(2048),
            signed_with: "sha256WithRSAEncryption".to_owned(),
            not_before: 0,
            not_after: 86_400,
            names: Vec::new(),
            key_usage: None,
            extended_key_usage: None,
            is_authority: None,
            path_length: None,
            permitted: Vec::new(),
            excluded: Vec::new(),
            must_staple: false,
        }
    }

    fn report() -> TrustReport {
        let leaf = CertificateFacts {
            names: vec!["DNS:a.test".to_owned()],
            extended_key_usage: Some("TLS Web Server Authentication".to_owned()),
            must_staple: true,
            ..facts("CN = a.test", "CN = root")
        };
        let root = CertificateFacts {
            is_authority: Some(true),
            path_length: Some(0),
            permitted: (0..10).map(|n| format!("DNS:{n}.test")).collect(),
            ..facts("CN = root", "CN = root")
        };
        let link = |facts, signature, is_sent| ChainLink { facts, signature, is_sent };
        let expired = Failure { text: "certificate has expired".to_owned(), result: Some(10), at: Some(1) };
        let name = Failure { text: "no name matches".to_owned(), result: None, at: Some(0) };
        TrustReport {
            refusal: Some("expired".to_owned()),
            sent: 2,
            chain: vec![
                link(leaf, SignatureState::Verified, true),
                link(root, SignatureState::Trusted, false),
            ],
            unused: vec![facts("CN = stray", "CN = else")],
            checks: vec![
                (Check::Encoding, Outcome::Passed),
                (Check::LeafKey, Outcome::Passed),
                (Check::RevocationLists, Outcome::NotAsked),
                (Check::SignaturesAndDates, Outcome::Failed(expired)),
                (Check::NameConstraints, Outcome::NotReached),
                (Check::HostName, Outcome::Ignored(name)),
            ],
            stapled: StapledStatus::Absent,
            now: 0,
        }
    }

    #[test]
    fn a_report_as_text() {
        let dates =
            "valid Jan  1 00:00:00 1970 GMT to Jan  2 00:00:00 1970 GMT; key rsaEncryption of 2048 bits";
        let trees = "DNS:0.test, DNS:1.test, DNS:2.test, DNS:3.test, DNS:4.test, DNS:5.test, DNS:6.test, \
                     DNS:7.test and 2 more";
        let wanted = [
            ("certificate", "a.test is refused: expired"),
            ("server", "CN = a.test; serial number 05"),
            ("", "issued by CN = root"),
            ("", dates),
            ("", "DNS:a.test; TLS Web Server Authentication; requires a stapled OCSP response"),
            ("", "sent by the server; signed with sha256WithRSAEncryption, verified"),
            ("authority", "CN = root; serial number 05"),
            ("", "issued by CN = root"),
            ("", dates),
            ("", &format!("an authority with at most 0 below; only for {trees}")),
            ("", "from the trusted certificates; trusted as it is"),
            ("not used", "CN = stray (sent, not part of the chain)"),
            ("passed", "encoding, server key"),
            ("failed", "signatures and dates: certificate has expired (10) (of authority 1)"),
            ("ignored", "host name: no name matches (of the server's certificate)"),
            ("not reached", "name constraints"),
            ("not asked", "revocation lists"),
        ];
        let got = lines("a.test", &report());
        let got: Vec<(&str, &str)> = got.iter().map(|(label, text)| (*label, &**text)).collect();
        assert_eq!(got, wanted);
    }

    #[test]
    fn a_certificate_that_cannot_be_read_has_no_chain() {
        let report = TrustReport { chain: Vec::new(), refusal: None, ..report() };
        let got = lines("a.test", &report);
        assert_eq!(got[0].1, "a.test is accepted");
        assert!(got.contains(&("server", "2 certificates were sent, the first cannot be read".to_owned())));
    }

    #[test]
    fn a_report_as_json() {
        let mut writer = Writer::default();
        writer.object(|json| super::json(json, "a.test", &report()));
        let text = writer.into_string();
        for part in [
            "\"host\":\"a.test\",\"accepted\":false,\"reason\":\"expired\",\"sent\":2,",
            "\"names\":[\"DNS:a.test\"],\"extended_key_usage\":\"TLS Web Server Authentication\",",
            "\"must_staple\":true,\"signature\":\"verified\",\"sent\":true}",
            "\"stapled\":\"absent\",\"checks\":[{\"check\":\"encoding\",\"outcome\":\"passed\"},",
            "{\"check\":\"signatures-and-dates\",\"outcome\":\"failed\",",
            "\"reason\":\"certificate has expired\",\"result\":10,\"certificate\":1}",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
}
