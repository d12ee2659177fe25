//! FTP with a server whose replies are mutated, by a fixed seed: the distribution's curl and our tool must
//! end alike, write the same output, and send the same commands. Where the reference, 8.22, differs from the
//! distribution's 7.88, or curl's behaviour harms its user, a rule lists the difference (`argued`).
//!
//! `FTP_MUTANTS=from..to` runs other cases than usual and prints differences.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use testkit::baseline::Comparison;
use testkit::dice::Dice;
use testkit::ftp::mutant::{Change, DATA, DONE, GREETING, Mutant, Mutation};

use super::{empty_folder, run, tool};

const CURL: &str = "/usr/bin/curl";

/// How many cases a run has.
const USUAL: Range<usize> = 0..1500;

/// Percentage of cases that may differ without a rule.
const MOST: usize = 1;

/// Both programs wait for most of the time that the slow cases take.
const THREADS: usize = 16;

/// Command lines; U is the server's URL, `~` a blank in a word, `up` a file to be sent, `five` one of five
/// octets.
const LINES: [&str; 66] = [
    "U/file",
    "U/file",
    "U/file -w %{size_download}|%{response_code}|%{ftp_entry_path}|%{num_connects}",
    "U/dir/sub/file",
    "U//abs/file",
    "U/dir/sub/file --ftp-method singlecwd",
    "U/dir/sub/file --ftp-method nocwd",
    "U//abs/sub/file --ftp-method nocwd",
    "U/dir/sub/ --ftp-method nocwd",
    "U/dir/ --ftp-method singlecwd",
    "U/dir/file U/dir/file2",
    "U/dir/file U/other/file2",
    "U/dir/file U/file2 U//abs/file",
    "U/file U/dir/ U/file2",
    "U/",
    "U/dir/",
    "U/dir/ -l",
    "U/dir/file -l",
    "U/dir/ -X NLST~-a",
    "U/dir/file;type=D",
    "U/file;type=a",
    "U/file -B",
    "U/dir/ -w %{size_download}",
    "U/file -B -w %{size_download}",
    "U/new -T up",
    "U/dir/new -T up",
    "U/dir/sub/new -T up --ftp-create-dirs",
    "U/dir/sub/new -T up --ftp-create-dirs --ftp-method singlecwd",
    "U/dir/file --ftp-create-dirs",
    "U/new -T up -a",
    "U/new -T up -B",
    "U/new -T up --crlf",
    "U/new -T up -C -",
    "U/new -T up -C 7",
    "U/new -T up -C 100",
    "U/new -T five -C 5",
    "U/ -T up",
    "U/new -T up U/two -T five",
    "U/file -C 5",
    "U/file -C - -o five",
    "U/file -C 42",
    "U/file -C 50",
    "U/file -C 5 -B",
    "U/file -r 3-9",
    "U/file -r 5-",
    "U/file -r -5",
    "U/file -r 0-100",
    "U/file -r 7-3",
    "U/file -r 3-9 -B",
    "U/dir/ -r 0-9",
    "U/file -I",
    "U/dir/file -I -R",
    "U/dir/ -I",
    "U/file -R -o out",
    "U/file -z 2021-01-01",
    "U/file -z -2021-01-01",
    "U/file -Q SYST -Q -DELE~x -Q +NOOP",
    "U/dir/ -Q *SYST -Q +*NOOP",
    "U/file -Q *DELE~x -Q -*DELE~y",
    "U/file -P -",
    "U/file -P - --disable-eprt",
    "U/new -T up -P 127.0.0.1",
    "U/file --disable-epsv",
    "U/file -u user:secret --ftp-account acct",
    "U/file --ftp-alternative-to-user USER~other --max-filesize 40",
    "U/file --ftp-pret --ignore-content-length",
];

const PLACES: [&str; 26] = [
    GREETING, "USER", "PASS", "PWD", "CWD", "MKD", "EPSV", "PASV", "EPRT", "PORT", "TYPE", "SIZE", "MDTM",
    "REST", "RETR", "STOR", "APPE", "LIST", "NLST", "SYST", "DELE", "NOOP", "PRET", DONE, DATA, "ABOR",
];

