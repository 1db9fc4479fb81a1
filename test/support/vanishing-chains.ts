import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import { nft } from './nftables-mode.ts';

/** Enough chains that the kernel lists them in several answers. Between those, the ruleset can change. */
const STAYING = 3000;

/**
 * Runs the work while another program adds and deletes a chain of its own in the table `nat` all the time. The table
 * must exist.
 */
export async function whileChainsVanish(namespace: NetworkNamespace, work: () => Promise<void>): Promise<void> {
  const chains = Array.from({ length: STAYING }, (_, i) => `add chain ip nat foreign-${i}`);
  nft(namespace, chains.join('; '));
  const script =
    'for i in $(seq 5000); do nft add chain ip nat vanishing; nft delete chain ip nat vanishing; echo .; done';
  const busy = namespace.run(() => spawn('/bin/sh', ['-c', script], { stdio: ['ignore', 'pipe', 'inherit'] }));
  const ended = once(busy, 'exit');
  try {
    await once(busy.stdout, 'data');
    busy.stdout.resume();
    await work();
    await delay(0);
    if (busy.exitCode !== null) throw new Error('the other program ended before the work');
  } finally {
    busy.kill('SIGKILL');
    await ended;
  }
}
