//! Chains that are almost right, in thousands of shapes, judged by us and by OpenSSL's verify command: both
//! verdicts must agree.
//!
//! `WARMWIRE_CHAINS` sets their number (300), `WARMWIRE_SEED` the first seed.

#[path = "common/forge.rs"]
mod forge;
#[path = "common/odd.rs"]
mod odd;

use forge::{ECDSA_SHA256, ECDSA_SHA384, Extension, List, Plan, ce, name, sequence, signed};
use rcgen::KeyPair;
use rustls::pki_types::{CertificateDer, UnixTime};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use testkit::dice::Dice;
use testkit::temp::TempDir;
use warmwire_net::tls::chain::Judge;
use warmwire_net::tls::crl::Crl;
use warmwire_net::tls::{CaSource, anchors, verdict};
use wire::der::{self, wrap};

/// 2025-01-01.
const NOW: u64 = 1_735_689_600;
const UTF8: u8 = der::UTF8_STRING;
/// OpenSSL's code also for a key that it cannot read.
const EE_KEY_TOO_SMALL: i64 = 66;
/// More than in the longest chain, including cross-signed ones.
const KEYS: usize = 16;

/// One question: certificates by their plans, the leaf first and the root last, and who is trusted.
struct Case {
    plans: Vec<Plan>,
    trusted: Vec<usize>,
    sent: Vec<usize>,
    partial: bool,
    lists: Option<Vec<List>>,
    /// Descriptions of the changes.
    changes: Vec<String>,
}

fn number(seed: u64, what: &str) -> u64 {
    std::env::var(what).ok().and_then(|n| n.parse().ok()).unwrap_or(seed)
}

fn dns(host: &str) -> Vec<u8> {
    wrap(0x82, host.as_bytes())
}

fn key_id(key: usize) -> Vec<u8> {
    vec![0xa0 + key as u8; 20]
}

/// A chain as authorities make them.
fn good(dice: &mut Dice) -> Case {
    let length = 2 + if dice.roll(8) == 0 { 3 + dice.roll(6) } else { dice.roll(3) };
    let subject = |i: usize| match i {
        0 => name(&[(UTF8, "leaf.example")]),
        i => name(&[(UTF8, "Warmwire"), (der::PRINTABLE_STRING, &format!("Level {i}"))]),
    };
    let plans: Vec<Plan> = (0..length)
        .map(|i| {
            let above = (i + 1).min(length - 1);
            let mut plan = Plan {
                version: 2,
                serial: vec![1 + i as u8],
                issuer: subject(above),
                subject: subject(i),
                from: "200101000000Z".into(),
                until: "400101000000Z".into(),
                key: i,
                signer: above,
                extensions: Vec::new(),
                outer: ECDSA_SHA256,
            };
            plan.set(ce(14), false, wrap(der::OCTET_STRING, &key_id(i)));
            plan.set(ce(35), false, sequence(&[wrap(0x80, &key_id(above))]));
            if i == 0 {
                plan.set(
                    ce(17),
                    false,
                    sequence(&[dns("a.example"), dns("*.b.example"), wrap(0x87, &[10, 1, 2, 3])]),
                );
                plan.set(ce(15), true, vec![3, 2, 7, 0x80]);
                plan.set(ce(37), false, sequence(&[wrap(der::OID, &[0x2b, 6, 1, 5, 5, 7, 3, 1])]));
            } else {
                plan.set(ce(19), true, sequence(&[wrap(der::BOOLEAN, &[0xff])]));
                plan.set(ce(15), true, vec![3, 2, 1, 0x06]);
            }
            plan
        })
        .collect();
    let sent = (1..length - 1).collect();
    Case { plans, trusted: vec![length - 1], sent, partial: true, lists: None, changes: Vec::new() }
}

