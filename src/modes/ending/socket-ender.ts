import type { Flow } from '../../kernel/conntrack/index.ts';
import { endSockets, type TcpEnds } from '../../kernel/end-sockets.ts';
import { KernelError } from '../../kernel/errors.ts';
import { NetworkNamespace } from '../../kernel/netns.ts';
import { distinctNamespacePaths, namespaceAddresses, networkNamespacePaths } from '../../kernel/network-namespaces.ts';
import { appendTo } from '../../lib/append-to.ts';
import { Breaks } from '../../lib/breaks.ts';
import { type Ip, isLoopback } from '../../net/index.ts';
import type { EndedEndpoint } from '../../plan/index.ts';

/** A connection to an endpoint that is gone. */
export interface OpenConnection {
  readonly endpoint: EndedEndpoint;
  /** Undefined if the kernel does not translate its packets. */
  readonly flow: Flow | undefined;
  /** The sockets that may exist on this machine: the client's, and the endpoint's. */
  readonly ends: readonly TcpEnds[];
  /** A socket was ended. The kernel has sent TCP RST to the other one. */
  isEnded: boolean;
}

interface Wanted extends TcpEnds {
  readonly connection: OpenConnection;
}

type WantedByAddress = ReadonlyMap<Ip, readonly Wanted[]>;

/** Errors of a process that may not do this, or of a kernel that cannot. */
const EXPECTED_ERRORS = new Set(['EPERM', 'EACCES', 'EOPNOTSUPP', 'ENOENT', 'EPROTONOSUPPORT']);

/** Ends sockets of connections in the network namespace of the node and in those of pods on this machine. */
export class SocketEnder {
  readonly #home: NetworkNamespace | undefined;
  readonly #otherNamespaces: () => Iterable<string>;

  constructor(home: NetworkNamespace | undefined, otherNamespaces: () => Iterable<string> = networkNamespacePaths) {
    this.#home = home;
    this.#otherNamespaces = otherNamespaces;
  }

  /** Sets `isEnded` of the connections. Returns why sockets of some clients may live on. */
  async end(connections: readonly OpenConnection[]): Promise<string | undefined> {
    const wanted = new Map<Ip, Wanted[]>();
    const breaks = new Breaks();
    for (const connection of connections) {
      for (const ends of connection.ends) appendTo(wanted, ends.local.ip, { ...ends, connection });
      if (breaks.isDue) await breaks.take();
    }
    if (wanted.size === 0) return undefined;
    try {
      await endIn(this.#home, wanted, () => true);
      if (!connections.some(isLeft)) return undefined;
      return await this.#endInOthers(connections, wanted);
    } catch (error) {
      if (!(error instanceof KernelError) || !EXPECTED_ERRORS.has(error.errno ?? '')) throw error;
      return `the kernel ends no sockets for this process: ${error.message}`;
    }
  }

  async #endInOthers(connections: readonly OpenConnection[], wanted: WantedByAddress): Promise<string | undefined> {
    const breaks = new Breaks();
    let [seen, refused] = [0, 0];
    for (const path of distinctNamespacePaths(this.#home, this.#otherNamespaces())) {
      if (breaks.isDue) await breaks.take();
      const result = await endAtPath(path, wanted);
      if (result === 'refused') refused++;
      seen++;
      if (result === 'ended' && !connections.some(isLeft)) return undefined;
    }
    if (seen === 0)
      return 'the process sees no network namespaces of pods: it needs /run/netns or the PIDs of the host';
    if (refused > 0)
      return `the process may not enter ${refused} of ${seen} network namespaces: it needs CAP_SYS_ADMIN`;
    return undefined;
  }
}

/** Its sockets are on other machines, or out of reach. */
export function isLeft({ ends, isEnded }: OpenConnection): boolean {
  return ends.length > 0 && !isEnded;
}

async function endAtPath(path: string, wanted: WantedByAddress): Promise<'ended' | 'none' | 'refused'> {
  let namespace: NetworkNamespace | undefined;
  try {
    namespace = NetworkNamespace.open(path);
    // All namespaces have loopback addresses. The flows of this machine's table have those of the node.
    return (await endIn(namespace, wanted, ip => !isLoopback(ip))) > 0 ? 'ended' : 'none';
  } catch (error) {
    if (!(error instanceof KernelError)) throw error;
    // A namespace may vanish with its pod.
    return error.errno === 'EPERM' || error.errno === 'EACCES' ? 'refused' : 'none';
  } finally {
    namespace?.close();
  }
}

/** Returns how many sockets it ended. */
async function endIn(
  namespace: NetworkNamespace | undefined,
  wanted: WantedByAddress,
  isOwn: (ip: Ip) => boolean,
): Promise<number> {
  const candidates: Wanted[] = [];
  for (const ip of namespaceAddresses(namespace)) {
    if (!isOwn(ip)) continue;
    for (const ends of wanted.get(ip) ?? []) if (!ends.connection.isEnded) candidates.push(ends);
  }
  if (candidates.length === 0) return 0;
  const ended = await endSockets(candidates, namespace);
  for (const { connection } of ended) connection.isEnded = true;
  return ended.length;
}
