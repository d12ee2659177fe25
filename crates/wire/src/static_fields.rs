//! The static tables of header compression (RFC 7541 appendix A, RFC 9204 appendix A) without pointers.
//!
//! A table of `&str` is relocated at each start: each of its pages is copied. A search also reads
//! two pointers and two lengths for each entry. Here all texts stand in a row, and an entry has two ends.

/// Names and values in a row.
pub struct StaticFields<const COUNT: usize, const SIZE: usize> {
    /// Where each entry's name and value end. A name begins where the value before it ends.
    ends: [(u16, u16); COUNT],
    texts: [u8; SIZE],
}

/// Returns the number of bytes in all texts.
pub const fn size(fields: &[(&str, &str)]) -> usize {
    let (mut size, mut at) = (0, 0);
    while at < fields.len() {
        size += fields[at].0.len() + fields[at].1.len();
        at += 1;
    }
    size
}

impl<const COUNT: usize, const SIZE: usize> StaticFields<COUNT, SIZE> {
    /// Copies the texts, whose [`size`] is `SIZE`.
    pub const fn new(fields: &[(&str, &str); COUNT]) -> Self {
        let (mut ends, mut texts) = ([(0, 0); COUNT], [0; SIZE]);
        let (mut at, mut used) = (0, 0);
        while at < COUNT {
            let (name, value) = fields[at];
            let (_, free) = texts.split_at_mut(used);
            let (to, free) = free.split_at_mut(name.len());
            to.copy_from_slice(name.as_bytes());
            free.split_at_mut(value.len()).0.copy_from_slice(value.as_bytes());
            let end = used + name.len();
            used = end + value.len();
            ends[at] = (end as u16, used as u16);
            at += 1;
        }
        assert!(used == SIZE && SIZE <= u16::MAX as usize);
        StaticFields { ends, texts }
    }

    /// Returns the name and the value at a place, counted from 0.
    pub fn get(&self, place: usize) -> Option<(&[u8], &[u8])> {
        let (name_end, value_end) = *self.ends.get(place)?;
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before].1);
        let text = |from: u16, to: u16| &self.texts[usize::from(from)..usize::from(to)];
        Some((text(start, name_end), text(name_end, value_end)))
    }

    /// Returns the places of a name. Candidates have its length, so most names need no comparison.
    pub fn places(&self, name: &[u8]) -> impl Iterator<Item = usize> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|(_, end)| usize::from(*end)));
        let named = starts.zip(&self.ends).enumerate().filter(move |(_, (start, (end, _)))| {
            usize::from(*end) - start == name.len() && &self.texts[*start..usize::from(*end)] == name
        });
        named.map(|(place, _)| place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_as_given() {
        const FIELDS: [(&str, &str); 5] = [("a", ""), ("bc", "d"), ("", ""), ("bc", "ef"), ("cb", "d")];
        static TABLE: StaticFields<5, { size(&FIELDS) }> = StaticFields::new(&FIELDS);
        for (place, (name, value)) in FIELDS.iter().enumerate() {
            assert_eq!(TABLE.get(place), Some((name.as_bytes(), value.as_bytes())));
        }
        assert_eq!(TABLE.get(5), None);
        let places = |name: &[u8]| TABLE.places(name).collect::<Vec<_>>();
        assert_eq!((places(b"bc"), places(b""), places(b"x")), (vec![1, 3], vec![2], vec![]));
    }
}
