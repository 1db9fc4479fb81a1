import { type Size, sizeName } from './cluster.ts';
import type { HookCost } from './ebpf-hook.ts';
import type { ChangeTime, EbpfLoad, Renewal } from './ebpf-load.ts';
import { mebibytes, median, type Row, report, rounded } from './report.ts';
import { type Caller, isDisturbed, type Measured, medianOf, ratioOf, WAYS, type Way } from './slices.ts';
import type { Operation } from './socket-load.ts';
import type { SynRetries } from './syn-retries.ts';

/** A figure that must not be larger than its target. */
export interface Goal {
  readonly figure: string;
  readonly measured: number;
  readonly target: number;
}

const OPERATION_NAMES: Readonly<Record<Operation, string>> = {
  connection: 'connect, ask, close',
  question: 'ask on an open connection',
  bulk: 'bulk, a megabyte',
};

/** The largest processor time of ebpf mode, as a part of that of nftables mode. */
const RATIO_TARGETS: readonly (readonly [Caller, Operation, number])[] = [
  ['node', 'connection', 0.95],
  ['node', 'question', 0.95],
  ['pod', 'connection', 1],
];

/** Milliseconds and megabytes, by the size of the cluster. */
const LOAD_TARGETS: Readonly<Record<string, Readonly<Partial<Record<LoadFigure, number>>>>> = {
  '44125x1': { maps: 40, cpu: 60, longest: 20, change: 10, megabytes: 10 },
  '8000x30': { maps: 10, change: 10 },
};

const LOAD_FIGURES = {
  maps: 'all Services written to maps at a start, processor time of the writing thread: ms',
  cpu: 'a complete new generation, processor time of all threads: ms',
  longest: 'a complete new generation, longest piece of the event loop: ms',
  change: 'one change of endpoints in the kernel: µs',
  megabytes: 'maps in the kernel: MB',
} as const;
type LoadFigure = keyof typeof LOAD_FIGURES;

export function reportDatapath(measured: readonly Measured[], services: number): readonly Goal[] {
  report(
    measured.map(timeRow),
    `${services} Services: microseconds of processor time, both ends and the node together`,
  );
  report(measured.map(rateRow), `${services} Services: operations a second on one processor, and microseconds of each`);
  return RATIO_TARGETS.flatMap(([caller, operation, target]) => {
    const found = measured.find(each => each.caller === caller && each.operation === operation);
    if (!found) return [];
    const figure = `${caller}, ${OPERATION_NAMES[operation]}, ${services} Services: ebpf/nftables`;
    return { figure, measured: ratioOf(found, 'ebpf', 'nftables'), target };
  });
}

function timeRow(measured: Measured): Row {
  const all = WAYS.flatMap(way => measured.slices[way]);
  const quiet = all.filter(({ isQuiet }) => isQuiet).length;
  return {
    from: measured.caller,
    operation: OPERATION_NAMES[measured.operation],
    ...Object.fromEntries(WAYS.map(way => [way, rounded(medianOf(measured, way, 'cpuUs'))])),
    'ebpf/nftables': ratioOf(measured, 'ebpf', 'nftables').toFixed(3),
    'ebpf/direct': ratioOf(measured, 'ebpf', 'direct').toFixed(3),
    'quiet slices': `${quiet} of ${all.length}`,
    'disturbed ones count': isDisturbed(measured) ? 'yes' : 'no',
  };
}

function rateRow(measured: Measured): Row {
  const { caller, operation } = measured;
  const microseconds = (way: Way, figure: 'p50' | 'p99') => medianOf(measured, way, figure).toFixed(1);
  const latency = (way: Way) =>
    operation === 'bulk' ? '' : `${microseconds(way, 'p50')} / ${microseconds(way, 'p99')}`;
  return {
    from: caller,
    operation: OPERATION_NAMES[operation],
    ...Object.fromEntries(WAYS.map(way => [`${way}: a second`, Math.round(medianOf(measured, way, 'perSecond'))])),
    ...Object.fromEntries(WAYS.map(way => [`${way}: p50 / p99`, latency(way)])),
  };
}

export function reportHook({ service, none }: HookCost): readonly Goal[] {
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

export function reportRetries(all: readonly SynRetries[]): readonly Goal[] {
  report(
    all.map(({ way, connections, retries, refused }) => ({
      way,
      connections,
      'SYNs sent again': retries,
      'of 1000': rounded((retries * 1000) / connections),
      'refused by TIME_WAIT': refused,
    })),
    'connections of the node to a Service whose endpoint closes first',
  );
  const measured = all.find(({ way }) => way === 'ebpf')?.retries ?? Number.NaN;
  return [{ figure: 'node, endpoint closes first, ebpf: SYNs sent again', measured, target: 0 }];
}

/** `loads`: the same, measured in several processes. */
export function reportLoad(size: Size, loads: readonly EbpfLoad[]): readonly Goal[] {
  const cluster = sizeName(size);
  const first = medianRenewal(loads.map(each => each.first));
  const complete = medianRenewal(loads.map(each => each.complete));
  const completeLongest = median(loads.map(each => each.completeLongest));
  const endpoints = loads.flatMap(each => each.endpoints);
  report(
    [
      { maps: 'all, at the start', ...renewalRow(first) },
      {
        maps: 'all, for a part that was not needed before',
        ...renewalRow(complete),
        'longest piece of the event loop': rounded(completeLongest),
      },
      {
        maps: 'new slots, because changes used them up',
        ...renewalRow(medianRenewal(loads.flatMap(each => each.renewals))),
        'longest piece of the event loop': rounded(median(loads.flatMap(each => each.longest))),
      },
    ],
    `${cluster}: milliseconds of new maps, medians of ${loads.length} processes`,
  );
  report(
    [
      { change: 'an endpoint', ...changeRow(endpoints) },
      { change: 'a new Service', ...changeRow(loads.flatMap(each => each.services)) },
    ],
    `${cluster}: microseconds of one change`,
  );
  // The maps are the same in each process.
  const memory = loads[0]?.memory ?? [];
  const bytes = memory.reduce((sum, [, each]) => sum + each, 0);
  const large = memory.filter(([, each]) => each > bytes / 100).map(([map, each]) => [map, mebibytes(each)]);
  report([{ all: mebibytes(bytes), ...Object.fromEntries(large) }], `${cluster}: MiB of maps in the kernel`);
  const change = median(endpoints.map(each => each.maps));
  const figures: Readonly<Record<LoadFigure, number>> = {
    maps: first.maps,
    cpu: complete.cpu,
    longest: completeLongest,
    change,
    megabytes: bytes / 1e6,
  };
  return Object.entries(LOAD_TARGETS[cluster] ?? {}).map(([name, target]) => ({
    figure: `${cluster}, ${LOAD_FIGURES[name as LoadFigure]}`,
    measured: figures[name as LoadFigure],
    target,
  }));
}

function medianRenewal(renewals: readonly Renewal[]): Renewal {
  return { cpu: median(renewals.map(({ cpu }) => cpu)), maps: median(renewals.map(({ maps }) => maps)) };
}

function renewalRow({ cpu, maps }: Renewal): Row {
  return {
    'processor time': rounded(cpu),
    'of it writing maps': rounded(maps),
    'longest piece of the event loop': '',
  };
}

function changeRow(changes: readonly ChangeTime[]): Row {
  return {
    'writing maps': rounded(median(changes.map(({ maps }) => maps))),
    'from the object to the maps': rounded(median(changes.map(({ total }) => total))),
  };
}

export function reportGoals(goals: readonly Goal[]): void {
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
