// A WebSocket server by Node's ws that says everything back. Arguments: the file for the port, and "deflate" or "plain".
const { WebSocketServer } = require("/usr/share/nodejs/ws");
const fs = require("fs");

const [, , port_file, kind] = process.argv;
const server = new WebSocketServer({
  host: "127.0.0.1",
  port: 0,
  perMessageDeflate: kind === "deflate",
  maxPayload: 256 * 1024 * 1024,
});
server.on("connection", (socket, request) => {
  socket.on("message", (data, isBinary) => {
    if (request.url === "/close") {
      const text = data.toString();
      const blank = text.indexOf(" ");
      socket.close(Number(text.slice(0, blank)), text.slice(blank + 1));
      return setTimeout(() => socket.terminate(), 300);
    }
    socket.send(data, { binary: isBinary });
  });
  socket.on("error", () => {});
});
server.on("listening", () => {
  fs.writeFileSync(port_file + ".new", `${server.address().port}\n`);
  fs.renameSync(port_file + ".new", port_file);
});
