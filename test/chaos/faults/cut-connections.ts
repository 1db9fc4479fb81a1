import { setTimeout as delay } from 'node:timers/promises';
import type { Fault } from './fault.ts';

/** Cuts the connections to the API server: all at once, after some bytes, or by refusing every connection for a time. */
export const cutConnections: Fault<{ readonly how: string; readonly times: number; readonly bytes: number }> = {
  name: 'cut-connections',
  target: 'network',
  impairs: ['knowledge'],
  recoveryMs: 30_000,
  choose: random => ({
    how: random.pick(['cut', 'bytes', 'refuse']),
    times: random.between(1, 5),
    bytes: random.between(1, 20_000),
  }),
  async run({ relay }, { how, times, bytes }) {
    for (let time = 0; time < times; time++) {
      if (how === 'bytes') relay.cutAfter(bytes);
      else if (how === 'refuse') relay.refuse();
      else relay.cut();
      await delay(1000);
    }
    relay.pass();
  },
};
