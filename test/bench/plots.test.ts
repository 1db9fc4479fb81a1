import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { generatedFiles, recordedResults } from '../../bench/plots/documents.ts';
import { drawingsOf } from '../../bench/plots/drawings.ts';
import { benchmarksDocument, readmeTable, withRegion } from '../../bench/plots/markdown.ts';
import { linearScale, logScale } from '../../bench/plots/svg.ts';
import { figure, result } from './sample-results.ts';

const FIGURES = ['1000x5', '5000x5'].flatMap((size, i) => [
  figure({ size, name: 'all connectable', subject: 'ours', value: 200 * (i + 1) }),
  figure({ size, name: 'all connectable', subject: 'theirs', value: 1000 * (i + 1) }),
]);

describe('plots of results', () => {
  test('BENCH-8 a logarithmic scale goes from the power of ten below to the one above', () => {
    const scale = logScale([20, 3000], 100, 0);
    assert.deepEqual(scale.ticks, [10, 100, 1000, 10_000]);
    assert.deepEqual([10, 100, 10_000].map(scale.at), [100, 66.7, 0]);
  });

  test('BENCH-8 a linear scale begins at 0 and has few, round steps', () => {
    assert.deepEqual(linearScale([97], 0, 100).ticks, [0, 20, 40, 60, 80, 100]);
    assert.deepEqual(linearScale([600], 0, 100).ticks, [0, 100, 200, 300, 400, 500, 600]);
    assert.equal(linearScale([97], 0, 100).at(50), 50);
  });

  test('BENCH-8 a picture has a line and a name for each subject', () => {
    const [drawing] = drawingsOf(result(FIGURES));
    assert.equal(drawing?.file, 'benchmark-start.svg');
    assert.equal(drawing.svg.match(/<path class="line/g)?.length, 2);
    assert.equal(drawing.svg.match(/<circle/g)?.length, 4);
    for (const text of ['>ours<', '>theirs<', '>1000×5<', '>cold start, ms<'])
      assert.ok(drawing.svg.includes(text), text);
  });

  test('BENCH-8 memory over time is drawn at the last size', () => {
    const series = ['1000x5', '5000x5'].map(size => ({
      part: 'churn',
      size,
      subject: 'ours',
      name: 'resident',
      unit: 'MiB',
      points: [
        [1, 90],
        [60, 95],
      ] as const,
    }));
    const [drawing] = drawingsOf(result(FIGURES, { series })).filter(({ file }) => file === 'benchmark-churn.svg');
    assert.ok(drawing?.svg.includes('memory during churn, 5000×5, MiB'));
  });

  test('BENCH-8 without its figures a picture is left out', () => {
    assert.deepEqual(drawingsOf(result([])), []);
    assert.deepEqual(drawingsOf(result(FIGURES, { bench: 'another' })), []);
  });
});

describe('documents of results', () => {
  test('BENCH-9 the document has the command, the machine, the versions, the targets and all figures', () => {
    const one = result(FIGURES);
    const text = benchmarksDocument([{ result: one, drawings: drawingsOf(one) }]);
    for (const part of [
      'npm run bench -- cluster',
      '| machine | a processor, 2 cores, 8 GiB |',
      '| load before the run | 0.1 |',
      '| theirs | 2 |',
      '| cold start: all connectable | 1000x5 | 200 ms | 1000 ms | 5×, measured 5× | yes |',
      '![Cold start and memory against the size of the cluster](pictures/benchmark-start.svg)',
      '### cold start, 5000×5',
      '| all connectable, ms | 400 | 2000 | 5× |',
    ]) {
      assert.ok(text.includes(part), part);
    }
  });

  test('BENCH-9 a long command has several lines', () => {
    const command = `npm run bench -- cluster ${'--upstream kube-proxy '.repeat(8).trim()}`;
    const text = benchmarksDocument([{ result: result([], { command }), drawings: [] }]);
    assert.ok(text.split('\n').every(line => line.length <= 100));
    assert.ok(text.replaceAll(' \\\n  ', ' ').includes(command));
  });

  test('BENCH-10 the figures of README.md are between two marks', () => {
    const document = 'a\n<!-- benchmarks -->\nold\n<!-- /benchmarks -->\nb\n';
    const table = readmeTable(result(FIGURES));
    assert.equal(withRegion(document, table), `a\n<!-- benchmarks -->\n\n${table}\n\n<!-- /benchmarks -->\nb\n`);
    assert.ok(table.includes('| cold start: all connectable | 5000 × 5 | 400 ms | 2000 ms |'));
    assert.equal(withRegion(document, ''), 'a\n<!-- benchmarks -->\n<!-- /benchmarks -->\nb\n');
    assert.throws(() => withRegion('a', table), /lacks <!-- benchmarks -->/);
  });

  test('BENCH-10 the generated files are those of the recorded results', () => {
    for (const [path, content] of generatedFiles(recordedResults())) {
      const found = existsSync(path) ? readFileSync(path, 'utf8') : '';
      assert.equal(found, content, `${path} is old. Run npm run bench -- plots`);
    }
  });
});
