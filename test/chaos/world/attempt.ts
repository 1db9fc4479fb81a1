import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { NetworkNamespace } from '../../../src/kernel/netns.ts';
import { connectTcp } from '../../../src/kernel/sockets/index.ts';
import { errorText } from '../../../src/lib/error-text.ts';
import type { Ip } from '../../../src/net/index.ts';
import type { Attempt } from '../invariants/connections.ts';

const TIMEOUT_MS = 3000;

/** Makes one connection from the namespace, and reads which endpoint it reached. */
export async function attemptOnce(namespace: NetworkNamespace, address: string): Promise<Attempt> {
  const colon = address.lastIndexOf(':');
  const begin = now();
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  let socket: Socket | undefined;
  const result = (answer: string | undefined, failure: string) =>
    ({ client: 'look', address, begin, end: now(), answer, failure }) as const;
  try {
    socket = await connectTcp(namespace, address.slice(0, colon) as Ip, Number(address.slice(colon + 1)), { signal });
    const [data] = await once(socket, 'data', { signal });
    return result(String(data).trim(), '');
  } catch (error) {
    return result(undefined, errorText(error));
  } finally {
    socket?.on('error', () => undefined).destroy();
  }
}

function now(): number {
  return performance.timeOrigin + performance.now();
}
