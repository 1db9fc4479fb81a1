// Measures ebpf mode beside nftables mode and direct connections, in one run: the processor time of connections, questions
// and bulk transfer from a process of the node and from a pod, the programs' own time, connections that wait because a SYN
// is sent again, the time to write all Services and one change, and memory in the kernel. Prints its targets beside the
// figures. Client and server share one processor, and the ways take turns. Slices of time in which other programs had that
// processor do not count. Works in its own network namespaces and in its own control group. Needs root.
//   --quick            fewer and shorter slices: less than a minute
//   --services 10,…    numbers of Services of the node (10,5000)
import { parseArgs } from 'node:util';
import { performTaskOr, runInChild } from './support/child.ts';
import type { Size } from './support/cluster.ts';
import { playLoad } from './support/datapath.ts';
import { measureHook } from './support/ebpf-hook.ts';
import { type EbpfLoad, measureEbpfLoad } from './support/ebpf-load.ts';
import { type Answered, EbpfNode } from './support/ebpf-node.ts';
import {
  type Goal,
  reportDatapath,
  reportGoals,
  reportHook,
  reportLoad,
  reportRetries,
} from './support/ebpf-report.ts';
import { COMMON_FLAGS } from './support/flags.ts';
import { reportMachine } from './support/report.ts';
import { type Measured, takeTurns } from './support/slices.ts';
import { OPERATIONS, type Operation } from './support/socket-load.ts';
import { measureSynRetries } from './support/syn-retries.ts';

const { values: flags } = parseArgs({
  options: {
    ...COMMON_FLAGS,
    quick: { type: 'boolean', default: false },
    services: { type: 'string', default: '10,5000' },
  },
});

const LIMITS = flags.quick
  ? {
      quietSlices: 7,
      sliceMs: 40,
      datapathMs: 9_000,
      hookRounds: 3,
      stallConnections: 10_000,
      stallMs: 4000,
      renewals: 3,
      loads: 1,
    }
  : {
      quietSlices: 25,
      sliceMs: 100,
      datapathMs: 60_000,
      hookRounds: 7,
      stallConnections: 40_000,
      stallMs: 12_000,
      renewals: 7,
      loads: 5,
    };

const SIZES: readonly Size[] = [
  { services: 44_125, endpoints: 1 },
  { services: 8000, endpoints: 30 },
];

async function main(): Promise<void> {
  reportMachine();
  const goals = await measureNode();
  for (const size of SIZES) {
    const argument = { size, renewals: LIMITS.renewals };
    const loads: EbpfLoad[] = [];
    // A process makes one generation of each kind, so several processes are measured.
    while (loads.length < LIMITS.loads) loads.push(await runInChild<EbpfLoad>({ name: 'load', argument }));
    goals.push(...reportLoad(size, loads));
  }
  reportGoals(goals);
}

/** Everything for which clients connect. */
async function measureNode(): Promise<Goal[]> {
  const goals: Goal[] = [];
  const node = new EbpfNode();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void node.close().finally(() => process.exit(1)));
  }
  try {
    await node.start();
    const answered = await node.addAnswered();
    for (const services of flags.services.split(',').filter(Boolean).map(Number)) {
      await node.fill(services);
      await node.checkWays(answered);
      goals.push(...reportDatapath(await measureDatapath(node, answered), services));
    }
    goals.push(...reportHook(await measureHook(node, answered, LIMITS.hookRounds)));
    const retries = [];
    for (const way of ['nftables', 'ebpf'] as const) retries.push(await measureSynRetries(node, way, LIMITS));
    goals.push(...reportRetries(retries));
  } finally {
    await node.close();
  }
  return goals;
}

function measureDatapath(node: EbpfNode, { service, endpoint }: Answered): Promise<readonly Measured[]> {
  return takeTurns(
    Object.keys(OPERATIONS) as readonly Operation[],
    (round, caller, way, operation, ms) =>
      node.clients.slice(round, caller, way, { operation, address: way === 'direct' ? endpoint : service, ms }),
    LIMITS,
  );
}

if (flags.role === 'load') playLoad();
else await performTaskOr(main, ({ argument }) => measureEbpfLoad(argument as Parameters<typeof measureEbpfLoad>[0]));
