export { FACTS_FLAGS, type FactsFlags, namesSource, refuseFactsFlags } from './flags.ts';
export { machineIPs } from './interface-ips.ts';
export { type LoadedFacts, loadFacts } from './load.ts';
export type { Snapshot } from './snapshot.ts';
