import { Transaction } from '../../../kernel/nftables/index.ts';
import { type FixedOptions, hasUnusableSets, prepareFoundation, prepareSteering } from '../table/fixed.ts';
import { type Layout, TABLE } from '../table/layout.ts';
import { EMPTY_SNAPSHOT, type Snapshot } from './snapshot.ts';

/** How a full write changes the table without a moment in which connections fail. */
export interface Adoption {
  /** What the table has, as far as the write can use it. */
  readonly snapshot: Snapshot;
  /** What comes before the service ports. */
  readonly before: Transaction;
  /** What comes after them. */
  readonly after: Transaction;
  /** What comes before and all service ports must be one transaction. */
  readonly isOneTransaction: boolean;
}

/** `isOwn`: the writer itself wrote the table, so its elements are up to date, or nearly so. */
export function planAdoption(layout: Layout, options: FixedOptions, found: Snapshot, isOwn: boolean): Adoption {
  // If the deletion and all service ports are one transaction, no connection meets an empty table.
  const isReplaced = hasUnusableSets(layout, found);
  const snapshot = isReplaced ? EMPTY_SNAPSHOT : found;
  const before = emptyTransaction(layout);
  // After a batch that begins with a deletion, the kernel would not report which generation the batch made.
  if (isReplaced) before.destroy({ kind: 'table', family: layout.nft, name: TABLE });
  before.append(prepareFoundation(layout, snapshot));
  const steering = prepareSteering(layout, options, snapshot);
  // The chains of another process lead connections to its elements, until ours are complete.
  const isBuiltBeside = snapshot.tableHandle !== undefined && !isOwn;
  if (isBuiltBeside) return { snapshot, before, after: steering, isOneTransaction: false };
  before.append(steering);
  return { snapshot, before, after: emptyTransaction(layout), isOneTransaction: isReplaced };
}

export function emptyTransaction({ nft }: Layout): Transaction {
  return new Transaction(nft, TABLE);
}
