//! The state of an idle connection as a plain value, and its encoding.

use zeroize::Zeroizing;

use super::codec::{DecodeError, Reader, Writer};
use crate::connect::Endpoints;

/// The beginning of every encoding. Another form has another name.
pub const FORM: &[u8] = b"warmwire state 2\0";
/// Longest encoding that is accepted. A certificate has 2 KB, a described chain some 20.
pub const MAX_SIZE: usize = 64 * 1024;
/// Most layers of one connection: TLS to the proxy, the tunnel, TLS to the origin, and as many again.
const MAX_LAYERS: usize = 6;
/// Usual length, so that the writer's buffer is not enlarged.
const USUAL_SIZE: usize = 8 * 1024;

/// All that another process needs besides the socket and the key to continue a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionState {
    pub endpoints: Endpoints,
    pub answers_http10: bool,
    /// When the answer that named the remote address becomes stale, in milliseconds after the opening.
    pub address_fresh_ms: Option<u64>,
    /// The protocol's last message before closing.
    pub farewell: Vec<u8>,
    /// The layers on the socket, from the lowest.
    pub layers: Vec<Layer>,
    /// The protocol's own state, in an encoding of the protocol.
    pub memory: Option<Zeroizing<Vec<u8>>>,
}

/// A layer of a connection above its socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Layer {
    /// A tunnel through an HTTP proxy.
    Tunnel,
    Tls(Box<TlsState>),
}

/// The state of a TLS connection after its handshake.
#[derive(Clone, PartialEq, Eq)]
pub struct TlsState {
    /// The number of the cipher suite, which also decides the version.
    pub suite: u16,
    /// Ours and the peer's.
    pub sending: Direction,
    pub receiving: Direction,
    /// The peer was asked to renew its key, and has not done so.
    pub asked_for_keys: bool,
    /// The negotiated parameters for a transfer's infos.
    pub group: String,
    pub alpn: Option<String>,
    pub exported: Option<[u8; 32]>,
    pub peer_cert: Option<Vec<u8>>,
    pub resumed: bool,
    pub early: i64,
    pub verify_result: i64,
    pub certinfo: Vec<Vec<String>>,
}

/// The key material and the counter of one direction.
#[derive(Clone, PartialEq, Eq)]
pub struct Direction {
    /// TLS 1.3: the traffic secret, from which key and IV are derived. TLS 1.2: the key and the IV.
    pub secret: Zeroizing<Vec<u8>>,
    /// The number of the next record.
    pub sequence: u64,
}

/// Omits the secrets.
impl std::fmt::Debug for TlsState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TlsState")
            .field("suite", &self.suite)
            .field("sequences", &(self.sending.sequence, self.receiving.sequence))
            .field("alpn", &self.alpn)
            .finish_non_exhaustive()
    }
}

impl ConnectionState {
    /// Returns the canonical encoding. Its buffer holds keys and is wiped when it is dropped.
    pub fn encode(&self) -> Zeroizing<Vec<u8>> {
        let mut out = Writer::with_capacity(USUAL_SIZE);
        out.raw(FORM);
        out.option(self.endpoints.remote, Writer::address);
        out.option(self.endpoints.local, Writer::address);
        out.bool(self.answers_http10);
        out.option(self.address_fresh_ms, Writer::u64);
        out.bytes(&self.farewell);
        out.list(&self.layers, |out, layer| layer.encode(out));
        out.option(self.memory.as_ref(), |out, memory| out.bytes(memory));
        out.into_bytes()
    }

    /// Reads an encoding.
    pub fn decode(bytes: &[u8]) -> Result<ConnectionState, DecodeError> {
        if bytes.len() > MAX_SIZE {
            return Err(DecodeError::Length);
        }
        let mut input = Reader::new(bytes.strip_prefix(FORM).ok_or(DecodeError::Version)?);
        let state = ConnectionState {
            endpoints: Endpoints {
                remote: input.option("remote address", |input| input.address("remote address"))?,
                local: input.option("local address", |input| input.address("local address"))?,
            },
            answers_http10: input.bool("HTTP version")?,
            address_fresh_ms: input.option("age of the address", Reader::u64)?,
            farewell: input.bytes()?.to_vec(),
            layers: input.list(Layer::decode)?,
            memory: input.option("protocol state", |input| Ok(Zeroizing::new(input.bytes()?.to_vec())))?,
        };
        input.end()?;
        if state.layers.len() > MAX_LAYERS {
            return Err(DecodeError::Value("layers"));
        }
        Ok(state)
    }
}

impl Layer {
    fn encode(&self, out: &mut Writer) {
        match self {
            Layer::Tunnel => out.u8(0),
            Layer::Tls(tls) => {
                out.u8(1);
                tls.encode(out);
            }
        }
    }

    fn decode(input: &mut Reader<'_>) -> Result<Layer, DecodeError> {
        match input.u8()? {
            0 => Ok(Layer::Tunnel),
            1 => Ok(Layer::Tls(Box::new(TlsState::decode(input)?))),
            _ => Err(DecodeError::Value("layer")),
        }
    }
}

impl TlsState {
    fn encode(&self, out: &mut Writer) {
        out.u16(self.suite);
        for direction in [&self.sending, &self.receiving] {
            out.bytes(&direction.secret);
            out.u64(direction.sequence);
        }
        out.bool(self.asked_for_keys);
        out.bytes(self.group.as_bytes());
        out.option(self.alpn.as_ref(), |out, alpn| out.bytes(alpn.as_bytes()));
        out.option(self.exported, |out, exported| out.raw(&exported));
        out.option(self.peer_cert.as_ref(), |out, certificate| out.bytes(certificate));
        out.bool(self.resumed);
        out.i64(self.early);
        out.i64(self.verify_result);
        out.list(&self.certinfo, |out, lines| out.list(lines, |out, line| out.bytes(line.as_bytes())));
    }

    fn decode(input: &mut Reader<'_>) -> Result<TlsState, DecodeError> {
        let suite = input.u16()?;
        let mut direction = || -> Result<Direction, DecodeError> {
            Ok(Direction { secret: Zeroizing::new(input.bytes()?.to_vec()), sequence: input.u64()? })
        };
        Ok(TlsState {
            suite,
            sending: direction()?,
            receiving: direction()?,
            asked_for_keys: input.bool("key update")?,
            group: input.text("group")?.to_owned(),
            alpn: input.option("ALPN", |input| Ok(input.text("ALPN")?.to_owned()))?,
            exported: input.option("channel binding", Reader::array)?,
            peer_cert: input.option("certificate", |input| Ok(input.bytes()?.to_vec()))?,
            resumed: input.bool("resumption")?,
            early: input.i64()?,
            verify_result: input.i64()?,
            certinfo: input
                .list(|input| input.list(|input| Ok(input.text("certificate's line")?.to_owned())))?,
        })
    }
}
