import type { BpfMap } from '../../../kernel/bpf/index.ts';
import { encodeLease } from '../programs/index.ts';

/**
 * How long programs serve without a proxy. A restart takes less. If the proxy does not come back, or another mode took
 * over without access to the pins, the network serves all connections after this time.
 */
export const LEASE_MS = 60_000;

const FIRST = Buffer.alloc(4);

/** Lets the programs of a map serve for some more time. */
export function renewLease(lease: BpfMap, durationMs = LEASE_MS): void {
  // Node reads the same clock as the kernel's programs.
  const until = process.hrtime.bigint() + BigInt(durationMs) * 1_000_000n;
  lease.update(FIRST, encodeLease(until));
}
