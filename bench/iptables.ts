// Measures iptables mode: a cold load, one change and a restart, with both backends. Shows how much of the time the
// iptables programs take. Works in its own network namespaces. Needs root.
//   --size 1000x5,…     only these sizes: Services x endpoints of each
//   --backend legacy    only this backend: nf_tables or legacy
//   --balance weighted  the algorithm of all Services: random, round-robin or weighted. By default they choose none
import { parseArgs } from 'node:util';
import type { Backend } from '../src/kernel/iptables/index.ts';
import { performTaskOr, runInChild } from './support/child.ts';
import { sizeName } from './support/cluster.ts';
import { COMMON_FLAGS, parseSizes } from './support/flags.ts';
import { type IptablesResult, type IptablesTask, measureIptables, type Timing } from './support/iptables-load.ts';
import { median, quantile, report, reportMachine, rounded } from './support/report.ts';

const { values: flags } = parseArgs({
  options: {
    ...COMMON_FLAGS,
    size: { type: 'string', default: '1000x5,5000x5' },
    backend: { type: 'string', default: 'nf_tables,legacy' },
    balance: { type: 'string' },
  },
});

async function main(): Promise<void> {
  reportMachine();
  const rows = [];
  for (const size of parseSizes(flags.size)) {
    for (const backend of flags.backend.split(',') as Backend[]) {
      const argument = { size, backend, balance: flags.balance };
      rows.push(...rowsOf(argument, await runInChild<IptablesResult>({ name: 'load', argument })));
    }
  }
  report(rows, 'milliseconds from objects to rules in the kernel; for changes, the median');
}

function rowsOf({ size, backend }: IptablesTask, { cold, restart, changes }: IptablesResult) {
  const subject = { cluster: sizeName(size), backend };
  return [
    { ...subject, what: 'cold load', ...columns(cold), p99: '' },
    { ...subject, what: 'restart', ...columns(restart), p99: '' },
    ...Object.entries(changes).map(([what, timings]) => {
      const totals = timings.map(({ total }) => total);
      const programs = median(timings.map(timing => timing.programs));
      const p99 = rounded(quantile(totals, 0.99), 1);
      return { ...subject, what, ...columns({ total: median(totals), programs }), p99 };
    }),
  ];
}

function columns({ total, programs }: Timing) {
  return { total: rounded(total, 1), programs: rounded(programs, 1), ours: rounded(total - programs, 1) };
}

await performTaskOr(main, ({ argument }) => measureIptables(argument as IptablesTask));
