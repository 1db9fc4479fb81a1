import type { Cluster } from '../cluster/cluster.ts';
import { importPointsman, type PointsmanImage } from '../proxies/pointsman-image.ts';
import type { Arguments } from '../suite/arguments.ts';
import type { Results } from '../suite/results.ts';
import { runSuite } from '../suite/run-suite.ts';
import { changeProxies } from './changes.ts';
import { SteadyTraffic } from './traffic.ts';
import { countsText, isFlawless } from './traffic-counts.ts';

/**
 * Runs the tests while the proxies are replaced, restarted and changed. Throws if a connection of the clients beside
 * the tests fails. The cluster has upstream's kube-proxy, as kubeadm installs it.
 */
export async function runWhileProxiesChange(
  cluster: Cluster,
  args: Arguments,
  image: PointsmanImage,
  report: (step: string) => void,
): Promise<Results> {
  const name = await importPointsman(cluster, image);
  const traffic = await SteadyTraffic.start(cluster);
  let hasEnded = false;
  const suite = runSuite(cluster, args).finally(() => {
    hasEnded = true;
  });
  const [results, changes] = await Promise.all([suite, changeProxies(cluster, name, () => hasEnded, report)]);
  const counts = await traffic.stop();
  console.log(`${changes.length} changes of the proxies\n${countsText(counts)}`);
  if (!isFlawless(counts)) throw new Error('A connection failed while the proxies changed');
  return results;
}
