import type { NetworkNamespace } from '../../kernel/netns.ts';
import { type ConnectOptions, connectTcp, connectUdp } from '../../kernel/sockets/index.ts';
import type { Ip } from '../../net/index.ts';

export interface Destination {
  readonly ip: Ip;
  readonly port: number;
  readonly protocol: 'TCP' | 'UDP';
}

export interface ExchangeOptions extends ConnectOptions {
  readonly signal: AbortSignal;
  /** A datagram may be lost: after this time without an answer, the client sends it again. By default it does not. */
  readonly resendMs?: number | undefined;
}

/** Sends one question and returns the answer. The answer is empty if the other end hangs up without one. */
export function exchange(
  namespace: NetworkNamespace,
  { ip, port, protocol }: Destination,
  options: ExchangeOptions,
): Promise<string> {
  switch (protocol) {
    case 'TCP':
      return exchangeTcp(namespace, ip, port, options);
    case 'UDP':
      return exchangeUdp(namespace, ip, port, options);
  }
}

async function exchangeTcp(
  namespace: NetworkNamespace,
  ip: Ip,
  port: number,
  options: ExchangeOptions,
): Promise<string> {
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

async function exchangeUdp(
  namespace: NetworkNamespace,
  ip: Ip,
  port: number,
  { resendMs, ...options }: ExchangeOptions,
): Promise<string> {
  const socket = await connectUdp(namespace, ip, port, options);
  let resend: NodeJS.Timeout | undefined;
  try {
    return await new Promise<string>((resolve, reject) => {
      socket.once('message', bytes => resolve(String(bytes)));
      socket.on('error', reject);
      options.signal.addEventListener('abort', () => reject(options.signal.reason), { once: true });
      const send = () => socket.send('?', error => error && reject(error));
      send();
      if (resendMs !== undefined) resend = setInterval(send, resendMs);
    });
  } finally {
    clearInterval(resend);
    socket.close();
  }
}
