import { frame, type Local, struct, u32, u64 } from '../../../../kernel/bpf/index.ts';
import { AffinityKey, Slot4, Slot6 } from '../layout.ts';
import type { SocketFamily } from './socket-family.ts';

/** What a program knows while it chooses. `pool` and `flags` are written by one store. */
const Choice = struct({
  pool: u32,
  flags: u32,
  run: u64,
  namespace: u64,
  identity: u64,
  now: u64,
  affinitySeconds: u32,
  counter: u32,
  connections: u32,
});
const Index = struct({ value: u32 });

/** The stack of a connect program: the structures whose addresses it hands to helpers, and what it keeps. */
export interface ConnectStack {
  readonly key: Local<'address' | 'port' | 'protocol'>;
  readonly endpoint: Local<'address' | 'port'>;
  readonly choice: Local<keyof typeof Choice>;
  readonly index: Local<'value'>;
  readonly member: Local<'pool' | 'address' | 'port'>;
  readonly affinityKey: Local<'client' | 'pool'>;
  readonly affinity: Local<'seen' | 'address' | 'port'>;
  readonly ended: EndedStack;
}

/** The keys of `active4` and `active6` for the connection that a socket had before. */
export interface EndedStack {
  readonly v4: Local<'address' | 'port'>;
  readonly v6: Local<'address' | 'port'>;
}

export function connectStack({ Frontend, Slot, Member, Affinity }: SocketFamily): ConnectStack {
  const { ended4, ended6, ...rest } = frame({
    key: Frontend,
    endpoint: Slot,
    choice: Choice,
    index: Index,
    member: Member,
    affinityKey: AffinityKey,
    affinity: Affinity,
    ended4: Slot4,
    ended6: Slot6,
  });
  return { ...rest, ended: { v4: ended4, v6: ended6 } };
}

/** For programs that only end connections. */
export function endedStack(): EndedStack {
  return frame({ v4: Slot4, v6: Slot6 });
}
