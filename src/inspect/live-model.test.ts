import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { LiveNode } from '../../test/support/live-node.ts';
import { LiveStream } from '../../test/support/live-stream.ts';
import { service, slice } from '../../test/support/objects.ts';
import { type EndpointSlice, objectKey, type Service } from '../api/index.ts';
import type { SetAside } from '../modes/index.ts';
import { serviceRows } from './services.ts';
import type { ServiceRow } from './services-row.ts';

type Rows = Map<string, ServiceRow>;

async function list(node: LiveNode): Promise<Rows> {
  const rows: Rows = new Map();
  for await (const group of serviceRows(node.facts(), node.history, undefined, {})) {
    // Readers get JSON, which has no undefined fields.
    for (const row of group) rows.set(objectKey(row), JSON.parse(JSON.stringify(row)));
  }
  return rows;
}

/** What a page does: it lists when it must, and applies rows. */
class Page {
  readonly #node: LiveNode;
  readonly #stream: LiveStream;
  rows: Rows = new Map();

  constructor(node: LiveNode) {
    this.#node = node;
    this.#stream = new LiveStream(node.hub);
  }

  async open(): Promise<void> {
    this.rows = await list(this.#node);
  }

  async apply(): Promise<void> {
    for (const event of this.#stream.events.splice(0)) {
      if (event.kind === 'relist') this.rows = await list(this.#node);
      if (event.kind !== 'rows') continue;
      for (const row of event.rows) this.rows.set(objectKey(row), row);
      for (const key of event.removed) this.rows.delete(key);
    }
  }

  pause(): void {
    this.#stream.pause();
  }

  resume(): void {
    this.#stream.resume();
  }

  leave(): void {
    this.#stream.leave();
  }
}

const NAMES = ['a', 'b', 'c'];
/** Two Services may want the same address. */
const name = fc.constantFrom(...NAMES);
const clusterIP = fc.constantFrom('10.96.0.1', '10.96.0.2', 'None');
const externalIPs = fc.constantFrom([], ['1.2.3.4']);
const ips = fc.subarray(['10.1.0.1', '10.1.0.2', '10.1.0.3']);

const step = fc.oneof(
  fc.record({ kind: fc.constant('service' as const), name, clusterIP, externalIPs }),
  // A slice may change its Service.
  fc.record({ kind: fc.constant('slice' as const), name, owner: name, ips, isReady: fc.boolean() }),
  fc.record({ kind: fc.constantFrom('remove service', 'remove slice'), name }),
  fc.record({ kind: fc.constantFrom('problem', 'recovered', 'slice problem', 'set aside', 'mended'), name }),
  fc.record({ kind: fc.constantFrom('sync', 'take', 'written', 'configured', 'slow', 'fast') }),
  fc.record({ kind: fc.constant('time' as const), ms: fc.constantFrom(10, 100, 300, 2500) }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

class World {
  readonly #objects = new Map<string, Service | EndpointSlice>();
  readonly node: LiveNode;

  constructor(node: LiveNode) {
    this.node = node;
  }

  async do(step: Step): Promise<void> {
    const { node } = this;
    const named = 'name' in step ? step.name : '';
    switch (step.kind) {
      case 'service':
        if ('clusterIP' in step) this.#set(`service ${named}`, service(named, step));
        return;
      case 'slice':
        if ('ips' in step) {
          const endpoints = step.ips.map(ip => ({ ip, ready: step.isReady, serving: step.isReady }));
          this.#set(`slice ${named}`, slice(`${named}-1`, endpoints, { service: step.owner }));
        }
        return;
      case 'remove service':
      case 'remove slice':
        this.#remove(step.kind.replace('remove ', '').concat(' ', named));
        return;
      case 'problem': {
        const problem = { object: `Service default/${named}`, message: 'is wrong' };
        node.problems.add(problem);
        node.history.problem(problem);
        return;
      }
      case 'slice problem':
        return node.problems.add({ object: `EndpointSlice default/${named}-1`, message: 'is wrong' });
      case 'recovered':
        node.problems.clear(`Service default/${named}`);
        return;
      case 'set aside': {
        const cause = { code: 'INTERNAL', message: 'it failed' } as const;
        const port: SetAside = { family: 'IPv4', namespace: 'default', name: named, port: '', protocol: 'TCP', cause };
        node.setAside = [port];
        return;
      }
      case 'mended':
        node.setAside = [];
        return;
      case 'sync':
        return node.sync();
      case 'take':
        return void node.take();
      case 'written':
        return node.written();
      case 'configured':
        return node.history.configured('something');
      case 'time':
        if ('ms' in step) await node.advance(step.ms);
    }
  }

  #set(id: string, to: Service | EndpointSlice): void {
    const from = this.#objects.get(id);
    this.#objects.set(id, to);
    if (from) this.node.update(from, to);
    else this.node.add(to);
  }

  #remove(id: string): void {
    const from = this.#objects.get(id);
    if (from) this.node.remove(from);
    this.#objects.delete(id);
  }
}

test('INSPECT-25 whatever happens, a page that applies all events has the rows of a list in the end', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 30 }),
      fc.array(step, { maxLength: 30 }),
      async (before: readonly Step[], after: readonly Step[]) => {
        const node = await LiveNode.with([]);
        const world = new World(node);
        for (const each of before) await world.do(each);
        const [page, slow] = [new Page(node), new Page(node)];
        const pages = [page, slow];
        for (const each of pages) await each.open();
        for (const [i, each] of after.entries()) {
          if (each.kind === 'slow') slow.pause();
          if (each.kind === 'fast') slow.resume();
          await world.do(each);
          for (const open of pages) await open.apply();
          if (i !== 10) continue;
          const late = new Page(node);
          pages.push(late);
          await late.open();
        }
        node.sync();
        await node.advance(5000);
        slow.resume();
        await node.advance(0);
        for (const each of pages) {
          await each.apply();
          assert.deepEqual(each.rows, await list(node));
          each.leave();
        }
        await node.advance(0);
        assert.equal(node.clock.pending, 0);
      },
    ),
    { numRuns: 60 },
  );
});
