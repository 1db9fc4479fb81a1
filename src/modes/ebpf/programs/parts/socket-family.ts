import {
  at,
  item,
  type Local,
  load,
  nth,
  type Part,
  type Place,
  r2,
  r6,
  type Struct,
  store,
} from '../../../../kernel/bpf/index.ts';
import { Affinity4, Affinity6, Frontend4, Frontend6, Member4, Member6, Slot4, Slot6, SockAddr } from '../layout.ts';
import { PEER_STATE } from '../peer.ts';

/** All programs keep the address of `struct bpf_sock_addr` here. Helpers do not change this register. */
export const ctx = r6;

/** How the programs read, write and look up the addresses of one kind of socket. */
export interface SocketFamily {
  /** Ends the names of labels, so that two bodies fit into one program. */
  readonly name: string;
  /** Ends the names of maps. */
  readonly digit: '4' | '6';
  /** The length of an address, in words of 32 bits. */
  readonly words: 1 | 4;
  /** The field `state` of what a socket remembers. */
  readonly state: number;
  readonly Frontend: Struct<'address' | 'port' | 'protocol'>;
  readonly Slot: Struct<'address' | 'port'>;
  readonly Member: Struct<'pool' | 'address' | 'port'>;
  readonly Affinity: Struct<'seen' | 'address' | 'port'>;
  /** A word of the address that the process named. */
  readonly named: (word: number) => Place;
}

export const V4: SocketFamily = {
  name: 'v4',
  digit: '4',
  words: 1,
  state: PEER_STATE.IPv4,
  Frontend: Frontend4,
  Slot: Slot4,
  Member: Member4,
  Affinity: Affinity4,
  named: () => at(ctx, SockAddr.ip4),
};

/** An IPv4 address in an IPv6 socket: the last word is the address. */
export const MAPPED: SocketFamily = { ...V4, name: 'mapped', named: () => at(ctx, item(SockAddr.ip6, 3)) };

export const V6: SocketFamily = {
  name: 'v6',
  digit: '6',
  words: 4,
  state: PEER_STATE.IPv6,
  Frontend: Frontend6,
  Slot: Slot6,
  Member: Member6,
  Affinity: Affinity6,
  named: word => at(ctx, item(SockAddr.ip6, word)),
};

/** Runs `work` for each word of an address. */
export function eachWord({ words }: SocketFamily, work: (word: number) => Part): Part {
  return Array.from({ length: words }, (_, word) => work(word));
}

/** Copies an address. */
export function copyAddress(family: SocketFamily, from: (word: number) => Place, to: (word: number) => Place): Part {
  return eachWord(family, word => [load(r2, from(word)), store(to(word), r2)]);
}

/** The words of an address in a structure on the stack. */
export function wordsOf({ at: places }: Local<'address'>): (word: number) => Place {
  return word => nth(places.address, word);
}
