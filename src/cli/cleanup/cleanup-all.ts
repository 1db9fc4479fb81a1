import { errorText } from '../../lib/error-text.ts';
import type { Logger } from '../../logging/index.ts';
import { cleanupNftables } from '../../modes/nftables/index.ts';

/** What `--cleanup` does: each part on its own, so that one that fails does not keep the others. */
export async function cleanupAll(log: Logger): Promise<void> {
  try {
    const removed = await cleanupNftables();
    for (const table of removed) log.info('cleanup', 'Removed', { table });
  } catch (error) {
    log.error('cleanup', 'Error cleaning up nftables rules', { err: errorText(error) });
    throw new Error('encountered an error while tearing down rules');
  }
}
