import {
  addAtomic,
  alu,
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
import { Peer, TargetFlag } from '../layout.ts';
import { copyAddress, type SocketFamily, V4, V6, wordsOf } from './socket-family.ts';
import type { ConnectStack, EndedStack } from './stack.ts';

/**
 * A larger count is below zero. An endpoint that went and came back begins at 0, and connections from before are
 * counted off nevertheless.
 */
const MAX_COUNT = 0x7fffffff;

const DEFAULT_ID = 1;

const counter: Place = { base: r0, offset: 0, size: 4 };

/** r9 becomes the better of two slots, if the target wants it. `another` makes r0 the address of the second one. */
export function preferFewerConnections(family: SocketFamily, { choice }: ConnectStack, another: Part): Part {
  const first = `first-${family.name}`;
  return [
    note('does the target want least connections?'),
    [load(r1, choice.at.flags), alu(r1, '&', TargetFlag.leastConnections), when(r1, '==', 0, first)],
    note(`another endpoint = slots${family.digit}[run.first + random % run.count]`),
    [another, set(r8, r0)],
    note(`connections of the first = active${family.digit}[endpoint]`),
    [connectionsOf(family, r9, 'first', first), store(choice.at.connections, r0)],
    note(`connections of the second = active${family.digit}[another endpoint]`),
    connectionsOf(family, r8, 'second', first),
    note('the second one, if it has fewer'),
    [load(r1, choice.at.connections), when(r1, '<=', r0, first), set(r9, r8)],
    label(first),
  ];
}

/** r0 becomes the number of connections to the endpoint of a slot. The slot itself is the key. */
function connectionsOf({ digit, name }: SocketFamily, slot: Register, which: string, unknown: string): Part {
  const positive = `${which}-is-positive-${name}`;
  return [
    [setMap(r1, `active${digit}`), set(r2, slot), call('map_lookup_elem'), when(r0, '==', 0, unknown)],
    [load(r0, counter), when(r0, '<=', MAX_COUNT, positive), set(r0, 0), label(positive)],
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
