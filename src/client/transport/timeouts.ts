import type { ClientLog } from '../client-log.ts';
import type { Environment } from '../kubeconfig/in-cluster.ts';
import type { ConnectionTimes } from './connection.ts';

/** Those of client-go, with the variables that change them there. */
export function connectionTimes(env: Environment, log: ClientLog): ConnectionTimes {
  const seconds = (name: string, otherwise: number) => {
    const value = env[name] || String(otherwise);
    if (/^\d{1,7}$/.test(value)) return Number(value) * 1000;
    log.warning(`Illegal ${name}(${JSON.stringify(value)}). Default value ${otherwise} is used`);
    return otherwise * 1000;
  };
  return {
    connectMs: 30_000,
    readIdleMs: seconds('HTTP2_READ_IDLE_TIMEOUT_SECONDS', 30),
    pingMs: seconds('HTTP2_PING_TIMEOUT_SECONDS', 15),
  };
}
