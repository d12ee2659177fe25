//! Runs functions of bytes on thousands of mutated seeds: they must neither panic nor break their promises.
//! The generator is seeded, so a failure repeats.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::dice::Dice;

/// Name (also that of its directory of seeds) and function.
pub type Parser = (&'static str, fn(&[u8]));

/// Returns the folder of the fuzz targets and their seeds.
fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz")
}

/// A seed, by the name of its target and its own.
pub fn seed(name: &str) -> Vec<u8> {
    fs::read(fuzz().join("corpus").join(name)).unwrap()
}

/// Runs each parser on its seeds and on `rounds` mutations of them. MUTATION_ROUNDS in the environment
/// overrides the number, MUTATION_SECONDS sets a time for all parsers.
pub fn run(parsers: &[Parser], rounds: u32) {
    let number = |name| std::env::var(name).ok().map(|text: String| text.parse::<u32>().unwrap());
    let rounds = number("MUTATION_ROUNDS").unwrap_or(rounds);
    let share = number("MUTATION_SECONDS").map(|all| Duration::from_secs(all.into()) / parsers.len() as u32);
    for (name, parser) in parsers {
        let mut seeds: Vec<Vec<u8>> = fs::read_dir(fuzz().join("corpus").join(name))
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

/// Each of these parsers has a target for libFuzzer, in the same order, and each target that belongs here its
/// parser.
pub fn compare_with_targets(parsers: &[Parser], belongs: impl Fn(&str) -> bool) {
    let manifest = fs::read_to_string(fuzz().join("Cargo.toml")).unwrap();
    let names = manifest.lines().filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'));
    let targets: Vec<&str> = names.skip(1).filter(|name| belongs(name)).collect();
    let names: Vec<&str> = parsers.iter().map(|(name, _)| *name).collect();
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
