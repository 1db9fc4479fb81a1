import { optimiseLater } from './optimise-later.ts';
import type { DaemonOptions } from './options.ts';
import { OpenResources, Shutdown } from './shutdown.ts';
import { start } from './start.ts';

/** Runs until a signal ends it. Rejects with a fatal error. The rules stay in the kernel. */
export async function runDaemon(options: DaemonOptions): Promise<void> {
  optimiseLater();
  const { log } = options;
  const resources = new OpenResources(log);
  const shutdown = new Shutdown(log);
  resources.add('signals', () => shutdown.close());
  try {
    const started = start(options, resources, shutdown);
    // A shutdown during the start does not wait for the start. Then nothing handles an error of the start any more.
    started.catch(() => {});
    const outcome = await Promise.race([started, shutdown.requested]);
    if (outcome === 'initialised') return;
    log.info('daemon', 'kube-proxy ends; its rules stay in the kernel', { signal: await shutdown.requested });
  } finally {
    await resources.close();
  }
}
