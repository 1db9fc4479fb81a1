import { KernelError } from './errors.ts';
import { NetlinkSocket, Protocol } from './netlink/index.ts';
import type { NetworkNamespace } from './netns.ts';

export const SOCK_DIAG_BY_FAMILY = 20;

/** The kernel lacks sock_diag or the protocol, or a security module denies it to the container. */
const UNSUPPORTED = new Set(['ENOENT', 'EPROTONOSUPPORT', 'EAFNOSUPPORT', 'EOPNOTSUPP', 'EINVAL', 'EPERM', 'EACCES']);

/** Lists the sockets that the request asks for and that `decode` accepts. Undefined if this process cannot list them. */
export function dumpSockets<T>(
  operation: string,
  request: Buffer,
  decode: (body: Buffer) => T | undefined,
  namespace: NetworkNamespace | undefined,
): readonly T[] | undefined {
  let socket: NetlinkSocket | undefined;
  try {
    socket = NetlinkSocket.open(Protocol.SOCK_DIAG, { namespace });
    const found: T[] = [];
    for (const { body } of socket.dump(operation, SOCK_DIAG_BY_FAMILY, writer => writer.struct(request))) {
      const decoded = decode(body);
      if (decoded !== undefined) found.push(decoded);
    }
    return found;
  } catch (error) {
    if (error instanceof KernelError && UNSUPPORTED.has(error.errno ?? '')) return undefined;
    throw error;
  } finally {
    socket?.close();
  }
}
