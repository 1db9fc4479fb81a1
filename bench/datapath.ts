// Measures real packets between network namespaces, from a pod to a pod on another link of the node: first packets,
// connections, requests, bulk transfer and UDP requests, with their processor time. Direct, and through a Service in each
// of our modes and of upstream's programs, which all read the same API server. The ways take turns in short slices, and
// medians count. Needs root and cgroup2.
//   --modes LIST        our modes (nftables,ebpf,iptables,userspace); userspace has at most 1000 Services
//   --upstream FILE     an upstream program; may be repeated
//   --upstream-modes L  its modes (nftables,iptables)
//   --services LIST     numbers of Services (10,1000,30000)
//   --rounds N          slices of each way and operation (15)
//   --slice MS          the length of a slice (100)
//   --json-file FILE    writes the results
//   --quick             about a minute: 10 and 1000 Services, nftables, ebpf and iptables, five rounds
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { OPERATIONS, type Operation, type Targets } from './path/operations.ts';
import { PLAYER, play } from './path/player.ts';
import { ServiceStage } from './path/service-stage.ts';
import { pathFigures, sliceOf, takePathTurns } from './path/turns.ts';
import { TCP_ENDPOINT, UDP_ENDPOINT, WayLab } from './path/way-lab.ts';
import { comparisonsOf, DIRECT, isPossible, type Way, waysOf } from './path/ways.ts';
import { type Figure, Recorder } from './record/result.ts';
import { groupedBy, rowsOf } from './record/tables.ts';
import { ourSubject, upstreamSubject } from './scale/subjects.ts';
import { runAndClose } from './support/closing.ts';
import { cores } from './support/datapath.ts';
import { COMMON_FLAGS } from './support/flags.ts';
import { report, reportMachine } from './support/report.ts';

const { values: flags } = parseArgs({
  options: {
    ...COMMON_FLAGS,
    modes: { type: 'string' },
    upstream: { type: 'string', multiple: true, default: [] },
    'upstream-modes': { type: 'string', default: 'nftables,iptables' },
    services: { type: 'string' },
    rounds: { type: 'string' },
    slice: { type: 'string', default: '100' },
    'json-file': { type: 'string' },
    quick: { type: 'boolean', default: false },
  },
});

const { quick } = flags;
const modes = (flags.modes ?? (quick ? 'nftables,ebpf,iptables' : 'nftables,ebpf,iptables,userspace')).split(',');
const counts = (flags.services ?? (quick ? '10,1000' : '10,1000,30000')).split(',').map(Number);
const rounds = Number(flags.rounds ?? (quick ? 5 : 15));
/** Client and server share this processor. Then the time of an operation is everything that it costs. */
const core = Math.max(0, cores() - 1);
const closing: (() => Promise<void>)[] = [];

async function main(): Promise<void> {
  reportMachine();
  const upstreams = flags.upstream.map(upstreamSubject);
  const ours = ourSubject(undefined);
  const ways = waysOf(ours, modes, upstreams, flags['upstream-modes'].split(','));
  const versions = Object.fromEntries([ours, ...upstreams].map(({ name, version }) => [name, version]));
  const recorder = new Recorder('datapath', versions, comparisonsOf(ways));
  const folder = mkdtempSync(join(tmpdir(), 'bench-datapath-'));
  closing.push(async () => rmSync(folder, { recursive: true, force: true }));
  const stage = new ServiceStage();
  closing.push(() => stage.close());
  await stage.open();
  const labs = await openLabs(ways, stage);
  for (const services of counts) {
    await stage.fill(services);
    const possible = labs.filter(({ way }) => isPossible(way, services));
    await startProxies(possible, stage, services, folder);
    await measure(possible, stage, services, recorder);
    recorder.write(flags['json-file']);
    // While Services are added, the proxies would only slow down the API server.
    for (const lab of labs) await lab.stopProxy();
  }
  for (const [title, group] of groupedBy(recorder.figures, ({ part, size }) => `${part}, ${size}`)) {
    report(rowsBySubject(group), title);
  }
}

/** A row for each way reads better than a column, because there are many. */
function rowsBySubject(figures: readonly Figure[]) {
  return [...groupedBy(figures, ({ subject }) => subject)].map(([way, own]) => ({
    way,
    ...Object.fromEntries(rowsOf(own, way, undefined).map(row => [String(row.figure), String(row[way])])),
  }));
}

async function openLabs(ways: readonly Way[], stage: ServiceStage): Promise<readonly WayLab[]> {
  const labs: WayLab[] = [];
  for (const [number, way] of ways.entries()) {
    const lab = new WayLab(way, number, core);
    closing.push(() => lab.close());
    await lab.open();
    lab.connectTo(stage.machine);
    labs.push(lab);
  }
  return labs;
}

const DIRECT_TARGETS: Targets = { tcp: TCP_ENDPOINT, udp: UDP_ENDPOINT, many: [TCP_ENDPOINT] };

function targetsOf({ way }: WayLab, stage: ServiceStage): Targets {
  return way.name === DIRECT ? DIRECT_TARGETS : stage.targets();
}

/** One after another, so that they do not slow down each other. */
async function startProxies(
  labs: readonly WayLab[],
  stage: ServiceStage,
  services: number,
  folder: string,
): Promise<void> {
  for (const lab of labs) {
    console.error(`${services} Services: waiting for ${lab.way.name}`);
    lab.startProxy(stage.cluster, folder);
    const { tcp, many } = targetsOf(lab, stage);
    await lab.untilAllConnect([tcp, ...many]);
    await lab.checkSockets(tcp);
  }
}

async function measure(
  labs: readonly WayLab[],
  stage: ServiceStage,
  services: number,
  recorder: Recorder,
): Promise<void> {
  for (const operation of Object.keys(OPERATIONS) as readonly Operation[]) {
    console.error(`${services} Services: ${operation}`);
    const slices = await takePathTurns(labs, rounds, async lab =>
      sliceOf(lab.way.name, operation, await lab.run(operation, targetsOf(lab, stage), Number(flags.slice))),
    );
    recorder.add(...pathFigures(slices, operation, `${services} Services`));
  }
}

/** Closes the last first. What is closed already stays so. */
async function closeAll(): Promise<void> {
  for (const close of closing.splice(0).reverse()) await close();
}

if (flags.role === PLAYER) play();
else await runAndClose(main, closeAll);
