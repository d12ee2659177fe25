// Node's http2 with HTTP/1.1 beside it, whose WebSockets (by ws) say everything back: no stream carries one, because its
// SETTINGS do not say so. Replies to other requests contain their version; early hints come before that to /hints. Arguments: the file for the port, certificate, key.
const { WebSocketServer } = require("/usr/share/nodejs/ws");
const http2 = require("http2");
const fs = require("fs");

const [, , port_file, cert, key] = process.argv;
const files = { cert: fs.readFileSync(cert), key: fs.readFileSync(key) };
const server = http2.createSecureServer({ ...files, allowHTTP1: true }, (request, response) => {
  if (request.url === "/hints") {
    response.writeEarlyHints({ link: ["</style.css>; rel=preload; as=style", "</app.js?v=1>; rel=preload; as=script"] });
  }
  response.end(request.httpVersion);
});
const sockets = new WebSocketServer({ noServer: true });
server.on("upgrade", (request, socket, head) => {
  sockets.handleUpgrade(request, socket, head, (one) => {
    one.on("message", (data, isBinary) => one.send(data, { binary: isBinary }));
    one.on("error", () => {});
  });
});
server.listen(0, "127.0.0.1", () => {
  fs.writeFileSync(port_file + ".new", `${server.address().port}\n`);
  fs.renameSync(port_file + ".new", port_file);
});
