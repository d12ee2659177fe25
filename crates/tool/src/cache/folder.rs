//! Where replies are kept. Each is two files: its head, `KEY-VARIANT.head`, and the body that the head names. What is there is never
//! written to again: files are written as drafts and get their names when they are complete, the body first; another head for the
//! same variant takes the place of the one before. So several processes need not wait for one another, and whoever dies leaves a
//! draft, or a body that no head names, which nobody serves. Who writes holds a lock on his file until the head is there: what has no
//! head and no lock belongs to nobody, and is swept away.

use super::entry::{Body, Entry};
use crate::message::{os_text, shown};
use crate::raw::hex;
use crate::system::{self, make_folders, path, private};
use std::collections::HashMap;
use std::fs::{self, DirEntry, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

/// In the folder that the user names; another form of entries will have another name.
const OWN: &str = "warmwire-1";
const DRAFTS: &str = "drafts";
/// A head beyond this is not ours: the largest that the library takes, in hexadecimal digits.
const LONGEST_HEAD: u64 = 2 << 20;
/// What sweeping leaves of the limit, so that not every reply needs another one.
const LEFT_OF_TEN: u64 = 9;

pub struct Folder {
    root: PathBuf,
}

/// A file that is being written, and is locked.
pub struct Draft {
    file: File,
    path: PathBuf,
    hasher: blake3::Hasher,
    pub length: u64,
    named: bool,
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.named {
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl Draft {
    pub fn write(&mut self, data: &[u8]) -> io::Result<()> {
        self.file.write_all(data)?;
        self.hasher.update(data);
        self.length += data.len() as u64;
        Ok(())
    }
}

/// A name that no other file has had.
fn unheard_of() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let nanos = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |now| now.as_nanos());
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{nanos:x}-{:x}-{count:x}", std::process::id())
}

impl Folder {
    /// Makes it if it is not there. What others may write to or read is not used; the error says so in words.
    pub fn open(name: &[u8]) -> Result<Folder, String> {
        let root = path(name).join(OWN);
        let failed =
            |error: io::Error| format!("The cache {} can't be used: {}", shown(name), os_text(&error));
        make_folders(&root.join(DRAFTS), 0o700).map_err(failed)?;
        if !system::keep_private(&root).map_err(failed)? {
            return Err(format!("The cache {} can't be used: it is not this user's", shown(name)));
        }
        Ok(Folder { root })
    }

    fn shard(&self, key: &str) -> PathBuf {
        self.root.join(&key[..2])
    }

    /// What is kept under a key, with the stems of the names. What is no entry is removed.
    pub fn entries(&self, key: &str) -> Vec<(String, Entry)> {
        let mut found = Vec::new();
        for file in list(&self.shard(key)) {
            let name = file.file_name().into_string().unwrap_or_default();
            let Some(stem) = name.strip_suffix(".head").filter(|stem| stem.starts_with(key)) else {
                continue;
            };
            match read_head(&file.path()) {
                Some(entry) => found.push((stem.to_owned(), entry)),
                None => remove(&self.shard(key), stem),
            }
        }
        found
    }

    /// The body of an entry, if it is what the head says; if not, both are removed.
    pub fn body(&self, stem: &str, body: &Body) -> Option<File> {
        let opened = open_body(&self.shard(stem).join(&body.file), body);
        if opened.is_none() {
            self.remove(stem);
        }
        opened
    }

    /// It was used just now.
    pub fn touch(&self, stem: &str) {
        let head = self.shard(stem).join(format!("{stem}.head"));
        let _ = File::open(head).and_then(|file| file.set_modified(SystemTime::now()));
    }

    pub fn draft(&self) -> io::Result<Draft> {
        let path = self.root.join(DRAFTS).join(unheard_of());
        let mut options = OpenOptions::new();
        let file = system::to_hold(private(options.write(true).create_new(true))).open(&path)?;
        let draft = Draft { file, path, hasher: blake3::Hasher::new(), length: 0, named: false };
        // On a file system without locks a sweep may take a draft away: then that reply is not kept.
        let _ = system::hold(&draft.file);
        Ok(draft)
    }

    /// Gives the entry its body and its name, in the place of one that had the same.
    pub fn publish(&self, stem: &str, mut entry: Entry, body: Option<Draft>) -> io::Result<u64> {
        let shard = self.shard(stem);
        make_folders(&shard, 0o700)?;
        let length = body.as_ref().map_or(0, |body| body.length);
        // Until the head is there, its lock says that it belongs to somebody.
        let mut locked = None;
        if let Some(mut draft) = body {
            let file = format!("{stem}.{}.body", unheard_of());
            fs::rename(&draft.path, shard.join(&file))?;
            draft.path = shard.join(&file);
            let sum = draft.hasher.finalize().to_hex().to_string();
            entry.body = Some(Body { file, length: draft.length, sum });
            locked = Some(draft);
        }
        let before = read_head(&shard.join(format!("{stem}.head"))).and_then(|before| before.body);
        let written = self.write_head(stem, &entry)?;
        if let Some(draft) = &mut locked {
            draft.named = true;
        }
        if let Some(before) = before.filter(|before| entry.body.as_ref() != Some(before)) {
            let _ = fs::remove_file(shard.join(before.file));
        }
        Ok(length + written)
    }

    fn write_head(&self, stem: &str, entry: &Entry) -> io::Result<u64> {
        let mut draft = self.draft()?;
        draft.write(entry.text().as_bytes())?;
        fs::rename(&draft.path, self.shard(stem).join(format!("{stem}.head")))?;
        draft.named = true;
        Ok(draft.length)
    }

    pub fn remove(&self, stem: &str) {
        remove(&self.shard(stem), stem);
    }

    /// Everything under a key.
    pub fn forget(&self, key: &str) -> bool {
        let heads = list(&self.shard(key)).filter_map(|file| file.file_name().into_string().ok());
        let stems: Vec<String> = heads
            .filter(|name| name.starts_with(key))
            .filter_map(|name| name.strip_suffix(".head").map(str::to_owned))
            .collect();
        stems.iter().for_each(|stem| self.remove(stem));
        !stems.is_empty()
    }

    /// Removes what belongs to nobody, and what was not used for longest until all of it takes less than `limit` bytes; how much is left.
    pub fn sweep(&self, limit: u64) -> u64 {
        list(&self.root.join(DRAFTS)).for_each(|draft| remove_if_unlocked(&draft.path()));
        let mut all: Vec<Found> = Vec::new();
        for shard in list(&self.root).filter(|shard| shard.file_name() != DRAFTS) {
            all.extend(self.look_through(&shard.path()));
        }
        let mut sum: u64 = all.iter().map(|found| found.size).sum();
        if sum <= limit {
            return sum;
        }
        all.sort_by_key(|found| found.used);
        for found in all {
            if sum <= limit / 10 * LEFT_OF_TEN {
                break;
            }
            remove(&found.shard, &found.stem);
            sum -= found.size;
        }
        sum
    }

    fn look_through(&self, shard: &Path) -> Vec<Found> {
        let mut heads: HashMap<String, Found> = HashMap::new();
        let mut bodies: HashMap<String, Vec<(PathBuf, u64)>> = HashMap::new();
        for file in list(shard) {
            let (Ok(name), Ok(about)) = (file.file_name().into_string(), file.metadata()) else { continue };
            if let Some(stem) = name.strip_suffix(".head") {
                let used = about.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                let (shard, size) = (shard.to_owned(), about.len());
                heads.insert(stem.to_owned(), Found { shard, stem: stem.to_owned(), used, size });
            } else if let Some((stem, _)) = name.split_once('.') {
                bodies.entry(stem.to_owned()).or_default().push((file.path(), about.len()));
            }
        }
        for (stem, files) in bodies {
            let head = heads.get_mut(&stem);
            let named =
                || read_head(&shard.join(format!("{stem}.head")))?.body.map(|body| shard.join(body.file));
            match head {
                Some(head) if files.len() == 1 => head.size += files[0].1,
                Some(head) => {
                    let named = named();
                    for (file, size) in files {
                        match named.as_ref() == Some(&file) {
                            true => head.size += size,
                            false => remove_if_unlocked(&file),
                        }
                    }
                }
                None => files.iter().for_each(|(file, _)| remove_if_unlocked(file)),
            }
        }
        heads.into_values().collect()
    }
}

/// An entry as a sweep sees it.
struct Found {
    shard: PathBuf,
    stem: String,
    used: SystemTime,
    size: u64,
}

fn list(folder: &Path) -> impl Iterator<Item = DirEntry> + use<> {
    fs::read_dir(folder).into_iter().flatten().flatten()
}

/// The head first: without it nobody looks for the body.
fn remove(shard: &Path, stem: &str) {
    let _ = fs::remove_file(shard.join(format!("{stem}.head")));
    for file in list(shard) {
        let name = file.file_name().into_string().unwrap_or_default();
        if is_body_of(&name, stem) {
            remove_if_unlocked(&file.path());
        }
    }
}

fn is_body_of(name: &str, stem: &str) -> bool {
    name.strip_prefix(stem).is_some_and(|rest| rest.starts_with('.') && rest.ends_with(".body"))
}

/// What is no plain file could keep who opens it waiting.
fn open_plain(path: &Path) -> Option<File> {
    let plain = fs::symlink_metadata(path).ok()?.is_file();
    if plain { File::open(path).ok() } else { None }
}

fn remove_if_unlocked(path: &Path) {
    let plain = fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file());
    if !plain || system::is_free(path) {
        let _ = fs::remove_file(path);
    }
}

fn read_head(path: &Path) -> Option<Entry> {
    let mut text = String::new();
    open_plain(path)?.take(LONGEST_HEAD).read_to_string(&mut text).ok()?;
    Entry::parse(&text)
}

/// All of it is read before any of it is served.
fn open_body(path: &Path, body: &Body) -> Option<File> {
    let mut file = open_plain(path)?;
    if file.metadata().ok()?.len() != body.length {
        return None;
    }
    let mut hasher = blake3::Hasher::new();
    let read = io::copy(&mut (&mut file).take(body.length), &mut hasher).ok()?;
    file.rewind().ok()?;
    (read == body.length && hasher.finalize().to_hex().as_str() == body.sum).then_some(file)
}

/// The first digits of a sum, for names.
pub fn digits(sum: &[u8]) -> String {
    hex::encode(&sum[..16])
}
