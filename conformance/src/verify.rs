//! Compares the results of a run with the case's `<verify>` and `<reply>` parts. Every existing part is
//! checked, and every difference is reported.

use std::fs;
use std::path::Path;

use crate::format::{Part, Script};
use crate::peers::CaseContext;
use crate::run::LOG;
use crate::strip::{self, Kind};
use crate::{diff, prepro};

/// Returns all differences; none if the case passes.
pub fn check(script: &Script, folder: &Path, stage: &CaseContext, exit: i32) -> Vec<String> {
    let judge = Judge { script, folder, stage };
    let mut complaints = vec![];
    let checks = [
        judge.output("stdout"),
        judge.output("stderr"),
        judge.conversation("protocol", stage.server_input.bytes()),
        judge.data(),
        judge.upload(),
        judge.conversation("proxy", stage.proxy_input.bytes()),
        judge.socks(),
        judge.dns(),
        judge.exit(exit),
    ];
    complaints.extend(checks.into_iter().filter_map(Result::err));
    complaints.extend(judge.files());
    complaints.extend(judge.not_there());
    complaints
}

struct Judge<'a> {
    script: &'a Script,
    folder: &'a Path,
    stage: &'a CaseContext,
}

type Check = Result<(), String>;

impl Judge<'_> {
    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.folder.join(name)).unwrap_or_default()
    }

    fn log(&self, stem: &str) -> Vec<u8> {
        self.read(&format!("{LOG}/{stem}{}", self.stage.number))
    }

    fn operations(&self, name: &str) -> Vec<String> {
        self.script.words("verify", name)
    }

    /// Checks curl's output on a standard stream.
    fn output(&self, name: &str) -> Check {
        let Some(part) = self.script.part("verify", name) else { return Ok(()) };
        let wanted = match part.attribute("loadfile") {
            Some(file) => self.read(file).split(|&b| b == b'\r').collect::<Vec<_>>().concat(),
            None => part.bytes(),
        };
        let got = strip::apply(Kind::Filter, &self.operations("stripfile"), self.log(name))?;
        compare(name, &wanted, &got)
    }

    /// Checks what curl sent to a server.
    fn conversation(&self, name: &str, got: Vec<u8>) -> Check {
        let Some(part) = self.script.part("verify", name) else { return Ok(()) };
        let patterns = self.operations("strip");
        let got = strip::apply(Kind::Pattern, &patterns, got)?;
        let got = strip::apply(Kind::Operation, &self.operations("strippart"), got)?;
        let wanted = strip::apply(Kind::Pattern, &patterns, part.bytes())?;
        compare(name, &wanted, &got)
    }

    /// Checks what curl received and stored.
    fn data(&self) -> Check {
        let reply = self.script.part("reply", "data");
        if reply.is_some_and(|p| p.says("nocheck")) {
            return Ok(());
        }
        let checks: Vec<&Part> = ["datacheck", "datacheck1", "datacheck2", "datacheck3", "datacheck4"]
            .iter()
            .filter_map(|name| self.script.part("reply", name))
            .collect();
        let wanted = if checks.is_empty() {
            reply.map(Part::bytes).unwrap_or_default()
        } else {
            checks.iter().flat_map(|p| p.bytes()).collect()
        };
        if wanted.is_empty() && !reply.is_some_and(|p| p.says("sendzero")) {
            return Ok(());
        }
        compare("data", &wanted, &self.read(&format!("{LOG}/curl{}.out", self.stage.number)))
    }

    fn upload(&self) -> Check {
        let Some(part) = self.script.part("verify", "upload") else { return Ok(()) };
        let got = self.log("upload.");
        let got = strip::apply(Kind::Operation, &self.operations("strippart"), got)?;
        compare("upload", &part.bytes(), &got)
    }

    fn socks(&self) -> Check {
        let Some(part) = self.script.part("verify", "socks") else { return Ok(()) };
        compare("socks", &part.bytes(), &self.stage.socks_input.bytes())
    }

    /// Checks the DNS queries, sorted: their order is up to the resolver.
    fn dns(&self) -> Check {
        let Some(part) = self.script.filled("verify", "dns") else { return Ok(()) };
        let host = part.attribute("host").and_then(|h| h.split(' ').next());
        let sorted = |text: Vec<u8>| {
            let mut lines: Vec<&[u8]> = text.split_inclusive(|&b| b == b'\n').collect();
            lines.retain(|l| host.is_none_or(|h| prepro::find(l, h.as_bytes()).is_some()));
            lines.sort_unstable();
            lines.dedup();
            lines.concat()
        };
        compare("dns", &sorted(part.bytes()), &sorted(self.stage.dns_input.bytes()))
    }

    fn exit(&self, exit: i32) -> Check {
        let wanted = self.script.line("verify", "errorcode").unwrap_or_default();
        let wanted = if wanted.is_empty() { "0".into() } else { wanted };
        if wanted.split(',').any(|code| code.trim().parse() == Ok(exit)) {
            return Ok(());
        }
        let message = self.log("stderr");
        let message = String::from_utf8_lossy(&message);
        let message = message.lines().last().unwrap_or_default();
        Err(format!("exit code {exit} where {wanted} is expected  {message}"))
    }

    /// Checks the files that curl had to create.
    fn files(&self) -> Vec<String> {
        let parts = self.script.parts().iter().filter(|p| p.section == "verify" && crate::run::is_file(p));
        parts.filter_map(|part| self.file(part).err()).collect()
    }

    fn file(&self, part: &Part) -> Check {
        let name = part.attribute("name").ok_or_else(|| format!("<{}> has no name", part.name))?;
        let suffix = part.name.trim_start_matches("file");
        // a missing file counts as empty: case 376 checks that for a removed one
        let operations = self.operations(&format!("stripfile{suffix}"));
        let got = strip::apply(Kind::Filter, &operations, self.read(name))?;
        compare(&format!("file {name}"), &part.bytes(), &got)
    }

    fn not_there(&self) -> Vec<String> {
        let names = self.script.words("verify", "notexists");
        names
            .iter()
            .filter(|n| self.folder.join(n).exists())
            .map(|n| format!("{n} exists and should not"))
            .collect()
    }
}

