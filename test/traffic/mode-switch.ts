import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { Cluster, probe } from '../../src/demo/playground/index.ts';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import type { Ip } from '../../src/net/index.ts';
import type { ProxyMode } from '../../src/proxy/index.ts';
import { until } from '../support/nftables-mode.ts';
import { CaseObjects } from './case-objects.ts';
import { Endpoints } from './endpoints.ts';
import { readCase } from './recorded-case.ts';
import { caseSettings } from './settings.ts';
import { startProxy } from './start-proxy.ts';

/** What a mode in whose process connections end gets to remove what the one before left. */
const REMOVAL_MS = 1000;

const ENOUGH = 20;
const LONGEST_MS = 20_000;

type Client = 'node' | 'pod' | 'outside';

/** Connects all the time, from where clients may be, and counts. */
class Clients {
  readonly failures = new Set<string>();
  readonly answers = new Map<string, number>();
  #isOver = false;
  readonly #who: readonly Client[];
  readonly #asking: Promise<unknown>;

  constructor(cluster: Cluster, who: readonly Client[]) {
    this.#who = who;
    const asking: Readonly<Record<Client, () => Promise<void>>> = {
      node: () => this.#ask('node', cluster.node, '10.96.0.40', 80),
      pod: () => this.#ask('pod', cluster.addPod('10.244.1.99' as Ip), '10.96.0.40', 80),
      outside: () => this.#ask('outside', cluster.host('ext'), '192.168.0.2', 30040),
    };
    this.#asking = Promise.all(who.map(client => asking[client]()));
  }

  /** Waits until everybody has asked often, however slow the machine is. */
  async end(): Promise<void> {
    const isEnough = () => this.#who.every(client => (this.answers.get(client) ?? 0) >= ENOUGH);
    await until(() => this.#isOver || isEnough(), LONGEST_MS);
    this.#isOver = true;
    await this.#asking;
  }

  async #ask(who: string, namespace: NetworkNamespace, ip: string, port: number): Promise<void> {
    while (!this.#isOver) {
      const { failures, answers } = await probe(namespace, ip as Ip, port, 'TCP', { tries: 5, timeoutMs: 2000 });
      for (const failure of failures) this.failures.add(`${who}: ${failure}`);
      for (const count of answers.values()) this.answers.set(who, (this.answers.get(who) ?? 0) + count);
    }
  }
}

/**
 * Runs one mode after another on a node, each taking over from the one before. userspace can only be the last: with its
 * process its connections end.
 */
export async function connectThroughSwitches(
  modes: readonly ProxyMode[],
  who: readonly Client[] = ['node', 'pod', 'outside'],
): Promise<void> {
  const cluster = Cluster.create();
  const endpoints = new Endpoints(cluster);
  const [step] = (await readCase('test/cases/nodeport-cluster')).steps;
  assert.ok(step);
  const start = async (mode: ProxyMode) => {
    const proxy = startProxy(mode, cluster.node, caseSettings({}, mode));
    await proxy.apply(new CaseObjects().take(step));
    return proxy;
  };
  let clients: Clients | undefined;
  try {
    await endpoints.serve(step.set.filter(object => object.kind === 'EndpointSlice'));
    for (const mode of modes) {
      const proxy = await start(mode);
      try {
        clients ??= new Clients(cluster, who);
        if (mode !== 'userspace') continue;
        await delay(REMOVAL_MS);
        await clients.end();
      } finally {
        // With the mode ends the removal of what the one before left.
        await proxy.close();
      }
    }
    await clients?.end();
    assert.deepEqual([...(clients?.failures ?? [])], []);
    const counts = [...(clients?.answers ?? [])];
    assert.equal(counts.length, who.length);
    for (const [client, answers] of counts) assert.ok(answers >= ENOUGH, `${client}: ${answers} answers`);
  } finally {
    await clients?.end();
    await endpoints.close();
    cluster.close();
  }
}
