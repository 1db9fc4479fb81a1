export type { SyncTimes } from './change-path.ts';
export type { Entry, EntryKind, WriteState } from './entry.ts';
export type { Followed } from './followers.ts';
export { History } from './history.ts';
export type { EntryQuery } from './journal.ts';
