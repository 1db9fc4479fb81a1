import { callerFrom, PLACES, type Place } from './caller.ts';
import { type Expectation, expectationOf } from './expectation.ts';
import { type Observation, sumOf } from './observation.ts';
import type { Row } from './rows.ts';
import { disagreement, isSure } from './verdict.ts';

/** What one row shows of one place. */
export interface Cell {
  readonly place: Place;
  readonly expected: Expectation;
  /** Undefined: not known yet. */
  readonly seen: Observation | undefined;
  /** How it differs from what should be; undefined if it does not. */
  readonly disagreement: string | undefined;
  /** More tries can hardly show anything new. */
  readonly isSure: boolean;
}

export interface BoardRow {
  readonly row: Row;
  readonly cells: readonly Cell[];
}

/** So many rounds are shown together. */
const ROUNDS = 10;

/** What was seen lately, for all rows. What was seen before a row's plan changed is forgotten. */
export class Board {
  readonly #seen = new Map<Row, Map<Place, Observation[]>>();
  #rows: readonly Row[] = [];

  get rows(): readonly BoardRow[] {
    return this.#rows.map(row => ({ row, cells: PLACES.map(place => this.#cell(row, place)) }));
  }

  update(rows: readonly Row[]): void {
    const former = new Map(this.#rows.map(row => [row.key, row]));
    this.#rows = rows.map(row => {
      const known = former.get(row.key);
      return known && isSame(known, row) ? known : row;
    });
    const current = new Set(this.#rows);
    for (const row of this.#seen.keys()) if (!current.has(row)) this.#seen.delete(row);
  }

  /** What comes too late for its row is ignored. */
  record(row: Row, place: Place, observation: Observation): void {
    if (!this.#rows.includes(row)) return;
    const places = this.#seen.get(row) ?? new Map<Place, Observation[]>();
    this.#seen.set(row, places);
    places.set(place, [...(places.get(place) ?? []), observation].slice(-ROUNDS));
  }

  #cell(row: Row, place: Place): Cell {
    const observations = this.#seen.get(row)?.get(place);
    const seen = observations && sumOf(observations);
    const expected = expectationOf(row.port.plan, row.frontend, callerFrom(place, row.port.family));
    return {
      place,
      expected,
      seen,
      disagreement: seen && disagreement(expected, seen),
      isSure: seen !== undefined && isSure(expected, seen),
    };
  }
}

/** An endpoint that comes or goes without being used makes no new plan. */
function isSame(a: Row, b: Row): boolean {
  return a.port.plan === b.port.plan && JSON.stringify(a.port.unused) === JSON.stringify(b.port.unused);
}
