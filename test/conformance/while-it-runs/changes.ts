import { setTimeout as delay } from 'node:timers/promises';
import type { Cluster } from '../cluster/cluster.ts';
import { runBeside } from '../cluster/run.ts';
import { waitForProxies } from '../proxies/ask.ts';

const DAEMON_SET = 'daemonset/kube-proxy';
/** Between changes the tests get time to connect. */
const PAUSE_MS = 10_000;

/** A change of the proxies of all nodes, one node after another, as an operator makes it. */
interface ProxyChange {
  readonly name: string;
  /** The mode after it. */
  readonly mode: string;
  /** The arguments of kubectl, one list for each command. */
  readonly commands: readonly (readonly string[])[];
}

/** Replaces upstream's kube-proxy as docs/install/kubeadm.md says. */
function upgrade(image: string): ProxyChange {
  return { name: 'new image', mode: 'nftables', commands: [['set', 'image', DAEMON_SET, `kube-proxy=${image}`]] };
}

const RESTART: ProxyChange = {
  name: 'rolling restart',
  mode: 'nftables',
  commands: [['rollout', 'restart', DAEMON_SET]],
};

/** A new pod reads the new configuration. A pod that notices it earlier ends, and starts again. */
function changeMode(cluster: Cluster, mode: string): ProxyChange {
  const former = cluster.kubectl(['--namespace', 'kube-system', 'get', 'configmap', 'kube-proxy', '-o', 'json']);
  const text: string = JSON.parse(former).data['config.conf'];
  const data = { 'config.conf': text.replace(/^mode: .*$/m, `mode: "${mode}"`) };
  const patch = ['patch', 'configmap', 'kube-proxy', '--type=merge', `--patch=${JSON.stringify({ data })}`];
  return { name: `change to ${mode} mode`, mode, commands: [patch, ...RESTART.commands] };
}

/** Changes the proxies again and again until `hasEnded` holds, but at least once in each way. Returns the changes. */
export async function changeProxies(
  cluster: Cluster,
  image: string,
  hasEnded: () => boolean,
  report: (step: string) => void,
): Promise<readonly string[]> {
  const made: string[] = [];
  const make = async ({ name, mode, commands }: ProxyChange) => {
    report(name);
    const wait = ['rollout', 'status', DAEMON_SET, '--timeout=5m'];
    for (const args of [...commands, wait]) await kubectl(cluster, args);
    await waitForProxies(cluster, mode);
    await delay(PAUSE_MS);
    made.push(name);
  };
  await make(upgrade(image));
  do {
    await make(RESTART);
    await make(changeMode(cluster, 'iptables'));
    await make(changeMode(cluster, 'nftables'));
  } while (!hasEnded());
  return made;
}

async function kubectl(cluster: Cluster, args: readonly string[]): Promise<void> {
  const [program = '', ...rest] = cluster.kubectlCommand(['--namespace', 'kube-system', ...args]);
  await runBeside(program, rest);
}
