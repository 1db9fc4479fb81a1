export { type Batch, encodeBatch } from './batch.ts';
export { BatchError, type Failure } from './batch-error.ts';
export {
  type BoundedList,
  type HookedChain,
  listBaseChains,
  listElementsUpTo,
  listRulesUpTo,
  listTableSizes,
  type TableSize,
} from './bounded-lists.ts';
export { type BaseChain, type Chain, type ChainType, type Hook, printListedChain } from './chain.ts';
export type { Command, ElementCommand, RuleHandle, SetElements } from './command.ts';
export { printCommand, printElementOf } from './command.ts';
export { dataBytes, dataValues } from './data.ts';
export { type DataType, type DataValue, dataSize, fieldSizes, printData } from './datatype.ts';
export type { Element } from './element.ts';
export type { ChangedElements, NftEvent } from './event.ts';
export * from './expressions/index.ts';
export type { NftFamily } from './family.ts';
export type { Generation } from './generation.ts';
export { NftablesLookups } from './lookups.ts';
export { NftablesMonitor, type NftablesMonitorHandlers } from './monitor.ts';
export { printProtocol, protocolNumber } from './protocol.ts';
export type { Rule } from './rule.ts';
export { type NftMap, type NftSet, printSetBody, type SetFlag, type SetOrMap } from './set.ts';
export { type Commit, type CommitOptions, NftablesSocket, type NftablesSocketOptions } from './socket.ts';
export type { Table } from './table.ts';
export type { TracedConnection, TracedHeaders, TraceFamily, TraceMessage, TraceVerdict } from './trace-message.ts';
export { TraceMonitor, type TraceMonitorHandlers } from './trace-monitor.ts';
export { type ListedRule, Transaction } from './transaction.ts';
export { MAX_COMMENT_BYTES } from './userdata.ts';
