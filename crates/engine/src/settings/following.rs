//! Whether handles follow names (`warmwire_follow_names`, `--follow-names`, WARMWIRE_FOLLOW_NAMES): whether a
//! connection is left when the name of its host has moved to other addresses.

use std::sync::atomic::{AtomicU8, Ordering};

use runtime::environment;
use tables::environment::FOLLOW_NAMES;

/// The choice of the process, by its place in [`CHOICES`].
static STATE: AtomicU8 = AtomicU8::new(u8::MAX);

const CHOICES: [Option<bool>; 3] = [None, Some(false), Some(true)];

/// Chooses for all handles that have no choice of their own. It counts before the environment.
pub fn follow_names(on: bool) {
    STATE.store(if on { 2 } else { 1 }, Ordering::Relaxed);
}

/// Returns the choice of the process; `None` leaves it to the pool. The environment is read once.
pub(crate) fn process_follows_names() -> Option<bool> {
    let known = CHOICES.get(usize::from(STATE.load(Ordering::Relaxed)));
    known.copied().unwrap_or_else(|| {
        let chosen = environment::text(&FOLLOW_NAMES).map(|word| word == "yes");
        let place = CHOICES.iter().position(|choice| *choice == chosen).unwrap_or_default();
        STATE.store(place as u8, Ordering::Relaxed);
        chosen
    })
}
