//! HTTP/2 sessions with the `h2` crate as the server: an independent implementation of framing, header
//! compression and flow control, with random sizes and names.

use bytes::Bytes;
use h2::server::{Builder, SendResponse};
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response};
use testkit::dice::Dice;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use wire::h2::{Config, Event, Field, Opening, Session, StreamId};

/// One request's data, and its reply so far.
#[derive(Default)]
struct Echo {
    fields: Vec<(String, Vec<u8>)>,
    body: Vec<u8>,
    sent: usize,
    heard: Vec<(String, Vec<u8>)>,
    received: Vec<u8>,
    trailers: Vec<(String, Vec<u8>)>,
    ended: bool,
    refused: bool,
}

#[test]
fn another_implementation_echoes_requests_and_bodies() {
    for seed in 1..=6 {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut dice = Dice::new(seed * 0x9e37_79b9);
        let (ours, theirs) = tokio::io::duplex(1 + dice.roll(100_000));
        let mut builder = h2::server::Builder::new();
        builder.initial_window_size(dice.roll(100_000) as u32 + 1);
        builder.max_frame_size(16_384 + dice.roll(100_000) as u32);
        builder.header_table_size(dice.roll(8000) as u32);
        builder.max_concurrent_streams(1 + dice.roll(20) as u32);
        builder.max_header_list_size(1 << 20);
        runtime.block_on(async {
            tokio::spawn(serve(builder, theirs));
            converse(ours, &mut dice).await;
        });
    }
}

async fn serve(builder: Builder, io: DuplexStream) {
    let mut connection = builder.handshake::<_, Bytes>(io).await.unwrap();
    while let Some(Ok((request, respond))) = connection.accept().await {
        tokio::spawn(echo(request, respond));
    }
}

/// Returns every field that begins with x, echoes the body, and sends its length as a trailer.
async fn echo(request: Request<h2::RecvStream>, mut respond: SendResponse<Bytes>) {
    let (head, mut body) = request.into_parts();
    let mut response = Response::builder().status(203);
    for (name, value) in head.headers.iter().filter(|(name, _)| name.as_str().starts_with('x')) {
        response = response.header(name, value);
    }
    respond.send_informational(Response::builder().status(103).body(()).unwrap()).unwrap();
    let mut stream = respond.send_response(response.body(()).unwrap(), false).unwrap();
    let mut length = 0;
    while let Some(piece) = body.data().await {
        let mut piece = piece.unwrap();
        length += piece.len();
        body.flow_control().release_capacity(piece.len()).unwrap();
        while !piece.is_empty() {
            stream.reserve_capacity(piece.len());
            let Some(Ok(room)) = std::future::poll_fn(|cx| stream.poll_capacity(cx)).await else { return };
            stream.send_data(piece.split_to(room.min(piece.len())), false).unwrap();
        }
    }
    let mut trailers = HeaderMap::new();
    trailers.insert(HeaderName::from_static("x-length"), HeaderValue::from(length));
    stream.send_trailers(trailers).unwrap();
}

async fn converse(mut io: DuplexStream, dice: &mut Dice) {
    let mut session = Session::client(Config::default());
    let mut waiting: Vec<Echo> = (0..60).map(|n| request(n, dice)).collect();
    let mut live: Vec<(StreamId, Echo)> = Vec::new();
    let (mut out, mut input, mut done) = (Vec::new(), vec![0; 20_000], 0);
    while done < 60 {
        while session.vacancies() > 0 && !waiting.is_empty() {
            let echo = waiting.pop().unwrap();
            let id = open(&mut session, &echo);
            live.push((id, echo));
        }
        for (id, echo) in &mut live {
            upload(&mut session, *id, echo);
        }
        out.clear();
        session.write_into(&mut out, 50_000);
        // Both ways at once, or the pipe fills on either side.
        let (mut reader, mut writer) = tokio::io::split(&mut io);
        if out.is_empty() {
            let n = reader.read(&mut input).await.unwrap();
            assert!(n > 0, "the server closed");
            take_in(&mut session, &input[..n], &mut live, dice);
        } else {
            let (mut at, mut read) = (0, 0);
            while at < out.len() && read < input.len() {
                std::future::poll_fn(|cx| {
                    use std::task::Poll;
                    use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
                    let mut buf = ReadBuf::new(&mut input[read..]);
                    let got = std::pin::Pin::new(&mut reader).poll_read(cx, &mut buf);
                    let more = buf.filled().len();
                    read += more;
                    if let Poll::Ready(n) = std::pin::Pin::new(&mut writer).poll_write(cx, &out[at..]) {
                        at += n.unwrap();
                        return Poll::Ready(());
                    }
                    if got.is_ready() && more > 0 { Poll::Ready(()) } else { Poll::Pending }
                })
                .await;
            }
            writer.write_all(&out[at..]).await.unwrap();
            take_in(&mut session, &input[..read], &mut live, dice);
        }
        for (_, echo) in live.extract_if(.., |(_, echo)| echo.refused) {
            waiting.push(Echo { fields: echo.fields, body: echo.body, ..Echo::default() });
        }
        live.retain(|(_, echo)| {
            if echo.ended {
                check(echo);
                done += 1;
            }
            !echo.ended
        });
    }
    assert!(session.is_idle());
}

