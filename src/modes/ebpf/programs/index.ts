export {
  type AffinityKeyValue,
  type AffinityValue,
  decodeAffinity,
  decodeAffinityKey,
  encodeAffinity,
  encodeAffinityKey,
} from './affinity.ts';
export type { Endpoint } from './bytes.ts';
export {
  decodeFrontendKey,
  FRONTEND_KEY_BYTES,
  type FrontendKey,
  frontendKey,
  writeFrontendKey,
} from './frontend-key.ts';
export { MAX_COMPARED, NodeAddress, Peer, TargetFlag } from './layout.ts';
export { decodeLease, encodeLease } from './lease.ts';
export { MAP_NAMES, type MapName, mapSpec } from './maps.ts';
export { decodeMember, encodeMember, MEMBER_BYTES, MEMBER_VALUE, type MemberKey, writeMember } from './member.ts';
export {
  decodeNodeAddress,
  decodeNodeAddressKey,
  encodeNodeAddress,
  type NodeAddressKind,
  nodeAddressKey,
} from './node-address.ts';
export { decodePeer, encodePeer, PEER_BYTES, PEER_STATE, type PeerValue } from './peer.ts';
export { decodePool, encodePool, POOL_BYTES, type PoolValue, poolWord, writePool } from './pool.ts';
export type { ProgramOptions } from './program-options.ts';
export { decodeSlot, encodeSlot, SLOT_BYTES, writeSlot } from './slot.ts';
export { socketPrograms } from './socket-programs.ts';
export {
  decodeTarget,
  encodeTarget,
  flagNames,
  TARGET_BYTES,
  type TargetFlagName,
  type TargetValue,
  writeTarget,
} from './target.ts';
