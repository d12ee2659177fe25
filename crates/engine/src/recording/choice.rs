//! Chooses among the recorded exchanges of one method and URL by the body of the request. Git, JSON-RPC and
//! GraphQL send different requests to one URL, and several processes replay one record.

use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use net::exchange::BodyDigest;

use super::facts::Facts;
use super::player::{Asked, Entry, Player};

/// The choice of the exchange that answers one request. It is the first unused one whose recorded body equals
/// what was sent, and the first unused one if no body is equal. A reply that came before any body (401 to a
/// request that is to be sent again with a login) counts in turn only: it would equal every body.
pub struct Choice {
    player: Arc<Player>,
    asked: Asked,
    head: Vec<u8>,
    /// The position of the exchange that is in turn.
    first: usize,
    /// The position of the exchange that more of the body decides on.
    at: Cell<usize>,
    /// There is one exchange at most, so the body does not matter.
    is_single: bool,
    body: BodyDigest,
    /// Lengths at which the digest is kept, because recorded requests stopped there.
    stops: BTreeSet<u64>,
    prefixes: HashMap<u64, String>,
}

impl Choice {
    /// Begins the choice for a request with this head.
    pub fn new(player: Arc<Player>, asked: Asked, head: Vec<u8>) -> Choice {
        let two: Vec<usize> = player
            .fitting(&asked, &head, 0)
            .map_or_else(|_| Vec::new(), |fitting| fitting.take(2).map(|(at, _)| at).collect());
        let (first, is_single) = (two.first().copied().unwrap_or_default(), two.len() < 2);
        let stops = if is_single { BTreeSet::new() } else { player.stops(&asked) };
        let (at, body, prefixes) = (Cell::new(0), BodyDigest::default(), HashMap::new());
        let mut choice = Choice { player, asked, head, first, at, is_single, body, stops, prefixes };
        choice.sent(b"");
        choice
    }

    /// Notes a piece of the body.
    pub fn sent(&mut self, mut piece: &[u8]) {
        if self.is_single {
            return;
        }
        while let Some(stop) = self.stops.first().copied() {
            let before = usize::try_from(stop - self.body.len()).unwrap_or(usize::MAX);
            let Some((first, rest)) = piece.split_at_checked(before) else { break };
            self.body.update(first);
            self.prefixes.insert(stop, self.body.hex());
            self.stops.pop_first();
            piece = rest;
        }
        self.body.update(piece);
    }

    /// Returns the first exchange in turn, whose interim replies come before the choice.
    pub fn first(&self) -> Option<&Entry> {
        let mut fitting = self.player.fitting(&self.asked, &self.head, self.at.get()).ok()?;
        fitting.next().map(|(_, entry)| entry)
    }

    /// Returns the exchange, if what was sent decides it. `ended` says that the body is complete.
    pub fn choose(&self, ended: bool) -> Option<Result<&Entry, String>> {
        if self.is_single {
            return Some(self.player.take(&self.asked, &self.head));
        }
        let fitting = match self.player.fitting(&self.asked, &self.head, self.at.get()) {
            Ok(fitting) => fitting,
            Err(why) => return Some(Err(why)),
        };
        for (at, entry) in fitting {
            match self.is_equal(at, &entry.facts, ended) {
                Some(true) if self.player.claim(&self.asked, entry) => return Some(Ok(entry)),
                Some(_) => {}
                None => {
                    self.at.set(at);
                    return None;
                }
            }
        }
        Some(self.player.take(&self.asked, &self.head))
    }

