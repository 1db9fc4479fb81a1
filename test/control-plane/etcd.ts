import { cpSync, rmSync } from 'node:fs';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import type { Ip } from '../../src/net/index.ts';
import { HttpClient } from './http-client.ts';
import { Program } from './program.ts';
import { ETCD_PORT, etcdCommand, READY_MS, READY_POLL_MS } from './server-commands.ts';

/** A running etcd in a network namespace. */
export class Etcd {
  readonly #namespace: NetworkNamespace;
  readonly #folder: string;
  #program: Program;
  #client: HttpClient;

  constructor(namespace: NetworkNamespace, folder: string) {
    this.#namespace = namespace;
    this.#folder = folder;
    this.#program = this.#start();
    this.#client = this.#connect();
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

  /** Copies the data, for `restore`. */
  async backUp(): Promise<void> {
    await this.#restart(() => cpSync(`${this.#folder}/etcd`, `${this.#folder}/backup`, { recursive: true }));
  }

  /** Sets the data back to what they were at `backUp`. */
  async restore(): Promise<void> {
    await this.#restart(() => {
      rmSync(`${this.#folder}/etcd`, { recursive: true });
      cpSync(`${this.#folder}/backup`, `${this.#folder}/etcd`, { recursive: true });
    });
  }

  /** Makes many new versions that no object has. */
  async skipVersions(count: number): Promise<void> {
    for (let index = 0; index < count; index++) {
      await this.#ask('/v3/kv/put', { key: Buffer.from('skipped').toString('base64'), value: '' });
    }
  }

  async close(): Promise<void> {
    await this.#program.stop('SIGKILL');
    this.#client.close();
  }

  async #restart(whileStopped: () => void): Promise<void> {
    await this.close();
    whileStopped();
    this.#program = this.#start();
    this.#client = this.#connect();
    await this.ready();
  }

  #start(): Program {
    return new Program('etcd', etcdCommand(this.#folder), { namespace: this.#namespace });
  }

  #connect(): HttpClient {
    return new HttpClient({ namespace: this.#namespace, ip: '127.0.0.1' as Ip, port: ETCD_PORT });
  }

  async #ask(path: string, body: unknown): Promise<{ readonly header: { readonly revision: string } }> {
    const { status, text } = await this.#client.request({ method: 'POST', path, body: JSON.stringify(body) });
    if (status !== 200) throw new Error(`etcd ${path}: status ${status}, ${text}`);
    return JSON.parse(text);
  }
}
