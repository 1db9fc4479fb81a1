import { Demo, Prober } from '../../demo/index.ts';
import { KernelError } from '../../kernel/errors.ts';
import { printable } from '../../lib/printable.ts';
import { defineCommand, type Io } from '../command.ts';
import { bool } from '../flags/index.ts';
import { manifestsFlag, NODE_FLAGS } from '../node-flags.ts';
import { COLOR_FLAG, styleFor } from '../style.ts';
import { runLive } from './live.ts';
import { PlainLines } from './plain-lines.ts';
import { summaryOf, summaryText } from './summary.ts';
import { tableLines } from './table.ts';

const FLAGS = {
  manifests: NODE_FLAGS.manifests,
  once: { type: bool, default: false, usage: 'exit after one round' },
  ...COLOR_FLAG,
};

export const demoCommand = defineCommand({
  name: 'demo',
  summary: 'show a running proxy in a small cluster of network namespaces',
  about: 'X',
  usage: 'demo --manifests DIR [flags]',
  examples: [],
  flags: FLAGS,
  async run({ values }, io) {
    const manifests = manifestsFlag(values);
    return values.once ? await runOnce(manifests, io) : await runLive(manifests, io, startDemo);
  },
});

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