    /// Returns whether what was sent equals the recorded body, once that is known. A recorded body that
    /// stopped early is compared with the beginning of this one.
    fn is_equal(&self, at: usize, recorded: &Facts, ended: bool) -> Option<bool> {
        let (sent, wanted) = (self.body.len(), recorded.request_body);
        let digest = match &recorded.request_digest {
            Some(digest) => digest,
            None if wanted > 0 => return Some(true), // A user removed the line: any body will do.
            None => "",
        };
        if recorded.request_stopped && sent >= wanted {
            if wanted == 0 {
                return Some(at == self.first);
            }
            return Some(self.prefixes.get(&wanted).is_some_and(|prefix| prefix == digest));
        }
        if sent > wanted {
            return Some(false);
        }
        ended.then(|| sent == wanted && (wanted == 0 || self.body.hex() == digest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::draft::FACTS;
    use std::fs;
    use testkit::temp::TempDir;

    /// Writes a record of POSTs, each with its body, and whether that stopped early.
    fn record(bodies: &[(&str, bool)]) -> (TempDir, Arc<Player>) {
        let dir = TempDir::new("choice").unwrap();
        for (number, (body, request_stopped)) in bodies.iter().enumerate() {
            let folder = dir.path().join(format!("{number}"));
            fs::create_dir(&folder).unwrap();
            let mut digest = BodyDigest::default();
            digest.update(body.as_bytes());
            let facts = Facts {
                protocol: "http".into(),
                method: "POST".into(),
                url: "http://h/".into(),
                request_body: body.len() as u64,
                request_digest: (!body.is_empty()).then(|| digest.hex()),
                request_stopped: *request_stopped,
                response_body: number as u64,
                ..Facts::default()
            };
            fs::write(folder.join(FACTS), facts.text()).unwrap();
        }
        let player = Arc::new(Player::new(dir.path().to_owned(), Vec::new()));
        (dir, player)
    }

    /// Sends a body in pieces. Returns the number of the chosen exchange, and after how many pieces it was
    /// known; the end counts as one.
    fn send(player: &Arc<Player>, pieces: &[&str]) -> (u64, usize) {
        let asked = Asked::new(b"POST", b"http://h/");
        let mut choice = Choice::new(player.clone(), asked, Vec::new());
        for count in 0..=pieces.len() + 1 {
            if let Some(found) = choice.choose(count > pieces.len()) {
                return (found.unwrap().facts.response_body, count);
            }
            pieces.get(count).into_iter().for_each(|piece| choice.sent(piece.as_bytes()));
        }
        panic!("the end of the body decides");
    }

    #[test]
    fn equal_bodies_are_preferred() {
        let (_dir, player) = record(&[("refs", false), ("fetch", false), ("refs", false)]);
        assert_eq!(send(&player, &["fet", "ch"]), (1, 3));
        assert_eq!(send(&player, &["refs"]), (0, 2));
        // One is left, and its body does not matter.
        assert_eq!(send(&player, &["other"]), (2, 0));
    }

    #[test]
    fn the_first_answers_a_body_that_is_not_recorded() {
        let (_dir, player) = record(&[("a", false), ("b", false), ("c", false)]);
        assert_eq!(send(&player, &["other"]), (0, 1));
        assert_eq!(send(&player, &["c"]), (2, 2));
    }

    #[test]
    fn early_replies_come_in_turn() {
        // Two programs are refused before the body, and log in.
        let bodies = [("", true), ("first", false), ("", true), ("second", false)];
        let (_dir, player) = record(&bodies);
        assert_eq!(send(&player, &["second"]), (0, 0));
        assert_eq!(send(&player, &["second"]), (3, 2));
        let (_dir, player) = record(&bodies);
        assert_eq!(send(&player, &["second"]), (0, 0));
        assert_eq!(send(&player, &["first"]), (1, 2));
        assert_eq!(send(&player, &["second"]), (2, 0));
        assert_eq!(send(&player, &["second"]), (3, 0));
    }

    #[test]
    fn a_body_that_stopped_is_compared_with_the_beginning() {
        let (_dir, player) = record(&[("abc", true), ("abd", true), ("abdef", false)]);
        assert_eq!(send(&player, &["ab", "def"]), (1, 2));
        assert_eq!(send(&player, &["ab", "def"]), (2, 3));
    }
}
