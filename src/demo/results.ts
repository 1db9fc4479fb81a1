import { callerFrom, PLACES, type Place } from './caller.ts';
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
  #rows: readonly Row[] = [];

  get rows(): readonly RowResults[] {
    return this.#rows.map(row => ({ row, cells: PLACES.map(place => this.#cell(row, place)) }));
  }

  update(rows: readonly Row[]): void {
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

  #cell(row: Row, place: Place): Cell {
    const observations = this.#observations.get(row)?.get(place);
    const observed = observations && combine(observations);
    const expected = expectationOf(row.port.plan, row.frontend, callerFrom(place, row.port.family));
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
