import { errorText } from '../lib/error-text.ts';
import type { Logger } from '../logging/index.ts';
import { cleanupIpvs, hasIpvsLeftovers } from '../modes/ipvs/index.ts';
import { cleanupNftables } from '../modes/nftables/index.ts';

/** Removes what another mode left on this machine, which would take packets before the mode that starts sees them. */
export async function removeLeftovers(mode: string, log: Logger): Promise<void> {
  try {
    const removed = mode === 'ipvs' ? await cleanupNftables() : hasIpvsLeftovers() ? await cleanupIpvs() : [];
    for (const what of removed) log.info('cleanup', 'Removed what another mode left', { what });
  } catch (error) {
    log.error('cleanup', 'Cannot remove what another mode left', { err: errorText(error) });
  }
}