fn request(n: usize, dice: &mut Dice) -> Echo {
    let fields = (0..dice.roll(12)).map(|_| {
        let name = ["x-first", "x-second", "x-third", "x-with-a-long-name-indeed"][dice.roll(4)].to_string();
        let length = [3, 30, 3000][dice.roll(3)];
        let letters = b"abcdefghijklmnopqrstuvwxyz 0123456789/-_.=;,~|<>{}^\xc3\xa9";
        // Spaces at the ends are not part of a value.
        let value: Vec<u8> = (0..1 + dice.roll(length)).map(|_| letters[dice.roll(letters.len())]).collect();
        (name, [b"v", &value[..], b"v"].concat())
    });
    let fields = fields.collect();
    let length = [0, 1, 1000, 70_000, 400_000][n % 5];
    let body = (0..length + dice.roll(10)).map(|at| (at * 7 + n) as u8).collect();
    Echo { fields, body, ..Echo::default() }
}

fn open(session: &mut Session, echo: &Echo) -> StreamId {
    let pseudo: [(&[u8], &[u8]); 4] =
        [(b":method", b"PUT"), (b":scheme", b"http"), (b":authority", b"host"), (b":path", b"/echo?a=b")];
    let own = echo.fields.iter().map(|(name, value)| (name.as_bytes(), &value[..]));
    let fields = pseudo.into_iter().chain(own);
    let fields = fields.map(|(name, value)| Field { name, value, sensitive: value.len() % 5 == 0 });
    session.open(fields, Opening::default()).unwrap()
}

fn upload(session: &mut Session, id: StreamId, echo: &mut Echo) {
    if echo.sent == usize::MAX {
        return;
    }
    echo.sent += session.queue(id, &echo.body[echo.sent..]);
    if echo.sent == echo.body.len() {
        session.end(id);
        echo.sent = usize::MAX;
    }
}

fn take_in(session: &mut Session, input: &[u8], live: &mut [(StreamId, Echo)], dice: &mut Dice) {
    let owned = |fields: &wire::h2::Fields| -> Vec<(String, Vec<u8>)> {
        fields.iter().map(|(n, v)| (String::from_utf8(n.to_vec()).unwrap(), v.to_vec())).collect()
    };
    for input in input.chunks(1 + dice.roll(input.len().max(1))) {
        let mut at = 0;
        loop {
            let step = session.next(&input[at..]).unwrap();
            at += step.used;
            let consumed = match step.event {
                None => break,
                Some(Event::Head { stream, status: 203, fields, end: false }) => {
                    find(live, stream).heard = owned(fields);
                    None
                }
                Some(Event::Data { stream, data, end: false }) => {
                    find(live, stream).received.extend_from_slice(data);
                    Some((stream, data.len()))
                }
                Some(Event::Trailers { stream, fields }) => {
                    find(live, stream).trailers = owned(fields);
                    find(live, stream).ended = true;
                    None
                }
                Some(Event::Informational { status: 103, .. } | Event::Settings | Event::Writable { .. }) => {
                    None
                }
                // More were opened than the server allows, before it said how many.
                Some(Event::Refused { stream }) => {
                    find(live, stream).refused = true;
                    None
                }
                Some(other) => panic!("{other:?}"),
            };
            if let Some((stream, len)) = consumed {
                session.consume(stream, len);
            }
        }
        assert_eq!(at, input.len());
    }
}

fn find(live: &mut [(StreamId, Echo)], stream: StreamId) -> &mut Echo {
    &mut live.iter_mut().find(|(id, _)| *id == stream).unwrap().1
}

fn check(echo: &Echo) {
    // That crate only keeps the order of fields with the same name.
    let sorted = |fields: &[(String, Vec<u8>)]| {
        let mut fields = fields.to_vec();
        fields.sort_by(|a, b| a.0.cmp(&b.0));
        fields
    };
    assert_eq!(sorted(&echo.heard), sorted(&echo.fields));
    assert!(echo.received == echo.body, "{} of {}", echo.received.len(), echo.body.len());
    assert_eq!(echo.trailers, [("x-length".to_string(), echo.body.len().to_string().into_bytes())]);
}
