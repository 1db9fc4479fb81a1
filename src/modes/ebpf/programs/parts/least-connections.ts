import {
  addAtomic,
  alu,
  alu32,
  at,
  call,
  clear,
  go,
  item,
  label,
  load,
  lookup,
  note,
  type Part,
  type Place,
  type Register,
  r0,
  r1,
  r2,
  r8,
  r9,
  set,
  setMap,
  store,
  when,
} from '../../../../kernel/bpf/index.ts';
import { MAX_COMPARED, Peer, TargetFlag } from '../layout.ts';
import { copyAddress, type SocketFamily, V4, V6, wordsOf } from './socket-family.ts';
import type { ConnectStack, EndedStack } from './stack.ts';

/**
 * A larger count is below zero. An endpoint that went and came back begins at 0, and connections from before are
 * counted off nevertheless.
 */
const MAX_COUNT = 0x7fffffff;
/** The bit that numbers below 0 have. */
const SIGN_BIT = 31;

const DEFAULT_ID = 1;

const counter: Place = { base: r0, offset: 0, size: 4 };

/** How the programs find slots of the run. Each part makes r0 the address of a slot. */
export interface SlotFinder {
  readonly random: Part;
  nth(position: number): Part;
}

/** r9, a slot that chance picked, becomes a slot whose endpoint has fewer connections, if the target wants it. */
export function preferFewerConnections(family: SocketFamily, stack: ConnectStack, slots: SlotFinder): Part {
  const { choice } = stack;
  const [all, chosen] = [`all-${family.name}`, `least-${family.name}`];
  return [
    note('does the target want least connections?'),
    [load(r1, choice.at.flags), alu(r1, '&', TargetFlag.leastConnections), when(r1, '==', 0, chosen)],
    note(`fewest connections = active${family.digit}[endpoint]`),
    [connectionsOf(family, r9, chosen), store(choice.at.connections, r0)],
    note('does the target want the least of all endpoints?'),
    [load(r1, choice.at.flags), when(r1, '&', TargetFlag.compareAll, all)],
    note(`another endpoint = slots${family.digit}[run.first + random % run.count]`),
    [slots.random, takeIfFewer(family, stack, chosen), go(chosen)],
    label(all),
    Array.from({ length: MAX_COMPARED }, (_, i) => compareNth(family, stack, slots, i, chosen)),
    label(chosen),
  ];
}

/** Compares the slot at one position of the run. At the end of the run the choice is done. */
function compareNth(
  family: SocketFamily,
  stack: ConnectStack,
  slots: SlotFinder,
  position: number,
  chosen: string,
): Part {
  const next = `after-${position}-${family.name}`;
  return [
    note(`another endpoint = slots${family.digit}[run.first + ${position}], if the run is that long`),
    [load(r1, stack.choice.at.run), alu(r1, '>>', 32), when(r1, '<=', position, chosen)],
    [slots.nth(position), takeIfFewer(family, stack, next), label(next)],
  ];
}

/** r9 becomes the slot at r0 if its endpoint has fewer connections. A slot with as many changes nothing. */
function takeIfFewer(family: SocketFamily, { choice }: ConnectStack, otherwise: string): Part {
  return [
    set(r8, r0),
    note(`take it if active${family.digit}[another endpoint] is less`),
    [connectionsOf(family, r8, otherwise), load(r1, choice.at.connections), when(r1, '<=', r0, otherwise)],
    [store(choice.at.connections, r0), set(r9, r8)],
  ];
}

/**
 * r0 becomes the number of connections to the endpoint of a slot. The slot itself is the key. A number below 0 becomes 0
 * without a jump, because the verifier would follow both ways at each slot.
 */
function connectionsOf({ digit }: SocketFamily, slot: Register, unknown: string): Part {
  return [
    [setMap(r1, `active${digit}`), set(r2, slot), call('map_lookup_elem'), when(r0, '==', 0, unknown)],
    [load(r0, counter), set(r1, r0), alu(r1, '>>', SIGN_BIT), alu32(r1, '-', 1), alu32(r0, '&', r1)],
  ];
}

/** Counts the new connection, if the target wants it. r9 is the address of the socket's record. */
export function countOn(family: SocketFamily, { choice, endpoint }: ConnectStack, countedBy = DEFAULT_ID): Part {
  const done = `counted-${family.name}`;
  return [
    note('does the target count its connections?'),
    [load(r1, choice.at.flags), alu(r1, '&', TargetFlag.leastConnections), when(r1, '==', 0, done)],
    note(`active${family.digit}[endpoint] += 1`),
    [lookup(`active${family.digit}`, endpoint), when(r0, '==', 0, done)],
    [set(r2, 1), addAtomic(counter, r2), store(at(r9, Peer.countedBy), countedBy)],
    label(done),
  ];
}

/**
 * Counts the connection off that the socket had before. r9 is the address of the socket's record. Maps that are gone
 * counted older sockets, so the maps of now must not lose a connection when these close.
 */
export function countOff(ended: EndedStack, name: string, countedBy = DEFAULT_ID): Part {
  const [six, done] = [`was-v6-${name}`, `not-counted-${name}`];
  return [
    note('do these maps count the former connection of the socket?'),
    [load(r2, at(r9, Peer.countedBy)), store(at(r9, Peer.countedBy), 0), when(r2, '!=', countedBy, done)],
    [load(r2, at(r9, Peer.state)), when(r2, '==', V6.state, six)],
    [subtractOne(V4, ended.v4, done), go(done)],
    label(six),
    subtractOne(V6, ended.v6, done),
    label(done),
  ];
}

function subtractOne(family: SocketFamily, ended: EndedStack['v4'], done: string): Part {
  return [
    note(`its endpoint, IPv${family.digit}`),
    clear(ended),
    copyAddress(family, word => at(r9, item(Peer.endpoint, word)), wordsOf(ended)),
    [load(r2, at(r9, Peer.endpointPort)), store(ended.at.port, r2)],
    note(`active${family.digit}[its endpoint] -= 1, but never below 0`),
    [lookup(`active${family.digit}`, ended), when(r0, '==', 0, done)],
    [load(r2, counter), when(r2, '==', 0, done), when(r2, '>', MAX_COUNT, done)],
    [set(r2, -1), addAtomic(counter, r2)],
  ];
}
