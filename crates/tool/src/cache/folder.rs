//! The directory of stored replies. Each reply is two files: its head, `KEY-VARIANT.head`, and the body that
//! the head names. Existing files are never modified: files are written as drafts and renamed when they are
//! complete, the body first; a new head of the same variant replaces the old one. So processes need not wait
//! for each other. A process that dies leaves a draft, or a body without a head, which is never served. A
//! writer holds a lock on its file until the head exists: a file with neither head nor lock is swept away.

use super::entry::{Body, Entry};
use crate::message::{os_text, shown};
use crate::raw::hex;
use crate::system::{self, Dir, make_folders, path};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

/// In the folder that the user names; another form of entries will have another name.
const OWN: &str = "warmwire-1";
const DRAFTS: &str = "drafts";
/// File with random bytes, without which nobody can test which login an entry belongs to.
const KEY: &str = "key";
pub type Key = [u8; 32];
/// A head beyond this is not ours: the largest that the library takes, in hexadecimal digits.
const LONGEST_HEAD: u64 = 2 << 20;
/// Tenths of the limit that a sweep leaves, so that not every reply needs another one.
const LEFT_OF_TEN: u64 = 9;

pub struct Folder {
    root: Dir,
    drafts: Rc<Dir>,
}

/// A file that is being written, and is locked.
pub struct Draft {
    file: File,
    folder: Rc<Dir>,
    name: String,
    hasher: blake3::Hasher,
    pub length: u64,
    named: bool,
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.named {
            let _ = self.folder.remove(&self.name);
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

/// Returns a unique file name.
fn unheard_of() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let nanos = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |now| now.as_nanos());
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{nanos:x}-{:x}-{count:x}", std::process::id())
}

impl Folder {
    /// Opens the folder, or makes it. One of another user's is not used; the error says so in words.
    pub fn open(name: &[u8]) -> Result<Folder, String> {
        let open = || {
            make_folders(path(name), 0o700)?;
            let root = Dir::open(path(name))?.own(OWN)?;
            let drafts = Rc::new(root.own(DRAFTS)?);
            Ok(Folder { root, drafts })
        };
        open().map_err(|error: io::Error| {
            format!("The cache {} can't be used: {}", shown(name), os_text(&error))
        })
    }

