//! The files that tidy looks at. Each is read once, and the checks take all processors.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::files;

/// A file of the checkout.
pub struct Source {
    /// The path from the root.
    pub path: String,
    pub text: String,
}

/// Reads each file below a folder, sorted by path.
pub fn below(folder: &str) -> Vec<Source> {
    let read = |path: String| Source { text: files::text(&path), path };
    files::below(folder).into_iter().map(read).collect()
}

/// Applies a check to each source, in as many threads as there are processors; returns the results in the
/// order of the sources.
pub fn each<T: Send>(sources: &[Source], check: impl Fn(&Source) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let work = || {
        let positions = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        let taken = positions.map_while(|position| Some((position, sources.get(position)?)));
        taken.map(|(position, source)| (position, check(source))).collect::<Vec<_>>()
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut results: Vec<(usize, T)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a check does not panic")).collect()
    });
    results.sort_by_key(|(position, _)| *position);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_have_the_order_of_the_sources() {
        let source = |number: usize| Source { path: number.to_string(), text: String::new() };
        let sources: Vec<Source> = (0..100).map(source).collect();
        let found = each(&sources, |source| source.path.clone());
        assert!(found.iter().enumerate().all(|(number, path)| *path == number.to_string()), "{found:?}");
        assert_eq!(found.len(), 100);
    }
}
