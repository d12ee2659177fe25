//! `--mirror-site` and `--sync` by listings: four FTP servers and OpenSSH's SFTP.

use super::mirror::{files, mirrored};
use super::{Ran, folder_with, ran};
use crate::empty_folder;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};
use testkit::certs::Authority;
use testkit::launch::{Ftpd, FtpdKind, Sshd};

/// A server and the folder that it serves.
struct Tree {
    _server: Box<dyn std::any::Any>,
    folder: PathBuf,
    /// Flags for its login.
    words: Vec<String>,
    url: String,
    is_ssh: bool,
}

const FILES: [&str; 8] = ["a", "empty", "b c", "\u{e4}", "#x%", "d/e", "d/f/g h/i", "d/f/j"];

impl Tree {
    fn ftp(kind: FtpdKind) -> Tree {
        let server = Ftpd::start(kind, &Authority::new().good(), &[]).unwrap();
        let (folder, url) = (server.place_of("/tree"), server.url("/tree/"));
        Tree { _server: Box::new(server), words: vec![], url, is_ssh: false, ..Tree::filled(folder) }
    }

    fn sftp() -> Tree {
        let server = Sshd::start("").unwrap();
        let folder = server.path("tree");
        let url = server.url("sftp", &format!("{}/", folder.display()));
        let key = server.path("user_ed25519").display().to_string();
        let words = ["-k", "--key", &key].map(str::to_owned).to_vec();
        Tree { _server: Box::new(server), words, url, is_ssh: true, ..Tree::filled(folder) }
    }

    fn all() -> Vec<Tree> {
        FtpdKind::ALL.map(Tree::ftp).into_iter().chain([Tree::sftp()]).collect()
    }

    fn filled(folder: PathBuf) -> Tree {
        for name in FILES {
            let file = folder.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, if name == "empty" { "" } else { name }).unwrap();
            touch(&file, 1_700_000_000);
        }
        fs::create_dir(folder.join("no files")).unwrap();
        std::os::unix::fs::symlink(".", folder.join("d/circle")).unwrap();
        Tree { _server: Box::new(()), folder, words: vec![], url: String::new(), is_ssh: false }
    }

    fn mirror(&self, target: &Path, words: &[&str]) -> Ran {
        let own = self.words.iter().map(String::as_str);
        let all: Vec<&str> = ["--mirror-site"].into_iter().chain(own).chain(words.iter().copied()).collect();
        mirrored(target.to_owned(), &[&all[..], &[&self.url]].concat())
    }

    /// Returns the served files, without the link, with their texts and times.
    fn served(&self) -> BTreeSet<(String, Vec<u8>, u64)> {
        described(&self.folder)
    }
}

fn touch(file: &Path, seconds: u64) {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    fs::File::options().write(true).open(file).unwrap().set_modified(time).unwrap();
}

/// Returns the time of a file, of which servers report whole seconds.
fn seconds(about: &fs::Metadata) -> u64 {
    about.modified().unwrap().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs()
}

fn described(folder: &Path) -> BTreeSet<(String, Vec<u8>, u64)> {
    let about = |name: String| {
        let file = folder.join(&name);
        let about = fs::symlink_metadata(&file).unwrap();
        about.is_file().then(|| (name, fs::read(&file).unwrap(), seconds(&about)))
    };
    files(folder).into_iter().filter_map(about).collect()
}

/// Returns the copy of the tree below a folder.
fn copy(target: &Path) -> PathBuf {
    let mut folder = target.to_owned();
    while folder.file_name().is_none_or(|name| name != "tree") {
        let mut entries = fs::read_dir(&folder).unwrap().flatten();
        let is_copy = |entry: &fs::DirEntry| entry.file_name() != ".warmwire-mirror";
        let next = entries.find(is_copy).unwrap_or_else(|| panic!("nothing in {}", folder.display()));
        folder = next.path();
    }
    folder
}

