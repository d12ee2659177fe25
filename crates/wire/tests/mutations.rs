//! Every parser on thousands of mutated seeds: no panic, and what fuzz/parsers.rs says must hold. The generator is
//! seeded, so a failure repeats; fuzz/ has the same for libFuzzer, which finds more.

extern crate warmwire_wire as wire; // the name that the rest of the workspace knows it by

#[path = "../../../fuzz/parsers.rs"]
mod parsers;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use parsers::PARSERS;
use testkit::dice::Dice;

/// For each parser, unless MUTATION_ROUNDS in the environment says how many, or MUTATION_SECONDS how long for all.
const ROUNDS: u32 = 3000;

#[test]
fn no_input_makes_a_parser_panic() {
    let number = |name| std::env::var(name).ok().map(|text: String| text.parse::<u32>().unwrap());
    let rounds = number("MUTATION_ROUNDS").unwrap_or(ROUNDS);
    let share = number("MUTATION_SECONDS").map(|all| Duration::from_secs(all.into()) / PARSERS.len() as u32);
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    for (name, parser) in PARSERS {
        let mut seeds: Vec<Vec<u8>> = fs::read_dir(corpus.join(name))
            .unwrap_or_else(|error| panic!("every parser has seeds, {name}: {error}"))
            .map(|entry| fs::read(entry.unwrap().path()).unwrap())
            .collect();
        seeds.sort();
        seeds.iter().for_each(|seed| parser(seed));
        let mut dice = Dice::new(0x2545_f491_4f6c_dd1d);
        let started = Instant::now();
        let goes_on = |round| share.map_or(round < rounds, |share| started.elapsed() < share);
        for _ in (0..).take_while(|round| goes_on(*round)) {
            let mut input = seeds[dice.roll(seeds.len())].clone();
            for _ in 0..=dice.roll(4) {
                mutate(&mut input, &seeds, &mut dice);
            }
            parser(&input);
        }
    }
}

/// Every parser has its fuzz target, and every target its parser.
#[test]
fn targets_match_parsers() {
    let manifest =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/Cargo.toml")).unwrap();
    let targets: Vec<&str> = manifest
        .lines()
        .filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'))
        .skip(1)
        .collect();
    let names: Vec<&str> = PARSERS.iter().map(|(name, _)| *name).collect();
    assert_eq!(targets, names);
}

fn mutate(input: &mut Vec<u8>, seeds: &[Vec<u8>], dice: &mut Dice) {
    const TELLING: &[u8] = b"\0\n\r\t \"%&'()*+,-./0:;<=>?@[\\]^_{|}~\x7f\x80\xff";
    let at = dice.roll(input.len() + 1);
    match dice.roll(7) {
        0 => input.insert(at, dice.roll(256) as u8),
        1 => input.insert(at, TELLING[dice.roll(TELLING.len())]),
        2 if at < input.len() => drop(input.remove(at)),
        3 if at < input.len() => input[at] ^= 1 << dice.roll(8),
        4 => input.truncate(at),
        5 => {
            let piece = input[at..input.len().min(at + dice.roll(20))].to_vec();
            (0..dice.roll(30)).for_each(|_| input.extend_from_slice(&piece));
        }
        _ => {
            let other = &seeds[dice.roll(seeds.len())];
            let from = dice.roll(other.len() + 1);
            input.truncate(at);
            input.extend_from_slice(&other[from..]);
        }
    }
}
