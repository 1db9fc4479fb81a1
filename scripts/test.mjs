// npm test: see USAGE. The name of a test file says what it needs:
//   x.test.ts          nothing but Node
//   x.kernel.test.ts   root and a Linux kernel: these tests make network namespaces, and run reference programs
//   x.browser.test.ts  root and Debian's chromium: the operator's page in a browser, of a proxy in a network namespace
//   x.guest.test.ts    root and a User Mode Linux guest, whose kernel has ip_vs, dummy and sctp
//   x.cluster.test.ts  root, a real etcd and kube-apiserver, and upstream's kube-proxy, which Go builds the first time
//   x.cluster-guest.test.ts  the same in a guest
//   x.release.test.ts  the same as cluster, and the files of a release, which are built first
import { readdirSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { buildProgram } from './build.mjs';
import { controlPlanePrograms, installationPrograms } from './control-plane.mjs';
import { runInGuest } from './guest.mjs';
import {
  BROWSER_PROGRAMS,
  GUEST_PROGRAMS,
  REFERENCE_PROGRAMS,
  RELEASE_PROGRAMS,
  TERMINAL_PROGRAMS,
} from './programs.mjs';
import { errorMessage, installNpmPackages, installPrograms, isRoot, missingPrograms, root, run } from './setup.mjs';
import { NO_TESTS, runHere, runQuietly, runTests, sum } from './test-runner.mjs';

const USAGE = `usage: npm test [-- [WORD …] [--no-check] [--no-install] [--plain]]
       npm run test:cluster [-- [WORD …] [--no-check] [--no-install]]
       npm run test:release [-- [WORD …] [--no-check] [--no-install]]

Checks types and lint, then runs the tests whose path contains a WORD, or all tests.
  --no-check    no check of types and lint
  --no-install  installs and builds nothing; tests that lack a program are not run (also POINTSMAN_NO_INSTALL=1)
  --plain       only the tests that need nothing but Node
The last line counts the tests. If CI is set, a test that cannot run fails the run.`;

/** @typedef {'plain' | 'kernel' | 'browser' | 'guest' | 'cluster' | 'cluster-guest' | 'release'} Kind */

/** @type {Readonly<Record<Kind, import('./programs.mjs').Programs>>} */
const PROGRAMS = {
  plain: {},
  kernel: { ...REFERENCE_PROGRAMS, ...TERMINAL_PROGRAMS },
  browser: BROWSER_PROGRAMS,
  guest: GUEST_PROGRAMS,
  cluster: { ...REFERENCE_PROGRAMS, promtool: 'prometheus' },
  'cluster-guest': GUEST_PROGRAMS,
  release: RELEASE_PROGRAMS,
};

/** @type {readonly Kind[]} */
const KINDS = ['plain', 'kernel', 'browser', 'guest', 'cluster', 'cluster-guest', 'release'];

/** The command that runs the tests of each kind. */
const COMMANDS = {
  plain: 'npm test',
  kernel: 'npm test',
  browser: 'npm test',
  guest: 'npm test',
  cluster: 'npm run test:cluster',
  'cluster-guest': 'npm run test:cluster',
  release: 'npm run test:release',
};

/** Where the files of a release are built for its tests. */
const RELEASE = `${root}build/release`;

const { options, words } = readArguments();
await installNpmPackages();
if (!options['no-check']) {
  run('npx', ['tsc', '--noEmit']);
  run('npx', ['tsc', '--noEmit', '-p', 'src/page/app']);
  run('npx', ['biome', 'check', '--error-on-warnings']);
}

const chosen = testFiles().filter(file => words.length === 0 || words.some(word => file.includes(word)));
if (chosen.length === 0) fail(`No test file has ${words.join(' or ')} in its path`);
const kinds = wantedKinds().filter(kind => filesOf(kind).length > 0);
if (kinds.length === 0) fail(`None of these test files belongs to this command:\n${chosen.join('\n')}`);

/** @type {{ readonly kind: Kind, readonly reason: string }[]} */
const notRun = [];
const kindsWithPrograms = kinds.filter(kind => kind !== 'plain');
installPrograms(
  Object.assign({}, ...kindsWithPrograms.map(kind => PROGRAMS[kind])),
  `The ${kindsWithPrograms.join(' and ')} tests need`,
);
const runnable = kinds.filter(isRunnable);
// Otherwise processes that run at the same time would build the program at the same time.
if (runnable.some(kind => kind !== 'plain')) await buildProgram();

const start = performance.now();
// A guest has only one processor, so there are two, and the other tests run beside them. Their output is printed when
// they have ended.
const isTraffic = (/** @type {string} */ file) => file.startsWith('test/traffic/');
const inGuests = Promise.all([
  runTests('guest tests of traffic', filesToRun('guest').filter(isTraffic), args => runInGuest(args)),
  runTests(
    'other guest tests',
    filesToRun('guest').filter(file => !isTraffic(file)),
    args => runInGuest(args),
  ),
]);
// Many tests wait, so three processes run them. Each takes about the same time.
const kernelFiles = filesToRun('kernel');
const ofModes = kernelFiles.filter(file => file.startsWith('src/modes/'));
const ofSuites = kernelFiles.filter(file => /^(?:test\/[^/]+|src\/(?:kernel|machine))\//.test(file));
const ofCommands = kernelFiles.filter(file => /^src\/(?:cli|feedback)\//.test(file));
const others = kernelFiles.filter(file => ![...ofModes, ...ofSuites, ...ofCommands].includes(file));
const chains = [
  [
    { name: 'kernel tests of modes', files: ofModes },
    { name: 'other kernel tests', files: others },
  ],
  [{ name: 'kernel tests of suites and the kernel layer', files: ofSuites }],
  [
    { name: 'plain tests', files: filesToRun('plain') },
    { name: 'browser tests', files: filesToRun('browser') },
    { name: 'kernel tests of commands and feedback', files: ofCommands },
  ],
].filter(chain => chain.some(({ files }) => files.length > 0));
// The output of the first chain is shown at once, that of the others when all have ended.
const here = await Promise.all(chains.map((chain, i) => runInTurn(chain, i === 0 ? runHere : runQuietly)));
for (const { output } of here.flat()) process.stdout.write(output);
// The cluster tests mostly wait, so the guest runs beside them.
const [cluster, clusterInGuest] = await Promise.all([
  runWithControlPlane('cluster'),
  runWithControlPlane('cluster-guest'),
]);
process.stdout.write(cluster.output + clusterInGuest.output);
const released = await runWithControlPlane('release');
process.stdout.write(released.output);
const guests = await inGuests;
for (const { output } of guests) process.stdout.write(output);
report();

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        cluster: { type: 'boolean' },
        help: { type: 'boolean' },
        'no-check': { type: 'boolean' },
        'no-install': { type: 'boolean' },
        plain: { type: 'boolean' },
        release: { type: 'boolean' },
      },
    });
    if (values.help) {
      console.log(USAGE);
      process.exit(0);
    }
    return { options: values, words: positionals };
  } catch (error) {
    return fail(`${errorMessage(error)}\n\n${USAGE}`);
  }
}

