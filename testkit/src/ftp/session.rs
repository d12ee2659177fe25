//! One control connection: a command, its reply, now and then a data connection.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::{PipelinedCommands, RECORD_LIMIT, RestartedUploads, Shared};
use crate::stop::Woken;

/// Time after which a client that announced a transfer and does not connect is dropped.
const DATA_LIMIT: Duration = Duration::from_secs(10);
const LINE_LIMIT: usize = 64 << 10;

/// Whether the dialogue continues.
type Going = io::Result<bool>;

struct Session<'a> {
    shared: &'a Shared,
    control: TcpStream,
    pending: Vec<u8>,
    lines_sent: usize,
    user: String,
    directory: String,
    passive: Option<TcpListener>,
    offset: usize,
    rename_from: Option<String>,
}

pub(super) fn serve(control: TcpStream, shared: &Shared) -> io::Result<()> {
    control.set_nonblocking(false)?;
    control.set_nodelay(true)?;
    let mut session = Session {
        shared,
        control,
        pending: Vec::new(),
        lines_sent: 0,
        user: String::new(),
        directory: "/".into(),
        passive: None,
        offset: 0,
        rename_from: None,
    };
    let most = shared.config.faults.most_clients.unwrap_or(usize::MAX);
    if shared.clients.load(Ordering::SeqCst) > most {
        session.reply("421 too many of you")?;
        return Ok(());
    }
    let greeting = shared.config.greeting.as_deref().unwrap_or("testkit");
    let separator = if greeting.contains('\n') { '-' } else { ' ' };
    if !session.reply(&format!("220{separator}{greeting}"))? {
        return Ok(());
    }
    while let Some(line) = session.next_command()? {
        shared.together.fetch_add(usize::from(!session.pending.is_empty()), Ordering::SeqCst);
        let going = match shared.config.faults.together {
            _ if session.pending.is_empty() => session.obey(&line)?,
            PipelinedCommands::Served => session.obey(&line)?,
            PipelinedCommands::Cut => false,
            PipelinedCommands::Refused => {
                session.pending.clear();
                session.reply("503 one after the other")?
            }
            PipelinedCommands::Discarded => {
                session.pending.clear();
                session.obey(&line)?
            }
        };
        if !going {
            break;
        }
    }
    Ok(())
}

