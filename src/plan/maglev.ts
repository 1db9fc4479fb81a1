import type { Endpoint } from '../model/index.ts';

/** Prime numbers. With about a hundred slots for an endpoint, hardly any flow moves that need not. */
const SIZES = [251, 509, 1021, 2039, 4093, 8191, 16_381, 32_749, 65_521] as const;
const SLOTS_FOR_ENDPOINT = 100;

/**
 * Fills a table as Maglev does: each endpoint prefers the slots in an order of its own, and they take turns. If an
 * endpoint comes or goes, only about its own part of the slots gets another endpoint.
 */
export function maglevSlots(
  endpoints: readonly Endpoint[],
  weightOf: (endpoint: Endpoint) => number,
): readonly Endpoint[] {
  const size = SIZES.find(prime => prime >= endpoints.length * SLOTS_FOR_ENDPOINT) ?? SIZES[SIZES.length - 1] ?? 251;
  const heaviest = Math.max(...endpoints.map(weightOf));
  const turns = endpoints.map(endpoint => ({
    endpoint,
    /** It takes a slot in this part of the rounds. */
    pace: weightOf(endpoint) / heaviest,
    due: 0,
    at: hash(endpoint.text, 1) % size,
    skip: (hash(endpoint.text, 2) % (size - 1)) + 1,
  }));
  const slots: (Endpoint | undefined)[] = new Array<Endpoint | undefined>(size).fill(undefined);
  let filled = 0;
  while (filled < size) {
    for (const turn of turns) {
      turn.due += turn.pace;
      if (turn.due < 1 || filled === size) continue;
      turn.due -= 1;
      while (slots[turn.at]) turn.at = (turn.at + turn.skip) % size;
      slots[turn.at] = turn.endpoint;
      filled++;
    }
  }
  return slots.filter(slot => slot !== undefined);
}

/** FNV-1a with a final mix: all nodes make the same table. */
function hash(text: string, seed: number): number {
  let value = (0x811c9dc5 ^ seed) >>> 0;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193) >>> 0;
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b) >>> 0;
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35) >>> 0;
  return (value ^ (value >>> 16)) >>> 0;
}
