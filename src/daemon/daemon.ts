import { Closers } from './closers.ts';
import { Ending } from './ending.ts';
import type { DaemonOptions } from './options.ts';
import { start } from './start.ts';

/** Runs until a signal ends it; rejects with what it cannot go on from. What is programmed stays. */
export async function runDaemon(options: DaemonOptions): Promise<void> {
  const { log } = options;
  const closers = new Closers(log);
  const ending = new Ending();
  closers.add('signals', () => ending.close());
  try {
    const started = start(options, closers, ending);
    // An end that comes while it starts must not wait for the start; what then fails has been ended.
    started.catch(() => {});
    const outcome = await Promise.race([started, ending.reached]);
    if (outcome === 'initialised') return;
    log.info('daemon', 'Ending; what is programmed stays', { signal: await ending.reached });
  } finally {
    await closers.close();
  }
}
