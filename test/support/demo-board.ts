import { Board, type Place } from '../../src/demo/index.ts';
import type { Observation } from '../../src/demo/observation.ts';
import type { Row } from '../../src/demo/rows.ts';

/** `10.244.1.11:8080 52 node`: an endpoint, how often it answered, and whom it saw; or the word for a failure. */
export function observation(...texts: readonly string[]): Observation {
  const words = texts.map(text => text.split(' '));
  const answers = words.flatMap(([endpoint = '', count, seenAs = 'itself']) =>
    count === undefined ? [] : [[endpoint, { count: Number(count), seenAs: new Set([seenAs]) }] as const],
  );
  const failures = words.flatMap(([failure = '', count]) => (count === undefined ? [failure] : []));
  return { answers: new Map(answers), failures: new Set(failures) };
}

/** A board on which these rows got these things; undefined: nothing yet. */
export function boardOf(rows: readonly Row[], seen: (row: Row, place: Place) => Observation | undefined): Board {
  const board = new Board();
  board.update(rows);
  for (const row of rows) {
    for (const place of ['pod', 'node', 'outside'] as const) {
      const observed = seen(row, place);
      if (observed) board.record(row, place, observed);
    }
  }
  return board;
}
