//! Runs one case, from its file to its verdict: checks whether it can be run, opens its servers,
//! preprocesses, prepares its directory, runs the command, and passes the results to `verify`.

use std::fs;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::features::Features;
use crate::format::{Part, Script};
use crate::peers::case_context::{Hall, Open};
use crate::peers::{self, CaseContext, ssh, tls};
use crate::prepro::{self, Variables};
use crate::{known, verify};

/// Settings of a run for every case.
pub struct Settings {
    pub curl: PathBuf,
    /// The command that runs it, where the system can't: Wine.
    pub through: Option<String>,
    /// The directory of the libcurl that curl loads, if not its own.
    pub library: Option<PathBuf>,
    /// The folder of the case files.
    pub cases: PathBuf,
    /// Where the cases get their folders.
    pub work: PathBuf,
    /// Where the certificates are.
    pub certificates: PathBuf,
    pub features: Features,
    pub user: String,
    pub date: String,
    pub verbose: bool,
}

impl Settings {
    /// Returns the first words of a command line.
    fn command_word(&self) -> String {
        let through = self.through.iter().map(|command| format!("{command} "));
        through.collect::<String>() + &quoted(&self.curl)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Passed,
    Failed(String),
    Skipped(String),
}

/// The result of a case.
pub struct Outcome {
    pub name: String,
    /// Its first server, for the tally.
    pub server: String,
    /// Whether all its servers can be played and its files are there, so that its verdict means something.
    pub playable: bool,
    pub verdict: Verdict,
    /// The command and the transcript of its connections, if requested.
    pub conversation: String,
    pub seconds: f32,
}

/// How long a command may take. The slowest published case takes eleven seconds.
const LIMIT: Duration = Duration::from_secs(30);
/// Time for servers to notice that the client is gone.
const SETTLE: Duration = Duration::from_secs(5);
/// Under which Wine shows a Windows program the root of the file system. A case's folder is on it, so that
/// names with slashes are found without it.
const DRIVE: &str = "Z:";
/// The name of `%LOGDIR` in a case's folder.
pub const LOG: &str = "log";

/// Runs a case. The caller removes a directory that is left behind.
pub fn run(number: u64, settings: &Settings) -> Outcome {
    let started = Instant::now();
    let mut outcome = Outcome {
        name: String::new(),
        server: "none".into(),
        playable: true,
        verdict: Verdict::Passed,
        conversation: String::new(),
        seconds: 0.0,
    };
    outcome.verdict = attempt(number, settings, &mut outcome).unwrap_or_else(|early| early);
    outcome.seconds = started.elapsed().as_secs_f32();
    outcome
}

/// The verdict; `Err` where it is clear before the command is run.
fn attempt(number: u64, settings: &Settings, outcome: &mut Outcome) -> Result<Verdict, Verdict> {
    let text = fs::read(settings.cases.join(format!("test{number}"))).map_err(|e| fail(e.to_string()))?;
    let folder = settings.work.join(number.to_string());
    let mut variables = variables(number, &folder, settings);
    let written =
        preprocessed(&text, &variables, &folder, settings).inspect_err(|_| outcome.playable = false)?;
    let written = Script::parse(&written).map_err(fail)?;
    outcome.name = written.line("client", "name").unwrap_or_default();
    let servers = written.words("client", "server");
    outcome.server = servers.first().cloned().unwrap_or_else(|| "none".into());
    if let Some(server) = servers.iter().find(|s| !peers::is_built(s)) {
        outcome.playable = false;
        return Err(Verdict::Skipped(format!("no {server} server here yet")));
    }
    refuse(&written, &servers, settings)?;
    if let Some(file) = absent_file(&written, &folder, settings) {
        outcome.playable = false;
        return Err(Verdict::Skipped(format!("needs an absent file: {file}")));
    }
    let case = Case::prepare(number, &text, &servers, folder, &mut variables, settings)?;
    let verdict = case.play(settings);
    if settings.verbose {
        outcome.conversation = case.conversation();
    }
    verdict
}

fn preprocessed(
    text: &[u8],
    variables: &Variables,
    folder: &Path,
    settings: &Settings,
) -> Result<Vec<u8>, Verdict> {
    let has = |feature: &str| settings.features.has(feature);
    prepro::preprocess(text, variables, &has, folder)
        .map_err(|why| if why.contains("absent file") { Verdict::Skipped(why) } else { fail(why) })
}

/// Returns reasons not to run the case that are known from the file alone.
fn refuse(written: &Script, servers: &[String], settings: &Settings) -> Result<(), Verdict> {
    if let Some(what) = known::unknown(written) {
        return Err(fail(what));
    }
    if let Some(why) = settings.features.lacks(&written.words("client", "features")) {
        return Err(Verdict::Skipped(why));
    }
    let names = servers.iter().filter_map(|s| s.split_whitespace().next());
    if let Some(why) = names.filter_map(|s| settings.features.lacks_server(s)).next() {
        return Err(Verdict::Skipped(why));
    }
    let wants_v6 = servers.iter().any(|s| s.ends_with("-ipv6"));
    if wants_v6 && std::net::TcpListener::bind("[::1]:0").is_err() {
        return Err(Verdict::Skipped("no IPv6 on this machine".into()));
    }
    if written.part("client", "tool").is_some() {
        return Err(Verdict::Skipped("runs a test program of curl's".into()));
    }
    Ok(())
}

fn fail(why: impl Into<String>) -> Verdict {
    Verdict::Failed(why.into())
}

/// A case ready to be run: its folder is there and its servers receive.
struct Case {
    number: u64,
    folder: PathBuf,
    script: Script,
    stage: Arc<CaseContext>,
    hall: std::cell::Cell<Option<Open>>,
    command_line: std::cell::RefCell<String>,
}

impl Case {
    fn prepare(
        number: u64,
        text: &[u8],
        servers: &[String],
        folder: PathBuf,
        variables: &mut Variables,
        settings: &Settings,
    ) -> Result<Case, Verdict> {
        let io = |e: std::io::Error| fail(format!("cannot lay out the folder: {e}"));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join(LOG)).map_err(io)?;
        let mut hall = Hall::new(folder.clone());
        peers::open(servers, &mut hall, variables).map_err(fail)?;
        if servers.iter().any(|s| s == "sftp" || s == "scp") {
            ssh::lay_out(&settings.certificates, &folder.join(LOG), variables).map_err(fail)?;
        }
        let processed = preprocessed(text, variables, &folder, settings)?;
        fs::write(folder.join(LOG).join(format!("test{number}")), &processed).map_err(io)?;
        let script = Script::parse(&processed).map_err(fail)?;
        let stage = CaseContext::new(number, folder.join(LOG), settings.cases.clone(), settings.verbose);
        stage.set_script(script.clone());
        let stage = Arc::new(stage);
        let hall = std::cell::Cell::new(Some(hall.open(stage.clone())));
        Ok(Case { number, folder, script, stage, hall, command_line: Default::default() })
    }

