// Measures how nftables mode balances, for each algorithm: a cold load, what one change costs in time and bytes, the
// memory of the kernel, and how long connections take to set up. Works in its own network namespaces. Needs root.
//   --size 5000x5            Services x endpoints of each
//   --algorithms random,…    only these; `none` is a Service that chooses nothing
//   --every 50,1             one of fifty Services chooses; then all do, but never so many with a consistent hash
import { parseArgs } from 'node:util';
import { ALGORITHMS } from '../src/model/index.ts';
import {
  type BalanceLoad,
  type BalanceTask,
  type Change,
  type Choice,
  measureBalance,
} from './support/balance-load.ts';
import { type BalancedConnects, measureBalancedConnects } from './support/balanced-connects.ts';
import { performTaskOr, runInChild, type Task } from './support/child.ts';
import { parseSize } from './support/cluster.ts';
import { COMMON_FLAGS } from './support/flags.ts';
import { mebibytes, median, quantile, report, reportMachine, rounded } from './support/report.ts';

const CHOICES: readonly Choice[] = ['none', ...ALGORITHMS];

/** The table of one hash takes nearly half a megabyte of the kernel's memory. */
const MAX_HASHES = 500;

const { values: flags } = parseArgs({
  options: {
    ...COMMON_FLAGS,
    size: { type: 'string', default: '5000x5' },
    every: { type: 'string', default: '50,1' },
    algorithms: { type: 'string', default: CHOICES.join(',') },
  },
});

async function main(): Promise<void> {
  reportMachine();
  const size = parseSize(flags.size);
  const wanted = flags.algorithms.split(',');
  const choices = CHOICES.filter(choice => wanted.includes(choice));
  for (const every of flags.every.split(',').map(Number)) {
    const loads = new Map<Choice, BalanceLoad>();
    for (const choice of choices) {
      if (choice === 'consistent-hash' && size.services / every > MAX_HASHES) continue;
      const argument = { size, choice, every } satisfies BalanceTask;
      loads.set(choice, await runInChild<BalanceLoad>({ name: 'load', argument }));
    }
    const which = `${flags.size}, ${every === 1 ? 'all Services choose' : `one of ${every} Services chooses`}`;
    reportLoads(loads, which);
    reportChanges(loads, which);
  }
  reportConnects(await runInChild<readonly BalancedConnects[]>({ name: 'connects', argument: choices }));
}

async function perform({ name, argument }: Task): Promise<unknown> {
  switch (name) {
    case 'load':
      return measureBalance(argument as BalanceTask);
    case 'connects':
      return measureBalancedConnects(argument as readonly Choice[]);
    default:
      throw new Error(`there is no task ${name}`);
  }
}

function reportLoads(loads: ReadonlyMap<Choice, BalanceLoad>, which: string): void {
  report(
    Array.from(loads, ([choice, { cold, kernel, bytes, slab }]) => ({
      algorithm: choice,
      'cold load': rounded(cold),
      'of it kernel': rounded(kernel),
      'MiB sent': mebibytes(bytes),
      'MiB of slabs': mebibytes(slab),
    })),
    `${which}: milliseconds of a cold load, and memory of the kernel`,
  );
}

function reportChanges(loads: ReadonlyMap<Choice, BalanceLoad>, which: string): void {
  const usual = loads.get('none') ?? loads.get('random');
  const columns = (kind: 'gained' | 'lost' | 'shared', load: BalanceLoad) => {
    const time = (changes: readonly Change[]) => median(changes.map(({ ms }) => ms));
    return {
      [`${kind} p50`]: rounded(time(load[kind])),
      [`${kind} p99`]: rounded(
        quantile(
          load[kind].map(({ ms }) => ms),
          0.99,
        ),
      ),
      'ratio of p50': usual ? rounded(time(load[kind]) / time(usual[kind])) : '',
      'kernel p50': rounded(median(load[kind].map(({ kernelMs }) => kernelMs))),
      'bytes p50': median(load[kind].map(({ bytes }) => bytes)),
    };
  };
  for (const [kind, what] of [
    ['gained', 'a Service gains an endpoint'],
    ['lost', 'a Service loses an endpoint'],
    ['shared', 'the share of an endpoint changes'],
  ] as const) {
    report(
      Array.from(loads, ([choice, load]) => ({ algorithm: choice, ...columns(kind, load) })),
      `${which}: milliseconds when ${what}`,
    );
  }
}

function reportConnects(measured: readonly BalancedConnects[]): void {
  report(
    measured.map(({ to, p50, p99 }) => ({ to, p50: rounded(p50), p99: rounded(p99) })),
    'microseconds to set up a connection to a Service with five endpoints',
  );
}

await performTaskOr(main, perform);
