export type { IptablesFamily, RestoreOptions, RulePosition } from './arguments.ts';
export { chainsOfBackend, otherBackend, programOfBackend } from './backends.ts';
export { missingCanaries } from './canary.ts';
export type { ChainListing, KeepRule } from './chain-listing.ts';
export type { ChainUses } from './chain-uses.ts';
export type { IptablesFailureKind } from './failure-kind.ts';
export { Iptables, type IptablesOptions, type ListedChains } from './iptables.ts';
export { IptablesError } from './iptables-error.ts';
export { legacyTables } from './legacy-tables.ts';
export { listedRule } from './listed-rule.ts';
export type { LockHolder } from './lock-holder.ts';
export { type LockWait, lockWaitText } from './lock-watch.ts';
export type { RestoreLine } from './restore-failure.ts';
export type { CountedRule } from './rule-counters.ts';
export { quoteRule, quoteWord, splitRule } from './rule-text.ts';
export type { IptablesRun } from './runner.ts';
export {
  type ChainName,
  chainsWithPrefix,
  parseSave,
  type SavedChain,
  type SavedChains,
  type SavedRule,
  type SavedTables,
  SaveParser,
} from './save.ts';
export type { Backend, IptablesFeatures } from './version.ts';
