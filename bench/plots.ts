// Makes docs/benchmarks.md, its plots (SVG) and the figures of README.md from the recorded results in bench/results.
// To record a run, write its results there: npm run bench -- cluster --json-file bench/results/cluster.json
import { writeFileSync } from 'node:fs';
import { generatedFiles, recordedResults } from './plots/documents.ts';

for (const [path, content] of generatedFiles(recordedResults())) {
  writeFileSync(path, content);
  console.log(path);
}
