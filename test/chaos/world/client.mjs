// Makes connections, in a process of its own, so that a busy test delays no connection.
//   node client.mjs poll RATE ADDRESS …    makes RATE connections a second, and writes a line for each:
//                                          BEGIN END ADDRESS ANSWER, or BEGIN END ADDRESS !FAILURE
//   node client.mjs hold ADDRESS …         keeps connections and uses them all the time. It writes
//                                          `lost ADDRESS HEARD-AT REASON` for one that ends or falls silent, and
//                                          replaces it.
// It writes to standard error. Times are milliseconds since 1970.
import { connect } from 'node:net';

const TIMEOUT_MS = 3000;
const PING_MS = 250;
const MAX_SILENCE_MS = 10_000;

const [role, ...args] = process.argv.slice(2);
if (role === 'poll') poll(Number(args[0]), args.slice(1));
else for (const address of args) hold(address);
console.error('ready');

/** @param {string} address */
function hostAndPort(address) {
  const colon = address.lastIndexOf(':');
  return { host: address.slice(0, colon), port: Number(address.slice(colon + 1)) };
}

function now() {
  return Math.round(performance.timeOrigin + performance.now());
}

/**
 * @param {number} rate
 * @param {readonly string[]} addresses
 */
function poll(rate, addresses) {
  let next = 0;
  setInterval(() => attempt(addresses[next++ % addresses.length] ?? ''), 1000 / rate);
}

/** @param {string} address */
function attempt(address) {
  const begin = now();
  let result = '!closed without an answer';
  const socket = connect({ ...hostAndPort(address), timeout: TIMEOUT_MS });
  socket.once('data', data => {
    result = String(data).trim();
    socket.resetAndDestroy();
  });
  socket.on('timeout', () => {
    const state = socket.connecting ? 'connecting' : 'connected, without an answer';
    socket.destroy(new Error(`timed out, ${state}, from port ${socket.localPort}`));
  });
  socket.on('error', error => {
    result = `!${error.message}`;
  });
  socket.once('close', () => console.error(`${begin} ${now()} ${address} ${result}`));
}

/** @param {string} address */
function hold(address) {
  const socket = connect(hostAndPort(address));
  let hasWorked = false;
  let reason = 'the other side closed it';
  let heardAt = now();
  const timer = setInterval(() => {
    if (now() - heardAt > MAX_SILENCE_MS) socket.destroy(new Error(`no answer for ${MAX_SILENCE_MS} ms`));
    else if (!socket.connecting) socket.write('ping\n');
  }, PING_MS);
  socket.on('data', () => {
    hasWorked = true;
    heardAt = now();
  });
  socket.on('error', error => {
    reason = error.message;
  });
  socket.once('close', () => {
    clearInterval(timer);
    if (hasWorked) console.error(`lost ${address} ${heardAt} ${reason}`);
    setTimeout(hold, 1000, address);
  });
}
