//! The folder of a mirror: drafts get their names when they are complete, and no path leads outside, not even
//! through a symbolic link.
//!
//! A document whose links are converted has two files: the original, in the folder of the state, and the
//! converted one under its name.

use super::file_names::STATE_FOLDER;
use crate::bytes::Bytes;
use crate::system::{make_folders, name_of, path};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const DRAFTS: &str = "drafts";
const ORIGINALS: &str = "originals";
/// Permissions of new folders, less the user's mask.
const FOLDER_MODE: u32 = 0o777;

/// The folder of a mirror.
#[derive(Debug)]
pub struct Tree {
    root: PathBuf,
}

impl Tree {
    /// Opens the folder, or creates it.
    pub fn open(root: &Path) -> io::Result<Tree> {
        let tree = Tree { root: root.to_owned() };
        make_folders(root, FOLDER_MODE)?;
        for folder in
            [tree.state_folder(), tree.state_folder().join(DRAFTS), tree.state_folder().join(ORIGINALS)]
        {
            make_real_folder(&folder)?;
        }
        Ok(tree)
    }

    /// Removes the drafts of a run that was killed.
    pub fn remove_drafts(&self) -> io::Result<()> {
        for draft in fs::read_dir(self.state_folder().join(DRAFTS))? {
            fs::remove_file(draft?.path())?;
        }
        Ok(())
    }

    pub fn state_folder(&self) -> PathBuf {
        self.root.join(STATE_FOLDER)
    }

    /// Returns the name of a draft.
    pub fn draft(&self, number: usize) -> Bytes {
        name_of(self.state_folder().join(DRAFTS).join(number.to_string())).unwrap_or_default()
    }

    /// Returns the file that a path names.
    pub fn file(&self, name: &[u8]) -> PathBuf {
        self.root.join(path(name))
    }

    /// Returns the original of a converted document.
    fn original(&self, name: &[u8]) -> PathBuf {
        self.state_folder().join(ORIGINALS).join(path(name))
    }

    /// Returns the file with the content that the server has sent, if there is one that a link does not stand
    /// for.
    pub fn source(&self, name: &[u8]) -> Option<PathBuf> {
        let is_file = |file: &PathBuf| fs::symlink_metadata(file).is_ok_and(|about| about.is_file());
        [self.original(name), self.file(name)].into_iter().find(is_file)
    }

    /// Gives a draft its name. `as_original` keeps it apart, for a document that will be converted.
    pub fn place(&self, draft: &[u8], name: &[u8], as_original: bool) -> io::Result<()> {
        let base = if as_original { self.state_folder().join(ORIGINALS) } else { self.root.clone() };
        self.make_folders_of(&base, name)?;
        fs::rename(path(draft), base.join(path(name)))?;
        if !as_original {
            remove_if_there(&self.original(name))?;
        }
        Ok(())
    }

    /// Keeps the content of a document that is about to be converted.
    pub fn keep_original(&self, name: &[u8], number: usize) -> io::Result<()> {
        let draft = self.draft(number);
        fs::copy(self.file(name), path(&draft))?;
        self.place(&draft, name, true)
    }

    pub fn has_original(&self, name: &[u8]) -> bool {
        self.original(name).exists()
    }

    /// Gives a document its original content again.
    pub fn restore_original(&self, name: &[u8]) -> io::Result<()> {
        self.make_folders(name)?;
        fs::rename(self.original(name), self.file(name))
    }

    /// Gives a document its original content, and keeps the original.
    pub fn copy_original(&self, name: &[u8], number: usize) -> io::Result<()> {
        let draft = self.draft(number);
        fs::copy(self.original(name), path(&draft))?;
        self.make_folders(name)?;
        fs::rename(path(&draft), self.file(name))
    }

    /// Creates the folders of a file.
    pub fn make_folders(&self, name: &[u8]) -> io::Result<()> {
        self.make_folders_of(&self.root, name)
    }

