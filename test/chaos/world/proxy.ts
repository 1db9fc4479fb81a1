import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { NetworkNamespace } from '../../../src/kernel/netns.ts';
import { Program, type ProgramExit } from '../../control-plane/program.ts';
import { proxyConfigurationText } from '../../control-plane/proxy-configuration.ts';
import type { MountHolder } from '../../support/mount-holder.ts';
import type { Access } from './access.ts';
import type { ModeName } from './modes.ts';

type Fields = Readonly<Record<string, unknown>>;

const PROGRAM = 'build/kube-proxy.mjs';
const CLOCK_HOOK = 'test/chaos/world/clock-hook.mjs';
/** The kubelet waits, too, before it starts a container again. */
const RESTART_MS = 500;
/** Silent connections are given up after ten seconds rather than 45. A busy machine never stops a program that long. */
const ENV = { HTTP2_READ_IDLE_TIMEOUT_SECONDS: '2', HTTP2_PING_TIMEOUT_SECONDS: '8' };

export interface ProxyOptions {
  readonly namespace: NetworkNamespace;
  readonly access: Access;
  readonly mounts: MountHolder;
  /** The control group that ebpf mode serves. */
  readonly cgroupRoot: string | undefined;
  readonly kubeconfig: string;
  readonly mode: ModeName;
  onEnd(exit: ProgramExit, lines: readonly string[]): void;
  onLines(lines: readonly string[]): void;
}

/** The proxy under test. When its process ends by itself, this starts another one. */
export class ProxyUnderTest {
  /** The modes in which a process was started. */
  readonly modesUsed = new Set<ModeName>();
  mode: ModeName;
  readonly #options: ProxyOptions;
  #program: Program | undefined;
  #startedAt = 0;
  /** The process ends because this class ended it. */
  #isStopped = true;

  constructor(options: ProxyOptions) {
    this.#options = options;
    this.mode = options.mode;
    this.configure();
    this.setClock(0);
  }

  get pid(): number | undefined {
    return this.isRunning ? this.#program?.pid : undefined;
  }

  get isRunning(): boolean {
    return this.#program !== undefined && !this.#program.hasEnded;
  }

  /** How long the process has run. */
  get ageMs(): number {
    return this.isRunning ? performance.now() - this.#startedAt : 0;
  }

  /** The program with these arguments, in the mounts of the run. */
  command(...args: readonly string[]): readonly string[] {
    const { mounts, cgroupRoot } = this.#options;
    const hook = fileURLToPath(new URL(`file://${process.cwd()}/${CLOCK_HOOK}`));
    const root = cgroupRoot === undefined ? [] : ['--cgroup-root', cgroupRoot];
    return mounts.command(process.execPath, '--import', hook, PROGRAM, ...args, ...root);
  }

  get configurationFile(): string {
    return `${this.#options.access.folder}/config.yaml`;
  }

  /** Writes the configuration file. A proxy that runs notices it. */
  configure(fields: Fields = {}): void {
    this.#write('config.yaml', fields);
  }

  /** Sets the wall clock of the process ahead, or back if the number is negative. */
  setClock(aheadMs: number): void {
    this.#options.access.write('clock', String(aheadMs));
  }

  start(): void {
    this.#isStopped = false;
    this.#startedAt = performance.now();
    this.modesUsed.add(this.mode);
    const program = this.#run('config.yaml');
    this.#program = program;
    void program.exit.then(exit => this.#ended(program, exit));
  }

  /** A second process beside the first one. The caller must end it. */
  startAnother(): Program {
    this.#write('other.yaml', { healthzBindAddress: '127.0.0.1:10356', metricsBindAddress: '127.0.0.1:10349' });
    return this.#run('other.yaml');
  }

  /** Kills the process if it has not ended after the time. */
  async stop(signal: NodeJS.Signals = 'SIGTERM', killedAfterMs?: number): Promise<void> {
    this.#isStopped = true;
    await this.#program?.stop(signal, killedAfterMs);
    this.#flush();
  }

  async restart(signal: NodeJS.Signals = 'SIGTERM', killedAfterMs?: number): Promise<void> {
    await this.stop(signal, killedAfterMs);
    this.start();
  }

  async pause(): Promise<void> {
    await this.#program?.pause();
  }

  resume(): void {
    this.#program?.signal('SIGCONT');
  }

  /** Hands over the lines that the process has written. */
  flush(): void {
    this.#flush();
  }

  async #ended(program: Program, exit: ProgramExit): Promise<void> {
    if (this.#isStopped || program !== this.#program) return;
    this.#options.onEnd(exit, program.lines.slice(-20));
    this.#flush();
    await delay(RESTART_MS);
    if (!this.#isStopped && program === this.#program) this.start();
  }

  #flush(): void {
    const lines = this.#program?.lines.splice(0) ?? [];
    this.#options.onLines(lines);
  }

  #run(configuration: string): Program {
    const { namespace, access } = this.#options;
    const command = this.command('--config', `${access.folder}/${configuration}`);
    return new Program('kube-proxy', command, { namespace, env: { ...ENV, CHAOS_CLOCK: `${access.folder}/clock` } });
  }

  #write(name: string, fields: Fields): void {
    const { access, kubeconfig } = this.#options;
    const periods = { minSyncPeriod: '10ms', syncPeriod: '5s' };
    const usual = { mode: this.mode, nftables: periods, iptables: periods, healthzBindAddress: '0.0.0.0:10256' };
    access.write(name, proxyConfigurationText(kubeconfig, { ...usual, ...fields }));
  }
}
