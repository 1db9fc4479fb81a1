// Runs the conformance tests: see scripts/conformance.mjs, which builds what they need and sets CONFORMANCE_PARTS.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { resolve } from 'node:path';
import { Cluster, type ClusterParts } from './cluster/cluster.ts';
import { removeLeftovers } from './cluster/leftovers.ts';
import { waitForProxies } from './proxies/ask.ts';
import { imageOf, type NodeProxies, type ProxyParts, startProxy } from './proxies/proxy.ts';
import { type Arguments, readArguments } from './suite/arguments.ts';
import { addRecord, compare, type Recorded, tableText } from './suite/comparison.ts';
import type { Results } from './suite/results.ts';
import { runSuite } from './suite/run-suite.ts';
import { runWhileProxiesChange } from './while-it-runs/while-it-runs.ts';

const RECORDED = 'test/conformance/suite/upstream.json';

const parts: ClusterParts & ProxyParts = JSON.parse(process.env.CONFORMANCE_PARTS ?? '{}');
const stopped = new Promise<never>((_, reject) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => reject(new Error(`stopped by ${signal}`)));
  }
});
// A stop while nobody waits for it is no error.
stopped.catch(() => undefined);

async function main(args: Arguments): Promise<number> {
  const start = Date.now();
  const report = (step: string) => console.log(`${((Date.now() - start) / 1000).toFixed(0).padStart(5)} s  ${step}`);
  rmSync(args.output, { recursive: true, force: true });
  mkdirSync(args.output, { recursive: true });
  await removeLeftovers();
  const cluster = new Cluster(parts);
  try {
    const results = await Promise.race([test(cluster, args, report), stopped]);
    const status = judge(results, args);
    report('tests ended');
    if (args.keep) await keep(cluster);
    return status;
  } finally {
    report('removing the cluster');
    await cluster.close(args.output);
    report('done');
  }
}

async function test(cluster: Cluster, args: Arguments, report: (step: string) => void): Promise<Results> {
  await cluster.start(report);
  const isUpstream = args.isUpstream || args.whileItRuns;
  report(`proxies: ${isUpstream ? 'upstream' : 'Pointsman'}, ${args.mode}, ${args.way}`);
  const proxy = await startProxy(cluster, { ...args, isUpstream }, parts);
  try {
    await waitForProxies(cluster, args.mode);
    cluster.kubectl(['--namespace', 'kube-system', 'rollout', 'status', 'deployment/coredns', '--timeout=3m']);
    report(`tests, ${args.procs} at a time`);
    if (args.whileItRuns) return await runWhileProxiesChange(cluster, args, imageOf(parts), report);
    return await runSuite(cluster, args);
  } finally {
    saveLogs(proxy, args.output);
  }
}

/** Prints the table, and returns the exit status. */
function judge(results: Results, args: Arguments): number {
  const recorded: Recorded = JSON.parse(readFileSync(RECORDED, 'utf8'));
  const comparison = compare(results, recorded, args.mode);
  const table = tableText(comparison);
  writeFileSync(`${args.output}/table.txt`, `${table}\n`);
  console.log(table);
  if (args.records) {
    writeFileSync(RECORDED, `${JSON.stringify(addRecord(recorded, results, args.mode), undefined, 2)}\n`);
    return 0;
  }
  if (results.size === 0) {
    console.log('No test ran');
    return 1;
  }
  const { worse } = comparison;
  if (worse.length > 0) console.log(`${worse.length} worse than upstream ${recorded.version}, marked with *`);
  else console.log(`No test is worse than with upstream ${recorded.version}`);
  return worse.length > 0 ? 1 : 0;
}

/** The table matters more than the logs. */
function saveLogs(proxy: NodeProxies, output: string): void {
  try {
    proxy.saveLogs((name, text) => writeFileSync(`${output}/${name}.log`, text));
  } catch (error) {
    console.error(`Could not save the logs of the proxies: ${(error as Error).message}`);
  }
}

async function keep(cluster: Cluster): Promise<void> {
  console.log(`The cluster stays until Ctrl-C. In another terminal:\n  export KUBECONFIG=${cluster.kubeconfig}`);
  console.log(`  nsenter --net=${cluster.networkPath} ${cluster.folder}/bin/kubectl get pods -A`);
  // A timer keeps this process alive.
  const timer = setInterval(() => undefined, 1 << 30);
  await stopped.catch(() => clearInterval(timer));
}

try {
  const args = readArguments(process.argv.slice(2), cpus().length);
  if (args) process.exitCode = await main({ ...args, output: resolve(args.output) });
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
// After a stop, tests may still wait for a cluster that is gone.
process.exit();
