//! The policies of a transfer (`warmwire_policy`, `--policy`, WARMWIRE_POLICY): reading their files.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use runtime::{LockFreeOnce, environment};
use tables::environment::POLICY;
use wire::policy::{MAX_SIZE, Policy};

/// Reads a policy. A file that cannot be read, or has an error, makes one that refuses every transfer.
pub fn read_policy(path: &Path) -> Policy {
    let name = path.display().to_string();
    match content(path) {
        Ok(text) => Policy::parse(&name, &text),
        Err(reason) => Policy::unreadable(&name, &reason),
    }
}

/// Reads a regular file: a pipe or a device could block or never end.
fn content(path: &Path) -> Result<Vec<u8>, String> {
    let plain = |error: std::io::Error| {
        let text = error.to_string();
        text.split(" (os error").next().unwrap_or(&text).to_owned()
    };
    if !fs::metadata(path).map_err(plain)?.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    let mut text = Vec::new();
    let file = File::open(path).map_err(plain)?;
    file.take(MAX_SIZE as u64 + 1).read_to_end(&mut text).map_err(plain)?;
    Ok(text)
}

/// The policy of the program itself (`--policy`).
static OF_PROGRAM: LockFreeOnce<Option<Arc<Policy>>> = LockFreeOnce::new();

/// Binds all handles that have no policy of their own. It counts if it is called before the first transfer;
/// returns whether it was.
pub fn bind_program(policy: Arc<Policy>) -> bool {
    let bound = OF_PROGRAM.get(|| Some(policy.clone()));
    bound.as_ref().is_some_and(|bound| Arc::ptr_eq(bound, &policy))
}

/// Returns the policy that [`bind_program`] set.
pub(super) fn of_program() -> Option<Arc<Policy>> {
    OF_PROGRAM.get(|| None).clone()
}

/// Returns the policy that the environment names. It is read once, at the first transfer.
pub(super) fn of_process() -> Option<Arc<Policy>> {
    static READ: LockFreeOnce<Option<Arc<Policy>>> = LockFreeOnce::new();
    READ.get(|| environment::value(&POLICY).map(|name| Arc::new(read_policy(Path::new(&name))))).clone()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;
    use wire::policy::Question;

    #[test]
    fn files_that_are_no_policy_refuse_everything() {
        let folder = testkit::temp::TempDir::new("policy").unwrap();
        let file = |name: &str, text: &[u8]| {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            path
        };
        let good = read_policy(&file("good", b"version 1\n"));
        assert_eq!((good.fault(), good.judge(Question::Port(1))), (None, Ok(())));
        let rows: [(PathBuf, &str); 6] = [
            (folder.path().join("none"), "the file cannot be read: "),
            (folder.path().to_path_buf(), "the file cannot be read: it is not a regular file"),
            (Path::new("").to_path_buf(), "the file cannot be read: "),
            (file("empty", b""), "it is empty"),
            (file("bad", b"version 1\nallow everything *\n"), "line 2: \"everything\" is none of"),
            (file("large", &vec![b'#'; MAX_SIZE + 1]), "it is larger than"),
        ];
        for (path, wanted) in rows {
            let policy = read_policy(&path);
            let fault = policy.fault().unwrap_or_default();
            assert!(fault.contains(wanted), "{}: {fault}", path.display());
            assert!(policy.judge(Question::Scheme("https")).is_err());
        }
    }
}
