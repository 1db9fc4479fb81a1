import { mkdirSync, readFileSync } from 'node:fs';
import { CONTROL_PLANE, NODES } from '../cluster/addresses.ts';
import { Background } from '../cluster/background.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Arguments } from './arguments.ts';
import { type Results, readResults } from './results.ts';

const MAX_SUITE_MS = 2 * 3_600_000;

/** Runs the tests from outside of the nodes, and returns what became of each. */
export async function runSuite(cluster: Cluster, { selection, procs, output }: Arguments): Promise<Results> {
  mkdirSync(output, { recursive: true });
  const ginkgo = ['ginkgo', 'run', '--no-color', '--procs', `${procs}`, '--timeout', '2h'];
  const tests = [...ginkgo, '--focus', selection.focus, '--skip', selection.skip, `${cluster.folder}/bin/e2e.test`];
  const flags = [
    ...['--kubeconfig', cluster.kubeconfig, '--provider', 'skeleton', '--num-nodes', `${NODES.length}`],
    ...['--report-dir', output, '--dump-logs-on-failure=false', '--disable-log-dump'],
  ];
  const command = cluster.network.inside(CONTROL_PLANE, [...tests, '--', ...flags]);
  const program = new Background('ginkgo', command, { log: `${output}/ginkgo.log`, cwd: cluster.folder });
  try {
    await program.ready(() => program.hasEnded, MAX_SUITE_MS);
  } finally {
    await program.stop('SIGINT');
  }
  const junit = `${output}/junit_01.xml`;
  try {
    return readResults(readFileSync(junit, 'utf8'));
  } catch (error) {
    throw new Error(`The tests left no results. ${output}/ginkgo.log says why`, { cause: error });
  }
}
