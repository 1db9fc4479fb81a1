import { Demo, DemoPage, NODE_NAME, Prober } from '../../demo/index.ts';
import { KernelError } from '../../kernel/errors.ts';
import { printable } from '../../lib/printable.ts';
import { DEFAULT_MODE, MODES } from '../../modes/index.ts';
import { DEFAULT_PAGE_ADDRESS } from '../../page/index.ts';
import { defineCommand, type Io } from '../command.ts';
import { addressPort, bool, type FlagValues, string } from '../flags/index.ts';
import { DEFAULT_BALANCE_FLAG, MANIFESTS_FLAG, manifestsFlag, modeFlag } from '../node-flags.ts';
import { COLOR_FLAG, colorFlag, styleFor } from '../style.ts';
import { VERSION } from '../version.ts';
import { pageLine } from './displays.ts';
import { type DemoPlan, runLive } from './live.ts';
import { usableMode } from './modes.ts';
import { demoPageOptions } from './page-options.ts';
import { PlainLines } from './plain-lines.ts';
import { summaryOf, summaryText } from './summary.ts';
import { tablePicture } from './table.ts';

const FLAGS = {
  ...MANIFESTS_FLAG,
  'proxy-mode': {
    type: string,
    default: DEFAULT_MODE.descriptor.name,
    word: 'MODE',
    usage: `mode of the proxy: ${MODES.map(({ name }) => name).join(', ')}`,
  },
  'hostname-override': {
    type: string,
    default: NODE_NAME,
    word: 'NAME',
    usage: 'node of the manifests that the proxy runs on',
  },
  'default-balance': DEFAULT_BALANCE_FLAG,
  once: { type: bool, default: false, usage: 'exit after one round' },
  'page-bind-address': {
    type: addressPort,
    default: DEFAULT_PAGE_ADDRESS,
    usage:
      "address of the operator's page; another port if this one is taken; empty for no page; with --once there is a page only with this flag",
  },
  ...COLOR_FLAG,
};

export const demoCommand = defineCommand({
  name: 'demo',
  summary: 'show a running proxy in a small cluster of network namespaces',
  about: `Shows a running proxy. The demo builds a small cluster from network namespaces and runs the proxy on its node. Then
it connects to every address of every Service: from a pod, from the node and from outside. It shows which endpoints
answer. It runs until q or Ctrl-C, and changes of the manifests take effect at once. Nothing stays behind. The demo needs
root, or a user namespace. In ebpf mode it needs root.

The demo also serves the operator's page about this proxy, and prints its URL. The page shows the connections of the demo
as they are made.

Pods and Services may have any addresses. The endpoints of the node run on it, all others on other machines of the
cluster. The node has the addresses 192.168.0.2 and fd00:192:168::2, and those of its Node object. The client outside has
192.168.0.100 and fd00:192:168::100.

Exit status with --once: 0 if all connections behave as planned and the manifests have no problems, otherwise 1.`,
  usage: 'demo --manifests DIR [flags]',
  examples: [
    { meaning: 'The examples of the source', command: 'kube-proxy demo --manifests examples' },
    {
      meaning: 'In another mode, one round',
      command: 'kube-proxy demo --manifests examples --proxy-mode iptables --once',
    },
    {
      meaning: 'The Services of a cluster, as one of its nodes sees them',
      command: `kubectl get nodes,services,endpointslices -A -o yaml > cluster.yaml
kube-proxy demo --manifests cluster.yaml --hostname-override NODE`,
    },
  ],
  flags: FLAGS,
  async run({ values, changed }, io) {
    const plan = await demoPlan(values, changed.has('page-bind-address'));
    return values.once ? await runOnce(plan, io) : await runLive(plan, io);
  },
});

async function demoPlan(values: FlagValues<typeof FLAGS>, isPageGiven: boolean): Promise<DemoPlan> {
  const manifests = manifestsFlag(values);
  const descriptor = modeFlag(values);
  const color = colorFlag(values);
  const nodeName = values['hostname-override'];
  const pageFlag = { text: values['page-bind-address'], isGiven: isPageGiven, isOnce: values.once };
  const page = await demoPageOptions(pageFlag);
  // Only the page shows the counters.
  const { mode, families } = await asRoot(() => usableMode(descriptor, { countConnections: page !== undefined }));
  const defaultBalance = values['default-balance'] || undefined;
  const start = (onChange: () => void) =>
    asRoot(() => Demo.start({ manifests, onChange, mode, families, nodeName, defaultBalance }));
  const openPage = async (demo: Demo) => page && (await DemoPage.open(demo, { ...page, version: VERSION }));
  return { manifests, mode: descriptor.name, color, start, openPage };
}

async function runOnce({ manifests, mode, color, start, openPage }: DemoPlan, io: Io): Promise<number> {
  const demo = await start(() => undefined);
  let page: DemoPage | undefined;
  try {
    page = await openPage(demo);
    if (page) io.stderr.write(pageLine(page.url));
    const prober = new Prober(
      demo,
      () => undefined,
      connections => page?.observed(connections),
    );
    await prober.runOnce();
    const { rows, callers } = prober.results;
    const { problems } = demo;
    const summary = summaryOf(rows, problems);
    if (io.stdout.isTTY) {
      const view = { manifests, mode, rows, callers, problems, howToEnd: '' };
      const { fixed, scrolled } = tablePicture(view, styleFor(io.stdout, io.env, color), io.stdout.columns ?? 80);
      io.stdout.write(`${[...fixed, ...scrolled].join('\n')}\n`);
    } else {
      io.stdout.write([...new PlainLines().newLines(rows), summaryText(summary)].map(line => `${line}\n`).join(''));
      for (const problem of problems) io.stderr.write(`! ${printable(problem)}\n`);
    }
    return summary.mismatches === 0 && summary.problems === 0 ? 0 : 1;
  } finally {
    page?.close();
    await demo.close();
  }
}

/** Adds to an error of the kernel that the demo needs root. */
async function asRoot<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof KernelError) || (error.errno !== 'EPERM' && error.errno !== 'EACCES')) throw error;
    throw new Error(`${error.message}\nThe demo creates network namespaces. Run it as root: sudo npm start`);
  }
}
