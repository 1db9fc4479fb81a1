// Makes or answers connections at a high rate. It is a process of its own, so that a busy test delays no connection.
//   node connections.mjs serve IP PORT                 answers each connection with IP
//   node connections.mjs poll RATE NAME=IP:PORT …      makes RATE connections a second, until SIGTERM
// Both write to standard error. `poll` writes a line for each failed connection, and a summary as JSON at the end.
import { connect, createServer } from 'node:net';
import { lostAttempts } from './lost-attempts.mjs';

/** A busy machine may need seconds. A lost packet does not count here: the kernel counts it. */
const TIMEOUT_MS = 10_000;

const [role, ...args] = process.argv.slice(2);
if (role === 'serve') serve(args[0] ?? '', Number(args[1]));
else poll(Number(args[0]), args.slice(1).map(parseTarget));

/**
 * @param {string} ip
 * @param {number} port
 */
function serve(ip, port) {
  const server = createServer(socket => {
    socket.on('error', () => {});
    socket.end(ip);
  });
  server.listen({ host: ip, port, backlog: 4096 }, () => console.error('listening'));
}

/** @typedef {{ readonly name: string, readonly host: string, readonly port: number }} Target */
/** @typedef {{ answered: number, failed: number, slowestMs: number, answers: Record<string, number> }} Counts */

/**
 * @param {string} text
 * @returns {Target}
 */
function parseTarget(text) {
  const [name = '', address = ''] = text.split('=');
  const colon = address.lastIndexOf(':');
  return { name, host: address.slice(0, colon), port: Number(address.slice(colon + 1)) };
}

/**
 * @param {number} rate
 * @param {readonly Target[]} targets
 */
function poll(rate, targets) {
  /** @type {Map<Target, Counts>} */
  const counts = new Map(targets.map(target => [target, { answered: 0, failed: 0, slowestMs: 0, answers: {} }]));
  const lostBefore = lostAttempts();
  const start = performance.now();
  let made = 0;
  let pending = 0;
  let isEnding = false;
  console.error('polling');
  const timer = setInterval(() => {
    const due = ((performance.now() - start) * rate) / 1000;
    // After a pause of this process the missed connections are not made up for: they would come all at once.
    if (due - made > rate / 10) made = Math.floor(due - rate / 10);
    for (; made < due && pending < rate; made++) {
      const target = targets[made % targets.length];
      const count = target && counts.get(target);
      if (count) attempt(target, count);
    }
  }, 1000 / rate);
  process.once('SIGTERM', () => {
    clearInterval(timer);
    isEnding = true;
    if (pending === 0) summarize();
  });

  function summarize() {
    const targets = [...counts].map(([{ name }, count]) => ({ name, ...count }));
    const summary = { targets, lost: lostAttempts() - lostBefore };
    process.stderr.write(`${JSON.stringify(summary)}\n`, () => process.exit(0));
  }

  /**
   * @param {Target} target
   * @param {Counts} count
   */
  function attempt({ name, host, port }, count) {
    const began = performance.now();
    const at = new Date().toISOString().slice(11, 23);
    let answer = '';
    let failure = '';
    pending++;
    const socket = connect({ host, port, timeout: TIMEOUT_MS });
    socket.on('data', data => {
      answer += data;
    });
    socket.on('timeout', () => socket.destroy(new Error('timed out')));
    socket.on('error', error => {
      failure = error.message;
    });
    socket.on('close', () => {
      const tookMs = Math.round(performance.now() - began);
      if (!failure && answer === '') failure = 'closed without an answer';
      if (failure) {
        count.failed++;
        console.error(`${at} ${name}: ${failure} after ${tookMs} ms`);
      } else {
        count.answered++;
        count.answers[answer] = (count.answers[answer] ?? 0) + 1;
        count.slowestMs = Math.max(count.slowestMs, tookMs);
      }
      if (--pending === 0 && isEnding) summarize();
    });
  }
}
