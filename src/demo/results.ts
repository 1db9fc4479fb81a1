import type { PlanDeviation } from '../modes/index.ts';
import { type Caller, type Callers, callerFrom, DEFAULT_CALLERS, PLACES, type Place } from './caller.ts';
import { findMismatch, isConclusive } from './comparison.ts';
import { type Expectation, expectationOf } from './expectation.ts';
import { combine, type Observation } from './observation.ts';
import type { Row } from './rows.ts';

/** The result of one row for callers at one place. */
export interface Cell {
  readonly place: Place;
  readonly expected: Expectation;
  /** Undefined until the first answer or failure. */
  readonly observed: Observation | undefined;
  /** How the observation differs from the expectation. Undefined if they agree. */
  readonly mismatch: string | undefined;
  /** Whether more tries would hardly show anything new. */
  readonly isConclusive: boolean;
}

export interface RowResults {
  readonly row: Row;
  readonly cells: readonly Cell[];
}

/** A cell shows the observations of this many rounds together. */
const ROUNDS_SHOWN = 10;

/** The observations of the last rounds, for all rows. A row whose plan changes starts without observations. */
export class Results {
  readonly #observations = new Map<Row, Map<Place, Observation[]>>();
  readonly #deviation: PlanDeviation | undefined;
  #rows: readonly Row[] = [];
  #callers = DEFAULT_CALLERS;

  constructor(deviation?: PlanDeviation) {
    this.#deviation = deviation;
  }

  get rows(): readonly RowResults[] {
    return this.#rows.map(row => ({ row, cells: PLACES.map(place => this.#cell(row, place)) }));
  }

  get callers(): Callers {
    return this.#callers;
  }

  /** The results of other callers no longer count. */
  update(rows: readonly Row[], callers: Callers = this.#callers): void {
    if (callers !== this.#callers) this.#observations.clear();
    this.#callers = callers;
    const former = new Map(this.#rows.map(row => [row.key, row]));
    this.#rows = rows.map(row => {
      const known = former.get(row.key);
      return known && isSame(known, row) ? known : row;
    });
    const current = new Set(this.#rows);
    for (const row of this.#observations.keys()) if (!current.has(row)) this.#observations.delete(row);
  }

  /** Ignores an observation of a row that is no longer current. */
  record(row: Row, place: Place, observation: Observation): void {
    if (!this.#rows.includes(row)) return;
    const places = this.#observations.get(row) ?? new Map<Place, Observation[]>();
    this.#observations.set(row, places);
    places.set(place, [...(places.get(place) ?? []), observation].slice(-ROUNDS_SHOWN));
  }

  #callerFrom(place: Place, { port }: Row): Caller {
    return callerFrom(place, port.family, this.#callers);
  }

  #cell(row: Row, place: Place): Cell {
    const observations = this.#observations.get(row)?.get(place);
    const observed = observations && combine(observations);
    const { plan, nodeIPs } = row.port;
    const circumstances = { ...this.#deviation, nodeIPs };
    const expected = expectationOf(plan, row.frontend, this.#callerFrom(place, row), circumstances);
    return {
      place,
      expected,
      observed,
      mismatch: observed && findMismatch(expected, observed),
      isConclusive: observed !== undefined && isConclusive(expected, observed),
    };
  }
}

/** Compares the unused endpoints too, because the plan stays the same object when only they change. */
function isSame(a: Row, b: Row): boolean {
  return a.port.plan === b.port.plan && JSON.stringify(a.port.unused) === JSON.stringify(b.port.unused);
}
