//! Tests of a queue's file: cut and changed at each byte, held, rewritten.

use super::super::record::Part;
use super::*;
use crate::raw::segments::Marks;
use std::sync::atomic::{AtomicUsize, Ordering};

fn folder() -> PathBuf {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let name = format!("warmwire-queue-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let folder = std::env::temp_dir().join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn entry(id: Id) -> Record {
    let urls = vec![format!("http://h/{id}").into_bytes()];
    Record::Added(Added { id, setup: 1, key: id, urls, options: vec![b"output = \"x\"".to_vec()] })
}

/// The records of a run with three entries.
fn history() -> Vec<Record> {
    let part =
        Part { name: b"x".to_vec(), marks: Marks { validator: Some(b"\"a\"".to_vec()), ..Marks::default() } };
    vec![
        Record::Setup { id: 1, folder: b"/d".to_vec(), options: vec![b"fail".to_vec()] },
        entry(2),
        entry(3),
        Record::Started(2),
        Record::Opened(2, part.clone()),
        entry(4),
        Record::Done(2),
        Record::Started(3),
        Record::Failed(3, 22),
        Record::Started(4),
        Record::Opened(4, part),
    ]
}

fn text(records: &[Record]) -> Bytes {
    [title()].into_iter().chain(records.iter().map(Record::line)).collect::<Vec<_>>().concat()
}

/// Whatever part of the last write a killed process got to the file: the state is that of the whole lines.
#[test]
fn a_file_that_is_cut_at_any_byte_has_the_state_of_its_whole_lines() {
    let (whole, records) = (text(&history()), history());
    let (mut end, mut lines) = (0, 0);
    let title = title().len();
    for length in 0..=whole.len() {
        while lines < records.len() && title.max(end) + records[lines].line().len() <= length {
            end = title.max(end) + records[lines].line().len();
            lines += 1;
        }
        let content = read(&whole[..length]).unwrap_or_else(|why| panic!("{length}: {why}"));
        let kept = if length < title { 0 } else { title.max(end) };
        assert_eq!(content.length as usize, kept, "{length}");
        let expected = text(&records[..lines]);
        assert_eq!(content.state, read(&*expected).unwrap().state, "{length}");
    }
}

/// The next process removes the cut line, adds its own, and both are there.
#[test]
fn a_cut_file_is_continued() {
    let folder = folder();
    let file = folder.join("q");
    let whole = text(&history());
    for length in (0..whole.len()).step_by(7) {
        fs::write(&file, &whole[..length]).unwrap();
        let before = read(&whole[..length]).unwrap().state;
        let mut journal = Journal::open(&file).unwrap();
        assert_eq!(journal.state, before, "{length}");
        let id = journal.state.fresh_setup();
        journal.append(Record::Setup { id, folder: b"/new".to_vec(), options: Vec::new() }).unwrap();
        drop(journal);
        let after = read(File::open(&file).unwrap()).unwrap();
        assert_eq!(
            (after.length, after.state.setups.len()),
            (fs::metadata(&file).unwrap().len(), before.setups.len() + 1)
        );
    }
}

#[test]
fn damage_in_the_middle_is_refused_and_changes_nothing() {
    let whole = text(&history());
    let last_line = whole[..whole.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    // Without the end before the last line, both are one that was cut.
    for at in 0..last_line - 1 {
        let mut changed = whole.clone();
        changed[at] ^= 1;
        let why = read(&*changed).unwrap_err();
        assert!(why.contains("is damaged") || why == "is not a queue", "{at}: {why}");
    }
    let folder = folder();
    let file = folder.join("q");
    for (content, why) in [
        (&b"precious text\nof another kind\n"[..], "is not a queue"),
        (b"precious", "is not a queue"),
        (&Record::Title(2).line(), "has format 2; this version knows 1"),
        (&[title(), Record::Done(7).line()].concat(), "line 2 is not a record that this version knows"),
        (&Record::Done(7).line(), "line 1 is not a record that this version knows"),
    ] {
        fs::write(&file, content).unwrap();
        assert_eq!(Journal::open(&file).err().as_deref(), Some(why));
        assert_eq!(fs::read(&file).unwrap(), content, "nothing was changed");
    }
}

#[test]
fn a_queue_has_one_owner_and_is_private() {
    let file = folder().join("q");
    let journal = Journal::open(&file).unwrap();
    assert_eq!(Journal::open(&file).err().as_deref(), Some("is in use by another process"));
    assert!(look(&file).is_ok(), "looking is allowed");
    drop(journal);
    assert!(Journal::open(&file).is_ok());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert!(Journal::open(&file.with_file_name("absent").join("q")).is_err());
}

#[test]
fn a_file_of_history_is_rewritten() {
    let file = folder().join("q");
    let mut journal = Journal::open(&file).unwrap();
    history().into_iter().for_each(|record| journal.push(record));
    journal.write().unwrap();
    let long = Part { name: vec![b'n'; 10_000], ..Part::default() };
    for _ in 0..50 {
        journal.append(Record::Started(3)).unwrap();
        journal.append(Record::Opened(3, long.clone())).unwrap();
        journal.append(Record::Failed(3, 7)).unwrap();
    }
    let before =
        format!("{:?}", (journal.state.history(2), journal.state.history(3), journal.state.history(4)));
    drop(journal);
    assert!(fs::metadata(&file).unwrap().len() > 500_000);
    let journal = Journal::open(&file).unwrap();
    assert!(fs::metadata(&file).unwrap().len() < 20_000);
    let state = &journal.state;
    assert_eq!(format!("{:?}", (state.history(2), state.history(3), state.history(4))), before);
    assert_eq!(journal.added(3).map(|added| added.urls), Ok(vec![b"http://h/3".to_vec()]));
    assert!(Journal::open(&file).is_err(), "the new file is held, too");
}
