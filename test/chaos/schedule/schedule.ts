import type { Fault, Settings } from '../faults/fault.ts';
import { Random } from './random.ts';

export interface PlannedFault {
  readonly fault: Fault;
  readonly settings: Settings;
  /** When the fault begins, after the beginning of its round. */
  readonly afterMs: number;
}

/** Faults that overlap. After them the proxy must recover before the next round begins. */
export interface Round {
  readonly number: number;
  /** The earliest time of its beginning, after the beginning of the run. */
  readonly atMs: number;
  readonly faults: readonly PlannedFault[];
}

const ROUND_MS = 15_000;
const MAX_FAULTS = 3;
const MAX_AFTER_MS = 3000;

/** The rounds for a seed. Every fault comes once before any fault comes again. */
export function makeSchedule(seed: number, minutes: number, faults: readonly Fault[]): readonly Round[] {
  const random = new Random(seed);
  const deck = new Deck(random, faults);
  const count = Math.max(1, Math.floor((minutes * 60_000) / ROUND_MS));
  return Array.from({ length: count }, (_, index) => ({
    number: index + 1,
    atMs: index * ROUND_MS,
    faults: planRound(random, deck),
  }));
}

function planRound(random: Random, deck: Deck): readonly PlannedFault[] {
  const wanted = random.between(1, MAX_FAULTS);
  const chosen: Fault[] = [];
  while (chosen.length < wanted) {
    const fault = deck.draw(chosen.map(({ target }) => target));
    if (!fault) break;
    chosen.push(fault);
  }
  return chosen.map((fault, index) => ({
    fault,
    settings: fault.choose(random),
    afterMs: index === 0 ? 0 : random.between(0, MAX_AFTER_MS),
  }));
}

class Deck {
  readonly #random: Random;
  readonly #faults: readonly Fault[];
  #left: Fault[] = [];

  constructor(random: Random, faults: readonly Fault[]) {
    this.#random = random;
    this.#faults = faults;
  }

  /** Takes the next fault whose target is free. Undefined if no fault that is left has a free target. */
  draw(taken: readonly string[]): Fault | undefined {
    if (this.#left.length === 0 && taken.length === 0) this.#left = this.#random.shuffle(this.#faults);
    const index = this.#left.findIndex(({ target }) => !taken.includes(target));
    return index < 0 ? undefined : this.#left.splice(index, 1)[0];
  }
}

/** One line for each fault: `round 3, from 30 s: +1.2 s kill {"restarts":2}`. */
export function scheduleLines(rounds: readonly Round[]): readonly string[] {
  return rounds.flatMap(({ number, atMs, faults }) =>
    faults.map(
      ({ fault, settings, afterMs }) =>
        `round ${number}, from ${atMs / 1000} s: +${(afterMs / 1000).toFixed(1)} s ${fault.name} ${JSON.stringify(settings)}`,
    ),
  );
}