    fn play(&self, settings: &Settings) -> Result<Verdict, Verdict> {
        let verdict = self.act(settings);
        self.stage.stop();
        drop(self.hall.take());
        verdict
    }

    fn act(&self, settings: &Settings) -> Result<Verdict, Verdict> {
        self.precheck(settings)?;
        self.write_files().map_err(fail)?;
        let exit = self.command(settings)?;
        self.settle();
        self.write_logs().map_err(fail)?;
        let mut complaints = vec![];
        if let Err(why) = self.postcheck(settings) {
            complaints.push(why);
        }
        complaints.extend(verify::check(&self.script, &self.folder, &self.stage, exit));
        if complaints.is_empty() { Ok(Verdict::Passed) } else { Ok(fail(complaints.join("\n"))) }
    }

    /// Runs the precheck. If it prints something or fails, the case is skipped.
    fn precheck(&self, settings: &Settings) -> Result<(), Verdict> {
        let Some(line) = self.script.line("client", "precheck").filter(|l| !l.is_empty()) else {
            return Ok(());
        };
        let output = self.shell(&line, settings).output().map_err(|e| fail(format!("precheck: {e}")))?;
        let stdout = String::from_utf8_lossy(&output.stdout);
        match stdout.lines().next() {
            Some(reason) => Err(Verdict::Skipped(reason.to_owned())),
            None if !output.status.success() => Err(Verdict::Skipped("precheck command error".into())),
            None => Ok(()),
        }
    }

    fn postcheck(&self, settings: &Settings) -> Result<(), String> {
        let Some(part) = self.script.filled("verify", "postcheck") else { return Ok(()) };
        let line = String::from_utf8_lossy(&part.bytes()).trim_end().to_owned();
        let output = self.shell(&line, settings).output().map_err(|e| format!("postcheck: {e}"))?;
        if output.status.success() {
            return Ok(());
        }
        Err(format!("postcheck failed: {}", String::from_utf8_lossy(&output.stderr).trim()))
    }

    fn write_files(&self) -> Result<(), String> {
        for part in self.script.parts().iter().filter(|p| p.section == "client" && is_file(p)) {
            let name = part.attribute("name").ok_or_else(|| format!("<{}> has no name", part.name))?;
            let path = self.folder.join(name);
            let parent = path.parent().unwrap_or(&self.folder);
            fs::create_dir_all(parent)
                .and_then(|()| fs::write(&path, part.bytes()))
                .map_err(|e| format!("{name}: {e}"))?;
        }
        if let Some(part) = self.script.filled("client", "stdin") {
            fs::write(self.path("stdin-for-"), part.bytes()).map_err(|e| e.to_string())?;
        }
        Ok(())
    }

