import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { Cluster, probe } from '../../src/demo/playground/index.ts';
import { type NetworkNamespace, namespaceCookie } from '../../src/kernel/netns.ts';
import { modeNamed } from '../../src/modes/index.ts';
import type { Ip } from '../../src/net/index.ts';
import { waitFor } from '../support/wait-for.ts';
import { CaseObjects } from './case-objects.ts';
import { Endpoints } from './endpoints.ts';
import type { Mode } from './modes.ts';
import { readCase } from './recorded-case.ts';
import { caseSettings } from './settings.ts';
import { startProxy } from './start-proxy.ts';

/** Time for a mode to remove the rules of the mode before, while connections go on. */
const REMOVAL_MS = 1000;

const MIN_ANSWERS = 20;
const TIMEOUT_MS = 20_000;

const POD = '10.244.1.99' as Ip;

type Client = 'node' | 'pod' | 'outside';

/** Connects all the time, from each of the clients, and counts the answers. */
class Clients {
  readonly failures = new Set<string>();
  readonly answers = new Map<string, number>();
  #isOver = false;
  readonly #clients: readonly Client[];
  readonly #asking: Promise<unknown>;

  constructor(cluster: Cluster, clients: readonly Client[]) {
    this.#clients = clients;
    const asking: Readonly<Record<Client, () => Promise<void>>> = {
      node: () => this.#ask('node', cluster.node, '10.96.0.40', 80),
      pod: () => this.#ask('pod', cluster.addPod(POD), '10.96.0.40', 80),
      outside: () => this.#ask('outside', cluster.host('ext'), '192.168.0.2', 30040),
    };
    this.#asking = Promise.all(clients.map(client => asking[client]()));
  }

  /** Waits until every client has enough answers, even on a slow machine, and stops the clients. */
  async end(): Promise<void> {
    const hasEnough = () => this.#clients.every(client => (this.answers.get(client) ?? 0) >= MIN_ANSWERS);
    const isDone = () => this.#isOver || hasEnough();
    // A timeout is no error here: the test checks the counts and reports the failures.
    await waitFor('every client has enough answers', isDone, { timeoutMs: TIMEOUT_MS }).catch(() => undefined);
    this.#isOver = true;
    await this.#asking;
  }

  async #ask(client: Client, namespace: NetworkNamespace, ip: string, port: number): Promise<void> {
    while (!this.#isOver) {
      const { failures, answers } = await probe(namespace, ip as Ip, port, 'TCP', { tries: 5, timeoutMs: 2000 });
      for (const failure of failures) this.failures.add(`${client}: ${failure}`);
      for (const count of answers.values()) this.answers.set(client, (this.answers.get(client) ?? 0) + count);
    }
  }
}

/**
 * Runs one mode after another on a node. Each takes over from the mode before. userspace can only be the last, because
 * its connections end with its process.
 */
export async function connectThroughSwitches(
  modes: readonly Mode[],
  clientNames: readonly Client[] = ['node', 'pod', 'outside'],
): Promise<void> {
  const cluster = Cluster.create();
  const endpoints = new Endpoints(cluster);
  const [step] = (await readCase('test/cases/nodeport-cluster')).steps;
  assert.ok(step);
  const start = async (mode: Mode) => {
    const listedNamespaces = [cluster.node, cluster.addPod(POD)].map(namespaceCookie);
    const proxy = startProxy(mode, cluster.node, caseSettings({}, mode), { sockets: { listedNamespaces } });
    await proxy.apply(new CaseObjects().apply(step));
    return proxy;
  };
  let clients: Clients | undefined;
  try {
    await endpoints.serve(step.set.filter(object => object.kind === 'EndpointSlice'));
    for (const [index, mode] of modes.entries()) {
      const proxy = await start(mode);
      try {
        clients ??= new Clients(cluster, clientNames);
        const before = modeNamed(modes[index - 1] ?? '');
        if (before?.hasLeftovers) {
          await waitFor(`${mode} mode has removed the rest`, () => !before.hasLeftovers?.(cluster.node));
        }
        if (mode !== 'userspace') continue;
        await delay(REMOVAL_MS);
        await clients.end();
      } finally {
        // Closing a mode also stops the removal of what the mode before left.
        await proxy.close();
      }
    }
    await clients?.end();
    assert.deepEqual([...(clients?.failures ?? [])], []);
    const counts = [...(clients?.answers ?? [])];
    assert.equal(counts.length, clientNames.length);
    for (const [client, answers] of counts) assert.ok(answers >= MIN_ANSWERS, `${client}: ${answers} answers`);
  } finally {
    await clients?.end();
    await endpoints.close();
    cluster.close();
  }
}
