// Runs test files in one process, here or in a guest, and counts their tests.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { bundle } from './build.mjs';
import { root } from './setup.mjs';

/**
 * @typedef {{
 *   readonly passed: number,
 *   readonly failed: number,
 *   readonly skipped: number,
 *   readonly failures: readonly string[],
 * }} Counts with a text for each failure
 */
/** @typedef {{ readonly status: number, readonly output: string }} Ended how a process ended, and what it printed */
/** @typedef {(args: readonly string[]) => Promise<Ended>} Runner runs Node with these arguments */

/** @type {Counts} */
export const NO_TESTS = { passed: 0, failed: 0, skipped: 0, failures: [] };

/**
 * Runs all files in one process, because a process for each file would cost more time than the tests.
 * @param {string} name of the run, for its folder and for messages
 * @param {readonly string[]} files
 * @param {Runner} runner
 * @returns {Promise<{ readonly counts: Counts, readonly output: string }>}
 */
export async function runTests(name, files, runner) {
  if (files.length === 0) return { counts: NO_TESTS, output: '' };
  // The process id keeps two runs at the same time apart.
  const folder = `build/${name.replaceAll(' ', '-')}-${process.pid}`;
  mkdirSync(`${root}${folder}`, { recursive: true });
  try {
    const entry = `${root}${folder}/all.ts`;
    writeFileSync(entry, files.map(file => `import '../../${file}';\n`).join(''));
    await bundle({ all: entry }, `${root}${folder}`);
    const countsFile = `${folder}/counts.json`;
    const reporters = [
      `--test-reporter=${process.env.CI ? 'tap' : 'dot'}`,
      '--test-reporter-destination=stdout',
      '--test-reporter=./scripts/count-reporter.mjs',
      `--test-reporter-destination=${countsFile}`,
    ];
    const ended = await runner(['--enable-source-maps', '--expose-gc', ...reporters, `${folder}/all.mjs`]);
    return countsOf(name, ended, `${root}${countsFile}`);
  } finally {
    rmSync(`${root}${folder}`, { recursive: true });
  }
}

/**
 * Runs Node on this machine. Its output is shown while it runs.
 * @param {readonly string[]} args
 * @param {Readonly<Record<string, string>>} environment
 * @returns {Promise<Ended>}
 */
export async function runHere(args, environment = {}) {
  const options = { cwd: root, env: environmentOf(environment) };
  const [status, signal] = await once(spawn(process.execPath, args, { ...options, stdio: 'inherit' }), 'exit');
  return { status: status ?? 1, output: signalText(signal) };
}

/**
 * Runs Node on this machine. The result has its output.
 * @param {readonly string[]} args
 * @returns {Promise<Ended>}
 */
export async function runQuietly(args) {
  const child = spawn(process.execPath, args, { cwd: root, env: environmentOf({}), stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', text => {
      output += text;
    });
  }
  const [status, signal] = await once(child, 'close');
  return { status: status ?? 1, output: output + signalText(signal) };
}

/** @param {Readonly<Record<string, string>>} environment */
function environmentOf(environment) {
  return { ...process.env, ...environment, PATH: `${process.env.PATH}:/usr/sbin:/sbin` };
}

/** @param {string | null} signal */
function signalText(signal) {
  return signal === null ? '' : `The signal ${signal} ended the tests.\n`;
}

/**
 * @param {readonly Counts[]} all
 * @returns {Counts}
 */
export function sum(all) {
  return all.reduce(
    (total, { passed, failed, skipped, failures }) => ({
      passed: total.passed + passed,
      failed: total.failed + failed,
      skipped: total.skipped + skipped,
      failures: [...total.failures, ...failures],
    }),
    NO_TESTS,
  );
}

/**
 * @param {string} name
 * @param {Ended} ended
 * @param {string} countsFile
 */
function countsOf(name, { status, output }, countsFile) {
  const text = existsSync(countsFile) ? readFileSync(countsFile, 'utf8') : '';
  if (text === '') {
    const message = `The process of the ${name} ended with status ${status} before it counted its tests. This counts as one failure.`;
    return { counts: { ...NO_TESTS, failed: 1, failures: [message] }, output: `${output}${message}\n` };
  }
  /** @type {Counts} */
  const counts = JSON.parse(text);
  if (status === 0 || counts.failed > 0) return { counts, output };
  const message = `The process of the ${name} ended with status ${status} although no test failed. This counts as one failure.`;
  return { counts: { ...counts, failed: 1, failures: [message] }, output: `${output}${message}\n` };
}
