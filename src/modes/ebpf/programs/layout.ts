import { struct, u8, u16, u32, u64 } from '../../../kernel/bpf/index.ts';

/**
 * What the maps hold and the programs read. Addresses and ports are in network byte order, everything else is in the
 * order of the machine.
 */

/** `struct bpf_sock_addr`: what the kernel hands to a program. The upper half of `port` is zero. */
export const SockAddr = struct({
  userFamily: u32,
  ip4: u32,
  ip6: [u32, 4],
  port: u32,
  family: u32,
  type: u32,
  protocol: u32,
  sourceIp4: u32,
  sourceIp6: [u32, 4],
  socket: u64,
});

/** The key of `frontends`. A node port has the address 0. */
export const Frontend4 = struct({ address: u32, port: u16, protocol: u8, zero: u8 });
export const Frontend6 = struct({ address: [u32, 4], port: u16, protocol: u8, zero: u8 });

/** The value of `frontends`: where connections to a frontend go. */
export const Target = struct({ pool: u32, flags: u32, affinitySeconds: u32, counter: u32, identity: u64 });

export const TargetFlag = {
  /** No endpoint can serve: `connect` fails with ECONNREFUSED. */
  refuse: 1,
  /** The same client gets the same endpoint for some time. */
  affinity: 2,
  /** Only for sockets of the node's own network namespace. The network serves all others. */
  nodeOnly: 4,
  /** Of two endpoints that chance picks, the one with fewer connections from this node. */
  leastConnections: 8,
  /** With `leastConnections`: not of two, but of all endpoints. Each has one slot, and there are at most 16. */
  compareAll: 16,
} as const;

/** A program compares at most so many slots. It has instructions for each of them, and the verifier checks them all. */
export const MAX_COMPARED = 16;

/** The value of `pools`: a run of slots. One store replaces it. */
export const Pool = struct({ first: u32, count: u32 });

/** The value of `slots`: an endpoint. An array's elements begin at multiples of 8 bytes. */
export const Slot4 = struct({ address: u32, port: u16, zero: u16 });
export const Slot6 = struct({ address: [u32, 4], port: u16, zero: u16, rest: u32 });

/** The key of `members`: the endpoints of pools with affinity. */
export const Member4 = struct({ pool: u32, address: u32, port: u16, zero: u16 });
export const Member6 = struct({ pool: u32, address: [u32, 4], port: u16, zero: u16 });

/** The value of `peers`: what a socket remembers of the Service that it was connected to. */
export const Peer = struct({
  /** 0: nothing. 4 or 6: an address of that family. */
  state: u32,
  zero: u32,
  namespace: u64,
  servicePort: u16,
  endpointPort: u16,
  /** The id of the map `active4` if that map, or `active6` beside it, counts this socket. 0: none does. */
  countedBy: u32,
  service: [u32, 4],
  endpoint: [u32, 4],
});

/** The key and the values of `affinity`. The client is a network namespace; a pool's identity outlives restarts. */
export const AffinityKey = struct({ client: u64, pool: u64 });
export const Affinity4 = struct({ seen: u64, address: u32, port: u16, zero: u16 });
export const Affinity6 = struct({ seen: u64, address: [u32, 4], port: u16, zero: u16, rest: u32 });

/** The value of `nodeAddresses`. A loopback address belongs to the node only in its own network namespace. */
export const NodeAddress = { any: 1, loopback: 2 } as const;
