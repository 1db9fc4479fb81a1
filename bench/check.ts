// Compares new results with the recorded ones, and fails if something became worse. Counts of work must be the same.
// Ratios between programs of one run may vary: times by half, p99 by a factor of three, memory by 15 %.
//   FILE …              results that a bench wrote with --json-file
//   --recorded FILE     the results to compare with (bench/results/NAME.json, with the NAME of the bench)
import { existsSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type CheckOutcome, checkResult } from './record/check.ts';
import { parseResult, type Result } from './record/result.ts';
import { COMMON_FLAGS } from './support/flags.ts';
import { report } from './support/report.ts';

const { values: flags, positionals: files } = parseArgs({
  options: { ...COMMON_FLAGS, recorded: { type: 'string' } },
  allowPositionals: true,
});
if (files.length === 0) {
  console.error('usage: npm run bench -- check FILE … [--recorded FILE]');
  process.exit(2);
}
const isGood = files.map(check).every(Boolean);
process.exit(isGood ? 0 : 1);

function check(file: string): boolean {
  const now = read(file);
  const recordedFile = flags.recorded ?? `bench/results/${now.bench}.json`;
  if (!existsSync(recordedFile)) {
    console.error(`${file}: nothing is recorded in ${recordedFile}`);
    return false;
  }
  const outcome = checkResult(now, read(recordedFile));
  reportOutcome(file, recordedFile, outcome);
  return outcome.compared > 0 && outcome.regressions.length === 0;
}

function reportOutcome(file: string, recordedFile: string, { compared, regressions, missing }: CheckOutcome): void {
  const notMeasured = missing.length > 0 ? `, ${missing.length} are recorded and not in this run` : '';
  console.log(`${file}: ${compared} figures compared with ${recordedFile}${notMeasured}`);
  if (regressions.length > 0) {
    report(
      regressions.map(each => ({ ...each })),
      'worse than recorded',
    );
  }
}

function read(file: string): Result {
  return parseResult(readFileSync(file, 'utf8'), file);
}