    /// Removes a file, and the folders that it leaves empty.
    pub fn remove(&self, name: &[u8]) -> io::Result<()> {
        for base in [self.state_folder().join(ORIGINALS), self.root.clone()] {
            if !self.leads_inside(&base, name) {
                return Err(io::Error::other("a symbolic link is in its path"));
            }
            remove_if_there(&base.join(path(name)))?;
            let mut folder = path(name).parent();
            while let Some(parent) = folder.filter(|parent| !parent.as_os_str().is_empty()) {
                if fs::remove_dir(base.join(parent)).is_err() {
                    break;
                }
                folder = parent.parent();
            }
        }
        Ok(())
    }

    /// Creates the folders of a file, and refuses links among them.
    fn make_folders_of(&self, base: &Path, name: &[u8]) -> io::Result<()> {
        let mut folder = base.to_owned();
        for part in path(name).parent().into_iter().flat_map(Path::iter) {
            folder.push(part);
            make_real_folder(&folder)?;
        }
        Ok(())
    }

    fn leads_inside(&self, base: &Path, name: &[u8]) -> bool {
        let mut folder = base.to_owned();
        path(name).parent().into_iter().flat_map(Path::iter).all(|part| {
            folder.push(part);
            fs::symlink_metadata(&folder).map_or(true, |about| about.is_dir())
        })
    }
}

/// Creates a folder unless it exists; a symbolic link to one is refused.
fn make_real_folder(folder: &Path) -> io::Result<()> {
    match fs::create_dir(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    match fs::symlink_metadata(folder)?.is_dir() {
        true => Ok(()),
        false => Err(io::Error::other(format!("{} is no folder", folder.display()))),
    }
}

fn remove_if_there(file: &Path) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(name: &str) -> (PathBuf, Tree) {
        let folder = std::env::temp_dir().join(format!("warmwire-tree-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        let tree = Tree::open(&folder.join("target")).unwrap();
        (folder, tree)
    }

    fn draft(tree: &Tree, text: &str) -> Bytes {
        let draft = tree.draft(1);
        fs::write(path(&draft), text).unwrap();
        draft
    }

    #[test]
    fn files_are_placed_and_removed() {
        let (folder, tree) = tree("place");
        tree.place(&draft(&tree, "1"), b"h/a/b", false).unwrap();
        tree.place(&draft(&tree, "2"), b"h/a/b", true).unwrap();
        assert_eq!(fs::read(tree.file(b"h/a/b")).unwrap(), b"1");
        assert_eq!(fs::read(tree.source(b"h/a/b").unwrap()).unwrap(), b"2");
        tree.place(&draft(&tree, "3"), b"h/a/b", false).unwrap();
        assert_eq!(fs::read(tree.source(b"h/a/b").unwrap()).unwrap(), b"3");
        tree.keep_original(b"h/a/b", 2).unwrap();
        assert!(tree.has_original(b"h/a/b"));
        tree.remove(b"h/a/b").unwrap();
        assert!(!tree.file(b"h").exists() && tree.source(b"h/a/b").is_none());
        draft(&tree, "left");
        tree.remove_drafts().unwrap();
        assert!(!path(&tree.draft(1)).exists());
        fs::remove_dir_all(folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn links_lead_nowhere() {
        use std::os::unix::fs::symlink;
        let (folder, tree) = tree("links");
        let outside = folder.join("outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("f"), "mine").unwrap();
        symlink(&outside, tree.file(b"h")).unwrap();
        assert!(tree.place(&draft(&tree, "1"), b"h/f", false).is_err());
        assert!(tree.remove(b"h/f").is_err());
        fs::create_dir(tree.file(b"g")).unwrap();
        symlink(outside.join("f"), tree.file(b"g/f")).unwrap();
        assert!(tree.source(b"g/f").is_none());
        tree.place(&draft(&tree, "2"), b"g/f", false).unwrap();
        assert_eq!(fs::read(tree.file(b"g/f")).unwrap(), b"2");
        assert_eq!(fs::read(outside.join("f")).unwrap(), b"mine");
        fs::remove_dir_all(folder).unwrap();
    }
}
