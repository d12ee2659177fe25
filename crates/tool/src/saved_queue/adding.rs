//! Entries of a queue from the transfers of a command line and its lists.

use super::record::{Added, Record};
use super::state::{Setup, State};
use crate::bytes::Bytes;
use crate::config_file::quoted;
use crate::options::ToolOption;
use crate::queue::Item;
use crate::raw::checksum::Sum;
use crate::raw::hex;
use sha2::{Digest, Sha256};

/// The outcome of adding a transfer.
#[derive(Debug, PartialEq, Eq)]
pub enum Addition {
    /// The records of the entry, and of its setup if that is new.
    New(Vec<Record>),
    /// An entry with this URL and output is there already.
    Present,
}

/// Decides which records stand for a transfer, whose folder this is.
pub fn records(state: &State, item: &Item, folder: &[u8]) -> Result<Addition, &'static str> {
    if item.target.url_by_document {
        return Err("--metalink4 can't be combined with --queue");
    }
    if item.upload.as_deref().is_some_and(|file| matches!(file, b"-" | b".")) {
        return Err("--queue can't keep an upload from standard input");
    }
    let (shared, own) = item.request.own_options.split_at(item.shared_options);
    let target = target_options(item);
    let key = key(item, folder, &target);
    if state.has_key(key) {
        return Ok(Addition::Present);
    }
    let setup = Setup { folder: folder.to_vec(), options: shared.to_vec() };
    let known = state.setup_like(&setup);
    let (setup_id, id) = (known.unwrap_or(state.fresh_setup()), state.fresh_entry());
    let urls = [vec![item.url.clone()], item.target.mirrors.clone(), item.request.mirrors.clone()].concat();
    let options = [own.to_vec(), target].concat();
    let added = Record::Added(Added { id, setup: setup_id, key, urls, options });
    let Setup { folder, options } = setup;
    let setup = known.is_none().then_some(Record::Setup { id: setup_id, folder, options });
    Ok(Addition::New(setup.into_iter().chain([added]).collect()))
}

/// Returns the options of a target as lines.
fn target_options(item: &Item) -> Vec<Bytes> {
    let target = &item.target;
    let output = match &item.output {
        _ if target.out_null => "out-null".into(),
        Some(name) => quoted("output", name),
        None if target.remote_name => "remote-name".into(),
        None => quoted("output", b"-"),
    };
    let upload = item.upload.as_ref().map(|file| quoted("upload-file", file));
    let sums: Vec<String> = target.sums.iter().map(sum).collect();
    let checksum = (!sums.is_empty()).then(|| quoted("checksum", sums.join(",").as_bytes()));
    [output].into_iter().chain(upload).chain(checksum).collect()
}

fn sum(sum: &Sum) -> String {
    format!("{}={}", sum.algorithm.name(), hex::encode(&sum.digest))
}

/// Returns a number that is equal for transfers with the same URL and output.
fn key(item: &Item, folder: &[u8], target: &[Bytes]) -> u64 {
    let mut hash = Sha256::new();
    let output_dir = item.request.options.text(ToolOption::OutputDir).unwrap_or_default();
    for part in [folder, &item.url, output_dir].into_iter().chain(target.iter().map(Vec::as_slice)) {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    let digest = hash.finalize();
    u64::from_le_bytes(digest[..8].try_into().expect("a digest has 32 bytes"))
}

#[cfg(test)]
mod tests {
    use super::super::state::Place;
    use super::*;
    use crate::request::{Request, Target};
    use std::rc::Rc;

    fn item(url: &str, shared: &[&str], own: &[&str], target: Target) -> Item {
        let lines = |lines: &[&str]| lines.iter().map(|line| line.as_bytes().to_vec()).collect::<Vec<_>>();
        let own_options = [lines(shared), lines(own)].concat();
        Item {
            request: Rc::new(Request { own_options, ..Request::new() }),
            sectioned: None,
            url: url.into(),
            upload: target.upload.clone(),
            output: target.output.clone(),
            target,
            first: false,
            stands_alone: true,
            shared_options: shared.len(),
            saved: None,
        }
    }

    fn add(state: &mut State, item: &Item, folder: &str) -> usize {
        match records(state, item, folder.as_bytes()).unwrap() {
            Addition::Present => 0,
            Addition::New(records) => {
                let count = records.len();
                records.into_iter().for_each(|record| state.apply(record, Place::default()).unwrap());
                count
            }
        }
    }

    #[test]
    fn a_url_with_the_same_output_is_present() {
        let mut state = State::default();
        let named = |name: &str| Target { output: Some(name.into()), ..Target::default() };
        let shared = ["header = \"X: y\""];
        // The setup is added with its first entry.
        assert_eq!(add(&mut state, &item("http://a/", &shared, &[], named("x")), "/d"), 2);
        assert_eq!(add(&mut state, &item("http://a/", &shared, &[], named("x")), "/d"), 0);
        assert_eq!(add(&mut state, &item("http://a/", &shared, &["fail"], named("x")), "/d"), 0);
        assert_eq!(add(&mut state, &item("http://a/", &shared, &["fail"], named("y")), "/d"), 1);
        assert_eq!(add(&mut state, &item("http://b/", &shared, &[], named("x")), "/d"), 1);
        assert_eq!(add(&mut state, &item("http://a/", &shared, &[], named("x")), "/e"), 2);
        assert_eq!(add(&mut state, &item("http://c/", &[], &[], named("x")), "/d"), 2);
        assert_eq!((state.setups.len(), state.entries.len()), (3, 5));
    }

    #[test]
    fn a_target_is_kept_as_options() {
        let text = |target: Target| {
            let lines = target_options(&item("u", &[], &[], target));
            lines.into_iter().map(|line| String::from_utf8(line).unwrap()).collect::<Vec<_>>()
        };
        let remote = Target { remote_name: true, ..Target::default() };
        assert_eq!(text(remote), ["remote-name"]);
        assert_eq!(text(Target { out_null: true, ..Target::default() }), ["out-null"]);
        assert_eq!(text(Target::default()), ["output = \"-\""]);
        let all = Target {
            output: Some(b"a \"b\"\n".to_vec()),
            upload: Some(b"f".to_vec()),
            sums: Sum::parse(b"md5=00112233445566778899aabbccddeeff").unwrap(),
            ..Target::default()
        };
        assert_eq!(
            text(all),
            [
                "output = \"a \\\"b\\\"\\n\"",
                "upload-file = \"f\"",
                "checksum = \"md5=00112233445566778899aabbccddeeff\""
            ]
        );
    }

    #[test]
    fn transfers_that_need_this_process_are_refused() {
        let upload = Target { upload: Some(b"-".to_vec()), ..Target::default() };
        assert!(records(&State::default(), &item("u", &[], &[], upload), b"/").is_err());
        let document = Target { url_by_document: true, ..Target::default() };
        assert!(records(&State::default(), &item("u", &[], &[], document), b"/").is_err());
    }
}
