// Measures ebpf mode beside nftables mode and direct connections, in one run: the processor time of connections, questions
// and bulk transfer from a process of the node and from a pod, the programs' own time, connections that wait because a SYN
// is sent again, the time to write all Services and one change, and memory in the kernel. Prints its targets beside the
// figures. Client and server share one processor, and the ways take turns. Slices of time in which other programs had that
// processor do not count. Works in its own network namespaces and in its own control group. Needs root.
//   --quick            fewer and shorter slices: less than a minute
//   --services 10,…    numbers of Services of the node (10,5000)
import { parseArgs } from 'node:util';
import { performTaskOr } from './support/child.ts';
import { playLoad } from './support/datapath.ts';
import { type HookCost, measureHook } from './support/ebpf-hook.ts';
import { type Answered, EbpfNode } from './support/ebpf-node.ts';
import { COMMON_FLAGS } from './support/flags.ts';
import { type Row, report, reportMachine, rounded } from './support/report.ts';
import { isDisturbed, type Measured, medianOf, ratioOf, takeTurns, WAYS } from './support/slices.ts';
import { OPERATIONS, type Operation } from './support/socket-load.ts';
import { measureSynRetries, type SynRetries } from './support/syn-retries.ts';

const { values: flags } = parseArgs({
  options: {
    ...COMMON_FLAGS,
    quick: { type: 'boolean', default: false },
    services: { type: 'string', default: '10,5000' },
  },
});

const LIMITS = flags.quick
  ? { quietSlices: 5, sliceMs: 60, datapathMs: 12_000, hookRounds: 3, stallConnections: 10_000, stallMs: 4000 }
  : { quietSlices: 15, sliceMs: 200, datapathMs: 75_000, hookRounds: 7, stallConnections: 40_000, stallMs: 12_000 };

const OPERATION_NAMES: Readonly<Record<Operation, string>> = {
  connection: 'connect, ask, close',
  question: 'ask on an open connection',
  bulk: 'bulk, a megabyte',
};

/** A figure that must not be larger than its target. */
interface Goal {
  readonly figure: string;
  readonly measured: number;
  readonly target: number;
}

async function main(): Promise<void> {
  reportMachine();
  const goals: Goal[] = [];
  const node = new EbpfNode();
  try {
    await node.start();
    const answered = await node.addAnswered();
    for (const services of flags.services.split(',').map(Number)) {
      await node.fill(services);
      await node.checkWays(answered);
      const measured = await measureDatapath(node, answered);
      reportDatapath(measured, services);
      goals.push(...datapathGoals(measured, services));
    }
    goals.push(...reportHook(await measureHook(node, answered, LIMITS.hookRounds)));
    const retries = [];
    for (const way of ['nftables', 'ebpf'] as const) retries.push(await measureSynRetries(node, way, LIMITS));
    goals.push(...reportRetries(retries));
  } finally {
    await node.close();
  }
  reportGoals(goals);
}

function measureDatapath(node: EbpfNode, { service, endpoint }: Answered): Promise<readonly Measured[]> {
  return takeTurns(
    Object.keys(OPERATIONS) as readonly Operation[],
    (round, caller, way, operation, ms) =>
      node.clients.slice(round, caller, way, { operation, address: way === 'direct' ? endpoint : service, ms }),
    LIMITS,
  );
}

function reportDatapath(measured: readonly Measured[], services: number): void {
  const rows = measured.map(({ caller, operation, slices: { direct, nftables, ebpf } }): Row => {
    const all = [...direct, ...nftables, ...ebpf];
    const quiet = all.filter(({ isQuiet }) => isQuiet).length;
    return {
      from: caller,
      operation: OPERATION_NAMES[operation],
      direct: rounded(medianOf(direct, 'cpuUs')),
      nftables: rounded(medianOf(nftables, 'cpuUs')),
      ebpf: rounded(medianOf(ebpf, 'cpuUs')),
      'ebpf/nftables': ratioOf(ebpf, nftables).toFixed(3),
      'ebpf/direct': ratioOf(ebpf, direct).toFixed(3),
      'quiet slices': `${quiet} of ${all.length}${[direct, nftables, ebpf].some(isDisturbed) ? ', all count' : ''}`,
    };
  });
  report(rows, `${services} Services: microseconds of processor time, both ends and the node together`);
  report(
    measured.map(({ caller, operation, slices }) => ({
      from: caller,
      operation: OPERATION_NAMES[operation],
      ...Object.fromEntries(WAYS.map(way => [`${way}: a second`, rounded(medianOf(slices[way], 'perSecond'))])),
      ...Object.fromEntries(
        WAYS.filter(() => operation !== 'bulk').map(way => [
          `${way}: p50 / p99`,
          `${medianOf(slices[way], 'p50').toFixed(1)} / ${medianOf(slices[way], 'p99').toFixed(1)}`,
        ]),
      ),
    })),
    `${services} Services: operations a second on one processor, and microseconds of each`,
  );
}

function datapathGoals(measured: readonly Measured[], services: number): readonly Goal[] {
  const goal = (caller: Measured['caller'], operation: Operation, target: number): Goal[] => {
    const found = measured.find(each => each.caller === caller && each.operation === operation);
    if (!found) return [];
    const figure = `${caller}, ${OPERATION_NAMES[operation]}, ${services} Services: ebpf/nftables`;
    return [{ figure, measured: ratioOf(found.slices.ebpf, found.slices.nftables), target }];
  };
  return [...goal('node', 'connection', 0.95), ...goal('node', 'question', 0.95), ...goal('pod', 'connection', 1)];
}

function reportHook({ service, none }: HookCost): readonly Goal[] {
  report(
    [
      { to: 'a Service', microseconds: rounded(service) },
      { to: 'no Service', microseconds: rounded(none) },
    ],
    "the connect program's time for a call, as the kernel counts it",
  );
  return [
    { figure: 'connect program, a Service: µs', measured: service, target: 2 },
    { figure: 'connect program, no Service: µs', measured: none, target: 0.2 },
  ];
}

function reportRetries(retries: readonly SynRetries[]): readonly Goal[] {
  report(
    retries.map(({ way, connections, retries, refused }) => ({
      way,
      connections,
      'SYNs sent again': retries,
      'of 1000': rounded((retries * 1000) / connections),
      'refused by TIME_WAIT': refused,
    })),
    'connections of the node to a Service whose endpoint closes first',
  );
  const measured = retries.find(({ way }) => way === 'ebpf')?.retries ?? Number.NaN;
  return [{ figure: 'node, endpoint closes first: SYNs sent again', measured, target: 0 }];
}

function reportGoals(goals: readonly Goal[]): void {
  report(
    goals.map(({ figure, measured, target }) => ({
      figure,
      measured: rounded(measured, 3),
      target: `≤ ${target}`,
      met: measured <= target ? 'yes' : 'NO',
    })),
    'targets',
  );
}

if (flags.role === 'load') playLoad();
else await performTaskOr(main, async () => undefined);
