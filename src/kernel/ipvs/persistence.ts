import { closeSync, openSync, readSync } from 'node:fs';
import { type Ip, ipFromBytes, parseIp } from '../../net/index.ts';
import { fileError } from '../file-error.ts';
import type { NetworkNamespace } from '../netns.ts';

/** A client whose connections to a virtual server all go to the same real server. */
export interface PersistentClient {
  readonly client: Ip;
  readonly protocol: string;
  readonly address: Ip;
  readonly port: number;
  readonly server: Ip;
  readonly serverPort: number;
  readonly secondsLeft: number;
}

export interface Persistence {
  readonly clients: readonly PersistentClient[];
  /** The kernel has more connections than were read. */
  readonly isCut: boolean;
}

const CHUNK = 64 << 10;

/**
 * Reads the kernel's list of connections, at most `maxBytes` of it, and keeps the clients. Only this list shows them. It
 * has a line for every connection.
 */
export function readPersistence(maxBytes: number, namespace?: NetworkNamespace): Persistence {
  const open = () => openSync('/proc/thread-self/net/ip_vs_conn', 'r');
  const file = openList(() => (namespace ? namespace.run(open) : open()));
  try {
    const chunks: Buffer[] = [];
    for (let size = 0; size < maxBytes; ) {
      const chunk = Buffer.alloc(Math.min(CHUNK, maxBytes - size));
      const read = readSync(file, chunk);
      if (read === 0) return { clients: parsePersistence(Buffer.concat(chunks).toString('latin1')), isCut: false };
      chunks.push(chunk.subarray(0, read));
      size += read;
    }
    return { clients: parsePersistence(Buffer.concat(chunks).toString('latin1')), isCut: true };
  } finally {
    closeSync(file);
  }
}

function openList(open: () => number): number {
  try {
    return open();
  } catch (error) {
    throw fileError('read the connections of ipvs', error);
  }
}

/** A client's own port is zero in its entry, because the entry is for all its connections. */
const CLIENT = /^(\w+) +(\S+) 0000 (\S+) ([0-9A-F]{4}) (\S+) ([0-9A-F]{4}) +\S+ +(\d+)/;

export function parsePersistence(text: string): readonly PersistentClient[] {
  return text.split('\n').flatMap(line => {
    const [, protocol, from = '', to = '', port = '', server = '', serverPort = '', seconds] = CLIENT.exec(line) ?? [];
    const [client, address, real] = [from, to, server].map(addressOf);
    if (protocol === undefined || !client || !address || !real) return [];
    const numbers = { port: Number.parseInt(port, 16), serverPort: Number.parseInt(serverPort, 16) };
    return [{ client, protocol, address, server: real, ...numbers, secondsLeft: Number(seconds) }];
  });
}

/** `0A600001`, or an IPv6 address in full. */
function addressOf(text: string): Ip | undefined {
  return /^[0-9A-F]{8}$/.test(text) ? ipFromBytes(Buffer.from(text, 'hex')) : parseIp(text);
}
