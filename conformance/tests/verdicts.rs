//! The runner in use, on cases written here: the verdicts, the last line and the exit code. Debian's curl is
//! the curl under test.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const CURL: &str = "/usr/bin/curl";

struct Cases(PathBuf);

impl Cases {
    fn new(name: &str) -> Cases {
        let folder = std::env::temp_dir().join(format!("warmwire-verdicts-{name}-{}", std::process::id()));
        fs::create_dir_all(folder.join("cases")).unwrap();
        Cases(folder)
    }

    fn add(&self, number: u32, server: &str, features: &str, verify: &str) {
        let case = format!(
            "<testcase>\n<info>\n<keywords>\nx\n</keywords>\n</info>\n\
             <reply>\n<data crlf=\"headers\">\nHTTP/1.1 200 OK\nContent-Length: 5\n\nbody\n</data>\n</reply>\n\
             <client>\n<server>\n{server}\n</server>\n<features>\n{features}\n</features>\n<name>\nname\n</name>\n\
             <command>\nhttp://%HOSTIP:%HTTPPORT/%TESTNUMBER -A me\n</command>\n</client>\n\
             <verify>\n{verify}\n</verify>\n</testcase>\n"
        );
        fs::write(self.0.join(format!("cases/test{number}")), case).unwrap();
    }

    /// Returns whether the run succeeded, and its output.
    fn run(&self, arguments: &[&str]) -> (bool, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_warmwire-conformance"))
            .arg(self.0.join("cases"))
            .args(["--curl", CURL])
            .args(arguments)
            .output()
            .unwrap();
        (output.status.success(), String::from_utf8(output.stdout).unwrap())
    }

    fn list(&self, text: &str) -> String {
        let path = self.0.join("skip.txt");
        fs::write(&path, text).unwrap();
        path.display().to_string()
    }
}

impl Drop for Cases {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn last(text: &str) -> &str {
    text.lines().last().unwrap_or_default()
}

const REQUEST: &str = "<protocol crlf=\"headers\">\nGET /%TESTNUMBER HTTP/1.1\nHost: %HOSTIP:%HTTPPORT\n\
    User-Agent: me\nAccept: */*\n\n</protocol>";

fn curl_is_there() -> bool {
    let there = Path::new(CURL).exists();
    if !there {
        eprintln!("no {CURL}: not tested");
    }
    there
}

#[test]
fn each_verdict_where_it_must() {
    if !curl_is_there() {
        return;
    }
    let cases = Cases::new("each");
    cases.add(1, "http", "", REQUEST);
    cases.add(2, "http", "", &REQUEST.replace("/%TESTNUMBER", "/other"));
    cases.add(3, "http", "telepathy", REQUEST);
    cases.add(4, "quake", "", REQUEST);
    cases.add(5, "http", "", &format!("{REQUEST}\n<taste>\nsweet\n</taste>"));
    cases.add(6, "http", "", &format!("{REQUEST}\n<errorcode>\n7\n</errorcode>"));
    let (fine, text) = cases.run(&[]);
    assert!(!fine);
    assert_eq!(last(&text), "1 passed, 3 failed, 2 skipped", "{text}");
    for line in [
        "FAIL 2 ",
        "skip 3 [name] curl lacks telepathy",
        "skip 4 ",
        "unknown part <taste>",
        "exit code 0 where 7",
    ] {
        assert!(text.contains(line), "{line} in {text}");
    }
    let (fine, text) = cases.run(&["--only", "1"]);
    assert!(fine);
    assert_eq!(last(&text), "1 passed, 0 failed, 0 skipped");
}

#[test]
fn the_skip_list_only_shrinks() {
    if !curl_is_there() {
        return;
    }
    let cases = Cases::new("list");
    cases.add(1, "http", "", REQUEST);
    cases.add(2, "http", "", &REQUEST.replace("/%TESTNUMBER", "/other"));
    let list = cases.list("# head\n2 asks for another path\n");
    let (fine, text) = cases.run(&["--skip-list", &list]);
    assert!(fine, "{text}");
    assert_eq!(last(&text), "1 passed, 0 failed, 1 skipped");
    let list = cases.list("# head\n1 will not pass\n2 asks for another path\n");
    let (fine, text) = cases.run(&["--skip-list", &list, "--prune"]);
    assert!(!fine);
    assert!(text.contains("take it off"), "{text}");
    assert_eq!(fs::read_to_string(&list).unwrap(), "# head\n2 asks for another path\n");
}
