import { Demo, Prober } from '../../demo/index.ts';
import { KernelError } from '../../kernel/errors.ts';
import type { Command, Io } from '../command.ts';
import { bool, describeFlags, parseFlags } from '../flags/index.ts';
import { HELP_FLAG } from '../help-flag.ts';
import { refuseArguments } from '../no-arguments.ts';
import { manifestsFlag, NODE_FLAGS } from '../node-flags.ts';
import { styleFor } from '../style.ts';
import { runLive } from './live.ts';
import { PlainLines } from './plain-lines.ts';
import { summaryOf, summaryText } from './summary.ts';
import { tableLines } from './table.ts';

const FLAGS = {
  manifests: NODE_FLAGS.manifests,
  once: { type: bool, default: false, usage: 'end after one round' },
  ...HELP_FLAG,
};

const HELP = `Builds a small cluster out of network namespaces, runs the proxy on its node in nftables mode, and shows who answers
real connections to every address of every Service: from a pod, from the node, and from outside. Goes on until Ctrl-C;
changes of the manifests show at once. Nothing stays behind. Needs root, or a user namespace.

Usage:
  kube-proxy demo --manifests DIR [flags]

The node is called node-a. Its pods are 10.244.1.* and fd00:10:244:1::*; those of other nodes are 10.244.2.*, 10.244.3.*,
fd00:10:244:2::* and fd00:10:244:3::*. Who is outside reaches Services at 10.96.0.0/12, 198.51.100.0/24, 203.0.113.0/24,
fd00:10:96::/108 and 2001:db8::/64.

Exit status with --once: 0 if all connections got what the plan says and all of the manifests could be used, else 1.

Flags:
${describeFlags(FLAGS)}
`;

export const demoCommand: Command = {
  name: 'demo',
  summary: 'show a live proxy in a small cluster out of network namespaces',
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
      io.stdout.write([...new PlainLines().news(rows), summaryText(summary)].map(line => `${line}\n`).join(''));
      for (const problem of problems) io.stderr.write(`! ${problem}\n`);
    }
    return summaryOf(rows).disagreeing === 0 && problems.length === 0 ? 0 : 1;
  } finally {
    await demo.close();
  }
}

async function startDemo(manifests: string, changed: () => void): Promise<Demo> {
  try {
    return await Demo.start({ manifests, onChange: changed });
  } catch (error) {
    if (!(error instanceof KernelError) || (error.errno !== 'EPERM' && error.errno !== 'EACCES')) throw error;
    throw new Error(`${error.message}\nThe demo makes network namespaces: run it as root (sudo npm start).`);
  }
}
