// SPDX-License-Identifier: MIT
// Node.js answers by its own http module, one process.  usage: node node.js PORT
"use strict";
const http = require("http");

const TEXT = "text/plain; charset=utf-8";
const JSON_TYPE = "application/json";

function send(response, status, type, content) {
  response.writeHead(status, {
    "Content-Type": type,
    "Content-Length": Buffer.byteLength(content),
  });
  response.end(content);
}

const server = http.createServer((request, response) => {
  const path = request.url;
  if (path === "/plaintext" || path === "/hello")
    return send(response, 200, TEXT, "Hello, World!");
  if (path === "/json")
    return send(response, 200, JSON_TYPE, JSON.stringify({ message: "Hello, World!" }));
  const name = /^\/hello\/([^/]+)$/.exec(path);
  if (name) return send(response, 200, TEXT, "Hello, " + name[1] + "!");
  return send(response, 404, TEXT, "404 Not Found\n");
});

server.listen(Number(process.argv[2]), "127.0.0.1", 511);
