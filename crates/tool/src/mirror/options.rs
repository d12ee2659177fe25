//! The flags of `--mirror-site` and `--sync`.

use super::scope::Scope;
use crate::bytes::Bytes;
use crate::host_pattern::HostPattern;

/// Defaults, which bound a mirror of an endless site.
const DEPTH: u32 = 20;
const MOST_FILES: usize = 100_000;

/// The flags about mirrors of a command line.
#[derive(Clone, Debug)]
pub struct MirrorOptions {
    /// `--mirror-site`
    pub is_on: bool,
    pub sync: bool,
    pub sync_delete: bool,
    pub convert_links: bool,
    pub obeys_robots: bool,
    pub parents: bool,
    pub hosts: Vec<HostPattern>,
    pub accept: Vec<Bytes>,
    pub reject: Vec<Bytes>,
    pub depth: u32,
    pub max_files: usize,
    pub max_total: Option<u64>,
}

impl Default for MirrorOptions {
    fn default() -> MirrorOptions {
        MirrorOptions {
            is_on: false,
            sync: false,
            sync_delete: false,
            convert_links: false,
            obeys_robots: true,
            parents: false,
            hosts: Vec::new(),
            accept: Vec::new(),
            reject: Vec::new(),
            depth: DEPTH,
            max_files: MOST_FILES,
            max_total: None,
        }
    }
}

impl MirrorOptions {
    /// Returns the limits of the mirror, without its start URLs.
    pub fn scope(&self) -> Scope {
        let mut scope = Scope::default();
        scope.hosts.clone_from(&self.hosts);
        scope.accept.clone_from(&self.accept);
        scope.reject.clone_from(&self.reject);
        (scope.parents, scope.depth) = (self.parents, self.depth);
        scope
    }
}
