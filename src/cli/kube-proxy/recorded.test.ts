import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { parse } from 'yaml';
import { runMain } from '../../../test/support/run-main.ts';
import type { Runners } from './command.ts';

// The cases were recorded from the real kube-proxy.

const folder = mkdtempSync(join(tmpdir(), 'cli-'));
after(() => rmSync(folder, { recursive: true }));

/** Fails as the real kube-proxy does without an API server. */
const runners: Runners = {
  async run({ configuration }) {
    const { kubeconfig } = configuration.clientConnection;
    if (kubeconfig !== '') throw new Error(`stat ${kubeconfig}: no such file or directory`);
    const variables = 'KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT';
    throw new Error(`unable to load in-cluster configuration, ${variables} must be defined`);
  },
  cleanup: () => assert.fail('cleanup must not run'),
};

async function run(args: readonly string[]) {
  const { status: exit, ...printed } = await runMain(args, { runners });
  return { exit, ...printed };
}

function records<T>(name: string): readonly T[] {
  return parse(readFileSync(`test/${name}.yaml`, 'utf8'));
}

const HEADER = /^[IWEF]\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ [\w-]+\.ts:\d+\] /;

function withoutHeader(line: string): string {
  return line.replace(HEADER, '');
}

/** The line after an error in a flag says where to read on. Upstream prints its usage before the error instead. */
const ADVICE = /^(?:Did you mean .*\? )?See: kube-proxy help\n/m;

function lastLine(text: string): string {
  return withoutHeader(text.replace(ADVICE, '').trimEnd().split('\n').at(-1) ?? '');
}

function errorLines(stderr: string): readonly string[] {
  const lines = stderr.split('\n').filter(line => /^(?:E\d{4} |Error: |Flag --)/.test(line));
  return lines.map(withoutHeader);
}

describe('recorded command lines', () => {
  interface CommandLine {
    readonly args: readonly string[];
    readonly exit: number;
    readonly stdout?: string;
    readonly stderr?: readonly string[];
    readonly usage: boolean;
  }

  // Upstream refuses the word help. We have a command of this name (CLI-4).
  const recorded = records<CommandLine>('cli-cases/command-lines').filter(({ args }) => args[0] !== 'help');
  for (const { args, exit, stdout = '', stderr = [], usage } of recorded) {
    test(`CLI-7 kube-proxy ${JSON.stringify(args.join(' '))}`, async () => {
      const got = await run(args);
      assert.deepEqual(
        {
          exit: got.exit,
          stdout: got.stdout,
          stderr: errorLines(got.stderr),
        },
        { exit, stdout, stderr },
      );
      // Where upstream prints its usage, one line says where to read on.
      if (usage) assert.match(got.stderr, /^Error: .*\n(?:Did you mean --[\w-]+\? )?See: kube-proxy help\n$/);
    });
  }
});

interface Written {
  readonly name: string;
  readonly args: readonly string[];
  readonly config?: string;
  readonly exit: number;
  readonly stderrTail?: string;
  readonly written: string;
}

describe('recorded written configurations', () => {
  for (const set of ['flags', 'written']) {
    for (const { name, args, config, exit, stderrTail, written } of records<Written>(`cli-cases/${set}`)) {
      test(`CLI-8 ${name}: ${args.join(' ')}`, async () => {
        const target = join(folder, `${name}.yaml`);
        const file = join(folder, 'config.yaml');
        if (config !== undefined) writeFileSync(file, config);
        const fileFlag = config === undefined ? [] : ['--config', file];
        const got = await run([...args, ...fileFlag, `--write-config-to=${target}`]);
        assert.equal(got.exit, exit, got.stderr);
        assert.equal(exit === 0 ? readFileSync(target, 'utf8') : '', written);
        const tail = stderrTail ?? `"Wrote configuration" file="${target}"`;
        // With split streams, informational lines go to stdout.
        assert.equal(lastLine(got.stderr + got.stdout), tail.replace(`file="${name}.yaml"`, `file="${target}"`));
      });
    }
  }
});

describe('recorded configuration files that are refused', () => {
  interface BadConfig {
    readonly name: string;
    readonly config: string;
    readonly exit: number;
    readonly errors: readonly string[];
  }

  for (const { name, config, exit, errors } of records<BadConfig>('config-cases/refused')) {
    test(`CLI-7 ${name}: ${errors.at(-1)}`, async () => {
      const file = join(folder, 'config.yaml');
      writeFileSync(file, config);
      const got = await run(['--config', file]);
      assert.deepEqual([got.exit, got.stdout, errorLines(got.stderr)], [exit, '', errors]);
    });
  }
});

describe('command lines and files of real distributions', () => {
  interface Distribution {
    readonly name: string;
    readonly args: string;
    readonly config?: string;
    readonly writes?: string;
    readonly refused?: readonly string[];
    readonly run?: readonly string[];
  }
  const distributions = records<Distribution>('cli-cases/distributions');
  const defaults = records<Written>('cli-cases/flags').find(({ name }) => name === 'defaults')?.written ?? '';

  test('CLI-39 all are there', () => assert.equal(distributions.length, 53));

  for (const { name, args: line, config, writes, refused, run: runErrors } of distributions) {
    const file = join(folder, `${name}.config`);
    const args = line.split(' ').map(arg => arg.replace('@', file));

    test(`CLI-39 ${name}: ${refused ? 'refused' : 'written'} as upstream does`, async () => {
      if (config !== undefined) writeFileSync(file, config);
      const target = join(folder, `${name}.written`);
      const { exit, stderr } = await run([...args, `--write-config-to=${target}`]);
      if (refused) {
        assert.deepEqual([exit, errorLines(stderr)], [1, refused]);
        assert.ok(!existsSync(target));
      } else {
        assert.equal(exit, 0, stderr);
        assert.equal(readFileSync(target, 'utf8'), withBlocks(defaults, writes ?? ''));
      }
    });

    if (!runErrors) continue;
    test(`CLI-39 ${name}: a run comes as far as upstream's`, async () => {
      if (config !== undefined) writeFileSync(file, config);
      assert.deepEqual(errorLines((await run(args)).stderr), runErrors);
    });
  }
});

/** Replaces the top-level fields of a written file by those of `changed`. Fields are sorted by name. */
function withBlocks(text: string, changed: string): string {
  const blocks = new Map<string, string>();
  for (const block of [text, changed].flatMap(part => part.split(/^(?=[a-z])/m))) {
    blocks.set(block.slice(0, block.indexOf(':')), block);
  }
  return [...blocks.keys()]
    .sort()
    .map(name => blocks.get(name))
    .join('');
}

describe('recorded flags in the log', () => {
  interface LoggedFlags {
    readonly args: readonly string[];
    readonly config: boolean;
    readonly flags: readonly string[];
  }

  for (const { args, config, flags } of records<LoggedFlags>('cli-cases/logged-flags')) {
    test(`CLI-5 ${args.join(' ')}${config ? ' with a file' : ''}`, async () => {
      const file = join(folder, 'config.yaml');
      const head = 'apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\n';
      writeFileSync(file, `${head}mode: nftables\nclientConnection: {kubeconfig: /nonexistent}\n`);
      const { stderr } = await run([...args, ...(config ? ['--config', file] : ['--kubeconfig=/nonexistent'])]);
      const logged = stderr
        .split('\n')
        .map(withoutHeader)
        .filter(line => line.startsWith('FLAG: '));
      assert.deepEqual(
        logged.map(line => line.slice('FLAG: '.length).replace(folder, '/folder')),
        flags,
      );
    });
  }
});