/// One change to a certificate.
fn change(dice: &mut Dice, case: &mut Case) {
    let at = dice.roll(case.plans.len());
    let what = dice.roll(17);
    let choice = dice.roll(12);
    case.changes.push(format!("{at}:{what}:{choice}"));
    let keys = case.plans.len();
    let plan = &mut case.plans[at];
    match what {
        0 => basic_constraints(plan, choice),
        1 => key_usage(plan, choice),
        2 => ext_key_usage(plan, choice),
        3 => identifiers(plan, choice, keys),
        4 => odd_extensions(plan, choice),
        5 => alternative_names(plan, choice),
        6 | 7 => name_constraints(plan, choice, dice.roll(3)),
        8 => dates(plan, choice),
        9 => plan.version = [0, 1, 2, 2, 2, 0][choice % 6],
        10 => plan.serial = [vec![0], vec![0xff], vec![1; 30], vec![0x80, 1]][choice % 4].clone(),
        11 => plan.signer = choice % keys,
        12 => plan.outer = ECDSA_SHA384,
        13 => spell(plan, choice),
        14 | 15 => shape(case, choice),
        _ => trust(case, choice),
    }
}

fn basic_constraints(plan: &mut Plan, choice: usize) {
    let yes = wrap(der::BOOLEAN, &[0xff]);
    let value = match choice {
        0 => return plan.remove(&ce(19)),
        1 => sequence(&[]),
        2 => sequence(&[yes, wrap(der::INTEGER, &[0])]),
        3 => sequence(&[yes, wrap(der::INTEGER, &[1])]),
        4 => sequence(&[yes, wrap(der::INTEGER, &[0xff])]),
        5 => sequence(&[wrap(der::INTEGER, &[0])]),
        6 => vec![0x30, 5, 1],
        7 => return plan.extensions.extend(plan.extensions.clone().into_iter().filter(|e| e.oid == ce(19))),
        _ => sequence(&[yes]),
    };
    plan.set(ce(19), choice.is_multiple_of(2), value);
}

fn key_usage(plan: &mut Plan, choice: usize) {
    let bits = [0x80, 0x04, 0x02, 0x06, 0x20, 0x40, 0x84, 0x08];
    match choice {
        0 => plan.remove(&ce(15)),
        1 => plan.set(ce(15), true, vec![3, 2, 7, 0]),
        2 => plan.set(ce(15), true, vec![3, 1, 0]),
        3 => plan.set(ce(15), true, vec![4, 1, 0]),
        _ => plan.set(ce(15), choice.is_multiple_of(2), vec![3, 2, 1, bits[choice - 4]]),
    }
}

fn ext_key_usage(plan: &mut Plan, choice: usize) {
    let purpose = |n| wrap(der::OID, &[0x2b, 6, 1, 5, 5, 7, 3, n]);
    let value = match choice % 7 {
        0 => return plan.remove(&ce(37)),
        1 => sequence(&[purpose(2)]),
        2 => sequence(&[purpose(2), purpose(1)]),
        3 => sequence(&[wrap(der::OID, &[0x55, 0x1d, 37, 0])]),
        4 => sequence(&[]),
        5 => vec![0x30, 3, 6, 0, 9],
        _ => sequence(&[purpose(9), wrap(der::OID, &[0x55, 0x1d, 37, 0])]),
    };
    plan.set(ce(37), choice > 6, value);
}

fn identifiers(plan: &mut Plan, choice: usize, keys: usize) {
    let directory = wrap(0xa1, &wrap(0xa4, &plan.issuer.clone()));
    match choice {
        0 => plan.remove(&ce(14)),
        1 => plan.remove(&ce(35)),
        2 => plan.set(ce(14), false, wrap(der::OCTET_STRING, b"another")),
        3 => plan.set(ce(35), false, sequence(&[wrap(0x80, b"another")])),
        4 => plan.set(ce(35), false, sequence(&[directory, wrap(0x82, &[keys as u8])])),
        5 => plan.set(ce(35), false, sequence(&[directory, wrap(0x82, &[99])])),
        6 => plan.set(ce(35), false, sequence(&[])),
        7 => plan.set(ce(35), false, vec![0x30, 9]),
        8 => plan.set(ce(14), true, wrap(der::OCTET_STRING, &key_id(plan.key))),
        9 => plan.set(ce(14), false, vec![0x30, 0]),
        10 => plan.set(ce(35), true, sequence(&[wrap(0x80, &key_id(plan.signer))])),
        _ => plan.set(ce(35), false, sequence(&[wrap(0x82, &[plan.signer as u8 + 1])])),
    }
}

