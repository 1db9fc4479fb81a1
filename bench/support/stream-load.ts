// A server and a client that use as little processor time as possible, to measure a proxy between them.
import {
  acceptStream,
  closeRaw,
  connectResult,
  connectStream,
  EAGAIN,
  EventPoll,
  encodeSocketAddress,
  listenStream,
  Ready,
  receive,
  transmit,
} from '../../src/kernel/sockets/index.ts';
import type { Ip } from '../../src/net/index.ts';

const OPTIONS = { keepAliveSeconds: 60 };
const chunk = Buffer.allocUnsafeSlow(256 << 10);
const word = Buffer.from('0123456789abcdef');

function fail(error: unknown): void {
  console.error(error);
}

/** Answers the letter `b` with endless bytes, and anything else with one word. */
export function serve(ip: Ip, port: number): void {
  const poll = new EventPoll(fail);
  const listener = listenStream(undefined, 'IPv4', ip, port, OPTIONS);
  const peer = Buffer.alloc(28);
  poll.add(listener, () => {
    for (let fd = acceptStream(listener, peer); fd >= 0; fd = acceptStream(listener, peer)) {
      const connection = fd;
      const state = { isBulk: false, isClosed: false };
      const end = () => {
        state.isClosed = true;
        poll.remove(connection);
        closeRaw(connection);
      };
      const step = () => {
        if (state.isClosed) return;
        if (!state.isBulk) {
          const count = receive(connection, chunk);
          if (count === -EAGAIN) return;
          if (count <= 0) return end();
          state.isBulk = chunk[0] === 0x62;
          if (!state.isBulk) return void transmit(connection, word, word.length);
        }
        for (let i = 0; i < 8; i++) {
          const sent = transmit(connection, chunk, chunk.length);
          if (sent === -EAGAIN) return;
          if (sent < 0) return end();
        }
        poll.defer(step);
      };
      poll.add(connection, step);
    }
  });
}

/** Receives bytes over some connections for a time. Returns the bytes per second. */
export function receiveBulk(ip: Ip, port: number, connections: number, milliseconds: number): Promise<number> {
  const poll = new EventPoll(fail);
  const address = encodeSocketAddress(ip, port);
  let bytes = 0;
  const fds = Array.from({ length: connections }, () => {
    const fd = connectStream(undefined, 'IPv4', address, OPTIONS);
    let asked = false;
    const step = () => {
      if (!asked) {
        if (connectResult(fd) !== undefined) throw new Error('the connection was refused');
        asked = transmit(fd, Buffer.from('b'), 1) === 1;
      }
      for (let i = 0; i < 8; i++) {
        const count = receive(fd, chunk);
        if (count <= 0) return;
        bytes += count;
      }
      poll.defer(step);
    };
    poll.add(fd, events => {
      if (events & (Ready.WRITE | Ready.READ)) step();
    });
    return fd;
  });
  const start = performance.now();
  return new Promise(resolve =>
    setTimeout(() => {
      const seconds = (performance.now() - start) / 1000;
      for (const fd of fds) {
        poll.remove(fd);
        closeRaw(fd);
      }
      poll.close();
      resolve(bytes / seconds);
    }, milliseconds),
  );
}

export interface ShortResult {
  readonly perSecond: number;
  readonly failures: number;
}

/** Makes many short connections, some at the same time. Each sends a word and receives a word. */
export function connectOften(ip: Ip, port: number, count: number, concurrent: number): Promise<ShortResult> {
  const poll = new EventPoll(fail);
  const address = encodeSocketAddress(ip, port);
  const start = performance.now();
  let begun = 0;
  let done = 0;
  let failures = 0;
  return new Promise(resolve => {
    const finish = (fd: number, isAnswered: boolean) => {
      poll.remove(fd);
      closeRaw(fd);
      if (!isAnswered) failures += 1;
      done += 1;
      if (begun < count) begin();
      else if (done === count) {
        poll.close();
        resolve({ perSecond: count / ((performance.now() - start) / 1000), failures });
      }
    };
    const begin = () => {
      begun += 1;
      const fd = connectStream(undefined, 'IPv4', address, OPTIONS);
      let asked = false;
      poll.add(fd, () => {
        if (!asked) {
          if (connectResult(fd) !== undefined) return finish(fd, false);
          asked = true;
          transmit(fd, word, word.length);
        }
        const got = receive(fd, chunk);
        if (got !== -EAGAIN) finish(fd, got === word.length);
      });
    };
    for (let i = 0; i < Math.min(concurrent, count); i++) begin();
  });
}

/** Opens many connections and keeps them open after their answer. Returns how many failed, and how to end them. */
export async function holdMany(ip: Ip, port: number, count: number): Promise<{ failures: number; end: () => void }> {
  const poll = new EventPoll(fail);
  const address = encodeSocketAddress(ip, port);
  const fds: number[] = [];
  let failures = 0;
  const one = () =>
    new Promise<void>(resolve => {
      const fd = connectStream(undefined, 'IPv4', address, OPTIONS);
      fds.push(fd);
      let asked = false;
      poll.add(fd, () => {
        if (!asked) {
          asked = connectResult(fd) === undefined && transmit(fd, word, word.length) > 0;
          if (!asked) failures += 1;
        }
        const got = receive(fd, chunk);
        if (got === -EAGAIN) return;
        if (got !== word.length) failures += 1;
        resolve();
      });
    });
  for (let i = 0; i < count; i += 100) await Promise.all(Array.from({ length: Math.min(100, count - i) }, one));
  const end = () => {
    for (const fd of fds) {
      poll.remove(fd);
      closeRaw(fd);
    }
    poll.close();
  };
  return { failures, end };
}