const CODES: [&str; 36] = [
    "100", "110", "120", "125", "150", "200", "202", "211", "213", "220", "226", "229", "230", "234", "250",
    "257", "331", "332", "350", "400", "421", "425", "426", "450", "451", "452", "500", "501", "502", "503",
    "530", "550", "551", "552", "553", "999",
];

/// Texts that mean something at one place: `{p}`, `{h}` and `{l}` are the data port, whole and in two.
fn meant(at: &str) -> &'static [&'static str] {
    match at {
        "EPSV" => &[
            "229 (|||{p}|)",
            "229 (!!!{p}!)",
            "229 (|||{p}",
            "229 ({p})",
            "229 |||{p}|",
            "229 (|||0|)",
            "229 (|||99999|)",
            "229 (|||x|)",
            "229 (|1|127.0.0.1|{p}|)",
            "229 (||| {p}|)",
            "229 ((|||{p}|)",
            "229 (|||{p}|) (|||1|)",
            "229 ok",
            "229-multi\r\n229 (|||{p}|)",
            "229 (111{p}1)",
            "227 (127,0,0,1,{h},{l})",
            "229 (|||1|)",
        ],
        "PASV" => &[
            "227 (127,0,0,1,{h},{l})",
            "227 127,0,0,1,{h},{l}",
            "227 in =127,0,0,1,{h},{l}",
            "227 (10,0,0,1,{h},{l})",
            "227 (127,0,0,1,{h})",
            "227 (127,0,0,256,{h},{l})",
            "227 (1127,0,0,1,{h},{l})",
            "227 (127, 0,0,1,{h},{l})",
            "227 1 2 127,0,0,1,{h},{l}",
            "227 (127,0,0,1,999,{l})",
            "227 ok",
            "229 (|||{p}|)",
            "227 ,127,0,0,1,{h},{l},7",
        ],
        "SIZE" => &[
            "213 0",
            "213 41",
            "213 10",
            "213 43",
            "213 1000",
            "213 x",
            "213 -5",
            "213 99999999999999999999",
            "213 the size is 42",
            "213 42 bytes",
            "213 42x",
            "213  42",
            "213 ",
            "213-42\r\n213 ",
            "550 no",
            "500 what",
            "213 20",
            "213 5",
            "213 7",
        ],
        "MDTM" => &[
            "213 20200102030405.5",
            "213 20301231235959",
            "213 20200102",
            "213 20201302030405",
            "213 20200132030405",
            "213 19700101000000",
            "213 19691231235959",
            "213 x",
            "213 ",
            "550 no",
            "500 what",
            "213 20200102036105",
        ],
        "PWD" => &[
            "257 \"/there/u\" ok",
            "257 /there",
            "257 \"\"",
            "257 \"/a\"\"b\" ok",
            "257 \"open",
            "257 \"rel\" ok",
            "257 x\"/there\" y",
            "257 \"C:\\dir\" ok",
            "550 no",
            "500 what",
            "257 \"/there/u/\"",
        ],
        "RETR" | "LIST" | "NLST" => &[
            "150 it (10 bytes)",
            "150 it (100 bytes)",
            "150 it (0 bytes)",
            "150 it (x bytes)",
            "150 42 bytes",
            "125 open",
            "150 a (1) (42 bytes)",
            "550 no",
            "450 busy",
            "226 done",
            "425 no",
            "150-a\r\n150 it comes (42 bytes)",
            "110 x",
        ],
        "STOR" | "APPE" => {
            &["125 open", "550 no", "452 full", "552 full", "226 done", "250 ok", "150-a\r\n150 b", "350 x"]
        }
        DONE => &[
            "226 ok",
            "250 ok",
            "225 x",
            "426 cut",
            "451 x",
            "552 full",
            "550 x",
            "226-a\r\n226 b",
            "150 x",
            "200 x",
        ],
        "USER" | "PASS" | GREETING => {
            &["230 in", "331 pw", "332 acct", "530 no", "120 wait", "202 x", "421 busy", "220-a\r\n220 b"]
        }
        "SYST" => &["215 OS/400 x", "215 os/400", "215 OS/4000", "500 what"],
        "CWD" | "MKD" => &["550 no", "200 ok", "257 \"x\"", "500 what", "450 x"],
        _ => &["200 ok", "500 what", "550 no", "250 x", "350 x"],
    }
}

