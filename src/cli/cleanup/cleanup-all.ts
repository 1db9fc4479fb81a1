import { errorText } from '../../lib/error-text.ts';
import type { Logger } from '../../logging/index.ts';
import { cleanupIptables } from '../../modes/iptables/index.ts';
import { cleanupIpvs } from '../../modes/ipvs/index.ts';
import { cleanupNftables } from '../../modes/nftables/index.ts';
import { cleanupUserspace } from '../../modes/userspace/index.ts';

/** What one mode may have left. */
export interface CleanupPart {
  readonly mode: string;
  /** Removes it, and says what it was. */
  clean(): Promise<readonly string[]>;
}

export const CLEANUP_PARTS: readonly CleanupPart[] = [
  { mode: 'nftables', clean: async () => (await cleanupNftables()).map(table => `table ${table}`) },
  // Chains that it jumps to belong to iptables mode too, which cannot remove them before.
  { mode: 'ipvs', clean: () => cleanupIpvs() },
  { mode: 'iptables', clean: async () => removedOf(await cleanupIptables()) },
  { mode: 'userspace', clean: async () => removedOf(await cleanupUserspace()) },
];

function removedOf({ removed, errors }: Awaited<ReturnType<typeof cleanupUserspace>>): readonly string[] {
  if (errors.length > 0) throw new Error(errors.map(errorText).join('; '));
  return removed;
}

/** What `--cleanup` does: each mode's part, also if another fails. */
export async function cleanupAll(log: Logger, parts: readonly CleanupPart[] = CLEANUP_PARTS): Promise<void> {
  let hasFailed = false;
  for (const { mode, clean } of parts) {
    try {
      for (const what of await clean()) log.info('cleanup', 'Removed', { mode, what });
    } catch (error) {
      hasFailed = true;
      log.error('cleanup', 'Cannot remove what a mode left', { err: errorText(error), mode });
    }
  }
  if (hasFailed) throw new Error('encountered an error while tearing down rules');
}
