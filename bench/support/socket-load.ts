// A server and a client whose own work is as little as possible: blocking calls of the C library in a loop. The time of
// an operation is then nearly all the kernel's.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { accept4, bind, check, close, connect, listen, recv, send, setsockopt, socket } from '../../src/kernel/libc.ts';
import { encodeSocketAddress } from '../../src/kernel/sockets/index.ts';
import type { Ip } from '../../src/net/index.ts';
import { quantile } from './report.ts';

const AF_INET = 2;
const SOCK_STREAM_CLOEXEC = 1 | 0o2000000;
const SOCK_CLOEXEC = 0o2000000;
const SOL_SOCKET = 1;
const SO_REUSEADDR = 2;
export const SO_RCVTIMEO = 20;
const SO_SNDTIMEO = 21;
const IPPROTO_TCP = 6;
const TCP_NODELAY = 1;
const MSG_NOSIGNAL = 0x4000;
const BACKLOG = 4096;

/** How often a server that nobody calls looks whether the bench still runs. */
const LOOK_MS = 1000;

const SLOW_MS = 500;
const WORD_BYTES = 64;
const CHUNK_BYTES = 128 << 10;

/** What the client does over and over. Its first byte tells the server what to do. */
export const OPERATIONS = { connection: 'C', question: 'Q', bulk: 'B' } as const;
export type Operation = keyof typeof OPERATIONS;

export interface SocketAddress {
  readonly ip: Ip;
  readonly port: number;
}

/** What the client did in one slice of time. */
export interface Load {
  /** Operations. For `bulk` it is megabytes. */
  readonly count: number;
  readonly errors: number;
  readonly ms: number;
  /** The processor time of the client. */
  readonly cpuMs: number;
  /** Microseconds of an operation. */
  readonly p50: number;
  readonly p99: number;
  /** How many operations took half a second or more. */
  readonly slow: number;
}

export interface ServerOptions extends SocketAddress {
  /** Closes each connection at once, without a question. */
  readonly closesAtOnce?: boolean;
}

/** Listens before it returns. The function that it returns serves one connection after another until the bench ends. */
export function openServer({ ip, port, closesAtOnce = false }: ServerOptions): () => never {
  const listener = check(socket(AF_INET, SOCK_STREAM_CLOEXEC, 0), 'open a TCP socket');
  setOne(listener, SOL_SOCKET, SO_REUSEADDR);
  setOne(listener, IPPROTO_TCP, TCP_NODELAY);
  setTimeLimit(listener, SO_RCVTIMEO, LOOK_MS);
  const address = encodeSocketAddress(ip, port);
  check(bind(listener, address, address.length), `bind ${ip}:${port}`);
  check(listen(listener, BACKLOG), `listen on ${ip}:${port}`);
  const parent = process.ppid;
  return () => {
    for (;;) {
      const fd = accept4(listener, null, null, SOCK_CLOEXEC);
      if (fd >= 0) {
        if (!closesAtOnce) serveOne(fd);
        close(fd);
      } else if (process.ppid !== parent) process.exit(1);
    }
  };
}

const received = Buffer.allocUnsafeSlow(2 * CHUNK_BYTES);

/** `connection`: answers and closes first. `question`: answers until the client closes. `bulk`: only reads. */
function serveOne(fd: number): void {
  let length = recv(fd, received, received.length, 0);
  const operation = received[0];
  if (operation === OPERATIONS.connection.charCodeAt(0)) {
    send(fd, received, WORD_BYTES, MSG_NOSIGNAL);
  } else {
    const answers = operation === OPERATIONS.question.charCodeAt(0);
    while (length > 0) {
      if (answers) send(fd, received, length, MSG_NOSIGNAL);
      length = recv(fd, received, received.length, 0);
    }
  }
}

/** Repeats an operation until the time is over. */
export function runLoad(operation: Operation, { ip, port }: SocketAddress, ms: number): Load {
  const address = encodeSocketAddress(ip, port);
  const samples: number[] = [];
  const cpu = process.cpuUsage();
  const start = performance.now();
  const { count, errors } = run(operation, address, start + ms, samples);
  const end = performance.now();
  const { user, system } = process.cpuUsage(cpu);
  return {
    count,
    errors,
    ms: end - start,
    cpuMs: (user + system) / 1000,
    p50: quantile(samples, 0.5) * 1000,
    p99: quantile(samples, 0.99) * 1000,
    slow: samples.filter(ms => ms >= SLOW_MS).length,
  };
}

type Counted = Pick<Load, 'count' | 'errors'>;

function run(operation: Operation, address: Buffer, until: number, samples: number[]): Counted {
  if (operation === 'connection') return connectAndAsk(address, until, samples);
  const fd = check(socket(AF_INET, SOCK_STREAM_CLOEXEC, 0), 'open a TCP socket');
  setOne(fd, IPPROTO_TCP, TCP_NODELAY);
  try {
    if (connect(fd, address, address.length) < 0) return { count: 0, errors: 1 };
    return operation === 'question' ? ask(fd, until, samples) : sendBulk(fd, until, samples);
  } finally {
    close(fd);
  }
}

const word = Buffer.alloc(WORD_BYTES);
const chunk = Buffer.alloc(CHUNK_BYTES, OPERATIONS.bulk);

