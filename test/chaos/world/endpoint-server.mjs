// Stands for the pods of a machine: node endpoint-server.mjs FIRST-PORT LAST-PORT
// It listens at all addresses. It sends each connection the address and port that it reached, and then echoes.
import { createServer } from 'node:net';

const [first = 0, last = 0] = process.argv.slice(2).map(Number);
let left = last - first + 1;
for (let port = first; port <= last; port++) {
  createServer(socket => {
    socket.on('error', () => {});
    socket.write(`${socket.localAddress?.replace(/^::ffff:/, '')}:${socket.localPort}\n`);
    socket.pipe(socket);
  }).listen({ host: '::', port, backlog: 4096 }, () => --left === 0 && console.error('listening'));
}