    /// Writes what the servers received, where cases look for it.
    fn write_logs(&self) -> Result<(), String> {
        let logs = [
            ("server.input", &self.stage.server_input),
            ("proxy.input", &self.stage.proxy_input),
            ("socksd-request.log", &self.stage.socks_input),
            ("dnsd.input", &self.stage.dns_input),
        ];
        for (name, sink) in logs {
            fs::write(self.folder.join(LOG).join(name), sink.bytes()).map_err(|e| format!("{name}: {e}"))?;
        }
        Ok(())
    }

    /// Runs curl as the case says; its exit code.
    fn command(&self, settings: &Settings) -> Result<i32, Verdict> {
        let line = self.command_line(settings);
        self.command_line.replace(line.clone());
        let stdin = match self.script.filled("client", "stdin") {
            Some(_) => fs::File::open(self.path("stdin-for-")).map(Stdio::from),
            None => Ok(Stdio::null()),
        };
        let create = |stem: &str| fs::File::create(self.path(stem)).map(Stdio::from);
        let (stdin, stdout, stderr) = stdin
            .and_then(|i| Ok((i, create("stdout")?, create("stderr")?)))
            .map_err(|e| fail(e.to_string()))?;
        let mut command = self.shell(&line, settings);
        let mut child = command
            .stdin(stdin)
            .stdout(stdout)
            .stderr(stderr)
            .process_group(0)
            .spawn()
            .map_err(|e| fail(e.to_string()))?;
        wait(&mut child, LIMIT).ok_or_else(|| fail(format!("took longer than {} seconds", LIMIT.as_secs())))
    }

    fn command_line(&self, settings: &Settings) -> String {
        let part = self.script.part("client", "command");
        let option = |word: &str| part.and_then(|p| p.attribute("option")).is_some_and(|o| o.contains(word));
        let lines = part.map(|p| p.raw_lines().concat()).unwrap_or_default();
        let own = String::from_utf8_lossy(&lines).trim_end_matches('\n').replace('\n', " ");
        match part.and_then(|p| p.attribute("type")) {
            Some("perl") => return format!("perl {own}"),
            Some("shell") => return format!("/bin/sh {own}"),
            _ => {}
        }
        let number = self.number;
        let mut line = settings.command_word();
        if !option("no-q") {
            line += " -q";
        }
        let stdout_is_checked = self.script.part("verify", "stdout").is_some();
        if !option("no-output") && (!stdout_is_checked || option("force-output")) {
            line += &format!(" --output {LOG}/curl{number}.out");
        }
        if !option("no-include") {
            line += " --include";
        }
        let trace = if option("binary-trace") { "--trace" } else { "--trace-ascii" };
        line += &format!(" {trace} {LOG}/trace{number}");
        // the option exists since 8.3
        if settings.features.at_least(8, 3) {
            line += " --trace-config all";
        }
        let names = self.script.words("client", "setenv");
        for server in names.iter().filter_map(|line| line.strip_prefix("CURL_DNS_SERVER=")) {
            line += &format!(" --dns-servers {server}");
        }
        format!("{line} --trace-time {own}")
    }

    /// Waits until the servers are done, or ends those that the case names.
    fn settle(&self) {
        let part = self.script.part("client", "command");
        let seconds = |name: &str| part.and_then(|p| p.attribute(name)).and_then(|s| s.trim().parse().ok());
        if let Some(delay) = seconds("delay") {
            std::thread::sleep(Duration::from_secs(delay));
        }
        let limit = seconds("timeout").map_or(SETTLE, Duration::from_secs);
        if self.script.part("client", "killserver").is_some() {
            self.stage.stop();
        }
        if let Some(hall) = self.hall.take() {
            hall.wait_until_empty(limit);
            self.hall.set(Some(hall));
        }
    }

    fn path(&self, stem: &str) -> PathBuf {
        self.folder.join(LOG).join(format!("{stem}{}", self.number))
    }

