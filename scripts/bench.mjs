// npm run bench -- NAME [FLAGS]: runs bench/NAME.ts, or bench/NAME.guest.ts in a guest. Without a NAME, or with --help,
// it prints the comment at the top of each bench, which says what the bench measures and which flags it has.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { buildProgram, bundle } from './build.mjs';
import { controlPlanePrograms } from './control-plane.mjs';
import { runInGuest } from './guest.mjs';
import { BROWSER_PROGRAMS, GUEST_PROGRAMS, RELEASE_PROGRAMS } from './programs.mjs';
import { installNpmPackages, installPrograms, missingPrograms, NO_INSTALL_FLAG, root } from './setup.mjs';

const USAGE = `usage: npm run bench -- NAME [--json] [FLAGS of the bench]
  --json         prints each row of a table as one JSON object on a line
  --no-install   installs nothing; fails if a program is missing

NAME is one of:`;
/** Comparing with other programs takes long. */
const GUEST_TIMEOUT_MS = 3 * 3_600_000;
/** @type {Readonly<Record<string, import('./programs.mjs').Programs>>} */
const PROGRAMS = {
  'api-load': { nft: 'nftables', openssl: 'openssl', setpriv: 'util-linux' },
  browser: BROWSER_PROGRAMS,
  cluster: { nft: 'nftables', setpriv: 'util-linux' },
  datapath: { iptables: 'iptables', nft: 'nftables', setpriv: 'util-linux', taskset: 'util-linux' },
  ebpf: { taskset: 'util-linux' },
  iptables: { iptables: 'iptables' },
  ipvs: GUEST_PROGRAMS,
  nftables: { nft: 'nftables' },
  stalls: { iptables: 'iptables', taskset: 'util-linux' },
  start: RELEASE_PROGRAMS,
  userspace: { iptables: 'iptables', haproxy: 'haproxy', taskset: 'util-linux' },
};
/** Benches that run our own program as it is. */
const WITH_OUR_PROGRAM = new Set(['api-load', 'cluster', 'datapath']);
/** Benches that need an API server, and run upstream's programs. */
const WITH_CONTROL_PLANE = new Set(['api-load', 'cluster', 'datapath', 'start']);
const NODE_FLAGS = ['--enable-source-maps', '--expose-gc', '--max-semi-space-size=16'];

/** The file of each bench. */
const benches = new Map(
  readdirSync(`${root}bench`)
    .filter(file => file.endsWith('.ts'))
    .map(file => [file.replace(/(\.guest)?\.ts$/, ''), file]),
);
const [name = '', ...args] = process.argv.slice(2).filter(arg => arg !== NO_INSTALL_FLAG);
const file = benches.get(name);
if (file === undefined) {
  const isHelp = name === '--help' || name === '';
  (isHelp ? console.log : console.error)(`${USAGE}\n${[...benches.keys()].map(description).join('\n')}`);
  process.exit(isHelp ? 0 : 2);
}
if (args.includes('--help')) {
  console.log(description(name));
  process.exit(0);
}
process.exit(await runBench(file));

/** @param {string} file */
async function runBench(file) {
  await installNpmPackages();
  const programs = PROGRAMS[name] ?? {};
  installPrograms(programs, `The bench ${name} needs`);
  const missing = missingPrograms(programs);
  if (missing.length > 0) {
    console.error(`The bench ${name} needs programs that this machine lacks: ${missing.join(', ')}`);
    return 1;
  }
  await bundle({ [`bench-${name}`]: `${root}bench/${file}` }, `${root}build`);
  const nodeArgs = [...NODE_FLAGS, `build/bench-${name}.mjs`, ...args];
  if (file.endsWith('.guest.ts')) {
    const { status, output } = await runInGuest(nodeArgs, { timeoutMs: GUEST_TIMEOUT_MS });
    process.stdout.write(output);
    return status;
  }
  if (WITH_OUR_PROGRAM.has(name)) await buildProgram();
  const programPaths = WITH_CONTROL_PLANE.has(name) ? controlPlanePrograms() : {};
  const variables = name === 'start' ? { ...programPaths, RELEASE: `${root}release` } : programPaths;
  const env = { ...process.env, ...variables };
  return spawnSync(process.execPath, nodeArgs, { cwd: root, stdio: 'inherit', env }).status ?? 1;
}

/** @param {string} name */
function description(name) {
  const lines = readFileSync(`${root}bench/${benches.get(name)}`, 'utf8').split('\n');
  const end = lines.findIndex(line => !line.startsWith('//'));
  return [name, ...lines.slice(0, end).map(line => `  ${line.slice(3)}`)].join('\n');
}
