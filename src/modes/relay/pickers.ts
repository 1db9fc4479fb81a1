import type { Algorithm } from '../../model/index.ts';
import type { Backend } from './backend.ts';
import type { Ring } from './ring.ts';

/** What a picker needs to know of a new connection. */
export interface PickRequest {
  /** Of the client. 0 if the algorithm takes no hash. */
  readonly hash: number;
  /** From 0 to 1, as Math.random. */
  readonly random: () => number;
  readonly isUsable: (backend: Backend) => boolean;
}

/** Undefined if no endpoint is usable. */
type Picker = (ring: Ring, request: PickRequest) => Backend | undefined;

/** The default, when a Service chooses no algorithm, is `takeTurns`. Slots already have the weights. */
export function pickerOf(algorithm: Algorithm | undefined): Picker {
  switch (algorithm) {
    case 'random':
      return pickRandom;
    case 'least-connections':
      return pickLeastBusy;
    case 'consistent-hash':
      return pickByHash;
    case 'round-robin':
    case 'weighted':
    case undefined:
      return takeTurns;
  }
}

function takeTurns(ring: Ring, request: PickRequest): Backend | undefined {
  const at = usableFrom(ring, ring.next, request);
  if (at === undefined) return undefined;
  ring.next = (at + 1) % ring.slots.length;
  return ring.slots[at];
}

function pickRandom({ slots }: Ring, { random, isUsable }: PickRequest): Backend | undefined {
  const chosen = randomOf(slots, random);
  if (!chosen || isUsable(chosen)) return chosen;
  return randomOf(slots.filter(isUsable), random);
}

/** If the endpoint is not usable, its clients go to the endpoints of the slots behind theirs. */
function pickByHash(ring: Ring, request: PickRequest): Backend | undefined {
  const at = usableFrom(ring, request.hash % ring.slots.length, request);
  return at === undefined ? undefined : ring.slots[at];
}

/** The fewest connections for each slot. Equal endpoints take turns. */
function pickLeastBusy(ring: Ring, { isUsable }: PickRequest): Backend | undefined {
  const { members, counts } = ring;
  let best: Backend | undefined;
  let fewest = Number.POSITIVE_INFINITY;
  let place = 0;
  for (let i = 0; i < members.length; i++) {
    const at = (ring.next + i) % members.length;
    const backend = members[at];
    if (!backend || !isUsable(backend)) continue;
    const load = backend.active / (counts?.get(backend) ?? 1);
    if (load >= fewest) continue;
    best = backend;
    fewest = load;
    place = at;
  }
  if (best) ring.next = (place + 1) % members.length;
  return best;
}

/** The place of the first usable slot from `first` on. */
function usableFrom({ slots, members }: Ring, first: number, { isUsable }: PickRequest): number | undefined {
  const slot = slots[first];
  if (!slot) return undefined;
  if (isUsable(slot)) return first;
  // There may be thousands of slots for a few endpoints that all fail.
  if (!members.some(isUsable)) return undefined;
  for (let i = 1; i < slots.length; i++) {
    const at = (first + i) % slots.length;
    const next = slots[at];
    if (next && isUsable(next)) return at;
  }
  return undefined;
}

function randomOf<T>(list: readonly T[], random: () => number): T | undefined {
  return list[Math.floor(random() * list.length)];
}
