import { mkdirSync, readFileSync } from 'node:fs';
import { CONTROL_PLANE, NODES } from '../cluster/addresses.ts';
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
  // Ginkgo starts further processes. With a process namespace of their own, all end with it.
  const command = ['unshare', '--pid', '--fork', '--kill-child', ...tests, '--', ...flags];
  const options = { log: `${output}/ginkgo.log`, cwd: cluster.folder };
  const program = cluster.background('ginkgo', CONTROL_PLANE, command, options);
  await program.ready(() => program.hasEnded, MAX_SUITE_MS);
  const junit = `${output}/junit_01.xml`;
  try {
    return readResults(readFileSync(junit, 'utf8'));
  } catch (error) {
    throw new Error(`The tests left no results. ${output}/ginkgo.log says why`, { cause: error });
  }
}