fn odd_extensions(plan: &mut Plan, choice: usize) {
    let policies = sequence(&[sequence(&[wrap(der::OID, &[0x2a, 3, 4])])]);
    match choice {
        0 => plan.set(vec![0x2a, 3, 4], true, vec![5, 0]),
        1 => plan.set(vec![0x2a, 3, 4], false, vec![5, 0]),
        2 => plan.set(ce(32), true, policies),
        3 => plan.set(ce(36), true, sequence(&[wrap(0x80, &[0])])),
        4 => plan.set(ce(54), true, wrap(der::INTEGER, &[0])),
        5 => plan.set(ce(18), true, sequence(&[dns("a.example")])),
        6 => plan.set(ce(31), true, sequence(&[])),
        7 => plan.set(ce(31), false, vec![1]),
        8 => plan.set(vec![0x2b, 6, 1, 5, 5, 7, 1, 1], true, sequence(&[])),
        9 => plan.set(vec![0x2b, 6, 1, 5, 5, 7, 1, 24], true, sequence(&[wrap(der::INTEGER, &[5])])),
        10 => plan.set(vec![0x2b, 6, 1, 5, 5, 7, 48, 1, 5], true, vec![5, 0]),
        _ => plan.set(vec![0x60, 0x86, 0x48, 1, 0x86, 0xf8, 0x42, 1, 1], false, vec![3, 2, 5, 0xa0]),
    }
}

fn alternative_names(plan: &mut Plan, choice: usize) {
    let value = match choice {
        0 => return plan.remove(&ce(17)),
        1 => sequence(&[]),
        2 => vec![0x30, 4, 0x82],
        3 => sequence(&[wrap(0x81, b"me@a.example")]),
        4 => sequence(&[wrap(0x81, b"nobody")]),
        5 => sequence(&[wrap(0x86, b"http://a.example/")]),
        6 => sequence(&[wrap(0x86, b"a.example")]),
        7 => sequence(&[wrap(0x87, &[10, 1, 2])]),
        8 => sequence(&[wrap(0xa4, &name(&[(UTF8, "warmwire")]))]),
        9 => sequence(&[wrap(0xa0, &[wrap(der::OID, &[0x2a, 3]), wrap(0xa0, &[5, 0])].concat())]),
        10 => sequence(&[wrap(0x88, &[0x2a, 3]), dns("a.example")]),
        _ => sequence(&[dns("A.EXAMPLE"), dns("")]),
    };
    plan.set(ce(17), choice.is_multiple_of(2), value);
}

fn name_constraints(plan: &mut Plan, choice: usize, side: usize) {
    let base = match choice {
        0 => dns("example"),
        1 => dns(".example"),
        2 => dns("b.example"),
        3 => dns(""),
        4 => wrap(0x87, &[10, 0, 0, 0, 255, 0, 0, 0]),
        5 => wrap(0x87, &[10, 0, 0, 0, 255]),
        6 => wrap(0x81, b"a.example"),
        7 => wrap(0x81, b"me@a.example"),
        8 => wrap(0x86, b".example"),
        9 => wrap(0xa4, &name(&[(der::PRINTABLE_STRING, "WARMWIRE")])),
        10 => wrap(0x88, &[0x2a, 3]),
        _ => wrap(0xa4, &name(&[(UTF8, "leaf.example")])),
    };
    let tree = match side {
        2 if choice.is_multiple_of(2) => sequence(&[base, wrap(0x80, &[1])]),
        2 => sequence(&[base, wrap(0x81, &[1])]),
        _ => sequence(&[base]),
    };
    plan.set(ce(30), !choice.is_multiple_of(3), sequence(&[wrap(0xa0 + (side % 2) as u8, &tree)]));
}