#[derive(Debug)]
struct Case {
    line: &'static str,
    faults: Vec<Mutation>,
}

impl Case {
    fn of(number: usize) -> Case {
        let mut dice =
            Dice::new(0x9e37_79b9_7f4a_7c15 ^ (number as u64 + 1).wrapping_mul(0xbf58_476d_1ce4_e5b9));
        (0..8).for_each(|_| _ = dice.roll(2));
        let line = LINES[number % LINES.len()];
        let faults = (0..1 + dice.roll(4) / 3).map(|_| fault(&mut dice, line)).collect();
        Case { line, faults }
    }
}

/// Chooses a place that the command line passes; others would mostly have no effect.
fn place(dice: &mut Dice, line: &str) -> &'static str {
    let has = |what: &str| line.contains(what);
    loop {
        let at = PLACES[dice.roll(PLACES.len())];
        let folder = line.split(' ').next().is_some_and(|url| url.ends_with('/'));
        let fits = match at {
            "CWD" => has("dir") || has("abs"),
            "MKD" => has("create-dirs"),
            "EPSV" => !has("-P") && !has("--disable-epsv"),
            "EPRT" => has("-P") && !has("--disable-eprt"),
            "PORT" => has("-P"),
            "STOR" => has("-T") && !has("-a") && !has("-C 7"),
            "APPE" => has("-T") && (has("-a") || has("-C")),
            "RETR" => !has("-T") && !has("-I") && !folder,
            "LIST" => folder && !has("-l"),
            "NLST" => has("-l") || has("type=D"),
            "SIZE" => !has("-T") && !folder || has("-C -"),
            "MDTM" => has("-R") || has("-z"),
            "REST" => has("-C") || has("-r") || has("-I"),
            "SYST" | "NOOP" | "DELE" => has(at),
            "PRET" => has("pret"),
            "ABOR" => has("-r"),
            DATA | DONE => !has("-I"),
            _ => true,
        };
        if fits {
            return at;
        }
    }
}

fn fault(dice: &mut Dice, line: &str) -> Mutation {
    let at = place(dice, line);
    let nth = if dice.roll(4) == 0 { None } else { Some(dice.roll(6) / 4) };
    let what = if at == DATA { data_fault(dice) } else { reply_fault(dice, at) };
    Mutation { at, nth, what }
}

fn data_fault(dice: &mut Dice) -> Change {
    match dice.roll(6) {
        0 | 1 => Change::Refuse,
        2 | 3 => Change::Short([0, 1, 10, 41][dice.roll(4)]),
        4 => Change::Long,
        _ => Change::Early,
    }
}

fn reply_fault(dice: &mut Dice, at: &str) -> Change {
    let texts = meant(at);
    let text = match dice.roll(2) {
        0 => texts[dice.roll(texts.len())].to_owned(),
        _ => format!(
            "{} {}",
            CODES[dice.roll(CODES.len())],
            ["it is", "", "(|||{p}|)", "\"/x\""][dice.roll(4)]
        ),
    };
    let whole = format!("{text}\r\n");
    let code = &text[..3];
    match dice.roll(24) {
        0 => Change::SayAndCut(Vec::new()),
        1 | 2 => Change::SayAndCut(whole.into_bytes()),
        3 => Change::SayAndCut(whole.as_bytes()[..whole.len() / 2].to_vec()),
        4 => Change::Say(format!("{code}-first\r\n second\r\n{whole}").into_bytes()),
        5 => Change::Say(format!("{code}-first\r\n200 not the end\r\n{whole}").into_bytes()),
        6 => Change::Say(format!("{text}\n").into_bytes()),
        7 => Change::Say(format!("\r\n{whole}").into_bytes()),
        8 => Change::Say(format!("12\r\nwhat is this\r\n{whole}").into_bytes()),
        9 => Change::Say(format!("{whole}{whole}").into_bytes()),
        10 => Change::Say(format!("{code}{}\r\n", " long".repeat(1200)).into_bytes()),
        11 if dice.roll(4) == 0 => Change::Say(Vec::new()),
        11 if dice.roll(3) == 0 => Change::Say(format!("{code}-never\r\n").into_bytes()),
        12 => Change::Say(format!("{code}\tx\r\n{whole}").into_bytes()),
        _ => Change::Say(whole.into_bytes()),
    }
}

