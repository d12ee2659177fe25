//! The SOCKS server of the cases, versions 4, 4a and 5 (RFC 1928, RFC 1929): it connects to this host
//! whatever host is requested, and records the requests of version 5. Behaviour after tests/server/socksd.c
//! of curl's repository.

use std::io;
use std::net::TcpStream;
use std::sync::Arc;

use super::wire::{Conn, Got};
use super::{CaseContext, Peer, tunnel};

pub fn server() -> Arc<dyn Peer> {
    Arc::new(Socks)
}

struct Socks;

impl Peer for Socks {
    fn serve(&self, conn: &mut Conn, stage: &CaseContext) {
        let mut session = Session { conn, stage, pending: vec![], orders: Orders::of(stage) };
        if let Ok(Some(server)) = session.greet() {
            let _ = tunnel::carry(conn, server, stage);
        }
    }
}

/// The case's instructions.
struct Orders {
    version: u8,
    fewest_methods: u8,
    most_methods: u8,
    method: u8,
    response: u8,
    /// The port to connect to; 0 for the requested one.
    port: u16,
    user: String,
    password: String,
}

impl Orders {
    fn of(stage: &CaseContext) -> Orders {
        let mut orders = Orders {
            version: 5,
            fewest_methods: 1,
            most_methods: 3,
            method: 0,
            response: 0,
            port: 0,
            user: "user".into(),
            password: "password".into(),
        };
        for command in stage.commands() {
            let (key, value) = command.split_once(' ').unwrap_or((&command, ""));
            let number = || value.trim().parse().unwrap_or(0);
            match key {
                "version" => orders.version = number(),
                "nmethods_min" => orders.fewest_methods = number(),
                "nmethods_max" => orders.most_methods = number(),
                "method" => orders.method = number(),
                "response" => orders.response = number(),
                "backendport" => orders.port = value.trim().parse().unwrap_or(0),
                "user" => orders.user = value.trim().to_owned(),
                "password" => orders.password = value.trim().to_owned(),
                _ => {}
            }
        }
        orders
    }
}

struct Session<'a> {
    conn: &'a mut Conn,
    stage: &'a CaseContext,
    pending: Vec<u8>,
    orders: Orders,
}

impl Session<'_> {
    /// The whole handshake; the connection to carry bytes to where it succeeds.
    fn greet(&mut self) -> io::Result<Option<TcpStream>> {
        let version = self.take(1)?[0];
        if version == 4 {
            return self.version_4();
        }
        let methods = self.take(1)?[0];
        let offered = self.orders.fewest_methods..=self.orders.most_methods;
        if version != self.orders.version || !offered.contains(&methods) {
            return Ok(None);
        }
        self.take(methods.into())?;
        self.conn.write(&[5, self.orders.method], self.stage)?;
        if self.orders.method == 2 && !self.credentials_match()? {
            return Ok(None);
        }
        self.request()
    }

    fn version_4(&mut self) -> io::Result<Option<TcpStream>> {
        let head = self.take(7)?;
        self.take_text()?;
        // 0.0.0.x is version 4a: a host name follows
        if head[3..6] == [0, 0, 0] && head[6] != 0 {
            self.take_text()?;
        }
        if head[0] != 1 {
            return Ok(None);
        }
        let server = self.connect(u16::from_be_bytes([head[1], head[2]]));
        let code = if server.is_some() { 90 } else { 91 };
        self.conn.write(&[&[0, code], &head[1..7]].concat(), self.stage)?;
        Ok(server)
    }

    fn credentials_match(&mut self) -> io::Result<bool> {
        if self.take(1)?[0] != 1 {
            return Ok(false);
        }
        let user = self.take_counted()?;
        let password = self.take_counted()?;
        let fine = user == self.orders.user.as_bytes() && password == self.orders.password.as_bytes();
        self.conn.write(&[1, u8::from(!fine)], self.stage)?;
        Ok(fine)
    }

    fn request(&mut self) -> io::Result<Option<TcpStream>> {
        let head = self.take(4)?;
        if head[..3] != [self.orders.version, 1, 0] {
            return Ok(None);
        }
        let address = match head[3] {
            1 => self.take(4)?,
            4 => self.take(16)?,
            3 => {
                let name = self.take_counted()?;
                [&[name.len() as u8], &name[..]].concat()
            }
            _ => return Ok(None),
        };
        self.log(head[3], &address);
        let port = self.take(2)?;
        let server = match self.orders.response {
            0 => self.connect(u16::from_be_bytes([port[0], port[1]])),
            _ => None,
        };
        let code = match (&server, self.orders.response) {
            (None, 0) => 1,
            (_, response) => response,
        };
        self.conn.write(&[&[5, code, 0, head[3]], &address[..], &port[..]].concat(), self.stage)?;
        Ok(server)
    }

    fn connect(&self, port: u16) -> Option<TcpStream> {
        tunnel::connect(if self.orders.port == 0 { port } else { self.orders.port }).ok()
    }

    fn log(&self, kind: u8, address: &[u8]) {
        let text = match kind {
            1 => address.iter().map(u8::to_string).collect::<Vec<_>>().join("."),
            3 => String::from_utf8_lossy(&address[1..]).into_owned(),
            _ => address.iter().map(|b| format!("{b:02x}")).collect::<Vec<_>>().join(" "),
        };
        self.stage.socks_input.append(format!("atyp {kind} => {text}\n").as_bytes());
    }

    fn take(&mut self, count: usize) -> io::Result<Vec<u8>> {
        let mut buffer = [0; 1024];
        while self.pending.len() < count {
            match self.conn.read(&mut buffer, self.stage) {
                Got::Closed => return Err(io::ErrorKind::UnexpectedEof.into()),
                Got::Data(n) => self.pending.extend_from_slice(&buffer[..n]),
            }
        }
        Ok(self.pending.drain(..count).collect())
    }

    fn take_counted(&mut self) -> io::Result<Vec<u8>> {
        let count = self.take(1)?[0];
        self.take(count.into())
    }

    /// Text up to a NUL.
    fn take_text(&mut self) -> io::Result<()> {
        for _ in 0..1024 {
            if self.take(1)?[0] == 0 {
                return Ok(());
            }
        }
        Err(io::ErrorKind::InvalidData.into())
    }
}
