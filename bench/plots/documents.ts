import { readdirSync, readFileSync } from 'node:fs';
import { parseResult, type Result } from '../record/result.ts';
import { drawingsOf } from './drawings.ts';
import { benchmarksDocument, readmeTable, withRegion } from './markdown.ts';
import { scaleRegions } from './scale.ts';

const RESULTS = 'bench/results';
const PICTURES = 'docs/pictures';
const SCALE = 'docs/scale.md';

/** The recorded results, sorted by the names of their files. */
export function recordedResults(): readonly Result[] {
  return readdirSync(RESULTS)
    .filter(name => name.endsWith('.json'))
    .sort()
    .map(name => parseResult(readFileSync(`${RESULTS}/${name}`, 'utf8'), name));
}

/** The content of every file that comes from the results, by path. */
export function generatedFiles(results: readonly Result[]): ReadonlyMap<string, string> {
  const chapters = results.map(result => ({ result, drawings: drawingsOf(result) }));
  const cluster = results.find(({ bench }) => bench === 'cluster');
  const readme = withRegion(readFileSync('README.md', 'utf8'), cluster ? readmeTable(cluster) : '');
  return new Map([
    ['docs/benchmarks.md', benchmarksDocument(chapters)],
    ['README.md', readme],
    [SCALE, scaleDocument(results)],
    ...chapters.flatMap(({ drawings }) => drawings.map(({ file, svg }) => [`${PICTURES}/${file}`, svg] as const)),
  ]);
}

/** The prose of docs/scale.md stays as it is. Its tables come from the results. */
function scaleDocument(results: readonly Result[]): string {
  const regions = scaleRegions(results.find(({ bench }) => bench === 'api-load'));
  return Object.entries(regions).reduce(
    (document, [region, text]) => withRegion(document, text, region),
    readFileSync(SCALE, 'utf8'),
  );
}
