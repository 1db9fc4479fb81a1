import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';

/** The program timeout also ends what the script started. */
const LIMITED = ['--pdeathsig', 'KILL', '--', 'timeout', '120', 'bash', '-c'];
/** Some commands are for a node. Its folder /etc is in the folder of the shell. */
const HOST_FOLDER = /(?<=[\s=])\/etc\//g;
const OUR_PROGRAM = `#!/bin/sh\nexec ${process.execPath} ${resolve('build/kube-proxy.mjs')} "$@"\n`;
const PROGRAMS = { kubectl: 'KUBECTL', kubeadm: 'KUBEADM', helm: 'HELM' } as const;

export interface Output {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * The shell of an operator: kubectl, kubeadm, helm and kube-proxy are on its PATH, deploy/ is in its folder, and a
 * variable that one command sets is there for the next one.
 */
export class Shell {
  readonly folder = mkdtempSync(join(tmpdir(), 'install-'));
  readonly #namespace: NetworkNamespace;
  readonly #env: NodeJS.ProcessEnv;

  constructor(namespace: NetworkNamespace, kubeconfig: string) {
    this.#namespace = namespace;
    const bin = join(this.folder, '.bin');
    mkdirSync(bin);
    for (const [name, variable] of Object.entries(PROGRAMS)) symlinkSync(programFrom(variable), join(bin, name));
    writeFileSync(join(bin, 'kube-proxy'), OUR_PROGRAM, { mode: 0o755 });
    symlinkSync(resolve('deploy'), join(this.folder, 'deploy'));
    writeFileSync(this.#variables, '');
    this.#env = { ...process.env, PATH: `${bin}:${process.env.PATH}`, HOME: this.folder, KUBECONFIG: kubeconfig };
  }

  get #variables(): string {
    return join(this.folder, '.variables');
  }

  /** Runs a script and returns its output. Rejects if a command of the script fails. */
  async run(script: string): Promise<string> {
    const { status, stdout, stderr } = await this.try(script);
    if (status !== 0) throw new Error(`status ${status} of\n${script}\n${stdout}\n${stderr}`);
    return stdout;
  }

  /** Runs a script up to its first command that fails. */
  try(script: string): Promise<Output> {
    const here = script.replaceAll(HOST_FOLDER, `${this.folder}/etc/`);
    const whole = `set -a -eu -o pipefail\n. ${this.#variables}\n${here}\nexport -p > ${this.#variables}\n`;
    return new Promise((resolvePromise, reject) => {
      const child = this.#namespace.run(() =>
        spawn('setpriv', [...LIMITED, whole], {
          cwd: this.folder,
          env: this.#env,
          stdio: ['ignore', 'pipe', 'pipe'],
        }),
      );
      const output = { stdout: '', stderr: '' };
      child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
      child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
      child.once('error', reject);
      child.once('close', status => resolvePromise({ status, ...output }));
    });
  }

  close(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export function programFrom(variable: string): string {
  const path = process.env[variable];
  if (!path || !existsSync(path)) throw new Error(`${variable} is not set. npm run test:cluster sets it`);
  return path;
}
