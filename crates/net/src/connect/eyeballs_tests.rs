//! Scripted races: what the name server and the hosts do and when, and the expected actions with their
//! millisecond.
//!
//! A script has four parts. Rules: `delay N`, `record` (wait for the HTTPS answer), `favourite X`. Answers:
//! `10 AAAA 6a 6b`, `10 A -` for none, `never A`; `4a@1` has a service record of priority 1, and an answer
//! that ends in `...` is incomplete. Hosts: `4a 30` is connected after 30 ms and needs no more, `refused 5`,
//! `silent`; `30+40` answers the handshake 40 ms later, `30+reset 5` resets it, `30+silent` never answers.
//! The last part is the expected events.

use std::collections::BTreeMap;

use super::*;

enum Event {
    Candidate(Candidate<String>),
    Answered(Question),
    Connected(AttemptId),
    Secured(AttemptId),
    Failed(AttemptId),
    Tick,
}

struct Script<'a> {
    race: Race<String>,
    hosts: BTreeMap<&'a str, &'a str>,
    events: BTreeMap<(u64, usize), Event>,
    numbered: usize,
    names: Vec<String>,
    log: Vec<String>,
    start: Instant,
}

fn question(name: &str) -> Question {
    match name {
        "A" => Question::A,
        "AAAA" => Question::Aaaa,
        "HTTPS" => Question::Https,
        other => panic!("no question: {other}"),
    }
}

fn candidate(word: &str) -> Candidate<String> {
    let (name, priority) = word.split_once('@').map_or((word, NO_RECORD), |(n, p)| (n, p.parse().unwrap()));
    let family = if name.starts_with('6') { Family::V6 } else { Family::V4 };
    Candidate { target: name.to_owned(), family, priority }
}

fn rules(text: &str) -> Rules<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let after = |name| words.iter().position(|w| *w == name).map(|i| words[i + 1]);
    Rules {
        attempt_delay: Duration::from_millis(after("delay").map_or(200, |ms| ms.parse().unwrap())),
        needs_record: words.contains(&"record"),
        favourite: after("favourite").map(str::to_owned),
    }
}

