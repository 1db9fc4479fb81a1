import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import { Program } from '../control-plane/program.ts';
import { buildKubeProxy, KUBE_PROXY, SYNCED } from '../support/kube-proxy.ts';
import { createNodeNamespace } from '../support/namespaces.ts';
import { NamespaceRelay } from './namespace-relay.ts';

const PORT = 10_280;
/** Very many Services, beside a whole test suite. */
const MAX_START_MS = 240_000;

export interface ServedPageOptions {
  readonly manifests?: string;
  readonly flags?: readonly string[];
  readonly scheme?: 'http' | 'https';
}

/** The real proxy with the operator's page, in a network namespace of its own. A relay leads to the page. */
export class ServedPage {
  /** For files of the test. */
  readonly folder: string;
  readonly namespace: NetworkNamespace;
  readonly #options: ServedPageOptions;
  #relay: NamespaceRelay | undefined;
  #program: Program | undefined;

  private constructor(options: ServedPageOptions) {
    this.#options = options;
    this.folder = mkdtempSync(join(tmpdir(), 'page-'));
    this.namespace = createNodeNamespace();
  }

  static async start(options: ServedPageOptions = {}): Promise<ServedPage> {
    buildKubeProxy();
    const served = new ServedPage(options);
    try {
      served.#relay = await NamespaceRelay.open(served.namespace, PORT);
      await served.startProxy();
      return served;
    } catch (error) {
      await served.close();
      throw error;
    }
  }

  get url(): string {
    return `${this.#options.scheme ?? 'http'}://${this.#relay?.address}/`;
  }

  get socket(): string {
    return join(this.folder, 'run', 'proxy.sock');
  }

  get relay(): NamespaceRelay {
    if (!this.#relay) throw new Error('the page is not served yet');
    return this.#relay;
  }

  get program(): Program {
    if (!this.#program) throw new Error('the proxy does not run');
    return this.#program;
  }

  async startProxy(): Promise<void> {
    const { manifests = 'examples', flags = [] } = this.#options;
    const command = [
      ...[KUBE_PROXY, '--manifests', manifests, '--hostname-override', 'node-a', '--inspect-socket', this.socket],
      ...['--page-bind-address', `127.0.0.1:${PORT}`, ...flags],
    ];
    this.#program = new Program('the proxy', command, { namespace: this.namespace });
    await this.#program.until(SYNCED, { timeoutMs: MAX_START_MS });
  }

  async stopProxy(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    await this.#program?.stop(signal);
  }

  async close(): Promise<void> {
    this.#relay?.close();
    await this.stopProxy('SIGKILL');
    this.namespace.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
