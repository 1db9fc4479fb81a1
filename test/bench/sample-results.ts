import { type Figure, type Result, SCHEMA } from '../../bench/record/result.ts';

/** A figure in which only some fields matter. */
export function figure(fields: Partial<Figure> & Pick<Figure, 'value'>): Figure {
  return {
    part: 'cold start',
    size: '1000x5',
    subject: 'ours',
    name: 'first sync',
    unit: 'ms',
    kind: 'time',
    ...fields,
  };
}

/** A result with these figures, of the subjects `ours` and `theirs`. */
export function result(figures: readonly Figure[], fields: Partial<Result> = {}): Result {
  return {
    schema: SCHEMA,
    bench: 'cluster',
    date: '2026-01-02T03:04:05.000Z',
    command: 'npm run bench -- cluster',
    machine: { processor: 'a processor', cores: 2, memoryGiB: 8, kernel: 'Linux 6', node: 'v20', load: 0.1 },
    versions: { ours: '1', theirs: '2' },
    comparisons: [{ ours: 'ours', theirs: 'theirs' }],
    figures,
    series: [],
    ...fields,
  };
}
