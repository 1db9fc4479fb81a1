// Measures the files of a release beside upstream's kube-proxy: the time from the start of the program until the kernel
// has the rules of all Services, in nftables mode, and the resident memory five seconds later. A real API server has the
// objects. Run `npm run release` first. Needs root.
//   --services N        how many Services, with three endpoints each (1000)
//   --rounds N          how often each program is started; the median counts (5)
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { ControlPlane } from '../test/control-plane/control-plane.ts';
import { NODE } from '../test/control-plane/node-object.ts';
import type { Program } from '../test/control-plane/program.ts';
import { service, slice } from '../test/e2e/objects.ts';
import { Containers } from '../test/release/container.ts';
import type { ImageName } from '../test/release/image-archive.ts';
import { containerOf, kubeadmObjects } from '../test/release/kubeadm.ts';
import { readReleaseFile, releaseFile } from '../test/release/release-files.ts';
import { runIn } from '../test/support/run-in.ts';
import { COMMON_FLAGS } from './support/flags.ts';
import { median, report, reportMachine } from './support/report.ts';

const SETTLED_MS = 5000;
const TIMEOUT_MS = 120_000;

interface Started {
  readonly program: Program;
  readonly pid: () => number;
}

interface Measurement {
  readonly milliseconds: number;
  readonly mebibytes: number;
}

const { values: flags } = parseArgs({
  options: {
    ...COMMON_FLAGS,
    services: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '5' },
  },
});
const serviceCount = Number(flags.services);
const images: Containers[] = [];
const folder = mkdtempSync(join(tmpdir(), 'bench-start-'));
const cluster = await ControlPlane.start({ apiserverArgs: ['--allow-privileged=true'] });
try {
  await createObjects();
  const programs = preparePrograms();
  reportMachine();
  const measured = new Map([...programs.keys()].map(name => [name, [] as Measurement[]]));
  for (let round = 0; round < Number(flags.rounds); round++) {
    for (const [name, start] of programs) measured.get(name)?.push(await measure(start));
  }
  report(
    [...measured].map(([program, runs]) => ({
      program,
      'to the rules of all Services, ms': Math.round(median(runs.map(run => run.milliseconds))),
      'resident, MiB': Math.round(median(runs.map(run => run.mebibytes))),
    })),
  );
} finally {
  for (const containers of images) await containers.close();
  await cluster.close();
  rmSync(folder, { recursive: true, force: true });
}
process.exit(0);

async function createObjects(): Promise<void> {
  await cluster.apply(NODE);
  for (let i = 0; i < serviceCount; i++) {
    await cluster.apply(service(`web${i}`, `10.97.${i >> 7}.${(i & 127) + 1}`));
    await cluster.apply(
      slice(
        `web${i}-1`,
        [1, 2, 3].map(node => `10.244.${node}.${(i % 250) + 1}`),
      ),
    );
  }
  for (const object of kubeadmObjects(cluster, 'nftables')) await cluster.apply(object);
}

function preparePrograms(): ReadonlyMap<string, () => Promise<Started>> {
  const executable = `${folder}/kube-proxy`;
  writeFileSync(executable, gunzipSync(readReleaseFile(/^kube-proxy-.*-linux-amd64\.gz$/)));
  chmodSync(executable, 0o755);
  const install = ['install', '--global', '--no-audit', '--no-fund', '--prefix', `${folder}/npm`];
  spawnSync('npm', [...install, releaseFile(/^pointsman-\d[^-]*\.tgz$/)]);
  return new Map([
    ['checkout', startHere('bin/kube-proxy')],
    ['npm package', startHere(`${folder}/npm/bin/kube-proxy`)],
    ['single executable', startHere(executable)],
    ['image', startContainer('pointsman')],
    ['slim image', startContainer('pointsman-slim')],
    ['upstream v1.36', startHere(process.env.KUBE_PROXY_V1_36 ?? '')],
    ['upstream v1.37', startHere(process.env.KUBE_PROXY_V1_37 ?? '')],
  ]);
}

function startHere(path: string): () => Promise<Started> {
  return async () => {
    const program = cluster.startProxy({}, { command: [path] });
    return { program, pid: () => program.pid ?? 0 };
  };
}

function startContainer(image: ImageName): () => Promise<Started> {
  const containers = new Containers(image);
  images.push(containers);
  return async () => {
    const program = containers.start(await containerOf(cluster, containers));
    return { program, pid: () => containerPid(program) };
  };
}

async function measure(start: () => Promise<Started>): Promise<Measurement> {
  runIn(cluster.namespace, 'nft', ['flush', 'ruleset']);
  const { program, pid } = await start();
  const begun = performance.now();
  try {
    await program.waitFor('program all Services', () => programmedServices() >= serviceCount, TIMEOUT_MS);
    const milliseconds = performance.now() - begun;
    await delay(SETTLED_MS);
    return { milliseconds, mebibytes: resident(pid()) };
  } finally {
    await program.stop('SIGTERM');
  }
}

/** Upstream's set of cluster IPs has the same name. */
function programmedServices(): number {
  const listed = runIn(cluster.namespace, 'nft', ['list', 'set', 'ip', 'kube-proxy', 'cluster-ips']);
  return listed.match(/\b10\.97\./g)?.length ?? 0;
}

/** The process of a container. `Containers` names the program as the container. */
function containerPid({ name }: Program): number {
  return JSON.parse(spawnSync('runc', ['state', name], { encoding: 'utf8' }).stdout).pid;
}

function resident(pid: number): number {
  const [, kibibytes] = /^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kibibytes) / 1024;
}