impl Session<'_> {
    fn next_command(&mut self) -> io::Result<Option<String>> {
        loop {
            if let Some(end) = self.pending.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.pending.drain(..=end).collect();
                return Ok(Some(String::from_utf8_lossy(&line).trim_end().to_string()));
            }
            if self.shared.stop.wait(&self.control, None) != Woken::Readable
                || self.pending.len() > LINE_LIMIT
            {
                return Ok(None);
            }
            let mut scratch = [0; 4096];
            match self.control.read(&mut scratch)? {
                0 => return Ok(None),
                length => self.pending.extend_from_slice(&scratch[..length]),
            }
        }
    }

    /// Sends one line; false when the script closes the connection instead, or after it.
    fn reply(&mut self, line: &str) -> Going {
        if self.shared.config.faults.silent_after_lines.is_some_and(|limit| self.lines_sent >= limit) {
            return Ok(true);
        }
        let limit = self.shared.config.faults.cut_after_lines.unwrap_or(usize::MAX);
        if self.lines_sent < limit {
            // A client that has closed may have sent commands before, and they count: only the next read ends
            // the session.
            let _ = self.control.write_all(format!("{line}\r\n").as_bytes());
            self.lines_sent += 1;
        }
        Ok(self.lines_sent < limit)
    }

    fn obey(&mut self, line: &str) -> Going {
        let (verb, argument) = line.split_once(' ').unwrap_or((line, ""));
        let verb = verb.to_ascii_uppercase();
        self.remember(line);
        let faults = &self.shared.config.faults;
        if faults.silent_at.as_deref() == Some(&*verb) {
            return Ok(true);
        }
        if let Some(reply) = faults.replies.get(&verb) {
            return self.reply(&reply.clone());
        }
        match &*verb {
            "USER" => self.user(argument),
            "PASS" => self.password(argument),
            "PWD" => self.reply(&format!("257 \"{}\" is the place", self.directory.clone())),
            "CWD" => self.change_directory(argument),
            "TYPE" | "NOOP" | "ALLO" | "OPTS" | "STRU" | "MODE" => self.reply("200 fine"),
            "SYST" => self.reply("215 UNIX Type: L8"),
            "EPSV" => self.extended_passive(),
            "PASV" => self.passive(),
            "SIZE" => self.size(argument),
            "MDTM" => self.modified(argument),
            "REST" => self.restart(argument),
            "RETR" => self.retrieve(argument),
            "STOR" => self.store(argument, false),
            "APPE" => self.store(argument, true),
            "LIST" => self.list(argument, true),
            "NLST" => self.list(argument, false),
            "MKD" => self.make_directory(argument),
            "DELE" => self.delete(argument),
            "RNFR" => self.rename_from(argument),
            "RNTO" => self.rename_to(argument),
            "QUIT" => {
                self.shared.quits.fetch_add(1, Ordering::SeqCst);
                self.reply("221 bye")?;
                Ok(false)
            }
            _ => self.reply("502 not here"),
        }
    }

    fn remember(&self, line: &str) {
        let mut commands = self.shared.commands.lock().expect("never poisoned");
        if commands.len() < RECORD_LIMIT {
            commands.push(line.to_string());
        }
    }

    fn user(&mut self, name: &str) -> Going {
        self.user = name.to_string();
        self.reply("331 and the password")
    }

    fn password(&mut self, password: &str) -> Going {
        let given = (self.user.clone(), password.to_string());
        if self.shared.config.login.as_ref().is_some_and(|login| *login != given) {
            return self.reply("530 no");
        }
        self.shared.logins.fetch_add(1, Ordering::SeqCst);
        self.reply("230 come in")
    }

    fn change_directory(&mut self, argument: &str) -> Going {
        let path = self.absolute(argument);
        let inside = format!("{}/", path.trim_end_matches('/'));
        let known = path == "/" || self.files(|files| files.keys().any(|file| file.starts_with(&inside)));
        if !known {
            return self.reply("550 no such directory");
        }
        self.directory = path;
        self.reply("250 moved")
    }

    fn make_directory(&mut self, argument: &str) -> Going {
        let path = self.absolute(argument);
        // An empty name represents the directory itself; listings omit it.
        self.files(|files| files.insert(format!("{}/", path.trim_end_matches('/')), Vec::new()));
        self.reply(&format!("257 \"{path}\" made"))
    }

    fn extended_passive(&mut self) -> Going {
        if let Some(reply) = &self.shared.config.faults.epsv_reply {
            return self.reply(reply);
        }
        let port = self.open_passive()?.port();
        self.reply(&format!("229 Entering Extended Passive Mode (|||{port}|)"))
    }

    fn passive(&mut self) -> Going {
        if let Some(reply) = &self.shared.config.faults.pasv_reply {
            return self.reply(reply);
        }
        let port = self.open_passive()?.port();
        self.reply(&format!("227 Entering Passive Mode (127,0,0,1,{},{})", port >> 8, port & 255))
    }

    fn open_passive(&mut self) -> io::Result<SocketAddr> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        if self.shared.config.faults.refuse_data {
            return Ok(address);
        }
        listener.set_nonblocking(true)?;
        self.passive = Some(listener);
        self.shared.config.link.as_ref().map_or(Ok(address), |link| link.door_once(address))
    }

    fn size(&mut self, argument: &str) -> Going {
        let path = self.absolute(argument);
        match self.files(|files| files.get(&path).map(Vec::len)) {
            Some(size) => self.reply(&format!("213 {size}")),
            None => self.reply("550 no such file"),
        }
    }

    fn modified(&mut self, argument: &str) -> Going {
        let path = self.absolute(argument);
        match self.files(|files| files.contains_key(&path)) {
            true => self.reply("213 20240102030405"),
            false => self.reply("550 no such file"),
        }
    }

    fn restart(&mut self, argument: &str) -> Going {
        match argument.trim().parse() {
            Ok(offset) => {
                self.offset = offset;
                self.reply("350 from there")
            }
            Err(_) => self.reply("501 not a number"),
        }
    }

    fn retrieve(&mut self, argument: &str) -> Going {
        let path = self.absolute(argument);
        let offset = std::mem::take(&mut self.offset);
        match self
            .files(|files| files.get(&path).map(|content| content[offset.min(content.len())..].to_vec()))
        {
            Some(content) => self.send_data(&content),
            None => self.reply("550 no such file"),
        }
    }

    fn list(&mut self, argument: &str, long: bool) -> Going {
        let argument = argument.split(' ').rfind(|word| !word.starts_with('-')).unwrap_or("");
        let prefix = format!("{}/", self.absolute(argument).trim_end_matches('/'));
        let mut lines = Vec::new();
        self.files(|files| {
            for (path, content) in files.iter() {
                let Some(name) = path.strip_prefix(&prefix).filter(|name| !name.is_empty()) else { continue };
                let (name, kind) = name.split_once('/').map_or((name, '-'), |(name, _)| (name, 'd'));
                let line = match long {
                    true => format!("{kind}rw-r--r-- 1 u g {:>8} Jan  2 2024 {name}\r\n", content.len()),
                    false => format!("{name}\r\n"),
                };
                if lines.last() != Some(&line) {
                    lines.push(line);
                }
            }
        });
        self.send_data(lines.concat().as_bytes())
    }

    fn send_data(&mut self, content: &[u8]) -> Going {
        let announced = format!("150 here it comes ({} bytes)", content.len());
        let late = self.shared.config.faults.announce_late;
        if !late && !self.reply(&announced)? {
            return Ok(false);
        }
        let Some(mut data) = self.data_connection() else { return self.reply("425 no data connection") };
        let cut = self.shared.config.faults.cut_data_at.filter(|cut| *cut < content.len());
        let sent = data.write_all(&content[..cut.unwrap_or(content.len())]);
        drop(data);
        if let Some(limit) = self.shared.config.faults.confirm_behind_command
            && self.shared.stop.wait(&self.control, Some(limit)) == Woken::Readable
        {
            self.shared.before_confirmation.fetch_add(1, Ordering::SeqCst);
        }
        match (cut, sent) {
            (Some(_), _) if !self.shared.config.faults.claim_success => self.reply("426 cut"),
            (_, Err(_)) => self.reply("426 the client went away"),
            _ if late => self.reply(&format!("{announced}\r\n226 done")),
            _ => self.reply("226 done"),
        }
    }

    fn store(&mut self, argument: &str, append: bool) -> Going {
        let path = self.absolute(argument);
        let mut offset = std::mem::take(&mut self.offset);
        match self.shared.config.faults.restarted_uploads {
            RestartedUploads::Refused if offset > 0 => return self.reply("451 from its start alone"),
            RestartedUploads::Ignored => offset = 0,
            RestartedUploads::Refused | RestartedUploads::Served => {}
        }
        if !self.reply("150 let it come")? {
            return Ok(false);
        }
        let Some(mut data) = self.data_connection() else { return self.reply("425 no data connection") };
        let mut content = Vec::new();
        if data.read_to_end(&mut content).is_err() {
            return self.reply("426 cut");
        }
        self.files(|files| {
            let file = files.entry(path).or_default();
            file.truncate(if append { file.len() } else { offset });
            file.extend(content);
        });
        self.reply("226 stored")
    }

    fn delete(&mut self, argument: &str) -> Going {
        let path = self.absolute(argument);
        match self.files(|files| files.remove(&path)) {
            Some(_) => self.reply("250 gone"),
            None => self.reply("550 no such file"),
        }
    }

    fn rename_from(&mut self, argument: &str) -> Going {
        self.rename_from = Some(self.absolute(argument));
        self.reply("350 and to")
    }

    fn rename_to(&mut self, argument: &str) -> Going {
        let to = self.absolute(argument);
        let Some(from) = self.rename_from.take() else { return self.reply("503 first RNFR") };
        match self.files(|files| files.remove(&from).map(|content| files.insert(to, content))) {
            Some(_) => self.reply("250 renamed"),
            None => self.reply("550 no such file"),
        }
    }

    fn data_connection(&mut self) -> Option<TcpStream> {
        let listener = self.passive.take()?;
        if self.shared.stop.wait(&listener, Some(DATA_LIMIT)) != Woken::Readable {
            return None;
        }
        let (data, _) = listener.accept().ok()?;
        data.set_nonblocking(false).ok()?;
        data.set_read_timeout(Some(DATA_LIMIT)).ok()?;
        self.shared.data_accepts.fetch_add(1, Ordering::SeqCst);
        Some(data)
    }

    fn files<T>(&self, act: impl FnOnce(&mut std::collections::BTreeMap<String, Vec<u8>>) -> T) -> T {
        act(&mut self.shared.files.lock().expect("never poisoned"))
    }

    /// An argument as a path from the root.
    fn absolute(&self, argument: &str) -> String {
        let joined = match argument.starts_with('/') {
            true => argument.to_string(),
            false => format!("{}/{argument}", self.directory),
        };
        let parts: Vec<&str> = joined.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
        format!("/{}", parts.join("/"))
    }
}
