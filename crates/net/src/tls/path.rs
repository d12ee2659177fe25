//! Builds a chain from a server's certificate to a trusted one: only by names, key identifiers and dates, as
//! OpenSSL does. Trusted issuers are tried first, then the certificates that the server sent; each step takes
//! one certificate and is never undone. This bounds the work by what was sent, and no signature is checked
//! here.

use super::anchors::Anchors;
use super::profile::Profile;
use super::verdict::*;

/// A leaf, OpenSSL's limit of a hundred intermediates, and the end.
const MAX_CHAIN: usize = 102;

/// Where a chain may end.
#[derive(Clone, Copy)]
pub struct Ends<'a> {
    pub anchors: &'a Anchors,
    /// Whether any anchor ends a chain, not only a self-signed one.
    pub partial: bool,
    pub now: i64,
}

/// A partial chain, its leaf first.
struct PartialChain<'a> {
    chain: Vec<Profile<'a>>,
    /// How many from the front the server sent and no anchor confirms.
    sent: usize,
    others: Vec<Profile<'a>>,
}

enum Step {
    Trusted,
    Grown,
    Stuck,
}

impl<'a> Ends<'a> {
    /// Builds the chain from `leaf` to a trusted end. An error has the part that could be built.
    pub fn build(
        &self,
        leaf: Profile<'a>,
        others: Vec<Profile<'a>>,
    ) -> Result<Vec<Profile<'a>>, (Vec<Profile<'a>>, VerifyResult)> {
        let mut way = PartialChain { chain: vec![leaf], sent: 1, others };
        while way.chain.len() < MAX_CHAIN {
            match self.step(&mut way) {
                Step::Trusted => return Ok(way.chain),
                Step::Grown => {}
                Step::Stuck => return self.by_itself(way),
            }
        }
        Err((way.chain, TOO_LONG))
    }

    fn step(&self, way: &mut PartialChain<'a>) -> Step {
        let last = way.last();
        let self_signed = last.is_self_signed();
        match self.trusted_issuer(last) {
            // Trusted if it is the same certificate, not one that only looks the same.
            Some(issuer) if self_signed => {
                if issuer.cert.der != last.cert.der {
                    return Step::Stuck;
                }
                way.sent -= 1;
                Step::Trusted
            }
            Some(issuer) => {
                let ends = self.partial || issuer.is_self_signed();
                way.chain.push(issuer);
                way.others.clear(); // the server does not decide what follows an anchor
                if ends { Step::Trusted } else { Step::Grown }
            }
            None if self_signed => Step::Stuck,
            None => way.take_issuer(self.now),
        }
    }

    /// A server's certificate may be trusted itself.
    fn by_itself(&self, way: PartialChain<'a>) -> Result<Vec<Profile<'a>>, (Vec<Profile<'a>>, VerifyResult)> {
        let all_sent = way.sent == way.chain.len();
        if self.partial && all_sent && self.anchors.contains(way.chain[0].cert.der) {
            return Ok(way.chain);
        }
        let result = match way.last().is_self_signed() {
            true if way.chain.len() == 1 => SELF_SIGNED_LEAF,
            true => SELF_SIGNED_IN_CHAIN,
            false if all_sent => NO_ISSUER,
            false => NO_ISSUER_OF_TRUSTED,
        };
        Err((way.chain, result))
    }

    fn trusted_issuer(&self, cert: &Profile<'_>) -> Option<Profile<'a>> {
        let mut named = self.anchors.named(&cert.issuer);
        let at = best(&named, cert, self.now)?;
        Some(named.swap_remove(at))
    }
}

impl<'a> PartialChain<'a> {
    fn last(&self) -> &Profile<'a> {
        self.chain.last().expect("begins with the leaf")
    }

    /// Takes the next certificate from those sent.
    fn take_issuer(&mut self, now: i64) -> Step {
        match best(&self.others, self.last(), now) {
            Some(at) => {
                self.chain.push(self.others.remove(at));
                self.sent += 1;
                Step::Grown
            }
            None => Step::Stuck,
        }
    }
}

/// Returns the first current issuer of `cert`; otherwise the one that expired last, so that its date is the
/// error.
fn best(candidates: &[Profile<'_>], cert: &Profile<'_>, now: i64) -> Option<usize> {
    let issuers = || candidates.iter().enumerate().filter(|(_, c)| cert.is_issued_by(c));
    let current = issuers().find(|(_, c)| c.cert.date(now) == OK);
    let latest = || issuers().rev().max_by_key(|(_, c)| c.cert.not_after);
    current.or_else(latest).map(|(at, _)| at)
}
