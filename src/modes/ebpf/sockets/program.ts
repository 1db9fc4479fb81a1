import {
  at,
  bytesOf,
  call,
  clear,
  frame,
  go,
  label,
  load,
  note,
  nth,
  type Part,
  type Place,
  type Register,
  r0,
  r1,
  r2,
  r3,
  r6,
  r7,
  r8,
  r9,
  returns,
  type Size,
  set,
  setAddress,
  store,
  struct,
  u64,
  when,
} from '../../../kernel/bpf/index.ts';
import { Peer } from '../programs/index.ts';
import { SocketEnd } from './record.ts';
import { CLOSED } from './tcp-state.ts';

/** Where this kernel has members of `struct sock_common`, with which every `struct sock` begins. */
export interface SocketOffsets {
  readonly state: number;
  readonly port: number;
  readonly address4: number;
  /** Undefined if the kernel has no IPv6. */
  readonly address6: number | undefined;
}

/** `struct bpf_iter__bpf_sk_storage_map`: what the kernel hands to the program. All are pointers. */
const Context = struct({ meta: u64, map: u64, socket: u64, value: u64 });
/** `struct bpf_iter_meta` begins with the file that the program writes to. */
const Meta = struct({ file: u64 });

const local = frame({ end: SocketEnd });

/** Writes the record of one socket, and after it where the socket itself is. */
export function iteratorProgram({ state, port, address4, address6 }: SocketOffsets): readonly Part[] {
  return [
    note('the kernel calls once more at the end, without a record'),
    set(r6, r1),
    load(r7, at(r6, Context.socket)),
    when(r7, '==', 0, 'skip'),
    load(r8, at(r6, Context.value)),
    when(r8, '==', 0, 'skip'),
    note('the socket forgot its Service, or is closed'),
    load(r9, at(r8, Peer.state)),
    when(r9, '==', 0, 'skip'),
    clear(local.end),
    load(r2, member(r7, state, 1)),
    when(r2, '==', CLOSED, 'skip'),
    store(local.end.at.state, r2),
    load(r2, member(r7, port, 2)),
    store(local.end.at.port, r2),
    note('its own address; an IPv6 socket with an IPv4 address has that in both places'),
    when(r9, '==', 6, 'address6'),
    load(r2, member(r7, address4, 4)),
    store(local.end.at.address, r2),
    go('cookie'),
    label('address6'),
    address6 === undefined ? [] : copyWords(address6),
    note('its number'),
    label('cookie'),
    set(r1, r7),
    call('get_socket_cookie'),
    store(local.end.at.cookie, r0),
    note('the record'),
    load(r6, at(r6, Context.meta)),
    load(r6, at(r6, Meta.file)),
    write(set(r2, r8), bytesOf(Peer)),
    write(setAddress(r2, local.end), bytesOf(SocketEnd)),
    label('skip'),
    returns(0),
  ];
}

/** If the file is full, the kernel forgets what this call wrote, and calls again for the same socket. */
function write(source: Part, bytes: number): Part {
  return [set(r1, r6), source, set(r3, bytes), call('seq_write')];
}

function copyWords(from: number): Part {
  return Array.from({ length: 4 }, (_, i) => [
    load(r2, member(r7, from + 4 * i, 4)),
    store(nth(local.end.at.address, i), r2),
  ]);
}

function member(base: Register, offset: number, size: Size): Place {
  return { base, offset, size };
}
