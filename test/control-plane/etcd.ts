import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import type { Ip } from '../../src/net/index.ts';
import { HttpClient } from './http-client.ts';
import { Program } from './program.ts';
import { ETCD_PORT, etcdCommand, READY_MS, READY_POLL_MS } from './server-commands.ts';

/** A running etcd in a network namespace. */
export class Etcd {
  readonly #program: Program;
  readonly #client: HttpClient;

  constructor(namespace: NetworkNamespace, folder: string) {
    this.#program = new Program('etcd', etcdCommand(folder), { namespace });
    this.#client = new HttpClient({ namespace, ip: '127.0.0.1' as Ip, port: ETCD_PORT });
  }

  async ready(): Promise<void> {
    const isReady = async () => (await this.#client.request({ method: 'GET', path: '/health' })).status === 200;
    await this.#program.waitFor('become ready', isReady, READY_MS, READY_POLL_MS);
  }

  /** Deletes all versions except the current one, and returns that version. */
  async compact(): Promise<string> {
    const range = await this.#ask('/v3/kv/range', { key: Buffer.from('/').toString('base64'), limit: 1 });
    const { revision } = range.header;
    await this.#ask('/v3/kv/compaction', { revision, physical: true });
    return revision;
  }

  async close(): Promise<void> {
    await this.#program.stop('SIGKILL');
    this.#client.close();
  }

  async #ask(path: string, body: unknown): Promise<{ readonly header: { readonly revision: string } }> {
    const { status, text } = await this.#client.request({ method: 'POST', path, body: JSON.stringify(body) });
    if (status !== 200) throw new Error(`etcd ${path}: status ${status}, ${text}`);
    return JSON.parse(text);
  }
}
