import { existsSync, readdirSync, statSync } from 'node:fs';
import { namespaceCookie } from '../../src/kernel/netns.ts';
import { EbpfMode, type EbpfModeOptions } from '../../src/modes/ebpf/mode.ts';
import type { ModeEvents } from '../../src/modes/mode.ts';
import type { Family, Ip } from '../../src/net/index.ts';
import { testControlGroup } from './bpf-lab.ts';
import { openDetachedBpffs } from './detached-bpffs.ts';
import { ModeHarness } from './mode-harness.ts';
import { TestNetwork } from './test-socket.ts';

/** Endpoints of the lab. Each has a listener. */
export const ENDPOINTS = ['10.244.1.2', '10.244.1.3', '10.244.1.4', 'fd00:10:244::2'] as const;
const PORT = 8080;

export interface EbpfLabOptions extends Partial<EbpfModeOptions> {
  readonly families?: readonly Family[];
}

/** ebpf mode's own part in a namespace that has a few listening endpoints, with a bpffs and a control group of its own. */
export class EbpfLab {
  readonly network: TestNetwork;
  readonly harness: ModeHarness<EbpfMode>;
  readonly bpffs: string;
  readonly #options: EbpfLabOptions;

  constructor(bpffs: string, options: EbpfLabOptions = {}) {
    const families = options.families ?? ['IPv4', 'IPv6'];
    this.bpffs = bpffs;
    this.#options = { ...options, families };
    this.network = new TestNetwork(
      ENDPOINTS.map(ip => ip as Ip),
      PORT,
    );
    this.harness = new ModeHarness(events => this.create(events), { families });
  }

  /** Runs the work with a lab, and takes everything away afterwards. */
  static async with<T>(work: (lab: EbpfLab) => Promise<T>, options: EbpfLabOptions = {}): Promise<T> {
    const bpffs = openDetachedBpffs();
    const lab = new EbpfLab(options.bpffs ?? bpffs.path, options);
    try {
      return await work(lab);
    } finally {
      await lab.harness.close();
      lab.network.close();
      // The pins end with their file system.
      bpffs.close();
    }
  }

  create(events: ModeEvents, options: EbpfLabOptions = {}): EbpfMode {
    return new EbpfMode({
      events,
      namespace: this.network.namespace,
      sockets: 'all',
      cgroupRoot: testControlGroup(),
      bpffs: this.bpffs,
      listedNamespaces: [namespaceCookie(this.network.namespace)],
      ...this.#options,
      ...options,
    });
  }

  /** The endpoint without its port that takes a connection, or the errno. */
  ask(ip: string, port = 80): string {
    return this.network.ask(ip as Ip, port).replace(`:${PORT}`, '');
  }

  /** All endpoints that take many connections. */
  answers(ip: string, port = 80): readonly string[] {
    return this.network.answers(ip as Ip, port).map(answer => answer.replace(`:${PORT}`, ''));
  }

  /** Connects again and again until the work has ended. Returns all answers. */
  async answersWhile(work: Promise<unknown>, ip: string): Promise<readonly string[]> {
    const answers = new Set<string>();
    let isRunning = true;
    const ended = work.finally(() => {
      isRunning = false;
    });
    while (isRunning) {
      answers.add(this.ask(ip));
      await new Promise(resolve => setImmediate(resolve));
    }
    await ended;
    return [...answers].sort();
  }

  /** The folder of the control group's pins. */
  get folder(): string {
    return `${this.bpffs}/pointsman/cgroup-${statSync(testControlGroup(), { bigint: true }).ino}`;
  }

  pins(): readonly string[] {
    return existsSync(this.folder) ? readdirSync(this.folder).sort() : [];
  }

  get lines(): readonly string[] {
    return this.harness.events.lines;
  }
}
