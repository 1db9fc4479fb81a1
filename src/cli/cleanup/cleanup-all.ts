import { errorText } from '../../lib/error-text.ts';
import type { Cleanup } from '../../modes/index.ts';
import { cleanupIptables } from '../../modes/iptables/index.ts';
import { cleanupIpvs } from '../../modes/ipvs/index.ts';
import { cleanupNftables } from '../../modes/nftables/index.ts';
import { cleanupUserspace } from '../../modes/userspace/index.ts';
import type { Logger } from '../../observe/logging/index.ts';

/** Removes what one mode may have left. */
export interface CleanupPart {
  readonly mode: string;
  clean(): Promise<Cleanup>;
}

export const CLEANUP_PARTS: readonly CleanupPart[] = [
  { mode: 'nftables', clean: () => cleanupNftables() },
  // Chains that it jumps to belong to iptables mode too, which cannot remove them before.
  { mode: 'ipvs', clean: () => cleanupIpvs() },
  { mode: 'iptables', clean: () => cleanupIptables() },
  { mode: 'userspace', clean: () => cleanupUserspace() },
];

/** Each mode's part, also if another fails. */
export async function* cleanModes(parts = CLEANUP_PARTS): AsyncGenerator<Cleanup & { readonly mode: string }> {
  for (const { mode, clean } of parts) {
    yield { mode, ...(await clean().catch(error => ({ removed: [], errors: [error] }))) };
  }
}

/** What `--cleanup` does. */
export async function cleanupAll(log: Logger, parts = CLEANUP_PARTS): Promise<void> {
  let failures = 0;
  for await (const { mode, removed, errors } of cleanModes(parts)) {
    for (const what of removed) log.info('cleanup', 'Removed', { mode, what });
    for (const error of errors) log.error('cleanup', 'Cannot remove what a mode left', { err: errorText(error), mode });
    failures += errors.length;
  }
  if (failures > 0) throw new Error('encountered an error while tearing down rules');
}
