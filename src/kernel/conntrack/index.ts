export { type FlowFilter, matches, printFilter, type TupleFilter } from './filter.ts';
export { decodeFlow, encodeFlow, type Flow, printFlow } from './flow.ts';
export { encodeIdentity, type FlowIdentity, printIdentity } from './identity.ts';
export { L4, protocolName } from './protocol.ts';
export {
  type ConntrackOptions,
  ConntrackSocket,
  type DeleteResult,
  type FlowSearch,
  type RefusedFlow,
  type SearchLimits,
} from './socket.ts';
export type { FlowState } from './state.ts';
export type { ConntrackCount } from './stats.ts';
export { Status } from './status.ts';
export type { FlowTuple, Icmp } from './tuple.ts';
