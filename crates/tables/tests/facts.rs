//! Compares every table with the facts in curl's own headers, if they are available (WARMWIRE_SHARED, or
//! `shared` beside the checkout).

use std::collections::BTreeMap;
use std::path::PathBuf;
use warmwire_tables::*;

fn facts(name: &str) -> Vec<Vec<String>> {
    let shared = std::env::var_os("WARMWIRE_SHARED")
        .map(PathBuf::from)
        .unwrap_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")));
    let path = shared.join("facts").join(name);
    let Ok(text) = std::fs::read_to_string(&path) else {
        panic!("left out without data: no facts at {}", path.display());
    };
    text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

fn ours() -> BTreeMap<String, i64> {
    let mut all = BTreeMap::new();
    let mut add =
        |name: String, value: i64| assert!(all.insert(name.clone(), value).is_none(), "{name} twice");
    for c in constant::ALL {
        add(c.name.to_owned(), c.value);
    }
    for o in EasyOption::ALL {
        add(format!("CURLOPT_{}", o.name()), o.id().into());
    }
    for (name, o, ..) in easy_option::ALIASES {
        add(format!("CURLOPT_{name}"), o.id().into());
    }
    for o in MultiOption::ALL {
        add(format!("CURLMOPT_{}", o.name()), o.id().into());
    }
    for i in Info::ALL {
        add(format!("CURLINFO_{}", i.name()), i.id().into());
    }
    for (name, i, ..) in info::ALIASES {
        add(format!("CURLINFO_{name}"), i.id().into());
    }
    macro_rules! codes {
        ($($type:ident)*) => { $(for c in $type::ALL { add(format!("{}{}", $type::PREFIX, c.name()), c.id().into()); })* };
    }
    codes!(Code MultiCode ShareCode UrlCode HeaderCode ProxyCode);
    for (name, id, _) in code::ALIASES {
        add((*name).to_owned(), (*id).into());
    }
    all
}

/// System constants, strings and switches that the fact table lists and that are not libcurl's numbers.
fn foreign(name: &str) -> bool {
    ["MSG_", "SHUT_", "SOCK_", "SCM_", "ITIMER_", "CURL_PULL_", "CURL_FORMAT_CURL_OFF_T"]
        .iter()
        .any(|p| name.starts_with(p))
        || ["CURL_DISABLE_DEPRECATION", "LIBCURL_TIMESTAMP", "LIBCURL_COPYRIGHT", "LIBCURL_VERSION"]
            .contains(&name)
}

#[test]
fn every_constant_has_curls_number() {
    let rows = facts("constants.tsv");
    let mut ours = ours();
    for row in &rows[1..] {
        if foreign(&row[0]) {
            continue;
        }
        assert_eq!(ours.remove(&row[0]), Some(row[1].parse().unwrap()), "{}", row[0]);
    }
    assert!(ours.is_empty(), "curl does not know {ours:?}");
}

#[test]
fn share_rows_agree_with_the_constants() {
    let value = |name: String| constant::ALL.iter().find(|c| c.name == name).map(|c| c.value);
    for o in ShareOption::ALL {
        assert_eq!(value(format!("CURLSHOPT_{}", o.name())), Some(o.id().into()));
    }
    for o in LockData::ALL {
        assert_eq!(value(format!("CURL_LOCK_DATA_{}", o.name())), Some(o.id().into()));
    }
    for o in LockAccess::ALL {
        assert_eq!(value(format!("CURL_LOCK_ACCESS_{}", o.name())), Some(o.id().into()));
    }
}

#[test]
fn easy_options_have_curls_types() {
    let rows = facts("easy_options.tsv");
    for row in &rows[1..] {
        let option = EasyOption::from_id(row[3].parse().unwrap()).unwrap();
        let kind = match option.kind() {
            ArgKind::Long => "LONG",
            ArgKind::Values => "VALUES",
            ArgKind::OffT => "OFF_T",
            ArgKind::Object => "OBJECTPOINT",
            ArgKind::String => "STRINGPOINT",
            ArgKind::SList => "SLISTPOINT",
            ArgKind::CbPtr => "CBPOINT",
            ArgKind::Blob => "BLOB",
            ArgKind::Function => "FUNCTIONPOINT",
        };
        assert_eq!((format!("CURLOPT_{}", option.name()), kind), (row[0].clone(), row[1].as_str()));
        assert_eq!(
            (option.deprecated().is_some(), option.since()),
            (row[4] == "deprecated", row[5].as_str())
        );
    }
}

#[test]
fn infos_have_curls_types() {
    let rows = facts("infos.tsv");
    assert_eq!(rows.len() - 1, Info::ALL.len());
    for (row, info) in rows[1..].iter().zip(Info::ALL) {
        let kind = match info.kind() {
            InfoKind::String => "STRING",
            InfoKind::Long => "LONG",
            InfoKind::Double => "DOUBLE",
            InfoKind::SList => "SLIST",
            InfoKind::Ptr => "PTR",
            InfoKind::Socket => "SOCKET",
            InfoKind::OffT => "OFF_T",
        };
        assert_eq!((format!("CURLINFO_{}", info.name()), kind), (row[0].clone(), row[1].as_str()));
    }
}

#[test]
fn exports_are_curls() {
    let rows = facts("exported_symbols.txt");
    assert!(rows.iter().map(|r| r[0].as_str()).eq(export::EXPORTS));
}

#[test]
fn flags_are_curls() {
    let rows = facts("cli_options.tsv");
    assert_eq!(rows.len() - 1, flag::FLAGS.len());
    for row in &rows[1..] {
        let flag = flag::FLAGS.iter().find(|f| f.long == row[0]).expect("a flag of curl has a row");
        let short = flag.short.map(String::from).unwrap_or_default();
        assert_eq!((short.as_str(), flag.argument), (row[1].as_str(), !row[2].is_empty()), "{}", row[0]);
    }
}

#[test]
fn reentry_rules_are_curls() {
    let rows = facts("reentry.tsv");
    assert_eq!(rows.len() - 1, Entry::ALL.len());
    for (row, &entry) in rows[1..].iter().zip(Entry::ALL) {
        assert_eq!(row[0], entry.name());
        for (column, place) in [(1, Where::AnyCallback), (2, Where::Notify), (3, Where::SocketOrTimer)] {
            assert_eq!(allowed(entry, place), row[column] == "allowed", "{} {place:?}", row[0]);
        }
    }
}
