// npm test [WORD …] [--no-check] [--plain]: types and lint, then the tests whose path contains a WORD (all without one);
// with --plain only those that run on any machine, with --cluster (npm run test:cluster) only those with an API server.
//   x.test.ts         any machine
//   x.kernel.test.ts  a Linux kernel and root: makes network namespaces, compares with the reference programs
//   x.guest.test.ts   a User Mode Linux guest, whose kernel has ip_vs, dummy and sctp
//   x.cluster.test.ts root, and a real etcd and kube-apiserver, which Go builds the first time
// What a machine lacks is said and fails the run in CI; elsewhere the rest goes on.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { buildProgram, bundle } from './build.mjs';
import { controlPlaneBinaries } from './control-plane.mjs';
import { runInGuest } from './guest.mjs';
import { installPackages, installPrograms, root, run } from './setup.mjs';

const REFERENCE_PROGRAMS = {
  nft: 'nftables',
  iptables: 'iptables',
  ipset: 'ipset',
  conntrack: 'conntrack',
  ip: 'iproute2',
  unshare: 'util-linux',
};
const GUEST_PROGRAMS = { 'linux.uml': 'user-mode-linux', modprobe: 'kmod', ipvsadm: 'ipvsadm' };
const CLUSTER_PROGRAMS = { ...REFERENCE_PROGRAMS, setpriv: 'util-linux', promtool: 'prometheus' };

const NOTHING_RUN = { status: 0, output: '' };

const words = process.argv.slice(2).filter(word => !word.startsWith('--'));
installPackages();
if (!process.argv.includes('--no-check')) {
  run('npx', ['tsc', '--noEmit']);
  run('npx', ['biome', 'check', '--error-on-warnings']);
}

const files = ['src', 'test'].flatMap(folder =>
  readdirSync(`${root}${folder}`, { recursive: true })
    .filter(path => path.endsWith('.test.ts'))
    .map(path => `${folder}/${path}`),
);
const chosen = files.filter(file => words.length === 0 || words.some(word => file.includes(word))).sort();
if (chosen.length === 0) {
  console.error(`No test's path contains ${words.join(' or ')}`);
  process.exit(1);
}
const isPlain = file => !/\.(kernel|guest|cluster)\.test\.ts$/.test(file);
const clusterTests = chosen.filter(file => file.endsWith('.cluster.test.ts'));
if (process.argv.includes('--cluster')) process.exit(await runClusterTests());

const wanted = process.argv.includes('--plain') ? chosen.filter(isPlain) : chosen;
const guestTests = wanted.filter(file => file.endsWith('.guest.test.ts'));
const kernelTests = wanted.filter(file => file.endsWith('.kernel.test.ts'));
const plainTests = wanted.filter(isPlain);
const left = [];

const canUseKernel = kernelTests.length === 0 || ready('kernel tests', REFERENCE_PROGRAMS);
const canUseGuest = guestTests.length > 0 && ready('guest tests', { ...REFERENCE_PROGRAMS, ...GUEST_PROGRAMS });
// A guest has one processor; meanwhile the others are free. What it says is printed at its end.
const inGuest = canUseGuest ? runTests('guest-tests', guestTests, runInGuest) : Promise.resolve(NOTHING_RUN);
const here = await runTests('tests', canUseKernel ? [...plainTests, ...kernelTests] : plainTests, runHere);
const { status, output } = await inGuest;
process.stdout.write(output);
let failed = here.status !== 0 || status !== 0;
if (wanted.some(file => clusterTests.includes(file))) {
  console.error('not here: end-to-end tests with a real API server: npm run test:cluster');
}
for (const line of left) console.error(`NOT RUN: ${line}`);
if (left.length > 0 && process.env.CI) failed = true;
process.exit(failed ? 1 : 0);

function ready(what, programs) {
  const missing = process.getuid() === 0 ? installPrograms(programs).map(name => `the program ${name}`) : ['root'];
  if (missing.length > 0) left.push(`the ${what}, for this machine lacks ${missing.join(', ')}`);
  return missing.length === 0;
}

async function runClusterTests() {
  if (clusterTests.length === 0) return 0;
  const missing = process.getuid() === 0 ? installPrograms(CLUSTER_PROGRAMS) : ['root'];
  if (missing.length > 0) {
    console.error(`The end-to-end tests need what this machine lacks: ${missing.join(', ')}`);
    return 1;
  }
  try {
    const { etcd, apiserver } = controlPlaneBinaries();
    await buildProgram();
    const settings = { ETCD: etcd, KUBE_APISERVER: apiserver };
    return (await runTests('cluster-tests', clusterTests, args => runHere(args, settings))).status;
  } catch (error) {
    console.error(error.message);
    return 1;
  }
}

/** All files in one process: a process a file would cost more than the tests do. */
async function runTests(name, tests, runner) {
  if (tests.length === 0) return NOTHING_RUN;
  // A folder of its own, so that two runs at once do not run each other's tests.
  const folder = `build/${name}-${process.pid}`;
  mkdirSync(`${root}${folder}`, { recursive: true });
  try {
    const entry = `${root}${folder}/all.ts`;
    writeFileSync(entry, tests.map(file => `import '../../${file}';\n`).join(''));
    await bundle({ all: entry }, `${root}${folder}`);
    const reporter = process.env.CI ? 'tap' : 'dot';
    return await runner(['--enable-source-maps', '--expose-gc', `--test-reporter=${reporter}`, `${folder}/all.mjs`]);
  } finally {
    rmSync(`${root}${folder}`, { recursive: true });
  }
}

/** What it says is seen at once. */
async function runHere(args, settings = {}) {
  const env = { ...process.env, ...settings, PATH: `${process.env.PATH}:/usr/sbin:/sbin` };
  const [status] = await once(spawn(process.execPath, args, { cwd: root, stdio: 'inherit', env }), 'exit');
  return { status: status ?? 1, output: '' };
}