#[derive(PartialEq, Debug)]
struct Trace {
    code: Option<i32>,
    stdout: String,
    files: BTreeMap<String, String>,
    seen: Vec<Vec<String>>,
}

fn trace(case: &Case, program: &str) -> (Trace, String) {
    let folder = empty_folder();
    std::fs::write(folder.join("up"), "upload body\n".repeat(4)).unwrap();
    std::fs::write(folder.join("five"), "01234").unwrap();
    let server = Mutant::start(case.faults.clone()).unwrap();
    let url = format!("ftp://127.0.0.1:{}", server.port());
    let words = case.line.split(' ').map(|word| match word.strip_prefix('U') {
        Some(path) if path.starts_with('/') => format!("{url}{path}"),
        _ => word.replace('~', " "),
    });
    let words: Vec<String> =
        ["-q", "-sS", "--max-time", "2"].iter().map(|w| w.to_string()).chain(words).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let out = run(program, &words, &folder);
    let seen = server.seen().into_iter().map(|lines| lines.into_iter().map(portless).collect()).collect();
    let files = std::fs::read_dir(&folder).unwrap().flatten();
    let files = files.map(|entry| {
        let content = std::fs::read(entry.path()).unwrap_or_default();
        (entry.file_name().to_string_lossy().into_owned(), String::from_utf8_lossy(&content).into_owned())
    });
    let files = files.collect();
    let _ = std::fs::remove_dir_all(&folder);
    let stdout = String::from_utf8_lossy(&out.stdout).into_owned();
    (
        Trace { code: out.status.code(), stdout, files, seen },
        String::from_utf8_lossy(&out.stderr).into_owned(),
    )
}

fn portless(command: String) -> String {
    match command.split_once(' ') {
        Some((verb @ ("EPRT" | "PORT"), _)) => verb.to_owned(),
        _ => command,
    }
}

/// Returns why the two may differ: a difference between 8.22 and 7.88, or harm to a user.
fn argued(case: &Case) -> Option<&'static str> {
    let says = |at: &str, what: &str| {
        let fits = |fault: &Mutation| match &fault.what {
            Change::Say(octets) | Change::SayAndCut(octets) => {
                fault.at == at && String::from_utf8_lossy(octets).contains(what)
            }
            _ => false,
        };
        case.faults.iter().any(fits)
    };
    // Two replies to one command: the lines of all commands with one of them.
    let replies = |octets: &[u8]| {
        let ends =
            |line: &&[u8]| line.len() > 3 && line[3] == b' ' && line[..3].iter().all(u8::is_ascii_digit);
        octets.split(|&octet| octet == b'\n').filter(ends).count()
    };
    let one_too_many = case.faults.iter().any(|fault| match &fault.what {
        Change::Say(octets) | Change::SayAndCut(octets) => replies(octets) > 1,
        _ => false,
    });
    let folder = case.line.split(' ').any(|word| word.starts_with("U/") && word.ends_with('/'));
    let rules = [
        (folder && case.line.contains(" -Q +"), "8.17 and later send CURLOPT_PREQUOTE before listings, too"),
        (says("EPSV", "(||| "), "8.22 takes no blank before the port"),
        (says("PWD", "\"open"), "8.22 refuses a path whose quote does not end (case 1152)"),
        (says("PWD", "\"\""), "an empty path is none"),
        (case.faults.iter().any(tells_no_size), "no digits are no size: 7.88 reads 0"),
        (
            one_too_many && case.line.matches("U/").count() > 1,
            "a connection that is out of step is not used again",
        ),
        (
            case.faults.iter().any(|fault| fault.at == "TYPE") && case.line.matches("U/").count() > 1,
            "7.88 takes a TYPE that was refused for done: the next file could come converted",
        ),
    ];
    rules.iter().find(|(holds, _)| *holds).map(|(_, reason)| *reason)
}

