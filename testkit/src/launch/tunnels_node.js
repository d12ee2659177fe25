// A proxy over TLS that speaks HTTP/2 and HTTP/1.1 by Node: CONNECT, and CONNECT for UDP by an extended CONNECT or an upgrade,
// with capsules. Each tunnel is printed in a line. Arguments: the file for the port, certificate, key, words (login: who has not
// said "me:secret" is refused; deaf: neither an extended CONNECT nor an upgrade is taken).
const dgram = require("dgram");
const fs = require("fs");
const http2 = require("http2");
const net = require("net");

const [, , port_file, cert, key, ...words] = process.argv;
const files = { cert: fs.readFileSync(cert), key: fs.readFileSync(key) };
const settings = { enableConnectProtocol: !words.includes("deaf") };
const server = http2.createSecureServer({ ...files, allowHTTP1: true, settings });
const login = "Basic " + Buffer.from("me:secret").toString("base64");
const mayEnter = (headers) => !words.includes("login") || headers["proxy-authorization"] === login;
const challenge = { "proxy-authenticate": 'Basic realm="p"' };

function readNumber(data, at) {
  if (at >= data.length) return null;
  const length = 1 << (data[at] >> 6);
  if (at + length > data.length) return null;
  let value = BigInt(data[at] & 0x3f);
  for (let i = 1; i < length; i++) value = (value << 8n) | BigInt(data[at + i]);
  return [Number(value), at + length];
}

function header(length) {
  return length < 64 ? Buffer.from([0, length, 0]) : Buffer.from([0, 0x40 | (length >> 8), length & 0xff, 0]);
}

// Datagrams to and from an address, as capsules on a stream.
function udp(path, stream, first) {
  const [, , , , host, port] = path.split("/").map(decodeURIComponent);
  console.log("udp to", host, port);
  const socket = dgram.createSocket("udp4");
  let held = first || Buffer.alloc(0);
  const take = () => {
    for (;;) {
      const kind = readNumber(held, 0);
      const length = kind && readNumber(held, kind[1]);
      if (!length || held.length < length[1] + length[0]) return;
      const value = held.subarray(length[1], length[1] + length[0]);
      held = held.subarray(length[1] + length[0]);
      if (kind[0] === 0 && value[0] === 0) socket.send(value.subarray(1));
    }
  };
  socket.connect(Number(port), host, take);
  socket.on("message", (data) => stream.write(Buffer.concat([header(data.length + 1), data])));
  socket.on("error", () => {});
  stream.on("data", (data) => {
    held = Buffer.concat([held, data]);
    try {
      socket.remoteAddress() && take();
    } catch {}
  });
  stream.on("close", () => socket.close());
  stream.on("end", () => stream.end());
  stream.on("error", () => {});
}

function tcp(authority, stream, stands) {
  const [, host, port] = /^(.*):(\d+)$/.exec(authority);
  console.log("tunnel to", host, port);
  const socket = net.connect({ port: Number(port), host, allowHalfOpen: true }, () => {
    stands();
    stream.pipe(socket).pipe(stream);
  });
  socket.on("error", () => stream.destroy());
  stream.on("error", () => socket.destroy());
}

server.on("stream", (stream, headers) => {
  const path = headers[":path"];
  if (!mayEnter(headers)) {
    stream.respond({ ":status": 407, ...challenge }, { endStream: true });
  } else if (headers[":protocol"] === "connect-udp" && headers["capsule-protocol"] === "?1") {
    stream.respond({ ":status": 200, "capsule-protocol": "?1" });
    udp(path, stream);
  } else if (headers[":method"] === "CONNECT") {
    tcp(headers[":authority"], stream, () => stream.respond({ ":status": 200 }));
  } else {
    stream.respond({ ":status": 400 }, { endStream: true });
  }
});

function answer(socket, line, fields, end) {
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  socket[end ? "end" : "write"](`HTTP/1.1 ${line}\r\n${lines.join("")}\r\n`);
}

server.on("upgrade", (request, socket, head) => {
  const { headers } = request;
  if (!mayEnter(headers)) {
    answer(socket, "407 Who are you", { ...challenge, "Content-Length": 0, Connection: "close" }, true);
  } else if (words.includes("deaf") || headers.upgrade !== "connect-udp" || headers["capsule-protocol"] !== "?1") {
    answer(socket, "501 No", { "Content-Length": 0, Connection: "close" }, true);
  } else {
    const fields = { Connection: "Upgrade", Upgrade: "connect-udp", "Capsule-Protocol": "?1" };
    answer(socket, "101 Switching Protocols", fields, false);
    udp(request.url, socket, head);
  }
});
server.on("connect", (request, socket) => {
  if (request.httpVersionMajor === 2) return;
  if (!mayEnter(request.headers)) {
    return answer(socket, "407 Who are you", { ...challenge, "Content-Length": 0, Connection: "close" }, true);
  }
  tcp(request.url, socket, () => answer(socket, "200 Fine", {}, false));
});
server.listen(0, "127.0.0.1", () => {
  fs.writeFileSync(port_file + ".new", `${server.address().port}\n`);
  fs.renameSync(port_file + ".new", port_file);
});
