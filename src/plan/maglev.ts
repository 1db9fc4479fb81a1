import { hashText } from '../lib/stable-hash.ts';
import type { Endpoint } from '../model/index.ts';

/** Prime numbers, so that every step through a table visits all slots. */
const SIZE = 4093;
const LARGE_SIZE = 32_749;
/** With another size nearly all clients change their endpoint. So there are only two sizes. */
const MAX_FOR_SIZE = 1024;
/** An endpoint that visits a slot in this part of the rounds does not become slower, so that the table fills soon. */
const SLOWEST = 1 / 1024;
/** No endpoint has more than this part of its fair share. */
const MAX_PART = 1.25;

/**
 * A table for consistent hashing, as that of Maglev. Each endpoint visits the slots in an order of its own, one in each
 * round, and takes the slot if it is free. If an endpoint goes, the others visit as before: hardly any slot changes but
 * those that it had. In Maglev's own way an endpoint searches for a free slot in each turn. Then the shares are equal,
 * but the loss of one of 600 endpoints moves six times as many slots.
 */
export function maglevSlots(
  endpoints: readonly Endpoint[],
  weightOf: (endpoint: Endpoint) => number,
): readonly Endpoint[] {
  const size = endpoints.length > MAX_FOR_SIZE ? LARGE_SIZE : SIZE;
  const owners = fillTable(waysThrough(endpoints, weightOf, size), size);
  const slots: Endpoint[] = [];
  for (const owner of owners) {
    const endpoint = endpoints[owner];
    if (endpoint) slots.push(endpoint);
  }
  return slots;
}

/** The ways of all endpoints through the slots, by the number of the endpoint. Plain arrays are much slower. */
interface Ways {
  /** The slot that it visits next. */
  readonly at: Int32Array;
  readonly step: Int32Array;
  /** In which part of the rounds it visits a slot. It becomes slower, see `fade`. */
  readonly pace: Float64Array;
  /**
   * What is left of the pace after a round. A heavy endpoint comes to each slot only once, so it would have been at
   * nearly all slots while light ones have seen few, and get more than its share. Equal endpoints need no such thing.
   */
  readonly fade: Float64Array;
  /** How many slots it may still take. */
  readonly room: Int32Array;
}

function waysThrough(endpoints: readonly Endpoint[], weightOf: (endpoint: Endpoint) => number, size: number): Ways {
  const weights = Float64Array.from(endpoints, weightOf);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  // A power of two: if the heaviest endpoint goes, the others usually keep their pace.
  const fastest = 2 ** Math.ceil(Math.log2(weights.reduce((a, b) => Math.max(a, b), 0)));
  const pace = weights.map(weight => weight / fastest);
  const isEqual = weights.every(weight => weight === weights[0]);
  return {
    at: Int32Array.from(endpoints, ({ text }) => hashText(text, 1) % size),
    step: Int32Array.from(endpoints, ({ text }) => (hashText(text, 2) % (size - 1)) + 1),
    pace,
    fade: pace.map(part => (isEqual ? 1 : 1 - part / size)),
    room: Int32Array.from(weights, weight => Math.ceil((size * MAX_PART * weight) / total)),
  };
}

/** The number of the endpoint that has each slot. */
function fillTable({ at, step, pace, fade, room }: Ways, size: number): Int32Array {
  const count = at.length;
  const owners = new Int32Array(size).fill(-1);
  const due = new Float64Array(count);
  let free = size;
  const goOn = (i: number) => {
    const next = (at[i] ?? 0) + (step[i] ?? 1);
    at[i] = next < size ? next : next - size;
  };
  const take = (i: number) => {
    owners[at[i] ?? 0] = i;
    room[i] = (room[i] ?? 0) - 1;
    free--;
    goOn(i);
  };
  // Every endpoint gets a slot, however little it weighs.
  for (let i = 0; i < count && free > 0; i++) {
    while (owners[at[i] ?? 0] !== -1) goOn(i);
    take(i);
  }
  while (free > 0) {
    for (let i = 0; i < count && free > 0; i++) {
      if ((room[i] ?? 0) <= 0) continue;
      const now = pace[i] ?? 1;
      const visits = (due[i] ?? 0) + now;
      if (now > SLOWEST) pace[i] = now * (fade[i] ?? 1);
      due[i] = visits < 1 ? visits : visits - 1;
      if (visits < 1) continue;
      if (owners[at[i] ?? 0] === -1) take(i);
      else goOn(i);
    }
  }
  return owners;
}
