//! The FTP server of the cases: replies that programs match on, data connections both ways, and the ways to
//! go wrong that `<servercmd>` asks for. Behaviour after the FTP part of tests/ftpserver.pl of curl's
//! repository.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::dialogue::{self, Dialogue, NoData, Speaker, short_command};
use super::wire::Conn;
use super::{CaseContext, Peer};

pub fn server() -> Arc<dyn Peer> {
    Arc::new(Ftp)
}

struct Ftp;

impl Peer for Ftp {
    fn serve(&self, conn: &mut Conn, stage: &CaseContext) {
        let v6 = conn.tcp().and_then(|s| s.local_addr().ok()).is_some_and(|a| a.is_ipv6());
        let mut session = Session { v6, data: Channel::None, folder: String::new(), listed: None };
        dialogue::hold(&mut session, conn, stage);
    }
}

/// How data would flow next.
enum Channel {
    None,
    /// The client has received the address to connect to.
    Passive(TcpListener),
    /// The client has sent the address where it listens.
    Active(TcpStream),
}

struct Session {
    v6: bool,
    data: Channel,
    /// The current directory.
    folder: String,
    /// The case whose data is listed after a change to `test-N`, if it is not this one.
    listed: Option<String>,
}

/// How long a client may take to connect for data.
const PATIENCE: Duration = Duration::from_secs(10);

/// Replies to commands without an effect.
const REPLIES: [(&str, &str); 17] = [
    ("USER", "331 We are happy you popped in!"),
    ("PASS", "230 Welcome you silly person"),
    ("PORT", "200 You said PORT - I say FINE"),
    ("TYPE", "200 I modify TYPE as you wanted"),
    ("LIST", "150 here comes a directory"),
    ("NLST", "150 here comes a directory"),
    ("CWD", "250 CWD command successful."),
    ("SYST", "215 UNIX Type: L8"),
    ("QUIT", "221 bye bye baby"),
    ("MKD", "257 Created your requested directory"),
    ("REST", "350 Yeah yeah we set it there for you"),
    ("DELE", "200 OK OK OK whatever you say"),
    ("RNFR", "350 Received your order. Please provide more"),
    ("RNTO", "250 Ok, thanks. File renaming completed."),
    ("NOOP", "200 Yes, I'm very good at doing nothing."),
    ("PBSZ", "500 PBSZ not implemented"),
    ("PROT", "500 PROT not implemented"),
];

const LISTING: &str = "total 20\r\n\
    drwxr-xr-x   8 98       98           512 Oct 22 13:06 .\r\n\
    drwxr-xr-x   8 98       98           512 Oct 22 13:06 ..\r\n\
    drwxr-xr-x   2 98       98           512 May  2  1996 .NeXT\r\n\
    -r--r--r--   1 0        1             35 Jul 16  1996 README\r\n\
    lrwxrwxrwx   1 0        1              7 Dec  9  1999 bin -> usr/bin\r\n\
    dr-xr-xr-x   2 0        1            512 Oct  1  1997 dev\r\n\
    drwxrwxrwx   2 98       98           512 May 29 16:04 download.html\r\n\
    dr-xr-xr-x   2 0        1            512 Nov 30  1995 etc\r\n\
    drwxrwxrwx   2 98       1            512 Oct 30 14:33 pub\r\n\
    dr-xr-xr-x   5 0        1            512 Oct  1  1997 usr\r\n";

const NAMES: &str = "file\r\nwith space\r\nfake\r\n..\r\n ..\r\nfunny\r\nREADME\r\n";

impl Speaker for Session {
    fn welcome(&self) -> String {
        dialogue::sign(["220- ", "220- ", "220- ", "220- ", "220  "])
    }

    fn parse(&mut self, line: &str) -> Option<(String, String)> {
        short_command(line)
    }

    fn answer(&mut self, command: &str, argument: &str, talk: &mut Dialogue) -> io::Result<bool> {
        let text = REPLIES.iter().find(|(name, _)| *name == command).map(|(_, text)| *text);
        if let Some(text) = text {
            talk.say(text)?;
        }
        match command {
            "CWD" => self.go_to(argument),
            "PWD" => self.tell_folder(talk)?,
            "PASV" | "EPSV" => self.listen(command, talk)?,
            "PORT" | "EPRT" => self.call(command, argument, talk)?,
            "LIST" => self.list(talk)?,
            "NLST" => self.names(talk)?,
            "RETR" => self.retrieve(argument, talk)?,
            "STOR" | "APPE" => self.store(argument, talk)?,
            "SIZE" => size(argument, talk)?,
            "MDTM" => modified(argument, talk)?,
            _ => return Ok(text.is_some()),
        }
        Ok(true)
    }

    fn not_understood(&self, _line: &str) -> String {
        "500 Unrecognized command\r\n".into()
    }

    fn not_known(&self, command: &str) -> String {
        format!("500 {command} is not dealt with!\r\n")
    }
}

