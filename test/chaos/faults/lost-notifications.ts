import { setTimeout as delay } from 'node:timers/promises';
import { runIn, runNftScript } from '../../support/run-in.ts';
import { hasTable } from '../world/modes.ts';
import type { Fault } from './fault.ts';

/** So many that the messages do not fit into the buffers of sockets that nobody reads. */
const SCRIPTS = 40;
const CHAINS = 500;
const ADDRESSES = 2000;

/**
 * Stops the process, and makes the kernel send more notifications than the buffers of its sockets hold. When the process
 * continues, its sockets report ENOBUFS.
 */
export const lostNotifications: Fault<{ readonly pausedMs: number }> = {
  name: 'lost-notifications',
  target: 'proxy',
  impairs: ['knowledge', 'rules'],
  recoveryMs: 45_000,
  stopsProxy: true,
  choose: random => ({ pausedMs: random.between(500, 3000) }),
  async run({ proxy, network }, { pausedMs }) {
    await proxy.pause();
    try {
      const names = Array.from({ length: CHAINS }, (_, index) => `add chain ip chaos c${index}\n`);
      for (let script = 0; script < SCRIPTS; script++) {
        runNftScript(network.node, `add table ip chaos\n${names.join('')}delete table ip chaos\n`);
        await delay(1);
      }
      if (hasTable(proxy.mode)) runNftScript(network.node, 'flush set ip kube-proxy cluster-ips\n');
      floodAddresses(network.node);
      await delay(pausedMs);
    } finally {
      proxy.resume();
    }
  },
};

function floodAddresses(namespace: Parameters<typeof runNftScript>[0]): void {
  const lines = (verb: string) =>
    Array.from({ length: ADDRESSES }, (_, i) => `address ${verb} 198.18.${i >> 8}.${i & 255}/32 dev lo\n`).join('');
  runIn(namespace, 'ip', ['-batch', '-'], lines('add') + lines('delete'));
}