impl<'a> Script<'a> {
    fn new(text: &str, answers: &str, hosts: &'a str) -> Script<'a> {
        let asks = |name| answers.split_whitespace().any(|word| word == name);
        let awaited = PendingQuestions { a: asks("A"), aaaa: asks("AAAA"), https: asks("HTTPS") };
        let split = |line: &'a str| line.trim().split_once(' ').unwrap();
        let hosts = hosts.split(';').filter(|l| !l.trim().is_empty()).map(split).collect();
        let mut script = Script {
            race: Race::new(rules(text), awaited),
            hosts,
            events: BTreeMap::new(),
            numbered: 0,
            names: Vec::new(),
            log: Vec::new(),
            start: Instant::now(),
        };
        answers.split(';').for_each(|line| script.answer(line));
        script
    }

    fn answer(&mut self, line: &str) {
        let mut words = line.split_whitespace();
        let Some(at) = words.next().filter(|word| *word != "never") else { return };
        let (at, question) = (at.parse().unwrap(), question(words.next().unwrap()));
        let mut complete = true;
        for word in words {
            match word {
                "-" => {}
                "..." => complete = false,
                word => self.plan(at, Event::Candidate(candidate(word))),
            }
        }
        if complete {
            self.plan(at, Event::Answered(question));
        }
    }

    fn plan(&mut self, at: u64, event: Event) {
        self.numbered += 1;
        self.events.insert((at, self.numbered), event);
    }

    fn run(mut self) -> String {
        while let Some(((at, _), event)) = self.events.pop_first() {
            let now = self.start + Duration::from_millis(at);
            match event {
                Event::Candidate(c) => self.race.candidate(c, now),
                Event::Answered(q) => self.race.answered(q, now),
                Event::Connected(id) => self.race.connected(id, now),
                Event::Secured(id) => self.race.secured(id),
                Event::Failed(id) => self.race.failed(id),
                Event::Tick => {}
            }
            if self.events.first_key_value().is_some_and(|((next, _), _)| *next == at) {
                continue;
            }
            if self.steps(at, now) {
                return self.log.join("; ");
            }
        }
        self.log.push("waits".to_owned());
        self.log.join("; ")
    }

    /// Whether it is over.
    fn steps(&mut self, at: u64, now: Instant) -> bool {
        loop {
            let step = self.race.next(now);
            let over = matches!(step, Step::Won(_) | Step::Failed);
            match step {
                Step::Start(id, target) => {
                    assert_eq!(id, self.names.len());
                    self.log.push(format!("{at} {target}"));
                    self.attempt(at, id, &target);
                    self.names.push(target);
                }
                Step::GiveUp(id) => self.log.push(format!("{at} gives up {}", self.names[id])),
                Step::Won(id) => self.log.push(format!("{at} won {}", self.names[id])),
                Step::Failed => self.log.push(format!("{at} failed")),
                Step::Wait(Some(until)) => {
                    assert!(until > now, "waits for what has passed");
                    let ms = until.duration_since(self.start).as_millis() as u64;
                    self.plan(ms, Event::Tick);
                    return false;
                }
                Step::Wait(None) => return false,
            }
            if over {
                return true;
            }
        }
    }

    fn attempt(&mut self, at: u64, id: AttemptId, target: &str) {
        let ms = |text: &str| text.trim().parse::<u64>().unwrap();
        let does = self.hosts.get(target).copied().unwrap_or("silent").trim();
        if let Some(after) = does.strip_prefix("refused") {
            return self.plan(at + ms(after), Event::Failed(id));
        }
        if does == "silent" {
            return;
        }
        let (connects, then) = does.split_once('+').unwrap_or((does, "0"));
        let at = at + ms(connects);
        self.plan(at, Event::Connected(id));
        match then.strip_prefix("reset") {
            Some(after) => self.plan(at + ms(after), Event::Failed(id)),
            None if then == "silent" => {}
            None => self.plan(at + ms(then), Event::Secured(id)),
        }
    }
}

type Case = (&'static str, &'static str, &'static str, &'static str, &'static str);

fn check(cases: &[Case]) {
    for (name, rules, answers, hosts, expected) in cases {
        assert_eq!(Script::new(rules, answers, hosts).run(), *expected, "{name}");
    }
}

#[test]
fn finished_lists() {
    check(&[
        ("one address", "", "0 A 4a", "4a 30", "0 4a; 30 won 4a"),
        ("both well", "", "0 AAAA 6a; 0 A 4a", "6a 30; 4a 10", "0 6a; 30 won 6a"),
        ("dead v6", "", "0 AAAA 6a; 0 A 4a", "6a silent; 4a 30", "0 6a; 200 4a; 230 won 4a"),
        ("dead v4", "", "0 AAAA 6a; 0 A 4a", "6a 30; 4a silent", "0 6a; 30 won 6a"),
        ("slow v6 still wins", "", "0 AAAA 6a; 0 A 4a", "6a 210; 4a 30", "0 6a; 200 4a; 210 won 6a"),
        ("slower v6 loses", "", "0 AAAA 6a; 0 A 4a", "6a 300; 4a 30", "0 6a; 200 4a; 230 won 4a"),
        ("refused v6", "", "0 AAAA 6a; 0 A 4a", "6a refused 5; 4a 30", "0 6a; 5 4a; 35 won 4a"),
        ("v6 refused at last", "", "0 AAAA 6a; 0 A 4a", "6a refused 250; 4a 90", "0 6a; 200 4a; 290 won 4a"),
        ("all refused", "", "0 AAAA 6a; 0 A 4a", "6a refused 5; 4a refused 7", "0 6a; 5 4a; 12 failed"),
        ("all silent", "", "0 AAAA 6a; 0 A 4a", "", "0 6a; 200 4a; waits"),
        ("no address", "", "0 AAAA -; 3 A -", "", "3 failed"),
        ("a shorter delay", "delay 50", "0 AAAA 6a; 0 A 4a", "4a 30", "0 6a; 50 4a; 80 won 4a"),
        ("a longer one", "delay 900", "0 AAAA 6a; 0 A 4a", "4a 30", "0 6a; 900 4a; 930 won 4a"),
        (
            "families in turn",
            "",
            "0 AAAA 6a 6b; 0 A 4a 4b",
            "4b 1",
            "0 6a; 200 4a; 400 6b; 600 4b; 601 won 4b",
        ),
        ("one of four dead", "", "0 AAAA 6a 6b; 0 A 4a 4b", "4a 9", "0 6a; 200 4a; 209 won 4a"),
        (
            "one family is tried to its end",
            "",
            "0 A 4a 4b 4c",
            "4a refused 1; 4b refused 1; 4c 4",
            "0 4a; 1 4b; 2 4c; 6 won 4c",
        ),
        (
            "a failure beside one that waits",
            "",
            "0 AAAA 6a; 0 A 4a 4b",
            "4a refused 10; 4b 5",
            "0 6a; 200 4a; 210 4b; 215 won 4b",
        ),
        ("the same address twice", "", "0 A 4a 4a", "4a refused 1", "0 4a; 1 failed"),
        ("two connect at once", "delay 10", "0 AAAA 6a; 0 A 4a", "6a 20; 4a 10", "0 6a; 10 4a; 20 won 6a"),
        (
            "no more than six",
            "delay 10",
            "0 A 4a 4b 4c 4d 4e 4f 4g",
            "4g 5; 4a 61",
            "0 4a; 10 4b; 20 4c; 30 4d; 40 4e; 50 4f; 60 gives up 4a; 60 4g; 65 won 4g",
        ),
        ("no delay at all", "delay 0", "0 AAAA 6a; 0 A 4a", "4a 5", "0 6a; 0 4a; 5 won 4a"),
    ]);
}

#[test]
fn answers_that_come_apart() {
    check(&[
        ("AAAA first goes at once", "", "10 AAAA 6a; 90 A 4a", "6a 30", "10 6a; 40 won 6a"),
        ("A first waits for AAAA", "", "10 A 4a; 30 AAAA 6a", "6a 30", "30 6a; 60 won 6a"),
        ("but not for ever", "", "10 A 4a; 90 AAAA 6a", "4a 70", "35 4a; 105 won 4a"),
        ("a late AAAA is next", "", "10 A 4a 4b; 90 AAAA 6a", "6a 30", "35 4a; 235 6a; 265 won 6a"),
        ("no AAAA, answered", "", "10 A 4a; 20 AAAA -", "4a 5", "20 4a; 25 won 4a"),
        ("AAAA is lost", "", "10 A 4a; never AAAA", "4a 5", "35 4a; 40 won 4a"),
        ("A is lost", "", "10 AAAA 6a; never A", "6a 5", "10 6a; 15 won 6a"),
        ("A is lost and v6 refuses", "", "10 AAAA 6a; never A", "6a refused 5", "10 6a; waits"),
        (
            "A comes after v6 has failed",
            "",
            "10 AAAA 6a; 400 A 4a",
            "6a refused 5; 4a 5",
            "10 6a; 400 4a; 405 won 4a",
        ),
        ("A comes while v6 is silent", "", "10 AAAA 6a; 100 A 4a", "4a 5", "10 6a; 210 4a; 215 won 4a"),
        ("A comes when its turn is past", "", "10 AAAA 6a; 500 A 4a", "4a 5", "10 6a; 500 4a; 505 won 4a"),
        ("v4 alone never waits", "", "10 A 4a", "4a 5", "10 4a; 15 won 4a"),
        (
            "an answer in pieces",
            "",
            "10 AAAA 6a ...; 20 AAAA 6b; 20 A 4a",
            "6a refused 1; 6b 3",
            "20 6a; 21 4a; 221 6b; 224 won 6b",
        ),
        ("both lost", "", "never A; never AAAA", "", "waits"),
        ("the last answer is none", "", "10 AAAA 6a; 900 A -", "6a refused 5", "10 6a; 900 failed"),
    ]);
}

#[test]
fn service_records() {
    check(&[
        ("the record first", "", "5 HTTPS -; 10 AAAA 6a; 11 A 4a", "6a 5", "10 6a; 15 won 6a"),
        ("the record last", "", "10 AAAA 6a; 11 A 4a; 30 HTTPS -", "6a 5", "30 6a; 35 won 6a"),
        ("the record late", "", "10 AAAA 6a; 11 A 4a; 90 HTTPS -", "6a 5", "35 6a; 40 won 6a"),
        ("the record lost", "", "10 AAAA 6a; 11 A 4a; never HTTPS", "6a 5", "35 6a; 40 won 6a"),
        (
            "demanded, it is waited for",
            "record",
            "10 AAAA 6a; 11 A 4a; 400 HTTPS 6a@1",
            "6a 5",
            "400 6a; 405 won 6a",
        ),
        ("demanded and lost", "record", "10 AAAA 6a; 11 A 4a; never HTTPS", "6a 5", "waits"),
        ("no addresses, the record lost", "", "10 AAAA -; 11 A -; never HTTPS", "", "36 failed"),
        ("no addresses, the record late", "", "10 AAAA -; 11 A -; 35 HTTPS 4a@1", "4a 5", "35 4a; 40 won 4a"),
        (
            "all refused, the record lost",
            "",
            "10 AAAA 6a; 30 A -; never HTTPS",
            "6a refused 5",
            "35 6a; 55 failed",
        ),
        ("its hints go at once", "", "10 HTTPS 6a@1 4a@1; 900 AAAA 6a", "6a 5", "35 6a; 40 won 6a"),
        (
            "by priority, then family",
            "",
            "0 HTTPS 4a@1 6b@2 4b@2; 0 AAAA -",
            "4b 1",
            "0 4a; 200 6b; 400 4b; 401 won 4b",
        ),
        (
            "what stands in no record goes last",
            "",
            "0 AAAA 6z; 0 HTTPS 4a@1",
            "6z 1",
            "0 4a; 200 6z; 201 won 6z",
        ),
        ("a record lifts what is known", "", "0 A 4a 4b; 20 HTTPS 4b@1", "4b 5", "20 4b; 25 won 4b"),
        (
            "too late for what was tried",
            "",
            "0 AAAA 6a; 0 A 4a; 90 HTTPS 6a@1 4b@1",
            "4b 5",
            "25 6a; 225 4b; 230 won 4b",
        ),
    ]);
}

#[test]
fn through_the_handshake() {
    check(&[
        ("all well", "", "0 AAAA 6a; 0 A 4a", "6a 30+40", "0 6a; 70 won 6a"),
        (
            "connected and silent",
            "",
            "0 AAAA 6a; 0 A 4a",
            "6a 30+silent; 4a 10+20",
            "0 6a; 230 4a; 260 won 4a",
        ),
        ("slow, but first", "", "0 AAAA 6a; 0 A 4a", "6a 30+210; 4a 30+30", "0 6a; 230 4a; 240 won 6a"),
        ("connected late", "", "0 AAAA 6a; 0 A 4a 4b", "6a 190+300; 4a 9+9", "0 6a; 390 4a; 408 won 4a"),
        ("broken off", "", "0 AAAA 6a; 0 A 4a", "6a 30+reset 5; 4a 10+20", "0 6a; 35 4a; 65 won 4a"),
        ("all broken off", "", "0 AAAA 6a; 0 A 4a", "6a 30+reset 5; 4a 10+reset 5", "0 6a; 35 4a; 50 failed"),
        (
            "who is connected is kept longest",
            "delay 10",
            "0 A 4a 4b 4c 4d 4e 4f 4g",
            "4a 5+90; 4g 90",
            "0 4a; 15 4b; 25 4c; 35 4d; 45 4e; 55 4f; 65 gives up 4b; 65 4g; 95 won 4a",
        ),
        ("a connection alone wins nothing", "", "0 A 4a", "4a 30+silent", "0 4a; waits"),
    ]);
}

#[test]
fn addresses_that_won_before_are_tried_first() {
    check(&[
        ("before the other family", "favourite 4a", "0 AAAA 6a; 0 A 4a", "4a 5", "0 4a; 5 won 4a"),
        ("without waiting", "favourite 4a", "10 A 4a; 90 AAAA 6a", "4a 5", "10 4a; 15 won 4a"),
        ("dead by now", "favourite 4a", "0 AAAA 6a; 0 A 4a", "6a 5", "0 4a; 200 6a; 205 won 6a"),
        ("no longer there", "favourite 4x", "0 AAAA 6a; 0 A 4a", "6a 5", "0 6a; 5 won 6a"),
        ("not before a better service", "favourite 4b", "0 HTTPS 4a@1; 0 A 4b", "4a 5", "0 4a; 5 won 4a"),
    ]);
}

#[test]
fn abandoned_and_unknown_attempts_cannot_win() {
    let now = Instant::now();
    let mut race = Race::new(rules("delay 0"), PendingQuestions::default());
    (0..=CONCURRENT).for_each(|n| race.candidate(candidate(&format!("4{n}")), now));
    while !matches!(race.next(now), Step::GiveUp(0)) {}
    race.connected(0, now);
    race.secured(0);
    race.secured(99);
    race.failed(0);
    assert_eq!(race.next(now), Step::Start(CONCURRENT, format!("4{CONCURRENT}")));
    race.secured(3);
    race.secured(4);
    assert_eq!(race.next(now), Step::Won(3), "the first one reported");
}
