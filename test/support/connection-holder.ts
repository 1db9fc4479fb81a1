import { spawn } from 'node:child_process';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import type { Ip } from '../../src/net/index.ts';
import { HeldProcess } from './held-process.ts';

/** Opens connections, says so, and lives until its input ends. */
const HOLD = `
  const [host, port, count] = process.argv.slice(1);
  let open = 0;
  for (let i = 0; i < Number(count); i++) {
    require('node:net').connect({ host, port: Number(port) }, () => ++open === Number(count) && console.log('open'));
  }
  process.stdin.on('end', () => process.exit()).resume();
`;

/** Starts another process that holds open connections. It belongs to the control group of this process. */
export function holdConnections(
  namespace: NetworkNamespace,
  ip: Ip,
  port: number,
  count: number,
): Promise<HeldProcess> {
  const args = ['-e', HOLD, ip, `${port}`, `${count}`];
  return HeldProcess.of(namespace.run(() => spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })));
}
