export { cleanupNftables } from './cleanup.ts';
export { FamilyTable } from './family-table.ts';
export { layoutOf, TABLE } from './layout.ts';
export { NftablesMode, type NftablesModeOptions } from './mode.ts';