fn compare(what: &str, wanted: &[u8], got: &[u8]) -> Check {
    if is_one_of(wanted, got) {
        return Ok(());
    }
    Err(format!("{what} differs (- expected, + got):\n{}", diff::show(wanted, got).trim_end()))
}

/// Equal, either way that each `%alternatives[a,b]` can be read.
fn is_one_of(wanted: &[u8], got: &[u8]) -> bool {
    const OPEN: &[u8] = b"%alternatives[";
    let Some(start) = prepro::find(wanted, OPEN) else { return wanted == got };
    let inside = &wanted[start + OPEN.len()..];
    let Some(end) = inside.iter().position(|&b| b == b']') else { return wanted == got };
    let choices = inside[..end].splitn(2, |&b| b == b',');
    choices.map(|choice| [&wanted[..start], choice, &inside[end + 1..]].concat()).any(|w| is_one_of(&w, got))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(verify: &str, exit: i32) -> Vec<String> {
        let folder = std::env::temp_dir().join(format!("warmwire-verify-{}", std::process::id()));
        fs::create_dir_all(folder.join(LOG)).unwrap();
        fs::write(folder.join("made"), "line 17\n").unwrap();
        let stage = CaseContext::new(5, folder.join(LOG), folder.clone(), false);
        stage.server_input.append(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n");
        let script = Script::parse(format!("<verify>\n{verify}</verify>\n").as_bytes()).unwrap();
        check(&script, &folder, &stage, exit)
    }

    #[test]
    fn each_part_is_checked() {
        assert!(complaints("", 0).is_empty());
        assert_eq!(complaints("", 7).len(), 1);
        assert!(complaints("<errorcode>\n6,7\n</errorcode>\n", 7).is_empty());
        let protocol = "<protocol crlf=\"yes\">\nGET / HTTP/1.1\nHost: x\n\n</protocol>\n";
        assert!(complaints(protocol, 0).is_empty());
        assert!(complaints("<protocol>\nGET / HTTP/1.1\n</protocol>\n", 0)[0].contains("protocol differs"));
        assert!(complaints("<file name=\"made\">\nline %alternatives[16,17]\n</file>\n", 0).is_empty());
        assert!(!complaints("<file name=\"made\">\nline 18\n</file>\n", 0).is_empty());
        assert!(!complaints("<notexists>\nmade\n</notexists>\n", 0).is_empty());
        assert!(!complaints("<stdout>\nhello\n</stdout>\n", 0).is_empty());
        let stripped = "<file name=\"made\">\nline N\n</file>\n<stripfile>\ns/\\d+/N/\n</stripfile>\n";
        assert!(complaints(stripped, 0).is_empty());
    }
}
