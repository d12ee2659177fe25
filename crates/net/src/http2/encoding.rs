//! The encoding of a session without streams, for a connection that moves to another process.

use std::time::Instant;

use wire::h2::{Config, DecoderState, EncoderState, PeerSettings, Session, Snapshot, TableState};
use zeroize::Zeroizing;

use super::Parked;
use crate::Memory;
use crate::handover::DecodeError;
use crate::handover::codec::{Reader, Writer};

/// Usual length: both tables of header compression hold 4 KiB at most.
const USUAL_SIZE: usize = 6 << 10;

/// Reads the session of a connection that was opened then.
pub fn decode_memory(bytes: &[u8], opened: Instant) -> Option<Box<dyn Memory>> {
    let session = Session::restore(&decode(bytes).ok()?)?;
    Some(Box::new(Parked::new(Box::new(session), Vec::new(), opened)))
}

/// Returns the encoding. The tables may contain cookies, so its buffer is wiped when it is dropped.
pub(super) fn encode(snapshot: &Snapshot) -> Zeroizing<Vec<u8>> {
    let Snapshot { config, peer, encoder, decoder, calm, .. } = snapshot;
    let mut out = Writer::with_capacity(USUAL_SIZE);
    let ours = [config.max_concurrent_streams, config.initial_window, config.max_window];
    ours.into_iter().for_each(|number| out.u32(number));
    out.u32(config.connection_window);
    out.bool(config.push);
    out.u64(config.max_field_list as u64);
    [peer.header_table_size, peer.max_concurrent_streams, peer.max_frame]
        .into_iter()
        .for_each(|number| out.u64(number as u64));
    out.u32(peer.initial_window);
    out.bool(peer.connect_protocol);
    encode_table(&mut out, &encoder.table);
    out.u64(encoder.size as u64);
    out.option(encoder.lowest, |out, lowest| out.u64(lowest as u64));
    encode_table(&mut out, decoder);
    out.i64(snapshot.send_window);
    let numbers = snapshot.receive_window.into_iter().chain(snapshot.highest);
    numbers.chain([snapshot.unacknowledged, calm.0]).for_each(|number| out.u32(number));
    out.u64(calm.1);
    out.into_bytes()
}

fn decode(bytes: &[u8]) -> Result<Snapshot, DecodeError> {
    let mut input = Reader::new(bytes);
    let snapshot = Snapshot {
        config: Config {
            max_concurrent_streams: input.u32()?,
            initial_window: input.u32()?,
            max_window: input.u32()?,
            connection_window: input.u32()?,
            push: input.bool("push")?,
            max_field_list: size(&mut input)?,
        },
        peer: PeerSettings {
            header_table_size: size(&mut input)?,
            max_concurrent_streams: size(&mut input)?,
            max_frame: size(&mut input)?,
            initial_window: input.u32()?,
            connect_protocol: input.bool("CONNECT")?,
        },
        encoder: EncoderState {
            table: decode_table(&mut input)?,
            size: size(&mut input)?,
            lowest: input.option("size of the header table", size)?,
        },
        decoder: decode_table(&mut input)?,
        send_window: input.i64()?,
        receive_window: [input.u32()?, input.u32()?, input.u32()?, input.u32()?],
        highest: [input.u32()?, input.u32()?],
        unacknowledged: input.u32()?,
        calm: (input.u32()?, input.u64()?),
    };
    input.end()?;
    Ok(snapshot)
}

fn size(input: &mut Reader<'_>) -> Result<usize, DecodeError> {
    usize::try_from(input.u64()?).map_err(|_| DecodeError::Value("size"))
}

fn encode_table(out: &mut Writer, table: &TableState) {
    out.u64(table.max as u64);
    out.list(&table.entries, |out, (name, value)| {
        out.bytes(name);
        out.bytes(value);
    });
}

fn decode_table(input: &mut Reader<'_>) -> Result<DecoderState, DecodeError> {
    Ok(TableState {
        max: size(input)?,
        entries: input.list(|input| Ok((input.bytes()?.to_vec(), input.bytes()?.to_vec())))?,
    })
}

#[cfg(test)]
mod tests {
    use testkit::dice::Dice;

    use super::*;

    /// A value with entries in both tables and numbers apart from the defaults.
    fn snapshot() -> Snapshot {
        let table = |max: usize, prefix: &str| TableState {
            max,
            entries: (0..9).map(|n| (format!("{prefix}-{n}").into(), vec![b'v'; n * 7])).collect(),
        };
        Snapshot {
            config: Config { push: true, max_window: 1 << 20, ..Config::default() },
            peer: PeerSettings { max_concurrent_streams: 128, max_frame: 1 << 20, ..PeerSettings::default() },
            encoder: EncoderState { table: table(4096, "request"), size: 2000, lowest: Some(1000) },
            decoder: table(4000, "reply"),
            send_window: 65_000,
            receive_window: [1000, 24, 1024, 2048],
            highest: [7, 2],
            unacknowledged: 1,
            calm: (9_990, 1_234),
        }
    }

    fn encoded_again(bytes: &[u8]) -> Option<Vec<u8>> {
        decode_memory(bytes, Instant::now()).map(|memory| memory.encode().unwrap().to_vec())
    }

    #[test]
    fn a_session_survives_encoding() {
        let bytes = encode(&snapshot());
        assert_eq!(decode(&bytes), Ok(snapshot()));
        assert_eq!(encoded_again(&bytes).as_deref(), Some(&bytes[..]));
        assert!((0..bytes.len()).all(|length| encoded_again(&bytes[..length]).is_none()));
        assert_eq!(encoded_again(&[&bytes[..], b"\0"].concat()), None);
    }

    /// Whatever is accepted is what a session encodes.
    #[test]
    fn damaged_encodings_are_refused_or_canonical() {
        let (bytes, mut dice, mut accepted) = (encode(&snapshot()), Dice::new(36), 0);
        for _ in 0..10_000 {
            let mut damaged = bytes.to_vec();
            damaged[dice.roll(bytes.len())] = dice.roll(256) as u8;
            if let Some(again) = encoded_again(&damaged) {
                accepted += 1;
                assert_eq!(again, damaged);
            }
        }
        assert!(
            (1_000..9_990).contains(&accepted),
            "{accepted}: names and values are bytes, lengths are not"
        );
    }

    #[test]
    fn values_that_no_session_has_are_refused() {
        let changes: [fn(&mut Snapshot); 14] = [
            |s| s.highest[0] = 8,
            |s| s.highest[0] = 0x7fff_ffff,
            |s| s.highest[1] = 3,
            |s| s.unacknowledged = 2,
            |s| s.send_window = 1 << 31,
            |s| s.send_window = -(1 << 31),
            |s| s.receive_window[0] += 1,
            |s| s.receive_window[3] = 1000,
            |s| s.calm.0 = 10_001,
            |s| s.peer.max_frame = 16_383,
            |s| s.encoder.table.max = 4097,
            |s| s.encoder.lowest = None,
            |s| s.decoder.max = 300,
            |s| s.config.max_field_list = usize::MAX,
        ];
        assert!(Session::restore(&snapshot()).is_some());
        for (number, change) in changes.into_iter().enumerate() {
            let mut other = snapshot();
            change(&mut other);
            assert!(Session::restore(&other).is_none(), "change {number}");
        }
    }
}