impl Session {
    fn go_to(&mut self, folder: &str) {
        if let Some(number) = folder.strip_prefix("test-") {
            self.listed = Some(number.to_owned());
        } else if folder == "/" {
            self.folder.clear();
        } else {
            for step in folder.split('/') {
                match step {
                    "" => self.folder.clear(),
                    ".." => self.folder.truncate(self.folder.rfind('/').unwrap_or(0)),
                    step => self.folder += &format!("/{step}"),
                }
            }
        }
    }

    fn tell_folder(&self, talk: &mut Dialogue) -> io::Result<()> {
        let folder = if self.folder.is_empty() { "/" } else { &self.folder };
        talk.say(&format!("257 \"{folder}\" is current directory"))
    }

    fn listen(&mut self, command: &str, talk: &mut Dialogue) -> io::Result<()> {
        let host: IpAddr = if self.v6 { Ipv6Addr::LOCALHOST.into() } else { Ipv4Addr::LOCALHOST.into() };
        let listener = TcpListener::bind((host, 0))?;
        let port = listener.local_addr()?.port();
        // a port that was closed again refuses connections, as a case without data requires
        self.data = if talk.orders.no_data.is_some() { Channel::None } else { Channel::Passive(listener) };
        if command == "EPSV" {
            return talk.say(&format!("229 Entering Passive Mode (|||{port}|)"));
        }
        let address = if talk.orders.bad_pasv_address { "1,2,3,4" } else { "127,0,0,1" };
        talk.say(&format!("227 Entering Passive Mode ({address},{},{})", port / 256, port % 256))
    }

    /// Connects to where the client listens; only ever on this host.
    fn call(&mut self, command: &str, argument: &str, talk: &mut Dialogue) -> io::Result<()> {
        self.data = Channel::None;
        let place = if command == "PORT" { port_address(argument) } else { eprt_address(argument) };
        let Some(place) = place else { return talk.say("500 silly you, go away") };
        if command == "EPRT" {
            talk.say("200 Thanks for dropping by. We contact you later")?;
        }
        if talk.orders.no_data.is_none()
            && place.ip().is_loopback()
            && let Ok(stream) = TcpStream::connect_timeout(&place, PATIENCE)
        {
            self.data = Channel::Active(stream);
        }
        Ok(())
    }

    /// The data connection, or the answer that says there is none.
    fn channel(&mut self, talk: &mut Dialogue) -> io::Result<Option<TcpStream>> {
        let stream = match std::mem::replace(&mut self.data, Channel::None) {
            Channel::None => None,
            Channel::Active(stream) => Some(stream),
            Channel::Passive(listener) => accept(&listener, talk.stage),
        };
        if let Some(stream) = &stream {
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(Duration::from_millis(50)))?;
            return Ok(Some(stream.try_clone()?));
        }
        match talk.orders.no_data {
            Some(NoData::Then425) => {
                talk.send("150 Opening data connection\r\n425 Can't open data connection\r\n")?
            }
            Some(NoData::Then421) => {
                talk.send("150 Opening data connection\r\n421 Connection timed out\r\n")?
            }
            Some(NoData::Only150) => talk.say("150 Opening data connection")?,
            // the client must time out
            Some(NoData::Silence) | None => {}
        }
        Ok(None)
    }

    fn list(&mut self, talk: &mut Dialogue) -> io::Result<()> {
        let Some(stream) = self.channel(talk)? else { return Ok(()) };
        let case = self.listed.take().unwrap_or_else(|| talk.stage.number.to_string());
        let mut text = with_crlf(&talk.data(&case));
        if text.is_empty() {
            text = LISTING.into();
        }
        send(stream, &text, talk)?;
        talk.say("226 ASCII transfer complete")
    }

    fn names(&mut self, talk: &mut Dialogue) -> io::Result<()> {
        let Some(stream) = self.channel(talk)? else { return Ok(()) };
        send(stream, NAMES.as_bytes(), talk)?;
        talk.say("226 ASCII transfer complete")
    }

    fn retrieve(&mut self, name: &str, talk: &mut Dialogue) -> io::Result<()> {
        let Some(stream) = self.channel(talk)? else { return Ok(()) };
        let file = name.rsplit('/').next().unwrap_or_default();
        let number = file.trim_start_matches(|c: char| !c.is_ascii_digit());
        let data = talk.data(file);
        let script = talk.stage.script_of(talk.stage.number).unwrap_or_default();
        let zero_is_sent = script.part("reply", "data").is_some_and(|p| p.says("sendzero"));
        if data.is_empty() && !zero_is_sent {
            return talk.say(&format!("550 {number}: No such file or directory."));
        }
        let size = match (talk.orders.no_size, talk.orders.retr_size) {
            (true, _) => "size?".to_owned(),
            (_, Some(size)) => format!("({size} bytes)"),
            _ => format!("({} bytes)", data.len()),
        };
        let number: String = number.chars().take_while(char::is_ascii_digit).collect();
        let number =
            number.parse::<u64>().map_or(number, |n| if n > 10_000 { n / 10_000 } else { n }.to_string());
        let first = format!("150 Binary data connection for {number} () {size}.\r\n");
        if std::mem::take(&mut talk.orders.weird_retr) {
            talk.send(&format!("{first}226 File transfer complete\r\n"))?;
            return send(stream, &data, talk);
        }
        talk.send(&first)?;
        send(stream, &data, talk)?;
        talk.say("226 File transfer complete")
    }

    fn store(&mut self, name: &str, talk: &mut Dialogue) -> io::Result<()> {
        let Some(mut stream) = self.channel(talk)? else { return Ok(()) };
        talk.say("125 Gimme gimme gimme!")?;
        let mut data = vec![];
        let mut buffer = vec![0; 65_536];
        while !talk.stage.stopped() {
            match stream.read(&mut buffer) {
                Ok(0) => break,
                Ok(n) => data.extend_from_slice(&buffer[..n]),
                Err(e) if super::wire::is_timeout(&e) => {}
                Err(_) => break,
            }
        }
        talk.stage.note("data", "<", &data);
        talk.store(name.rsplit('/').next().unwrap_or_default(), &data);
        let text = talk.orders.stored.clone().unwrap_or_else(|| "226 File transfer complete".into());
        talk.say(&text)
    }
}