    /// A shell in the case's folder and environment.
    fn shell(&self, line: &str, settings: &Settings) -> Command {
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(line).current_dir(&self.folder).stdin(Stdio::null());
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy().to_lowercase();
            let meddles =
                ["_proxy", "curl_", "ssl_", "lc_", "lang", "netrc", "sslkeylogfile", "ipfs_path", "make"];
            if meddles.iter().any(|m| text.starts_with(m) || (*m == "_proxy" && text.ends_with(m))) {
                command.env_remove(name);
            }
        }
        for name in ["HOME", "CURL_HOME", "XDG_CONFIG_HOME"] {
            command.env(name, &self.folder);
        }
        if settings.through.is_some() {
            // Wine passes HOME on only under this name.
            command.env("WINEHOME", &self.folder);
        }
        command.env("COLUMNS", "79").env("CURL_ENTROPY", "12345678").env("SOURCE_DATE_EPOCH", "1767225600");
        if let Some(folder) = &settings.library {
            command.env("LD_LIBRARY_PATH", folder);
        }
        self.set_environment(&mut command);
        command
    }

    fn set_environment(&self, command: &mut Command) {
        for line in self.script.words("client", "setenv") {
            match line.split_once('=') {
                Some((name, value)) => command.env(name, value),
                None => command.env_remove(line),
            };
        }
    }

    fn conversation(&self) -> String {
        format!("$ {}\n{}", self.command_line.borrow(), self.stage.transcript())
    }
}

pub fn is_file(part: &Part) -> bool {
    part.name.strip_prefix("file").is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()))
}

/// The exit code, a signal's number above 2000, or `None` when the time is over and the group was ended.
fn wait(child: &mut Child, limit: Duration) -> Option<i32> {
    let until = Instant::now() + limit;
    let mut pause = Duration::from_millis(1);
    while Instant::now() < until {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status.code().unwrap_or_else(|| 2000 + status.signal().unwrap_or(0)));
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(10));
    }
    if let Some(group) = rustix::process::Pid::from_raw(child.id() as i32) {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.wait();
    None
}

fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', "'\\''"))
}

fn variables(number: u64, folder: &Path, settings: &Settings) -> Variables {
    let mut variables = Variables::default();
    let folder = folder.display().to_string();
    let source = settings.cases.parent().unwrap_or(&settings.cases).display().to_string();
    let curl = settings.curl.display().to_string();
    let windows = settings.features.has("win32");
    let own = std::env::current_exe().map(|p| quoted(&p)).unwrap_or_default();
    let values = [
        ("TESTNUMBER", number.to_string()),
        ("HOSTIP", "127.0.0.1".into()),
        ("HOST6IP", "[::1]".into()),
        ("CLIENTIP", "127.0.0.1".into()),
        ("CLIENT6IP", "[::1]".into()),
        ("CLIENT6IP-NB", "::1".into()),
        ("LOGDIR", LOG.into()),
        ("PWD", folder.clone()),
        ("FILE_PWD", if windows { format!("/{DRIVE}{folder}") } else { folder.clone() }),
        ("SCP_PWD", folder.clone()),
        ("SFTP_PWD", folder),
        ("SRCDIR", source),
        ("CERTDIR", settings.certificates.display().to_string()),
        ("CURL", settings.through.iter().map(|t| format!("{t} ")).collect::<String>() + &curl),
        ("PERL", "perl".into()),
        ("RESOLVE", format!("{own} resolve")),
        ("VERSION", settings.features.version.clone()),
        ("VERNUM", settings.features.version_number().to_owned()),
        ("USER", settings.user.clone()),
        ("DATE", settings.date.clone()),
        ("DEV_NULL", if windows { "NUL" } else { "/dev/null" }.into()),
        ("H2CVER", "h2c".into()),
        ("FTPTIME2", "2".into()),
        ("SSHSRVMD5", "[uninitialized]".into()),
        ("SSHSRVSHA256", "[uninitialized]".into()),
        ("SSHKEYALGO", "[uninitialized]".into()),
    ];
    for (name, value) in values {
        variables.set(name, value);
    }
    variables
}

/// A file of curl's source tree that a command of the case names and that is not there.
fn absent_file(script: &Script, folder: &Path, settings: &Settings) -> Option<String> {
    let source = settings.cases.parent()?.display().to_string() + "/";
    let parts = [("client", "precheck"), ("client", "command"), ("verify", "postcheck")];
    let words = parts.iter().filter_map(|(section, name)| script.part(section, name)).flat_map(|part| {
        let text = String::from_utf8_lossy(&part.raw_lines().concat()).into_owned();
        text.split([' ', '\n', '"', '\'', '@', '=']).map(str::to_owned).collect::<Vec<_>>()
    });
    words
        .filter(|w| w.starts_with(&source) || w.starts_with("../curl"))
        .find(|w| !folder.join(w).exists())
        .map(|w| w.strip_prefix(&source).unwrap_or(&w).to_owned())
}

/// Writes the certificates once for all cases.
pub fn lay_out_certificates(folder: &Path) -> Result<(), String> {
    let folder = folder.join("certs");
    fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    tls::write_files(&folder)
}
