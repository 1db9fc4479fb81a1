// nftables mode at several sizes: cold load, one change, restart, memory, and beside it kube-proxy's own layout through
// nft; then what the set-up of a connection costs. In network namespaces of its own (needs root).
//   --size 5000x5,…    only these sizes
//   --no-compare       without nft      --limit SECONDS   what a load through nft may take, 60 unless told
//   --plot FILE        also as a plot
import { writeFileSync } from 'node:fs';
import { availableParallelism, loadavg, release } from 'node:os';
import { parseArgs } from 'node:util';
import { answer, givenTask, runInChild, type Task } from './support/child.ts';
import { parseSize, type Size, sizeName } from './support/cluster.ts';
import { type ConnectResult, measureConnects } from './support/connect-latency.ts';
import { measureNft, type NftResult } from './support/nft-load.ts';
import { type LoadResult, measureLoad } from './support/nftables-load.ts';
import { plotPanels } from './support/nftables-plot.ts';
import { median, quantile, report } from './support/report.ts';

const SIZES = '1000x5,5000x5,44125x1,8000x30,5006x50';
const SERVICES_FOR_CONNECTS = [10, 1000, 30_000];

interface Measured {
  readonly size: Size;
  readonly ours: LoadResult;
  readonly nft: NftResult | undefined;
}

const { values: flags } = parseArgs({
  options: {
    json: { type: 'boolean' },
    size: { type: 'string', default: SIZES },
    'no-compare': { type: 'boolean' },
    limit: { type: 'string', default: '60' },
    plot: { type: 'string' },
    task: { type: 'string' },
  },
});

async function perform({ name, argument }: Task): Promise<unknown> {
  switch (name) {
    case 'load':
      return measureLoad(argument as Size);
    case 'nft':
      return measureNft(argument as Parameters<typeof measureNft>[0]);
    case 'connects':
      return measureConnects(argument as number);
    default:
      throw new Error(`no task is called ${name}`);
  }
}

const ms = (value: number) => (value < 100 ? Number(value.toFixed(2)) : Math.round(value));
const mebibytes = (bytes: number) => Number((bytes / 2 ** 20).toFixed(1));
const coldOf = ({ model, diff, encode, kernel }: LoadResult) => model + diff + encode + kernel;

function reportLoads(measured: readonly Measured[]): void {
  report(
    measured.map(({ size, ours }) => ({
      cluster: sizeName(size),
      total: ms(coldOf(ours)),
      'model and plan': ms(ours.model),
      'render and diff': ms(ours.diff),
      encode: ms(ours.encode),
      kernel: ms(ours.kernel),
      'MiB sent': mebibytes(ours.bytes),
      restart: ms(ours.restart),
      'restart wrote': ours.writtenByRestart ? 'yes' : 'nothing',
    })),
    'objects to committed rules, and a restart, ms',
  );
  report(
    measured.map(({ size, ours }) => ({
      cluster: sizeName(size),
      'gained p50': ms(median(ours.gained)),
      'gained p99': ms(quantile(ours.gained, 0.99)),
      'lost p50': ms(median(ours.lost)),
      'lost p99': ms(quantile(ours.lost, 0.99)),
      'replaced p50': ms(median(ours.replaced)),
      'replaced p99': ms(quantile(ours.replaced, 0.99)),
    })),
    'one endpoint, ms',
  );
}

function reportMemory(measured: readonly Measured[]): void {
  report(
    measured.map(({ size, ours: { peak, before, after } }) => ({
      cluster: sizeName(size),
      'peak resident': mebibytes(peak),
      'resident before': mebibytes(before.resident),
      'resident after': mebibytes(after.resident),
      'heap before': mebibytes(before.heap),
      'heap after': mebibytes(after.heap),
      'external after': mebibytes(after.external),
      'of it buffers': mebibytes(after.buffers),
    })),
    'memory of a cold load, MiB',
  );
}

function reportComparison(measured: readonly Measured[]): void {
  const rows = measured.flatMap(({ size, ours, nft }) => {
    if (!nft) return [];
    const change = nft.gained.length > 0 ? median(nft.gained) : undefined;
    return {
      cluster: sizeName(size),
      cold: nft.cold === undefined ? `> ${nft.limit}` : ms(nft.cold),
      'cold, times ours': `${nft.cold === undefined ? '> ' : ''}${ms((nft.cold ?? nft.limit) / coldOf(ours))}`,
      'gained p50': change === undefined ? '' : ms(change),
      'gained, times ours': change === undefined ? '' : ms(change / median(ours.gained)),
    };
  });
  if (rows.length > 0) report(rows, "kube-proxy's layout through nft, ms");
}

async function reportConnects(): Promise<void> {
  const rows = [];
  for (const services of SERVICES_FOR_CONNECTS) {
    const { service, counted, straight } = await runInChild<ConnectResult>({ name: 'connects', argument: services });
    rows.push({
      services,
      'to a Service p50': ms(median(service)),
      'to a Service p99': ms(quantile(service, 0.99)),
      'counted p50': ms(median(counted)),
      'counted p99': ms(quantile(counted, 0.99)),
      'to the endpoint p50': ms(median(straight)),
      'to the endpoint p99': ms(quantile(straight, 0.99)),
    });
  }
  report(rows, 'connections set up, µs');
}

function plot(measured: readonly Measured[]): string {
  const label = ({ size }: Measured) => sizeName(size).replace('x', '×');
  return plotPanels([
    {
      title: 'cold load',
      axis: 'endpoints',
      points: measured.map(each => ({
        x: each.size.services * each.size.endpoints,
        label: label(each),
        ours: coldOf(each.ours),
        nft: each.nft && { ms: each.nft.cold ?? each.nft.limit, isLimit: each.nft.cold === undefined },
      })),
    },
    {
      title: 'one endpoint more, p50',
      axis: 'Services',
      points: measured.map(each => ({
        x: each.size.services,
        label: label(each),
        ours: median(each.ours.gained),
        nft: each.nft && each.nft.gained.length > 0 ? { ms: median(each.nft.gained), isLimit: false } : undefined,
      })),
    },
  ]);
}

async function main(): Promise<void> {
  const load = loadavg()[0]?.toFixed(2);
  if (!flags.json) console.log(`Linux ${release()}, ${availableParallelism()} cores, load average before: ${load}`);
  const loads: { size: Size; ours: LoadResult }[] = [];
  for (const size of flags.size.split(',').map(parseSize)) {
    loads.push({ size, ours: await runInChild<LoadResult>({ name: 'load', argument: size }) });
  }
  const measured: Measured[] = [];
  for (const each of loads) {
    const argument = { size: each.size, limit: Number(flags.limit) * 1000 };
    const nft = flags['no-compare'] ? undefined : await runInChild<NftResult>({ name: 'nft', argument });
    measured.push({ ...each, nft });
  }
  reportLoads(measured);
  reportMemory(measured);
  reportComparison(measured);
  await reportConnects();
  if (flags.plot !== undefined) writeFileSync(flags.plot, plot(measured));
}

const task = givenTask();
if (task) answer(await perform(task));
else await main();
