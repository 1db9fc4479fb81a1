import { PLACES, type Place, Results } from '../../src/demo/index.ts';
import type { Observation } from '../../src/demo/observation.ts';
import type { Row } from '../../src/demo/rows.ts';
import { demoContext } from './demo-rows.ts';

/**
 * `10.244.1.11:8080 52 node`: an endpoint, how often it answered, and how it saw its caller (`itself` by default). A
 * text of one word is a failure.
 */
export function observation(...texts: readonly string[]): Observation {
  const words = texts.map(text => text.split(' '));
  const answers = words.flatMap(([endpoint = '', count, seenAs = 'itself']) =>
    count === undefined ? [] : [[endpoint, { count: Number(count), seenAs: new Set([seenAs]) }] as const],
  );
  const failures = words.flatMap(([failure = '', count]) => (count === undefined ? [failure] : []));
  return { answers: new Map(answers), failures: new Set(failures) };
}

/** The results of these rows. A cell for which `observe` returns undefined has no observation yet. */
export function resultsOf(rows: readonly Row[], observe: (row: Row, place: Place) => Observation | undefined): Results {
  const results = new Results(demoContext);
  results.update(rows);
  for (const row of rows) {
    for (const place of PLACES) {
      const observed = observe(row, place);
      if (observed) results.record(row, place, observed);
    }
  }
  return results;
}