fn dates(plan: &mut Plan, choice: usize) {
    let day = "250101000000Z".to_string(); // now
    match choice % 8 {
        0 => plan.until = "240101000000Z".into(),
        1 => plan.from = "260101000000Z".into(),
        2 => plan.until = day,
        3 => plan.from = day,
        4 => plan.until = "250101000001Z".into(),
        5 => plan.from = "500101000000Z".into(),
        6 => plan.until = "20400101000000Z".into(),
        _ => plan.until = "20240101000000Z".into(),
    }
}

/// Spells the issuer differently, or names another one.
fn spell(plan: &mut Plan, choice: usize) {
    let level = format!("LEVEL   {}", plan.signer);
    plan.issuer = match choice % 4 {
        0 => name(&[(der::PRINTABLE_STRING, " WarmWire "), (UTF8, &level)]),
        1 => name(&[(UTF8, "Warmwire"), (der::OCTET_STRING, &level)]),
        2 => name(&[(UTF8, "Warmwire")]),
        _ => plan.subject.clone(),
    };
}

fn trust(case: &mut Case, choice: usize) {
    let last = case.plans.len() - 1;
    match choice {
        0 => case.trusted.clear(),
        1 => case.trusted = vec![1],
        2 => (case.trusted, case.partial) = (vec![1], false),
        3 => case.trusted = vec![0],
        4 => (case.trusted, case.partial) = (vec![0], false),
        5 => case.sent.clear(),
        6 => case.sent.reverse(),
        7 => case.sent = (0..=last).collect(),
        8 => (case.sent, case.trusted) = ((1..=last).collect(), vec![0]),
        9 => case.partial = false,
        10 => {
            // A certified new key of the same authority.
            let mut next = case.plans[last].clone();
            next.key = last + 1;
            next.serial = vec![77];
            next.set(ce(14), false, wrap(der::OCTET_STRING, &key_id(last + 1)));
            case.plans[last - 1].signer = last + 1;
            case.plans[last - 1].set(ce(35), false, sequence(&[wrap(0x80, &key_id(last + 1))]));
            case.plans.push(next);
            case.sent.push(last + 1);
        }
        _ => {
            // An older certificate of the same authority and key.
            let mut twin = case.plans[1].clone();
            twin.until = "240101000000Z".into();
            case.plans.push(twin);
            case.sent.insert(0, last + 1);
        }
    }
}