/** A new connection, one question, one answer, the end. */
function connectAndAsk(address: Buffer, until: number, samples: number[]): Counted {
  let [count, errors, now] = [0, 0, performance.now()];
  while (now < until) {
    const fd = socket(AF_INET, SOCK_STREAM_CLOEXEC, 0);
    word.write(OPERATIONS.connection);
    const isAnswered =
      connect(fd, address, address.length) === 0 &&
      send(fd, word, WORD_BYTES, MSG_NOSIGNAL) === WORD_BYTES &&
      recv(fd, word, WORD_BYTES, 0) > 0 &&
      recv(fd, word, WORD_BYTES, 0) === 0;
    close(fd);
    const end = performance.now();
    if (isAnswered) {
      count += 1;
      samples.push(end - now);
    } else errors += 1;
    now = end;
  }
  return { count, errors };
}

function ask(fd: number, until: number, samples: number[]): Counted {
  word.write(OPERATIONS.question);
  let [count, now] = [0, performance.now()];
  while (now < until) {
    if (send(fd, word, WORD_BYTES, MSG_NOSIGNAL) !== WORD_BYTES || recv(fd, word, WORD_BYTES, 0) <= 0) {
      return { count, errors: 1 };
    }
    const end = performance.now();
    samples.push(end - now);
    count += 1;
    now = end;
  }
  return { count, errors: 0 };
}

function sendBulk(fd: number, until: number, samples: number[]): Counted {
  let [bytes, now] = [0, performance.now()];
  while (now < until) {
    const sent = send(fd, chunk, CHUNK_BYTES, MSG_NOSIGNAL);
    if (sent <= 0) return { count: bytes / 1e6, errors: 1 };
    bytes += sent;
    const end = performance.now();
    samples.push(end - now);
    now = end;
  }
  return { count: bytes / 1e6, errors: 0 };
}

/** Calls `connect` once for each address, with a new socket each. The result of the calls does not matter. */
export function connectOnly(addresses: readonly SocketAddress[]): void {
  const encoded = addresses.map(({ ip, port }) => encodeSocketAddress(ip, port));
  for (const address of encoded) {
    const fd = socket(AF_INET, SOCK_STREAM_CLOEXEC, 0);
    connect(fd, address, address.length);
    close(fd);
  }
}

/** Connects once and closes the connection. Returns false if it is refused, or not there after a moment. */
export function connects({ ip, port }: SocketAddress, lateMs = LATE_MS): boolean {
  const address = encodeSocketAddress(ip, port);
  const fd = check(socket(AF_INET, SOCK_STREAM_CLOEXEC, 0), 'open a TCP socket');
  setTimeLimit(fd, SO_SNDTIMEO, lateMs);
  const isConnected = connect(fd, address, address.length) === 0;
  close(fd);
  return isConnected;
}

export interface ManyConnections {
  readonly count: number;
  /** Connections that were not there after a moment. */
  readonly late: number;
}

/** A connection within a machine takes microseconds, and a SYN is sent again after a second. */
const LATE_MS = 20;
/** Until then the kernel has sent each lost SYN again. */
const WAIT_FOR_LATE_MS = 1500;

/**
 * Makes many connections that the server closes at once. A late connection does not hold up the others: it stays open until the
 * end, so that the kernel sends its SYN again.
 */
export async function connectMany({ ip, port }: SocketAddress, most: number, ms: number): Promise<ManyConnections> {
  const address = encodeSocketAddress(ip, port);
  const late: number[] = [];
  let count = 0;
  for (const end = performance.now() + ms; count < most && performance.now() < end; count++) {
    const fd = socket(AF_INET, SOCK_STREAM_CLOEXEC, 0);
    setTimeLimit(fd, SO_SNDTIMEO, LATE_MS);
    if (connect(fd, address, address.length) < 0) {
      late.push(fd);
      continue;
    }
    recv(fd, word, WORD_BYTES, 0);
    close(fd);
  }
  if (late.length > 0) await sleep(WAIT_FOR_LATE_MS);
  for (const fd of late) close(fd);
  return { count, late: late.length };
}

/** Connects to a Service. Returns whether the kernel lists the endpoint as the peer of the socket. */
export function isTranslated(service: SocketAddress, endpoint: SocketAddress): boolean {
  const address = encodeSocketAddress(service.ip, service.port);
  const fd = check(socket(AF_INET, SOCK_STREAM_CLOEXEC, 0), 'open a TCP socket');
  try {
    check(connect(fd, address, address.length), `connect to ${service.ip}:${service.port}`);
    return readFileSync('/proc/thread-self/net/tcp', 'latin1').includes(` ${listed(endpoint)} `);
  } finally {
    close(fd);
  }
}

/** An address as /proc/net/tcp prints it: the bytes of the address backwards. */
function listed({ ip, port }: SocketAddress): string {
  const bytes = Buffer.from(ip.split('.').map(Number)).reverse();
  const number = port.toString(16).padStart(4, '0');
  return `${bytes.toString('hex')}:${number}`.toUpperCase();
}

const one = Buffer.from([1, 0, 0, 0]);

function setOne(fd: number, level: number, name: number): void {
  check(setsockopt(fd, level, name, one, one.length), 'set a socket option');
}

/** Writes `struct timeval`. */
export function setTimeLimit(fd: number, name: number, ms: number): void {
  const limit = Buffer.alloc(16);
  limit.writeBigInt64LE(BigInt(Math.floor(ms / 1000)), 0);
  limit.writeBigInt64LE(BigInt((ms % 1000) * 1000), 8);
  check(setsockopt(fd, SOL_SOCKET, name, limit, limit.length), 'set a time limit of a socket');
}