#[test]
fn trees_are_copied_and_kept_up_to_date() {
    for tree in Tree::all() {
        let target = empty_folder();
        let run = |words: &[&str], expected: &str| {
            let ran = tree.mirror(&target, words);
            assert!(
                ran.code == 0 && ran.stderr.contains(expected),
                "{} {expected}: {}",
                tree.url,
                ran.stderr
            );
        };
        run(&[], "mirror: 8 files fetched");
        assert_eq!(described(&copy(&target)), tree.served(), "{}", tree.url);
        run(&["--sync"], "mirror: 0 files fetched (0 B), 8 unchanged");
        fs::write(tree.folder.join("d/e"), "longer than before").unwrap();
        touch(&tree.folder.join("a"), 1_700_000_001);
        fs::write(tree.folder.join("d/new"), "new").unwrap();
        fs::remove_dir_all(tree.folder.join("d/f")).unwrap();
        run(&["--sync"], "mirror: 3 files fetched");
        assert_eq!(described(&copy(&target)).len(), 9, "nothing is removed");
        fs::write(copy(&target).join("d/mine"), "mine").unwrap();
        fs::write(copy(&target).join("b c"), "damaged").unwrap();
        run(&["--sync-delete"], "2 removed");
        fs::remove_file(copy(&target).join("d/mine")).unwrap();
        assert_eq!(described(&copy(&target)), tree.served(), "{}", tree.url);
    }
}

/// vsftpd says 550 of a file that may not be read, as of one that is missing.
#[test]
fn an_unreadable_file_is_not_gone() {
    let tree = Tree::ftp(FtpdKind::Vsftpd);
    let target = empty_folder();
    assert_eq!(tree.mirror(&target, &[]).code, 0);
    let before = described(&copy(&target));
    touch(&tree.folder.join("a"), 1_700_000_001);
    fs::set_permissions(tree.folder.join("a"), PermissionsExt::from_mode(0o0)).unwrap();
    let ran = tree.mirror(&target, &["--sync-delete"]);
    assert!(ran.code == 78 && ran.stderr.contains("1 failed"), "{}", ran.stderr);
    assert_eq!(described(&copy(&target)), before);
}

/// A folder that cannot be listed says nothing about its files.
#[test]
fn nothing_is_removed_without_a_listing() {
    for tree in [Tree::ftp(FtpdKind::Pyftpdlib), Tree::sftp()] {
        let target = empty_folder();
        assert_eq!(tree.mirror(&target, &[]).code, 0);
        let before = described(&copy(&target));
        let away = tree.folder.with_file_name("away");
        fs::rename(&tree.folder, &away).unwrap();
        let ran = tree.mirror(&target, &["--sync-delete"]);
        assert!(ran.code != 0 && !ran.stderr.contains("removed"), "{}", ran.stderr);
        assert_eq!(described(&copy(&target)), before);
    }
}

#[test]
fn a_tree_has_the_files_of_wget_and_sftp() {
    for tree in Tree::all() {
        let (ours, theirs) = (empty_folder(), empty_folder());
        assert_eq!(tree.mirror(&ours, &[]).code, 0);
        match tree.is_ssh {
            true => {
                let place = tree.url.strip_prefix("sftp://").unwrap().split_once('/').unwrap().0;
                let (host, port) = place.split_once(':').unwrap();
                let batch = folder_with("batch", &format!("get -r \"{}\"\n", tree.folder.display()));
                let mut sftp = Command::new("sftp");
                sftp.arg("-b").arg(batch.join("batch")).args(["-q", "-P", port, "-i", &tree.words[2]]);
                sftp.args(["-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", host]);
                let done = ran(&mut sftp, theirs.clone());
                assert_eq!(done.code, 0, "{}", done.stderr);
            }
            false => {
                let mut wget = Command::new("wget");
                wget.args(["-q", "-r", "-l", "20", "-np", "--restrict-file-names=nocontrol", &tree.url]);
                ran(&mut wget, theirs.clone());
            }
        }
        let names = |folder: &Path| -> Vec<_> {
            described(folder).into_iter().map(|(name, text, _)| (name, text)).collect()
        };
        let theirs: Vec<_> =
            names(&copy(&theirs)).into_iter().filter(|(name, _)| !name.ends_with(".listing")).collect();
        assert_eq!(names(&copy(&ours)), theirs, "{}", tree.url);
        let shallow = empty_folder();
        let ran = tree.mirror(&shallow, &["--depth", "1", "--reject", "e*"]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(ran.stderr.contains("1 link that a listing calls symbolic"), "{}", ran.stderr);
        assert_eq!(described(&copy(&shallow)).len(), 4, "{:?}", files(&shallow));
    }
}
