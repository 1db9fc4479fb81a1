import { setTimeout as delay } from 'node:timers/promises';
import type { Fault } from './fault.ts';

/** Starts a second proxy beside the first one. It must wait, and take over when the first one is killed. */
export const secondProxy: Fault<{ readonly besideMs: number; readonly takesOver: number }> = {
  name: 'second-proxy',
  target: 'proxy',
  impairs: ['knowledge'],
  recoveryMs: 30_000,
  stopsProxy: true,
  choose: random => ({ besideMs: random.between(1000, 5000), takesOver: random.between(0, 1) }),
  async run({ proxy, log }, { besideMs, takesOver }) {
    const other = proxy.startAnother();
    try {
      await delay(besideMs);
      if (other.hasEnded) throw new Error('the second proxy did not wait');
      if (takesOver === 1) {
        await proxy.restart('SIGKILL');
        await delay(besideMs);
      }
    } finally {
      await other.stop('SIGKILL');
      log.keep('the second kube-proxy', other.lines);
    }
  },
};
