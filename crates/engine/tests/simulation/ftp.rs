//! An FTP server: `N` is a file of N bytes; the reply to an upload contains its checksum. Its data
//! connections come by EPSV, to ports that identify them.

use super::network::{Peer, Say, Shared, content, sum};

/// A data connection between control and channel.
#[derive(Default)]
pub struct Data {
    /// To be sent, when known.
    send: Option<Vec<u8>>,
    received: Vec<u8>,
    /// All was sent, or has arrived.
    done: bool,
    cut: bool,
}

pub struct Control {
    heard: Vec<u8>,
    greeted: bool,
    port: u16,
    /// A transfer whose end has to be reported, and whether it is an upload.
    under_way: Option<bool>,
}

impl Control {
    pub fn new() -> Control {
        Control { heard: Vec::new(), greeted: false, port: 0, under_way: None }
    }

    fn obey(&mut self, line: &str, world: &mut Shared) -> Say {
        let (verb, word) = line.split_once(' ').unwrap_or((line, ""));
        let size = word.parse().unwrap_or(0);
        let mut ends = world.odd(80);
        let reply = match verb {
            _ if world.odd(60) => "550 not today".to_owned(),
            _ if world.odd(80) => "nonsense".to_owned(),
            "USER" => "331 and".into(),
            "PASS" => "230 in".into(),
            "PWD" => "257 \"/\"".into(),
            "TYPE" | "CWD" => "200 yes".into(),
            "SIZE" => format!("213 {size}"),
            "EPSV" => {
                self.port = 20_000 + world.data.len() as u16;
                world.data.insert(self.port, Data::default());
                format!("229 there (|||{}|)", self.port)
            }
            "RETR" | "STOR" => {
                let upload = verb == "STOR";
                if let Some(data) = world.data.get_mut(&self.port).filter(|_| !upload) {
                    data.send = Some(content(size));
                }
                self.under_way = Some(upload);
                "150 now".into()
            }
            "QUIT" => {
                ends = true;
                "221 bye".into()
            }
            _ => "500 what".into(),
        };
        Say { bytes: format!("{reply}\r\n").into_bytes(), ends, ..Say::default() }
    }
}

impl Peer for Control {
    fn turn(&mut self, heard: &[u8], _: bool, world: &mut Shared) -> Say {
        if !self.greeted {
            self.greeted = true;
            return Say { bytes: b"220 hello\r\n".to_vec(), ..Say::default() };
        }
        self.heard.extend(heard);
        if let Some(upload) = self.under_way {
            let Some(data) = world.data.get(&self.port).filter(|data| data.done) else {
                return Say::default();
            };
            self.under_way = None;
            let reply = match (data.cut, upload) {
                (true, _) => "426 it broke".to_owned(),
                (false, true) => format!("226 {}", sum(&data.received)),
                (false, false) => "226 done".to_owned(),
            };
            return Say { bytes: format!("{reply}\r\n").into_bytes(), ..Say::default() };
        }
        let Some(end) = self.heard.windows(2).position(|two| two == b"\r\n") else { return Say::default() };
        let line: Vec<u8> = self.heard.drain(..end + 2).collect();
        self.obey(&String::from_utf8_lossy(&line[..end]), world)
    }
}

/// A data connection's far end.
pub struct Channel(u16);

impl Channel {
    pub fn new(port: u16) -> Channel {
        Channel(port)
    }
}

impl Peer for Channel {
    fn turn(&mut self, heard: &[u8], ended: bool, world: &mut Shared) -> Say {
        let cut = world.odd(60);
        let Some(data) = world.data.get_mut(&self.0) else { return Say { ends: true, ..Say::default() } };
        data.received.extend(heard);
        data.done |= ended;
        match data.send.take() {
            Some(mut bytes) => {
                if cut {
                    bytes.truncate(bytes.len() / 2);
                }
                (data.done, data.cut) = (true, cut);
                Say { bytes, ends: true, whole_or_nothing: !cut }
            }
            None => Say::default(),
        }
    }
}