/// Adds loops, cross-signed authorities, and unrelated certificates.
fn shape(case: &mut Case, choice: usize) {
    let last = case.plans.len() - 1;
    let (first, root) = (case.plans[1].clone(), case.plans[last].clone());
    let issued = |mut plan: Plan, by: &Plan| {
        (plan.issuer, plan.signer) = (by.subject.clone(), by.key);
        plan.set(ce(35), false, sequence(&[wrap(0x80, &key_id(by.key))]));
        plan
    };
    let mut add = |plan: Plan| {
        case.plans.push(plan);
        case.plans.len() - 1
    };
    match choice {
        // The root is certified by the one below it: there is no trust anchor, or it is in the loop.
        0 => (case.plans[last], case.trusted) = (issued(root, &first), Vec::new()),
        1 => (case.plans[last], case.partial) = (issued(root, &first), false),
        2 => {
            case.plans[last] = issued(root, &first);
            (case.sent, case.trusted) = ((1..=last).collect(), vec![1]);
        }
        // Another root certifies an authority of the chain, too; it is trusted, or both are, or only the
        // first.
        3..=7 => {
            let mut other = root;
            (other.subject, other.key) = (name(&[(UTF8, "Another root")]), KEYS - 1);
            other.set(ce(14), false, wrap(der::OCTET_STRING, &key_id(KEYS - 1)));
            let other = issued(other.clone(), &other);
            let mut cross = issued(first, &other);
            cross.serial = vec![66];
            if choice == 4 {
                cross.until = "240101000000Z".into();
            }
            if choice == 5 {
                cross.set(ce(19), true, sequence(&[]));
            }
            let other = add(other);
            let cross = add(cross);
            case.sent.insert(if choice == 6 { 0 } else { case.sent.len() }, cross);
            match choice {
                3..=5 => case.trusted = vec![other],
                6 => case.trusted.push(other),
                _ => {}
            }
        }
        // Issued by itself under another key: counts for no path length.
        8 => {
            let mut again = first.clone();
            (again.issuer, again.serial) = (again.subject.clone(), vec![67]);
            let again = add(again);
            case.sent.push(again);
        }
        // All of it several times, and the leaf among it.
        9 => case.sent = (0..=last).chain(0..=last).collect(),
        // A certificate with the same name and another key comes first.
        10 => {
            let mut stranger = first;
            (stranger.key, stranger.signer, stranger.serial) = (KEYS - 2, last, vec![68]);
            stranger.set(ce(14), false, wrap(der::OCTET_STRING, &key_id(KEYS - 2)));
            let stranger = add(stranger);
            case.sent.insert(0, stranger);
        }
        // A leaf certifies a leaf.
        _ => {
            let mut below = case.plans[0].clone();
            (below.issuer, below.signer, below.serial) = (below.subject.clone(), 0, vec![69]);
            (below.subject, below.key) = (name(&[(UTF8, "below.example")]), KEYS - 1);
            below.set(ce(14), false, wrap(der::OCTET_STRING, &key_id(KEYS - 1)));
            below.set(ce(35), false, sequence(&[wrap(0x80, &key_id(0))]));
            let above = std::mem::replace(&mut case.plans[0], below);
            case.plans.push(above);
            case.sent.push(case.plans.len() - 1);
        }
    }
}

/// A list by every authority, and up to two changes.
fn revocation(dice: &mut Dice, case: &mut Case) {
    let mut lists: Vec<List> = case.plans[1..]
        .iter()
        .map(|plan| List {
            issuer: plan.subject.clone(),
            from: "240101000000Z".into(),
            until: Some("260101000000Z".into()),
            signer: plan.key,
            revoked: vec![(vec![99], Vec::new())],
            extensions: Vec::new(),
        })
        .collect();
    for _ in 0..dice.roll(3) {
        let at = dice.roll(lists.len());
        let choice = dice.roll(16);
        case.changes.push(format!("list {at}:{choice}"));
        let extension = |number, critical, value| Extension { oid: ce(number), critical, value };
        let flag = |n: u8| sequence(&[wrap(0x80 + n, &[0xff])]);
        let serial = 1 + dice.roll(3) as u8;
        let entry = vec![serial];
        let list = &mut lists[at];
        list.extensions.clear(); // OpenSSL accepts duplicates
        match choice {
            0 => list.revoked.push((entry, Vec::new())),
            1 => list.revoked.push((entry, vec![extension(21, false, vec![10, 1, 8])])),
            2 => list.revoked.push((entry, vec![extension(21, true, vec![10, 1, 1])])),
            3 => list.until = Some("240601000000Z".into()),
            4 => list.from = "250601000000Z".into(),
            5 => list.until = None,
            6 => list.signer = (list.signer + 1) % 3,
            7 => list.extensions.push(extension(20, true, vec![2, 1, 1])),
            8 => list.extensions.push(extension(28, true, flag(1))),
            9 => list.extensions.push(extension(28, true, flag(2))),
            10 => list.extensions.push(extension(28, true, flag(4))),
            11 => list.extensions.push(extension(28, true, sequence(&[wrap(0x83, &[1, 0x40])]))),
            12 => list.extensions.push(extension(35, false, sequence(&[wrap(0x80, b"another")]))),
            13 => {
                let point = wrap(0xa0, &wrap(0xa0, &wrap(0x86, b"http://a.example/crl")));
                list.extensions.push(extension(28, true, sequence(std::slice::from_ref(&point))));
                if serial > 1 {
                    case.plans[0].set(ce(31), false, sequence(&[sequence(&[point])]));
                }
            }
            14 => list.issuer = name(&[(UTF8, "somebody")]),
            _ => drop(lists.remove(at)),
        }
        if lists.is_empty() {
            break;
        }
    }
    (case.lists, case.partial) = (Some(lists), false);
}

