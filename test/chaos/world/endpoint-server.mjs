// Stands for the pods of a machine: node endpoint-server.mjs FIRST-PORT LAST-PORT
// It listens at all addresses. It sends each connection the address and port that it reached, and then echoes.
import { createServer } from 'node:net';

/** Longer than kept connections may be silent. */
const MAX_SILENCE_MS = 15_000;

const [first = 0, last = 0] = process.argv.slice(2).map(Number);
let left = last - first + 1;
for (let port = first; port <= last; port++) {
  createServer(socket => {
    socket.on('error', () => {});
    // A client that was cut off never ends its connection here. A later connection may get the same masqueraded port,
    // and this socket would answer its SYN.
    socket.setTimeout(MAX_SILENCE_MS, () => socket.resetAndDestroy());
    socket.write(`${socket.localAddress?.replace(/^::ffff:/, '')}:${socket.localPort}\n`);
    socket.pipe(socket);
  }).listen({ host: '::', port, backlog: 4096 }, () => --left === 0 && console.error('listening'));
}