fn tells_no_size(fault: &Mutation) -> bool {
    let (Change::Say(octets) | Change::SayAndCut(octets)) = &fault.what else { return false };
    let last = octets.trim_ascii_end().rsplit(|&octet| octet == b'\n').next().unwrap_or_default();
    fault.at == "SIZE" && last.starts_with(b"213") && !last[3..].iter().any(u8::is_ascii_digit)
}

#[test]
fn mutated_servers_are_met_as_curl_meets_them() {
    let asked = std::env::var("FTP_MUTANTS").ok();
    let cases = asked.as_deref().map_or(USUAL, |text| {
        let (from, to) = text.split_once("..").expect("FTP_MUTANTS=from..to");
        from.parse().unwrap()..to.parse().unwrap()
    });
    let next = AtomicUsize::new(cases.start);
    let wrong = Mutex::new(Vec::new());
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= cases.end {
                return;
            }
            let case = Case::of(number);
            let same = || {
                let (theirs, said) = trace(&case, CURL);
                let (ours, we_said) = trace(&case, tool());
                if theirs == ours { Ok(()) } else { Err(Box::new((theirs, said, ours, we_said))) }
            };
            // Some cases are races on a busy machine: real differences persist.
            if argued(&case).is_none()
                && let Err(traces) = same().or_else(|_| same())
            {
                wrong.lock().unwrap().push((number, shown(number, &case, &traces)));
            }
        }
    };
    std::thread::scope(|scope| (0..THREADS).for_each(|_| drop(scope.spawn(work))));
    let mut wrong = wrong.into_inner().unwrap();
    wrong.sort();
    let texts: Vec<&str> = wrong.iter().map(|(_, text)| text.as_str()).collect();
    if asked.is_some() {
        println!("{}", texts.join("\n"));
    }
    let mut comparison = Comparison::new("ftp_mutants");
    if wrong.len() * 100 > cases.len() * MOST {
        comparison.add_unrecorded(texts.into_iter().map(str::to_owned));
    }
    comparison.judge();
}

fn shown(
    number: usize,
    case: &Case,
    (theirs, said, ours, we_said): &(Trace, String, Trace, String),
) -> String {
    let faults: Vec<String> = case
        .faults
        .iter()
        .map(|fault| {
            let what = match &fault.what {
                Change::Say(octets) => format!("says {:?}", short(octets)),
                Change::SayAndCut(octets) => format!("says {:?} and cuts", short(octets)),
                other => format!("{other:?}"),
            };
            format!("{} #{:?} {what}", fault.at, fault.nth)
        })
        .collect();
    let mut text = format!("[{number}] {}  <- {}", case.line, faults.join("; "));
    let mut differ = |name: &str, theirs: String, ours: String| {
        if theirs != ours {
            text += &format!("\n    {name}: curl {theirs}\n    {name}: ours {ours}");
        }
    };
    differ(
        "code",
        format!("{:?} {}", theirs.code, said.trim()),
        format!("{:?} {}", ours.code, we_said.trim()),
    );
    differ("stdout", format!("{:?}", theirs.stdout), format!("{:?}", ours.stdout));
    differ("files", format!("{:?}", theirs.files), format!("{:?}", ours.files));
    differ("seen", format!("{:?}", theirs.seen), format!("{:?}", ours.seen));
    text
}

fn short(octets: &[u8]) -> String {
    String::from_utf8_lossy(&octets[..octets.len().min(60)]).into_owned()
}