fn case(seed: u64) -> Case {
    let mut dice = Dice::new((seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut case = good(&mut dice);
    for _ in 0..dice.roll(4) {
        change(&mut dice, &mut case);
    }
    if dice.roll(4) == 0 {
        revocation(&mut dice, &mut case);
    }
    case
}

fn pem(label: &str, der: &[u8]) -> String {
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", base64(der))
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for (i, chunk) in bytes.chunks(3).enumerate() {
        if i > 0 && i % 16 == 0 {
            out.push('\n');
        }
        let n = chunk.iter().fold(0u32, |n, b| n << 8 | u32::from(*b)) << (8 * (3 - chunk.len()));
        let digit = |at: usize| char::from(DIGITS[(n >> (18 - 6 * at)) as usize & 63]);
        (0..4).for_each(|at| out.push(if at <= chunk.len() { digit(at) } else { '=' }));
    }
    out
}

/// Returns the number of the first fault, 0 for none; `None` if OpenSSL cannot read its input.
fn openssl(dir: &TempDir, case: &Case, certs: &[Vec<u8>], lists: &[Vec<u8>]) -> Option<i64> {
    let all = |which: &[usize]| which.iter().map(|i| pem("CERTIFICATE", &certs[*i])).collect::<String>();
    let file = |name: &str, text: String| dir.write(name, text).unwrap();
    let mut command = Command::new("openssl");
    command.args(["verify", "-no-CAfile", "-no-CApath", "-no-CAstore", "-purpose", "sslserver"]);
    command.args(["-auth_level", "2", "-attime", &NOW.to_string()]);
    let mut add = |flag: &str, path: &Path| {
        command.arg(flag).arg(path);
    };
    if !case.trusted.is_empty() {
        add("-trusted", &file("trusted.pem", all(&case.trusted)));
    }
    if !case.sent.is_empty() {
        add("-untrusted", &file("sent.pem", all(&case.sent)));
    }
    if !lists.is_empty() {
        add("-CRLfile", &file("lists.pem", lists.iter().map(|l| pem("X509 CRL", l)).collect()));
    }
    if case.lists.is_some() {
        command.args(["-crl_check", "-crl_check_all"]);
    }
    if case.partial {
        command.arg("-partial_chain");
    }
    let out = command.arg(file("leaf.pem", all(&[0]))).output().expect("openssl is installed");
    let text = String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
    if text.contains("Unable to load") || text.contains("Could not read") || text.contains("unable to load") {
        return None;
    }
    if out.status.success() {
        return Some(0);
    }
    let first = text.lines().find_map(|l| l.strip_prefix("error ")?.split_once(" at ")?.0.parse().ok());
    Some(first.unwrap_or_else(|| panic!("no verdict: {text}")))
}

fn ours(case: &Case, certs: &[Vec<u8>], lists: &[Vec<u8>]) -> i64 {
    let trusted: String = case.trusted.iter().map(|i| pem("CERTIFICATE", &certs[*i])).collect();
    let sources = if trusted.is_empty() { vec![] } else { vec![CaSource::Blob(trusted.into_bytes().into())] };
    let Ok(anchors) = anchors::load(&sources, Some(Duration::ZERO)) else {
        return verdict::UNSPECIFIED;
    };
    let crls: Option<Vec<Crl>> = lists.iter().map(|l| Crl::parse(l)).collect();
    let Some(crls) = crls else {
        return verdict::UNSPECIFIED;
    };
    let others: Vec<_> = case.sent.iter().map(|i| CertificateDer::from(certs[*i].clone())).collect();
    let algorithms = rustls::crypto::ring::default_provider().signature_verification_algorithms.all;
    let now = UnixTime::since_unix_epoch(Duration::from_secs(NOW));
    Judge { anchors: &anchors, algorithms, crls: &crls, partial: case.partial, now }
        .verify(&certs[0], &others)
}

fn keys() -> Vec<KeyPair> {
    (0..KEYS).map(|_| KeyPair::generate().unwrap()).collect()
}

#[test]
fn openssl_and_we_are_of_one_mind() {
    let keys = keys();
    let dir = TempDir::new("oracle").unwrap();
    let (count, seed) = (number(300, "WARMWIRE_CHAINS"), number(0, "WARMWIRE_SEED"));
    let (mut faults, mut good, mut numbers) = (Vec::new(), 0, Vec::new());
    for seed in seed..seed + count {
        let case = case(seed);
        let certs: Vec<_> = case.plans.iter().map(|p| p.sign(&keys)).collect();
        let lists: Vec<_> = case.lists.iter().flatten().map(|l| l.sign(&keys)).collect();
        if case.lists.is_some() && lists.is_empty() {
            continue; // no file to speak of
        }
        let Some(theirs) = openssl(&dir, &case, &certs, &lists) else {
            continue;
        };
        let ours = ours(&case, &certs, &lists);
        good += usize::from(theirs == 0);
        let comparison = format!("seed {seed}: OpenSSL {theirs}, ours {ours} ({})", case.changes.join(", "));
        match (theirs == 0) == (ours == 0) {
            false => faults.push(comparison),
            true if theirs != ours => numbers.push(comparison),
            true => {}
        }
    }
    eprintln!("{count} chains, {good} good; another number: {}\n{}", numbers.len(), numbers.join("\n"));
    assert!(good as u64 * 8 > count, "only {good} of {count} are good: nothing is tested");
    assert!(faults.is_empty(), "{} of {count}:\n{}", faults.len(), faults.join("\n"));
}

/// One certificate of a good chain is encoded oddly, and properly signed so.
#[test]
fn nothing_odd_is_accepted_that_openssl_refuses() {
    let keys = keys();
    let dir = TempDir::new("odd").unwrap();
    let (count, seed) = (number(300, "WARMWIRE_CHAINS"), number(0, "WARMWIRE_SEED"));
    let (mut faults, mut both, mut stricter) = (Vec::new(), 0, BTreeMap::<_, usize>::new());
    for seed in seed..seed + count {
        let mut dice = Dice::new((seed + 1).wrapping_mul(0x2545_f491_4f6c_dd1d));
        let case = good(&mut dice);
        let mut certs: Vec<_> = case.plans.iter().map(|p| p.sign(&keys)).collect();
        let at = dice.roll(certs.len());
        let plan = &case.plans[at];
        let (cert, change) = match dice.roll(6) {
            0 => odd::odd(&mut dice, &certs[at]),
            _ => {
                let (tbs, change) = odd::odd(&mut dice, &plan.unsigned(&keys));
                (signed(tbs, &keys[plan.signer], plan.outer), change)
            }
        };
        certs[at] = cert;
        let theirs = openssl(&dir, &case, &certs, &[]);
        match (theirs, ours(&case, &certs, &[])) {
            (Some(0), 0) => both += 1,
            (Some(0), ours) => *stricter.entry(format!("{ours}: {change}")).or_default() += 1,
            // Anchors are the user's own; one that can't be read is another matter than a peer's.
            (None, 0) if case.trusted.contains(&at) => {}
            // The leaf's key is invalid: the server cannot prove possession of it in the handshake.
            (Some(EE_KEY_TOO_SMALL), 0) if at == 0 => {}
            (theirs, 0) => faults.push(format!("seed {seed}: OpenSSL {theirs:?}, ours 0 ({at}: {change})")),
            _ => {}
        }
    }
    eprintln!(
        "{count} odd chains, {both} good; refused by us alone, by our number and reason: {stricter:#?}"
    );
    assert!(both as u64 * 20 > count, "only {both} of {count} are good: nothing is tested");
    assert!(faults.is_empty(), "{} of {count}:\n{}", faults.len(), faults.join("\n"));
}
