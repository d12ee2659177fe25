//! DER structures with one odd element: another tag, another form of length, too much, too little,
//! duplicated, moved. Enclosing lengths are adjusted, so that the parser reaches the odd element and not just
//! the end of the input.

use testkit::dice::Dice;
use wire::der;

#[derive(Clone)]
struct Node {
    tag: u8,
    length: Length,
    body: Body,
}

#[derive(Clone, Copy)]
enum Length {
    Proper,
    /// One octet more than needed.
    Long,
    Indefinite,
}

#[derive(Clone)]
enum Body {
    Octets(Vec<u8>),
    Elements(Vec<Node>),
}

const TAGS: [u8; 16] = [1, 2, 3, 4, 5, 6, 0x0c, 0x13, 0x16, 0x17, 0x18, 0x1e, 0x30, 0x31, 0x80, 0xa0];

/// Returns the structure with one or two elements changed, and a description.
pub fn odd(dice: &mut Dice, structure: &[u8]) -> (Vec<u8>, String) {
    let mut root = elements(structure).expect("what was made here is DER");
    let mut changes = Vec::new();
    for _ in 0..=dice.roll(4) / 3 {
        let (1.., elements) = (root.len(), count(&root)) else { break };
        let at = dice.roll(elements);
        changes.push(change(dice, &mut root, at));
    }
    (written(&root), changes.join(", "))
}

/// Parses the bytes as elements; `None` if they are not elements from end to end.
fn elements(mut rest: &[u8]) -> Option<Vec<Node>> {
    let mut list = Vec::new();
    while let [tag, first, after @ ..] = rest {
        let (length, after) = match *first {
            n @ ..0x80 => (usize::from(n), after),
            n => {
                let (digits, after) = after.split_at_checked(usize::from(n & 0x7f))?;
                (digits.iter().fold(0, |n, digit| n << 8 | usize::from(*digit)), after)
            }
        };
        let (body, after) = after.split_at_checked(length)?;
        // Extensions wrap further elements.
        let inside = tag & 0x20 != 0 || *tag == der::OCTET_STRING && !body.is_empty();
        let inside = if inside { elements(body) } else { None };
        let body = inside.map_or_else(|| Body::Octets(body.to_vec()), Body::Elements);
        list.push(Node { tag: *tag, length: Length::Proper, body });
        rest = after;
    }
    rest.is_empty().then_some(list)
}

fn count(list: &[Node]) -> usize {
    list.iter().map(Node::count).sum()
}

impl Node {
    fn count(&self) -> usize {
        1 + if let Body::Elements(list) = &self.body { count(list) } else { 0 }
    }
}

/// Changes the element with this number, counted from above and depth first.
fn change(dice: &mut Dice, list: &mut Vec<Node>, mut at: usize) -> String {
    for i in 0..list.len() {
        let size = list[i].count();
        match (at, &mut list[i].body) {
            (0, _) => return change_here(dice, list, i),
            (_, Body::Elements(inside)) if at < size => return change(dice, inside, at - 1),
            _ => at -= size,
        }
    }
    unreachable!("the number is below the count")
}

fn change_here(dice: &mut Dice, list: &mut Vec<Node>, i: usize) -> String {
    let tag = list[i].tag;
    let what = dice.roll(13);
    let node = &mut list[i];
    let name = match what {
        0 => {
            node.tag = TAGS[dice.roll(TAGS.len())];
            "another tag"
        }
        1 => {
            node.tag ^= 0x20;
            "constructed or not"
        }
        2 => {
            node.length = Length::Long;
            "a long length"
        }
        3 => {
            node.length = Length::Indefinite;
            "no length"
        }
        4 => {
            let twin = node.clone();
            list.insert(i, twin);
            "twice"
        }
        5 => {
            list.remove(i);
            "gone"
        }
        6 => {
            let other = dice.roll(list.len());
            list.swap(i, other);
            "elsewhere"
        }
        7 => {
            list.insert(i + 1, Node { tag: 5, length: Length::Proper, body: Body::Octets(Vec::new()) });
            "NULL behind it"
        }
        _ => octets(dice, node, what),
    };
    format!("{tag:02x} {name}")
}

fn octets(dice: &mut Dice, node: &mut Node, what: usize) -> &'static str {
    let mut body = match &node.body {
        Body::Octets(body) => body.clone(),
        Body::Elements(list) => written(list),
    };
    let at = dice.roll(body.len().max(1));
    let name = match what {
        8 => {
            body.clear();
            "empty"
        }
        9 => {
            body.push(dice.roll(256) as u8);
            "an octet more"
        }
        10 => {
            body.pop();
            "an octet less"
        }
        11 => {
            body.insert(0, [0, 0xff][dice.roll(2)]);
            "an octet before"
        }
        _ => {
            body.get_mut(at).into_iter().for_each(|octet| *octet ^= 1 << dice.roll(8));
            "another bit"
        }
    };
    node.body = Body::Octets(body);
    name
}

fn written(list: &[Node]) -> Vec<u8> {
    let mut out = Vec::new();
    for node in list {
        let body = match &node.body {
            Body::Octets(body) => body.clone(),
            Body::Elements(list) => written(list),
        };
        let proper = der::wrap(node.tag, &body);
        match node.length {
            Length::Proper => out.extend(proper),
            Length::Long => {
                let size = body.len().to_be_bytes();
                let used = &size[size.iter().take_while(|octet| **octet == 0).count()..];
                out.extend([node.tag, 0x81 + used.len() as u8, 0]);
                out.extend(used);
                out.extend(body);
            }
            Length::Indefinite => {
                out.extend([node.tag, 0x80]);
                out.extend(body);
                out.extend([0, 0]);
            }
        }
    }
    out
}