fn accept(listener: &TcpListener, stage: &CaseContext) -> Option<TcpStream> {
    listener.set_nonblocking(true).ok()?;
    let until = Instant::now() + PATIENCE;
    while Instant::now() < until && !stage.stopped() {
        if let Ok((stream, _)) = listener.accept() {
            stream.set_nonblocking(false).ok()?;
            return Some(stream);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    None
}

/// Sends data and closes. A client that closes early is not an error.
fn send(mut stream: TcpStream, data: &[u8], talk: &Dialogue) -> io::Result<()> {
    talk.stage.note("data", ">", data);
    if !talk.orders.slow_data {
        let _ = stream.write_all(data);
        return Ok(());
    }
    for byte in data {
        if stream.write_all(&[*byte]).is_err() || talk.stage.stopped() {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

fn size(name: &str, talk: &mut Dialogue) -> io::Result<()> {
    let script = talk.stage.script_of(talk.stage.number).unwrap_or_default();
    let given = script.line("reply", "size").filter(|s| !s.is_empty());
    let number = name.trim_end_matches('/').rsplit(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
    let size = match given {
        Some(text) => text.parse().unwrap_or(-1),
        None => talk.data(number).len() as i64,
    };
    let missing = size < 0 || (size == 0 && script.line("reply", "size").is_none());
    if missing {
        talk.say(&format!("550 {number}: No such file or directory."))
    } else {
        talk.say(&format!("213 {size}"))
    }
}

fn modified(name: &str, talk: &mut Dialogue) -> io::Result<()> {
    let script = talk.stage.script_of(talk.stage.number).unwrap_or_default();
    match script.line("reply", "mdtm").filter(|t| !t.is_empty()) {
        Some(text) if text.parse::<i64>().is_ok_and(|n| n < 0) => {
            talk.say(&format!("550 {name}: no such file."))
        }
        Some(text) => talk.say(&text),
        None => talk.say("500 MDTM: no such command."),
    }
}

/// `h1,h2,h3,h4,p1,p2`.
fn port_address(argument: &str) -> Option<SocketAddr> {
    let numbers: Option<Vec<u8>> = argument.split(',').map(|n| n.trim().parse().ok()).collect();
    let [a, b, c, d, high, low] = numbers?.try_into().ok()?;
    Some((Ipv4Addr::new(a, b, c, d), u16::from_be_bytes([high, low])).into())
}

/// `|family|address|port|`.
fn eprt_address(argument: &str) -> Option<SocketAddr> {
    let mut fields = argument.split('|').skip(2);
    let address: IpAddr = fields.next()?.parse().ok()?;
    Some((address, fields.next()?.parse().ok()?).into())
}

fn with_crlf(text: &[u8]) -> Vec<u8> {
    let lines = text.split_inclusive(|&b| b == b'\n').map(<[u8]>::to_vec);
    lines
        .flat_map(|mut line| {
            crate::newlines::force_crlf(&mut line);
            line
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        assert_eq!(port_address("127,0,0,1,4,5"), Some("127.0.0.1:1029".parse().unwrap()));
        assert_eq!(port_address("127,0,0,1,4"), None);
        assert_eq!(eprt_address("|2|::1|99|"), Some("[::1]:99".parse().unwrap()));
        assert_eq!(eprt_address("rubbish"), None);
    }

    #[test]
    fn folders() {
        let mut session = Session { v6: false, data: Channel::None, folder: String::new(), listed: None };
        session.go_to("a/b");
        assert_eq!(session.folder, "/a/b");
        session.go_to("..");
        assert_eq!(session.folder, "/a");
        session.go_to("test-17");
        assert_eq!(session.listed.as_deref(), Some("17"));
        session.go_to("/");
        assert_eq!(session.folder, "");
    }
}
