import { Demo, Prober } from '../../demo/index.ts';
import { KernelError } from '../../kernel/errors.ts';
import { printable } from '../../lib/printable.ts';
import { DEFAULT_MODE } from '../../modes/index.ts';
import { type Command, HELP_FLAG, type Io, refuseArguments } from '../command.ts';
import { bool, describeFlags, parseFlags } from '../flags/index.ts';
import { manifestsFlag, NODE_FLAGS } from '../node-flags.ts';
import { styleFor } from '../style.ts';
import { runLive } from './live.ts';
import { PlainLines } from './plain-lines.ts';
import { summaryOf, summaryText } from './summary.ts';
import { tableLines } from './table.ts';

const FLAGS = {
  manifests: NODE_FLAGS.manifests,
  once: { type: bool, default: false, usage: 'exit after one round' },
  ...HELP_FLAG,
};

const HELP = `Shows a running proxy. The demo builds a small cluster from network namespaces and runs the proxy on its node, in
${DEFAULT_MODE.descriptor.name} mode. Then it connects to every address of every Service: from a pod, from the node and from outside. It shows
which endpoints answer. It runs until Ctrl-C, and changes of the manifests take effect at once. Nothing stays behind.
The demo needs root, or a user namespace.

Usage:
  kube-proxy demo --manifests DIR [flags]

The node has the name node-a. Its pods have the addresses 10.244.1.* and fd00:10:244:1::*. The pods of other nodes have
the addresses 10.244.2.*, 10.244.3.*, fd00:10:244:2::* and fd00:10:244:3::*. From outside, connections can reach Services
at 10.96.0.0/12, 198.51.100.0/24, 203.0.113.0/24, fd00:10:96::/108 and 2001:db8::/64.

Exit status with --once: 0 if all connections behave as planned and the manifests have no problems, otherwise 1.

Flags:
${describeFlags(FLAGS)}
`;

export const demoCommand: Command = {
  name: 'demo',
  summary: 'show a running proxy in a small cluster of network namespaces',
  async run(args, io) {
    const { values, positional } = parseFlags(FLAGS, args);
    if (values.help) {
      io.stdout.write(HELP);
      return 0;
    }
    refuseArguments('kube-proxy demo', positional);
    const manifests = manifestsFlag(values);
    return values.once ? await runOnce(manifests, io) : await runLive(manifests, io, startDemo);
  },
};

async function runOnce(manifests: string, io: Io): Promise<number> {
  const demo = await startDemo(manifests, () => undefined);
  try {
    const prober = new Prober(demo, () => undefined);
    await prober.runOnce();
    const { rows } = prober.results;
    const { problems } = demo;
    if (io.stdout.isTTY) {
      const lines = tableLines({ manifests, rows, problems }, styleFor(io.stdout, io.env), io.stdout.columns ?? 80);
      io.stdout.write(`${lines.join('\n')}\n`);
    } else {
      const summary = summaryOf(rows);
      io.stdout.write([...new PlainLines().newLines(rows), summaryText(summary)].map(line => `${line}\n`).join(''));
      for (const problem of problems) io.stderr.write(`! ${printable(problem)}\n`);
    }
    return summaryOf(rows).mismatches === 0 && problems.length === 0 ? 0 : 1;
  } finally {
    await demo.close();
  }
}

async function startDemo(manifests: string, changed: () => void): Promise<Demo> {
  try {
    return await Demo.start({ manifests, onChange: changed });
  } catch (error) {
    if (!(error instanceof KernelError) || (error.errno !== 'EPERM' && error.errno !== 'EACCES')) throw error;
    throw new Error(`${error.message}\nThe demo creates network namespaces. Run it as root: sudo npm start`);
  }
}
