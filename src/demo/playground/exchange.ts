import type { NetworkNamespace } from '../../kernel/netns.ts';
import { type ConnectOptions, connectTcp, connectUdp } from '../../kernel/sockets/index.ts';
import type { Ip } from '../../net/index.ts';

export interface Destination {
  readonly ip: Ip;
  readonly port: number;
  readonly protocol: 'TCP' | 'UDP';
}

/** Sends one question and returns the answer. The answer is empty if the other end hangs up without one. */
export function exchange(
  namespace: NetworkNamespace,
  { ip, port, protocol }: Destination,
  options: ConnectOptions & { readonly signal: AbortSignal },
): Promise<string> {
  switch (protocol) {
    case 'TCP':
      return exchangeTcp(namespace, ip, port, options);
    case 'UDP':
      return exchangeUdp(namespace, ip, port, options);
  }
}

type Options = ConnectOptions & { readonly signal: AbortSignal };

async function exchangeTcp(namespace: NetworkNamespace, ip: Ip, port: number, options: Options): Promise<string> {
  const socket = await connectTcp(namespace, ip, port, options);
  try {
    return await new Promise<string>((resolve, reject) => {
      socket.once('data', bytes => resolve(String(bytes)));
      socket.once('end', () => resolve(''));
      socket.on('error', reject);
      options.signal.addEventListener('abort', () => reject(options.signal.reason), { once: true });
    });
  } finally {
    socket.destroy();
  }
}

async function exchangeUdp(namespace: NetworkNamespace, ip: Ip, port: number, options: Options): Promise<string> {
  const socket = await connectUdp(namespace, ip, port, options);
  try {
    return await new Promise<string>((resolve, reject) => {
      socket.once('message', bytes => resolve(String(bytes)));
      socket.on('error', reject);
      options.signal.addEventListener('abort', () => reject(options.signal.reason), { once: true });
      socket.send('?', error => {
        if (error) reject(error);
      });
    });
  } finally {
    socket.close();
  }
}