function testFiles() {
  return ['src', 'test']
    .flatMap(folder =>
      readdirSync(`${root}${folder}`, { recursive: true, encoding: 'utf8' }).map(path => `${folder}/${path}`),
    )
    .filter(path => path.endsWith('.test.ts'))
    .sort();
}

/** @returns {readonly Kind[]} */
function wantedKinds() {
  if (options.cluster) return ['cluster', 'cluster-guest'];
  if (options.release) return ['release'];
  return options.plain ? ['plain'] : ['plain', 'kernel', 'browser', 'guest'];
}

/** @param {Kind} kind */
function filesOf(kind) {
  return chosen.filter(file => {
    const [, named = 'plain'] = /\.(kernel|browser|guest|cluster|cluster-guest|release)\.test\.ts$/.exec(file) ?? [];
    return named === kind;
  });
}

/** @param {Kind} kind */
function filesToRun(kind) {
  return runnable.includes(kind) ? filesOf(kind) : [];
}

/** @param {Kind} kind */
function isRunnable(kind) {
  const missing = missingPrograms(PROGRAMS[kind]);
  if (kind !== 'plain' && !isRoot) notRun.push({ kind, reason: 'only root can run them' });
  else if (missing.length > 0) notRun.push({ kind, reason: `this machine lacks ${missing.join(', ')}` });
  else return true;
  return false;
}

/**
 * Runs the tests of each part after those of the part before it.
 * @param {readonly { readonly name: string, readonly files: readonly string[] }[]} chain
 * @param {import('./test-runner.mjs').Runner} runner
 */
async function runInTurn(chain, runner) {
  const results = [];
  for (const { name, files } of chain) results.push(await runTests(name, files, runner));
  return results;
}

/** @param {'cluster' | 'cluster-guest' | 'release'} kind */
async function runWithControlPlane(kind) {
  const files = filesToRun(kind);
  if (files.length === 0) return { counts: NO_TESTS, output: '' };
  try {
    const installs = files.some(file => file.startsWith('test/install/'));
    const programs = { ...controlPlanePrograms(), ...(installs ? installationPrograms() : {}) };
    if (kind === 'release') run(process.execPath, ['scripts/release.mjs', '--output', RELEASE]);
    const environment = { ...programs, RELEASE };
    // The guest keeps temporary files in memory: etcd cannot work on the file system that it shares with this machine.
    const inGuest = { environment: { ...environment, TMPDIR: '/run' } };
    return await runTests(`${kind} tests`, files, args =>
      kind === 'cluster-guest' ? runInGuest(args, inGuest) : runHere(args, environment),
    );
  } catch (error) {
    notRun.push({ kind, reason: errorMessage(error) });
    return { counts: NO_TESTS, output: '' };
  }
}

/** Prints what was not run, each failure, how long the tests took and the counts, and ends this process. */
function report() {
  const seconds = Math.round((performance.now() - start) / 1000);
  for (const { kind, reason } of notRun) {
    console.log(`NOT RUN: the ${kind} tests (${filesOf(kind).length} files): ${reason}`);
  }
  if (notRun.length > 0) console.log('Each file that was not run counts as one skipped test.');
  for (const kind of KINDS.filter(kind => !kinds.includes(kind) && filesOf(kind).length > 0)) {
    console.log(`Not part of this command: the ${kind} tests (${filesOf(kind).length} files): ${COMMANDS[kind]}`);
  }
  const filesNotRun = notRun.flatMap(({ kind }) => filesOf(kind)).length;
  const total = sum([
    ...here.flat().map(({ counts }) => counts),
    cluster.counts,
    clusterInGuest.counts,
    released.counts,
    ...guests.map(({ counts }) => counts),
    { ...NO_TESTS, skipped: filesNotRun },
  ]);
  // The failures again, because they are hard to find in the output of thousands of tests.
  for (const failure of total.failures) console.log(`FAILED: ${failure}\n`);
  console.log(`The tests took ${Math.floor(seconds / 60)} min ${seconds % 60} s.`);
  console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
  const nothingRan = total.passed + total.failed === 0;
  process.exit(total.failed > 0 || nothingRan || (process.env.CI && total.skipped > 0) ? 1 : 0);
}

/**
 * @param {string} message
 * @returns {never}
 */
function fail(message) {
  console.error(message);
  process.exit(2);
}
