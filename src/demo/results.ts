import { atSocket, frontendOutcome, type Outcome, type OutcomeContext } from '../explain/index.ts';
import { ANY_IP, type Family } from '../net/index.ts';
import { type Caller, type Callers, callerFrom, DEFAULT_CALLERS, PLACES, type Place } from './caller.ts';
import { findMismatch, isConclusive } from './comparison.ts';
import { combine, type Observation } from './observation.ts';
import type { Row } from './rows.ts';

/** The result of one row for callers at one place. */
export interface Cell {
  readonly place: Place;
  readonly expected: Outcome;
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
  readonly #contextOf: (family: Family) => OutcomeContext;
  #rows: readonly Row[] = [];
  #callers = DEFAULT_CALLERS;

  /** `contextOf` returns what outcomes depend on besides plans. */
  constructor(contextOf: (family: Family) => OutcomeContext) {
    this.#contextOf = contextOf;
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

  /** Whether these connections got what they should. */
  isAsPlanned({ row, place }: { readonly row: Row; readonly place: Place }, observed: Observation): boolean {
    return findMismatch(this.#expected(row, place), observed) === undefined;
  }

  #callerFrom(place: Place, { port }: Row): Caller {
    return callerFrom(place, port.family, this.#callers);
  }

  #cell(row: Row, place: Place): Cell {
    const observations = this.#observations.get(row)?.get(place);
    const observed = observations && combine(observations);
    const expected = this.#expected(row, place);
    return {
      place,
      expected,
      observed,
      mismatch: observed && findMismatch(expected, observed),
      isConclusive: observed !== undefined && isConclusive(expected, observed),
    };
  }

  #expected(row: Row, place: Place): Outcome {
    const { frontend, port } = row;
    const { plan, family, protocol } = port;
    // The demo does not ask a row without an address.
    const destination = { ip: row.ip ?? ANY_IP[family], port: frontend.port, protocol };
    const question = { caller: this.#callerFrom(place, row), destination };
    const target = { plan, frontend };
    const context = this.#contextOf(family);
    const frontends = { frontendAt: () => target, lostFrontendsAt: () => [], frontendsWithIP: () => [] };
    const socket = atSocket({ ...context, ...question, frontends });
    return socket?.kind === 'decided' ? socket.outcome : frontendOutcome(target, question, context);
  }
}

/** Compares the unused endpoints too, because the plan stays the same object when only they change. */
function isSame(a: Row, b: Row): boolean {
  return a.port.plan === b.port.plan && JSON.stringify(a.port.unused) === JSON.stringify(b.port.unused);
}
