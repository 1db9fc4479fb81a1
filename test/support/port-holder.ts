import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';

/** Listens at a port, says so, and lives until its input ends. */
const HOLD = `
  const [protocol, ip, port, only] = process.argv.slice(1);
  const say = () => console.log('bound');
  if (protocol === 'TCP') {
    require('node:net').createServer().listen({ host: ip, port: Number(port), ipv6Only: only === 'only' }, say);
  } else {
    const type = ip.includes(':') ? 'udp6' : 'udp4';
    require('node:dgram').createSocket({ type, ipv6Only: only === 'only' }).bind(Number(port), ip, say);
  }
  process.stdin.on('end', () => process.exit()).resume();
`;

export interface HeldPort {
  readonly protocol: 'TCP' | 'UDP';
  readonly ip: string;
  readonly port: number;
  /** An IPv6 socket that receives no IPv4 packets. */
  readonly isV6Only?: boolean;
}

/** Another process that listens at a port. */
export class PortHolder {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  static async start(namespace: NetworkNamespace, { protocol, ip, port, isV6Only }: HeldPort): Promise<PortHolder> {
    const args = ['-e', HOLD, protocol, ip, `${port}`, isV6Only ? 'only' : 'both'];
    const child = namespace.run(() => spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] }));
    await Promise.race([
      once(child.stdout, 'data'),
      once(child, 'exit').then(([status]) => Promise.reject(new Error(`could not hold the port: status ${status}`))),
    ]);
    return new PortHolder(child);
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  async close(): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#child.stdin?.end();
    await ended;
  }
}
