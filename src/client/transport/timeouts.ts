import type { Environment } from '../client-config.ts';
import type { ClientLog } from '../client-log.ts';

export interface ConnectionTimeouts {
  /** For a new connection, including the HTTP proxy and TLS. */
  readonly connectMs: number;
  /** For one TLS handshake. A server that stopped still accepts connections, and then never answers. */
  readonly handshakeMs: number;
  /** After this long without a read, the client sends a ping on an HTTP/2 session; 0 means never. */
  readonly readIdleMs: number;
  /** For the answer to the ping. */
  readonly pingMs: number;
}

/** The timeouts of client-go, and the environment variables that change them there. */
export function connectionTimeouts(env: Environment, log: ClientLog): ConnectionTimeouts {
  const fromEnvironment = (name: string, defaultSeconds: number) => {
    const value = env[name] || String(defaultSeconds);
    if (/^\d{1,7}$/.test(value)) return Number(value) * 1000;
    log.warning('client', `Illegal ${name}(${JSON.stringify(value)}). Default value ${defaultSeconds} is used`);
    return defaultSeconds * 1000;
  };
  return {
    connectMs: 30_000,
    handshakeMs: 10_000,
    readIdleMs: fromEnvironment('HTTP2_READ_IDLE_TIMEOUT_SECONDS', 30),
    pingMs: fromEnvironment('HTTP2_PING_TIMEOUT_SECONDS', 15),
  };
}