    /// Returns the key of this directory, which is created on first use.
    pub fn key(&self) -> io::Result<Key> {
        if let Ok(key) = self.read_key() {
            return Ok(key);
        }
        let mut draft = self.draft()?;
        draft.write(&system::random()?)?;
        match draft.folder.rename_new(&draft.name, &self.root, KEY) {
            Ok(()) => draft.named = true,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        self.read_key().inspect_err(|_| {
            // It is damaged. With a new key, all stored entries are unreachable.
            let _ = self.root.remove(KEY);
        })
    }

    fn read_key(&self) -> io::Result<Key> {
        let mut key = Key::default();
        self.root.open_own(KEY)?.read_exact(&mut key)?;
        Ok(key)
    }

    /// The folder of a key's entries, if it is there.
    fn shard(&self, key: &str) -> Option<Dir> {
        self.root.existing(&key[..2]).ok()
    }

    /// Returns the entries under a key, with the stems of their names. Invalid files are removed.
    pub fn entries(&self, key: &str) -> Vec<(String, Entry)> {
        let Some(shard) = self.shard(key) else { return Vec::new() };
        let mut found = Vec::new();
        for name in shard.names() {
            let Some(stem) = name.strip_suffix(".head").filter(|stem| stem.starts_with(key)) else {
                continue;
            };
            match read_head(&shard, stem) {
                Some(entry) => found.push((stem.to_owned(), entry)),
                None => remove(&shard, stem),
            }
        }
        found
    }

    /// Returns the body of an entry, if it matches the head; otherwise removes both.
    pub fn body(&self, stem: &str, body: &Body) -> Option<File> {
        let opened = self.shard(stem).and_then(|shard| open_body(&shard, stem, body));
        if opened.is_none() {
            self.remove(stem);
        }
        opened
    }

    /// Records a use of the entry just now.
    pub fn touch(&self, stem: &str) {
        let head = self.shard(stem).and_then(|shard| shard.open_own(&head_of(stem)).ok());
        let _ = head.map(|head| head.set_modified(SystemTime::now()));
    }

    pub fn draft(&self) -> io::Result<Draft> {
        let name = unheard_of();
        let (file, folder) = (self.drafts.create(&name)?, self.drafts.clone());
        let draft = Draft { file, folder, name, hasher: blake3::Hasher::new(), length: 0, named: false };
        // On a file system without locks, a sweep may remove the draft: then the reply is not stored.
        let _ = system::hold(&draft.file);
        Ok(draft)
    }

    /// Gives the entry its body and its name, replacing one of the same name.
    pub fn publish(&self, stem: &str, mut entry: Entry, body: Option<Draft>) -> io::Result<u64> {
        let shard = Rc::new(self.root.own(&stem[..2])?);
        let length = body.as_ref().map_or(0, |body| body.length);
        // Until the head exists, the lock protects the file.
        let mut locked = None;
        if let Some(mut draft) = body {
            let file = format!("{stem}.{}.body", unheard_of());
            draft.folder.rename(&draft.name, &shard, &file)?;
            (draft.folder, draft.name) = (shard.clone(), file.clone());
            let sum = draft.hasher.finalize().to_hex().to_string();
            entry.body = Some(Body { file, length: draft.length, sum });
            locked = Some(draft);
        }
        let before = read_head(&shard, stem).and_then(|before| before.body);
        let written = self.write_head(&shard, stem, &entry)?;
        if let Some(draft) = &mut locked {
            draft.named = true;
        }
        if let Some(before) = before.filter(|before| entry.body.as_ref() != Some(before))
            && is_body_of(&before.file, stem)
        {
            let _ = shard.remove(&before.file);
        }
        Ok(length + written)
    }

    fn write_head(&self, shard: &Dir, stem: &str, entry: &Entry) -> io::Result<u64> {
        let mut draft = self.draft()?;
        draft.write(entry.text().as_bytes())?;
        draft.folder.rename(&draft.name, shard, &head_of(stem))?;
        draft.named = true;
        Ok(draft.length)
    }

    pub fn remove(&self, stem: &str) {
        if let Some(shard) = self.shard(stem) {
            remove(&shard, stem);
        }
    }

    /// Everything under a key.
    pub fn forget(&self, key: &str) -> bool {
        let names = self.shard(key).map(|shard| shard.names()).unwrap_or_default();
        let stems: Vec<&str> = names
            .iter()
            .filter(|name| name.starts_with(key))
            .filter_map(|name| name.strip_suffix(".head"))
            .collect();
        stems.iter().for_each(|stem| self.remove(stem));
        !stems.is_empty()
    }

    /// Removes abandoned files, and the least recently used entries until the rest takes less than `limit`
    /// bytes; returns the rest.
    pub fn sweep(&self, limit: u64) -> u64 {
        self.drafts.names().iter().for_each(|draft| remove_if_unlocked(&self.drafts, draft));
        let mut all: Vec<SweptEntry> = Vec::new();
        for shard in self.root.names().iter().filter(|shard| *shard != DRAFTS && *shard != KEY) {
            if let Ok(shard) = self.root.existing(shard) {
                all.extend(look_through(&Rc::new(shard)));
            }
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
}

fn look_through(shard: &Rc<Dir>) -> Vec<SweptEntry> {
    let mut heads: HashMap<String, SweptEntry> = HashMap::new();
    let mut bodies: HashMap<String, Vec<(String, u64)>> = HashMap::new();
    for name in shard.names() {
        let Ok(about) = shard.about(&name) else { continue };
        if let Some(stem) = name.strip_suffix(".head") {
            let (shard, size) = (shard.clone(), about.length);
            let found = SweptEntry { shard, stem: stem.to_owned(), used: about.modified, size };
            heads.insert(stem.to_owned(), found);
        } else if let Some((stem, _)) = name.split_once('.') {
            bodies.entry(stem.to_owned()).or_default().push((name.clone(), about.length));
        }
    }
    for (stem, files) in bodies {
        match heads.get_mut(&stem) {
            Some(head) if files.len() == 1 => head.size += files[0].1,
            Some(head) => {
                let named = read_head(shard, &stem).and_then(|head| head.body).map(|body| body.file);
                for (file, size) in files {
                    match named.as_ref() == Some(&file) {
                        true => head.size += size,
                        false => remove_if_unlocked(shard, &file),
                    }
                }
            }
            None => files.iter().for_each(|(file, _)| remove_if_unlocked(shard, file)),
        }
    }
    heads.into_values().collect()
}

/// An entry as a sweep sees it.
struct SweptEntry {
    shard: Rc<Dir>,
    stem: String,
    used: SystemTime,
    size: u64,
}

fn head_of(stem: &str) -> String {
    format!("{stem}.head")
}

/// Removes the head first: without it the body is not found.
fn remove(shard: &Dir, stem: &str) {
    let _ = shard.remove(&head_of(stem));
    for name in shard.names() {
        if is_body_of(&name, stem) {
            remove_if_unlocked(shard, &name);
        }
    }
}

/// Returns whether the name is a body of this entry, inside this directory.
fn is_body_of(name: &str, stem: &str) -> bool {
    let inside =
        |rest: &str| rest.starts_with('.') && rest.ends_with(".body") && !rest.contains(['/', '\\', ':']);
    name.strip_prefix(stem).is_some_and(inside)
}

fn remove_if_unlocked(folder: &Dir, name: &str) {
    let plain = folder.about(name).is_ok_and(|about| about.is_plain);
    if !plain || folder.is_free(name) {
        let _ = folder.remove(name);
    }
}

fn read_head(shard: &Dir, stem: &str) -> Option<Entry> {
    let mut text = String::new();
    shard.open_own(&head_of(stem)).ok()?.take(LONGEST_HEAD).read_to_string(&mut text).ok()?;
    Entry::parse(&text)
}

/// All of it is read before any of it is served.
fn open_body(shard: &Dir, stem: &str, body: &Body) -> Option<File> {
    let mut file = is_body_of(&body.file, stem).then(|| shard.open_own(&body.file).ok())??;
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn entry(file: Option<&str>) -> Entry {
        Entry {
            url: b"http://h/".to_vec(),
            partition: "p".into(),
            asked: 1,
            received: 1,
            head_only: false,
            range: None,
            selected: Vec::new(),
            status: 200,
            status_line: b"HTTP/1.1 200 OK".to_vec(),
            fields: Vec::new(),
            body: file.map(|file| Body {
                file: file.into(),
                length: 6,
                sum: blake3::hash(b"secret").to_hex().to_string(),
            }),
        }
    }

    fn place(name: &str) -> std::path::PathBuf {
        let folder = std::env::temp_dir().join(format!("warmwire-cache-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("elsewhere")).unwrap();
        folder
    }

    fn opened(path: &std::path::Path) -> Folder {
        Folder::open(path.as_os_str().as_encoded_bytes()).unwrap()
    }

    /// A user who may write to the parent directory replaces the cache by another directory.
    #[cfg(unix)]
    #[test]
    fn a_swapped_folder_does_not_replace_the_opened_one() {
        let place = place("swapped");
        let folder = opened(&place.join("c"));
        let mut draft = folder.draft().unwrap();
        draft.write(b"body").unwrap();
        fs::rename(place.join("c"), place.join("moved")).unwrap();
        std::os::unix::fs::symlink(place.join("elsewhere"), place.join("c")).unwrap();
        let key = "ab".repeat(16);
        let stem = format!("{key}-x");
        folder.publish(&stem, entry(None), Some(draft)).unwrap();
        assert_eq!(fs::read_dir(place.join("elsewhere")).unwrap().count(), 0);
        let found = folder.entries(&key);
        assert!(found.len() == 1 && folder.body(&stem, found[0].1.body.as_ref().unwrap()).is_some());
    }

    /// A head may be written by hand.
    #[test]
    fn a_body_is_a_file_beside_its_head() {
        let place = place("names");
        let folder = opened(&place.join("c"));
        let stem = format!("{}-x", "ab".repeat(16));
        fs::write(place.join("elsewhere/x.body"), "secret").unwrap();
        for name in [
            "../../../elsewhere/x.body",
            "{stem}./../../../../elsewhere/x.body",
            "{stem}.\\x.body",
            "other.x.body",
        ] {
            let name = name.replace("{stem}", &stem);
            folder.publish(&stem, entry(Some(&name)), None).unwrap();
            let body = folder.entries(&stem)[0].1.body.clone().unwrap();
            assert!(folder.body(&stem, &body).is_none(), "{name}");
            assert!(folder.entries(&stem).is_empty(), "{name}: the entry is gone");
            // Nor may a replaced one.
            folder.publish(&stem, entry(Some(&name)), None).unwrap();
            folder.publish(&stem, entry(None), None).unwrap();
            assert!(place.join("elsewhere/x.body").exists(), "{name}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed() {
        let place = place("links");
        let link = |from: &str, to: &str| {
            std::os::unix::fs::symlink(place.join(from), place.join(to)).unwrap();
        };
        fs::create_dir(place.join("c")).unwrap();
        link("elsewhere", "c/warmwire-1");
        assert!(Folder::open(place.join("c").as_os_str().as_encoded_bytes()).is_err());
        fs::remove_file(place.join("c/warmwire-1")).unwrap();
        let folder = opened(&place.join("c"));
        link("elsewhere", "c/warmwire-1/ab");
        let stem = format!("{}-x", "ab".repeat(16));
        assert!(folder.publish(&stem, entry(None), None).is_err());
        fs::write(place.join("elsewhere").join(head_of(&stem)), entry(None).text()).unwrap();
        assert!(folder.entries(&stem).is_empty());
    }

    #[test]
    fn a_folder_has_one_key() {
        let place = place("key");
        let keys = [(); 3].map(|()| opened(&place.join("c")).key().unwrap());
        assert!(keys[0] == keys[1] && keys[1] == keys[2] && keys[0] != Key::default());
        assert_ne!(opened(&place.join("d")).key().unwrap(), keys[0]);
    }
}
