import { asU32BE, attributeMap } from '../netlink/index.ts';

export interface ConntrackCount {
  /** Entries in the table now, of both families. */
  readonly entries: number;
  /** How many entries the table can hold (`nf_conntrack_max`). Kernels before 5.13 do not report it. */
  readonly max: number | undefined;
}

const StatsGlobal = { ENTRIES: 1, MAX_ENTRIES: 2 } as const;

/** Decodes the answer to CT_GET_STATS, the request of `conntrack -C`. */
export function decodeCount(body: Buffer): ConntrackCount | undefined {
  const attributes = attributeMap(body, 4);
  const entries = asU32BE(attributes.get(StatsGlobal.ENTRIES));
  return entries === undefined ? undefined : { entries, max: asU32BE(attributes.get(StatsGlobal.MAX_ENTRIES)) };
}
