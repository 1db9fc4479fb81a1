// Measures nftables mode: a cold load, one change, a restart and memory, and how long connections take to set up.
// Compares with the layout of the real kube-proxy, loaded by the program nft. Works in its own network namespaces.
// Needs root.
//   --size 5000x5,…     only these sizes: Services x endpoints of each
//   --no-compare        no comparison with nft
//   --limit SECONDS     stops a load by nft after this time (60)
//   --connects 10,…     connections on a node with these numbers of Services (10,1000,30000); empty for none
//   --plot FILE         also writes a plot (SVG)
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { performTaskOr, runInChild, type Task } from './support/child.ts';
import { type Size, sizeName } from './support/cluster.ts';
import { type ConnectResult, measureConnects } from './support/connect-latency.ts';
import { COMMON_FLAGS, parseSizes } from './support/flags.ts';
import { measureNft, type NftResult } from './support/nft-load.ts';
import { type LoadResult, measureLoad } from './support/nftables-load.ts';
import { plotPanels } from './support/nftables-plot.ts';
import { mebibytes, median, quantile, report, reportMachine, rounded } from './support/report.ts';

const { values: flags } = parseArgs({
  options: {
    ...COMMON_FLAGS,
    size: { type: 'string', default: '1000x5,5000x5,44125x1,8000x30,5006x50' },
    'no-compare': { type: 'boolean' },
    limit: { type: 'string', default: '60' },
    connects: { type: 'string', default: '10,1000,30000' },
    plot: { type: 'string' },
  },
});

interface Measured {
  readonly size: Size;
  readonly ours: LoadResult;
  readonly nft: NftResult | undefined;
}

async function main(): Promise<void> {
  reportMachine();
  const loads: { size: Size; ours: LoadResult }[] = [];
  for (const size of parseSizes(flags.size)) {
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
  await reportConnects(flags.connects.split(',').filter(Boolean).map(Number));
  if (flags.plot !== undefined) writeFileSync(flags.plot, plot(measured));
}

async function perform({ name, argument }: Task): Promise<unknown> {
  switch (name) {
    case 'load':
      return measureLoad(argument as Size);
    case 'nft':
      return measureNft(argument as Parameters<typeof measureNft>[0]);
    case 'connects':
      return measureConnects(argument as number);
    default:
      throw new Error(`there is no task ${name}`);
  }
}

function coldTime({ model, diff, encode, kernel }: LoadResult): number {
  return model + diff + encode + kernel;
}

function reportLoads(measured: readonly Measured[]): void {
  report(
    measured.map(({ size, ours }) => ({
      cluster: sizeName(size),
      total: rounded(coldTime(ours)),
      'model and plan': rounded(ours.model),
      'render and diff': rounded(ours.diff),
      encode: rounded(ours.encode),
      kernel: rounded(ours.kernel),
      'MiB sent': mebibytes(ours.bytes),
      restart: rounded(ours.restart),
      'restart wrote': ours.writtenByRestart ? 'yes' : 'nothing',
    })),
    'milliseconds from objects to committed rules, and of a restart',
  );
  report(
    measured.map(({ size, ours }) => ({
      cluster: sizeName(size),
      'gained p50': rounded(median(ours.gained)),
      'gained p99': rounded(quantile(ours.gained, 0.99)),
      'lost p50': rounded(median(ours.lost)),
      'lost p99': rounded(quantile(ours.lost, 0.99)),
      'replaced p50': rounded(median(ours.replaced)),
      'replaced p99': rounded(quantile(ours.replaced, 0.99)),
    })),
    'milliseconds of a change of one endpoint',
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
    'memory of a cold load in MiB',
  );
}

function reportComparison(measured: readonly Measured[]): void {
  const rows = measured.flatMap(({ size, ours, nft }) => {
    if (!nft) return [];
    const change = nft.gained.length > 0 ? median(nft.gained) : undefined;
    return {
      cluster: sizeName(size),
      cold: nft.cold === undefined ? `> ${nft.limit}` : rounded(nft.cold),
      'cold, times ours': `${nft.cold === undefined ? '> ' : ''}${rounded((nft.cold ?? nft.limit) / coldTime(ours))}`,
      'gained p50': change === undefined ? '' : rounded(change),
      'gained, times ours': change === undefined ? '' : rounded(change / median(ours.gained)),
    };
  });
  if (rows.length > 0) report(rows, "milliseconds of kube-proxy's layout through nft");
}

async function reportConnects(serviceCounts: readonly number[]): Promise<void> {
  const rows = [];
  for (const services of serviceCounts) {
    const { service, counted, direct } = await runInChild<ConnectResult>({ name: 'connects', argument: services });
    rows.push({
      services,
      'to a Service p50': rounded(median(service)),
      'to a Service p99': rounded(quantile(service, 0.99)),
      'counted p50': rounded(median(counted)),
      'counted p99': rounded(quantile(counted, 0.99)),
      'to the endpoint p50': rounded(median(direct)),
      'to the endpoint p99': rounded(quantile(direct, 0.99)),
    });
  }
  if (rows.length > 0) report(rows, 'microseconds to set up a connection');
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
        ours: coldTime(each.ours),
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

await performTaskOr(main, perform);
