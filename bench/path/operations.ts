// What a client does, by blocking calls of the C library. The time of an operation is then nearly all the kernel's.
import { bind, check, close, connect, recv, send, socket } from '../../src/kernel/libc.ts';
import { DatagramExchange, encodeSocketAddress } from '../../src/kernel/sockets/index.ts';
import { quantile } from '../support/report.ts';
import { type Load, runLoad, SO_RCVTIMEO, type SocketAddress, setTimeLimit } from '../support/socket-load.ts';

const AF_INET = 2;
const SOCK_STREAM_CLOEXEC = 1 | 0o2000000;
const SOCK_DGRAM_CLOEXEC = 2 | 0o2000000;
const WORD_BYTES = 64;
const LOOK_MS = 1000;
const ANSWER_MS = 1000;

/** The operations, each with what one of them is. */
export const OPERATIONS = {
  'first packet': 'connect() to another Service each time',
  connection: 'connect, one question, one answer, close',
  request: 'one question and one answer on an open connection',
  bulk: 'one megabyte on an open connection',
  'UDP request': 'one question and one answer from a new socket',
} as const;
export type Operation = keyof typeof OPERATIONS;

/** Where an operation goes to. */
export interface Targets {
  readonly tcp: SocketAddress;
  readonly udp: SocketAddress;
  /** Services all over the cluster, for first packets. */
  readonly many: readonly SocketAddress[];
}

export function runOperation(operation: Operation, { tcp, udp, many }: Targets, ms: number): Load {
  switch (operation) {
    case 'connection':
      return runLoad('connection', tcp, ms);
    case 'request':
      return runLoad('question', tcp, ms);
    case 'bulk':
      return runLoad('bulk', tcp, ms);
    case 'first packet':
      return repeat(connectTo(many), ms);
    case 'UDP request':
      return repeat(askOnce(udp), ms);
  }
}

/** Repeats until the time is over. `once` returns whether it succeeded. */
function repeat(once: () => boolean, ms: number): Load {
  const samples: number[] = [];
  let errors = 0;
  const cpu = process.cpuUsage();
  const start = performance.now();
  let now = start;
  while (now < start + ms) {
    const isGood = once();
    const end = performance.now();
    if (isGood) samples.push(end - now);
    else errors += 1;
    now = end;
  }
  const { user, system } = process.cpuUsage(cpu);
  const [p50, p99] = [quantile(samples, 0.5) * 1000, quantile(samples, 0.99) * 1000];
  return { count: samples.length, errors, ms: now - start, cpuMs: (user + system) / 1000, p50, p99, slow: 0 };
}

let nextService = 0;

function connectTo(addresses: readonly SocketAddress[]): () => boolean {
  const encoded = addresses.map(({ ip, port }) => encodeSocketAddress(ip, port));
  return () => {
    const address = encoded[nextService++ % encoded.length] ?? Buffer.alloc(0);
    const fd = check(socket(AF_INET, SOCK_STREAM_CLOEXEC, 0), 'open a TCP socket');
    const isConnected = connect(fd, address, address.length) === 0;
    close(fd);
    return isConnected;
  };
}

const word = Buffer.alloc(WORD_BYTES);

function askOnce({ ip, port }: SocketAddress): () => boolean {
  const address = encodeSocketAddress(ip, port);
  return () => {
    const fd = check(socket(AF_INET, SOCK_DGRAM_CLOEXEC, 0), 'open a UDP socket');
    setTimeLimit(fd, SO_RCVTIMEO, ANSWER_MS);
    const isAnswered =
      connect(fd, address, address.length) === 0 &&
      send(fd, word, WORD_BYTES, 0) === WORD_BYTES &&
      recv(fd, word, WORD_BYTES, 0) === WORD_BYTES;
    close(fd);
    return isAnswered;
  };
}

/** Answers each datagram until the bench ends. It is bound before this returns. */
export function openUdpServer({ ip, port }: SocketAddress): () => never {
  const fd = check(socket(AF_INET, SOCK_DGRAM_CLOEXEC, 0), 'open a UDP socket');
  setTimeLimit(fd, SO_RCVTIMEO, LOOK_MS);
  const address = encodeSocketAddress(ip, port);
  check(bind(fd, address, address.length), `bind UDP ${ip}:${port}`);
  const exchange = new DatagramExchange('IPv4');
  const own = Buffer.from(ip.split('.').map(Number));
  const parent = process.ppid;
  return () => {
    for (;;) {
      const length = exchange.receive(fd);
      if (length >= 0) exchange.send(fd, length, exchange.peer, own);
      else if (process.ppid !== parent) process.exit(1);
    }
  };
}
