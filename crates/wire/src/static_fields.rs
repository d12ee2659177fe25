//! The static tables of header compression (RFC 7541 appendix A, RFC 9204 appendix A) without pointers.
//!
//! A table of `&str` is relocated at each start: each of its pages is copied. A search also reads
//! two pointers and two lengths for each entry. Here all texts stand in a row, and an entry has two ends.

/// Names are shorter.
const LENGTHS: usize = 40;

/// Names and values in a row.
pub struct StaticFields<const COUNT: usize, const SIZE: usize> {
    /// Where each entry's name and value end. A name begins where the value before it ends.
    ends: [(u16, u16); COUNT],
    texts: [u8; SIZE],
    /// The places by the length of their name, and where those of a length and of the next one begin there.
    by_length: [u8; COUNT],
    begins: [u8; LENGTHS + 1],
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
        let (by_length, begins) = sorted(fields);
        StaticFields { ends, texts, by_length, begins }
    }

    /// Returns the name and the value at a place, counted from 0.
    pub fn get(&self, place: usize) -> Option<(&[u8], &[u8])> {
        let (name_end, value_end) = *self.ends.get(place)?;
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before].1);
        let text = |from: u16, to: u16| &self.texts[usize::from(from)..usize::from(to)];
        Some((text(start, name_end), text(name_end, value_end)))
    }

    /// Returns the places of a name, in their order. Only names of its length are compared.
    pub fn places(&self, name: &[u8]) -> impl Iterator<Item = usize> {
        let begin = |length: usize| usize::from(self.begins[length.min(LENGTHS)]);
        let places = &self.by_length[begin(name.len())..begin(name.len() + 1)];
        let is_named = move |place: &usize| self.get(*place).is_some_and(|(known, _)| known == name);
        places.iter().map(|place| usize::from(*place)).filter(is_named)
    }
}

/// Returns the places by the length of their name, and where each length begins.
const fn sorted<const COUNT: usize>(fields: &[(&str, &str); COUNT]) -> ([u8; COUNT], [u8; LENGTHS + 1]) {
    let (mut places, mut begins) = ([0; COUNT], [0; LENGTHS + 1]);
    let (mut listed, mut length) = (0, 0);
    while length < LENGTHS {
        begins[length] = listed as u8;
        let mut at = 0;
        while at < COUNT {
            if fields[at].0.len() == length {
                places[listed] = at as u8;
                listed += 1;
            }
            at += 1;
        }
        length += 1;
    }
    begins[LENGTHS] = listed as u8;
    assert!(listed == COUNT && COUNT <= u8::MAX as usize);
    (places, begins)
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
        for length in LENGTHS - 1..LENGTHS + 2 {
            assert_eq!(places(&[b'b'; 64][..length]), []);
        }
    }
}
