import { spawn } from 'node:child_process';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import { HeldProcess } from './held-process.ts';

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

/** Starts another process that listens at a port. */
export function holdPort(
  namespace: NetworkNamespace,
  { protocol, ip, port, isV6Only }: HeldPort,
): Promise<HeldProcess> {
  const args = ['-e', HOLD, protocol, ip, `${port}`, isV6Only ? 'only' : 'both'];
  return HeldProcess.of(namespace.run(() => spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })));
}
