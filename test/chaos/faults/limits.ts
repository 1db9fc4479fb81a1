import { spawnSync } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import type { Fault } from './fault.ts';

const UNLIMITED = 'unlimited';
const USUAL_DESCRIPTORS = '65536';

/** Takes descriptors or memory from the process with prlimit, and gives them back. The process may end. */
export const limits: Fault<{ readonly kind: string; readonly spare: number; readonly lastsMs: number }> = {
  name: 'limits',
  target: 'proxy',
  impairs: ['knowledge'],
  recoveryMs: 45_000,
  stopsProxy: true,
  mayEndProxy: true,
  choose: random => ({
    kind: random.pick(['nofile', 'data']),
    spare: random.between(0, 8),
    lastsMs: random.between(2000, 6000),
  }),
  async run({ proxy, relay }, { kind, spare, lastsMs }) {
    const { pid } = proxy;
    if (pid === undefined) return;
    prlimit(
      pid,
      kind === 'nofile' ? `--nofile=${4 + spare}:${USUAL_DESCRIPTORS}` : `--data=${(8 * spare) << 20}:${UNLIMITED}`,
    );
    // The proxy needs new descriptors and memory now.
    relay.cut();
    await delay(lastsMs);
    prlimit(pid, kind === 'nofile' ? `--nofile=${USUAL_DESCRIPTORS}` : `--data=${UNLIMITED}`);
  },
};

/** The process may have ended already. */
function prlimit(pid: number, limit: string): void {
  spawnSync('prlimit', ['--pid', String(pid), limit]);
}
