// iptables mode at several sizes and with both backends: cold load, one change, restart; how much of it is spent inside the
// iptables programs. In network namespaces of its own (needs root).
//   --size 5000x5,…    only these sizes      --backend legacy   only this backend
import { availableParallelism, loadavg, release } from 'node:os';
import { parseArgs } from 'node:util';
import type { Backend } from '../src/kernel/iptables/index.ts';
import { answer, givenTask, runInChild } from './support/child.ts';
import { parseSize, sizeName } from './support/cluster.ts';
import { type IptablesResult, type IptablesTask, measureIptables, type Timing } from './support/iptables-load.ts';
import { median, quantile, report } from './support/report.ts';

const { values: flags } = parseArgs({
  options: {
    json: { type: 'boolean' },
    size: { type: 'string', default: '1000x5,5000x5' },
    backend: { type: 'string', default: 'nf_tables,legacy' },
    task: { type: 'string' },
  },
});

const ms = (value: number) => (value < 100 ? Number(value.toFixed(1)) : Math.round(value));
const whole = ({ total, programs }: Timing) => ({
  total: ms(total),
  programs: ms(programs),
  ours: ms(total - programs),
});

function rowsOf({ size, backend }: IptablesTask, { cold, restart, changes }: IptablesResult) {
  const what = { cluster: sizeName(size), backend };
  return [
    { ...what, what: 'cold load', ...whole(cold), p99: '' },
    { ...what, what: 'restart', ...whole(restart), p99: '' },
    ...Object.entries(changes).map(([kind, timings]) => ({
      ...what,
      what: kind,
      ...whole({
        total: median(timings.map(({ total }) => total)),
        programs: median(timings.map(({ programs }) => programs)),
      }),
      p99: ms(
        quantile(
          timings.map(({ total }) => total),
          0.99,
        ),
      ),
    })),
  ];
}

async function main(): Promise<void> {
  const load = loadavg()[0]?.toFixed(2);
  if (!flags.json) console.log(`Linux ${release()}, ${availableParallelism()} cores, load average before: ${load}`);
  const rows = [];
  for (const size of flags.size.split(',').map(parseSize)) {
    for (const backend of flags.backend.split(',') as Backend[]) {
      const argument = { size, backend };
      rows.push(...rowsOf(argument, await runInChild<IptablesResult>({ name: 'load', argument })));
    }
  }
  report(rows, 'objects to rules in the kernel, ms; of changes the median');
}

const task = givenTask();
if (task) answer(await measureIptables(task.argument as IptablesTask));
else await main();
