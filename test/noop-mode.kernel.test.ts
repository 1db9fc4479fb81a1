import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Cleanup,
  type KernelReading,
  type Listing,
  type MeasureObserver,
  type ModeDescriptor,
  ModeShell,
  PLAN_BEHAVIOUR,
  type PlanBook,
  SILENT_EVENTS,
  type WriteOutcome,
  type Writer,
  withOptions,
} from '../src/modes/index.ts';
import { FAMILIES, type Family } from '../src/net/index.ts';
import { planId, planName, type ServicePortPlan } from '../src/plan/index.ts';
import { createProxy } from '../src/proxy/index.ts';
import { withNamespace } from './support/namespaces.ts';
import { service, slice } from './support/objects.ts';
import { STRICT_LISTENERS, TEST_LIVE } from './support/strict-proxy.ts';

// The outline of a fifth mode, as the recipe of CONTRIBUTING.md describes it. Its kernel is a map.

const kernel = new Map<string, string>();

/** render.ts */
function render(plan: ServicePortPlan): string {
  return `${planName(plan)} -> ${plan.endpoints.cluster.map(({ text }) => text).join(' ')}`;
}

/** writer.ts */
class NoopWriter implements Writer {
  isNextWriteFull = true;
  readonly #book: PlanBook;

  constructor(book: PlanBook) {
    this.#book = book;
  }

  takeSettings(): void {}

  async write(): Promise<WriteOutcome> {
    const changes = this.#book.changes();
    for (const { id, to } of changes) {
      if (to) kernel.set(`${this.#book.family} ${id}`, render(to));
      else kernel.delete(`${this.#book.family} ${id}`);
    }
    this.#book.commit(changes);
    this.#book.finishWrite();
    this.isNextWriteFull = false;
    return 'written';
  }

  async repair(): Promise<undefined> {}

  async readBack(plan: ServicePortPlan): Promise<KernelReading> {
    const found = kernel.get(`${this.#book.family} ${planId(plan)}`);
    return { entries: [{ kind: 'line', place: 'kernel', wanted: render(plan), found }], affinity: [] };
  }

  async listing(plans: readonly ServicePortPlan[]): Promise<Listing> {
    const lines = plans.map(plan => ({ parts: [render(plan)], service: plan.service }));
    return { blocks: [{ id: 'kernel', group: 'kernel', kind: 'map', name: 'kernel', lines, total: kernel.size }] };
  }
}

/** mode.ts */
class NoopMode extends ModeShell<NoopWriter> {
  protected createMetrics(): MeasureObserver {
    return () => {};
  }

  protected open(_family: Family, _settings: unknown, book: PlanBook): NoopWriter {
    return new NoopWriter(book);
  }

  protected async release(idle: Promise<void>): Promise<void> {
    await idle;
  }
}

/** cleanup.ts */
async function cleanupNoop(): Promise<Cleanup> {
  const removed = [...kernel.keys()];
  kernel.clear();
  return { removed, errors: [], kept: [] };
}

/** index.ts */
const noop: ModeDescriptor<object> = {
  name: 'noop',
  optionsFrom: () => ({}),
  supportedFamilies: async () => FAMILIES,
  create: (_options, context) => new NoopMode(context),
  preview: async (_options, { plans }) => plans.map(plan => `${render(plan)}\n`).join(''),
  cleanup: cleanupNoop,
  algorithms: [],
  behaviour: () => PLAN_BEHAVIOUR,
};

test('MODE-1 a new mode runs in a proxy without any other change', () =>
  withNamespace(async namespace => {
    const proxy = createProxy(
      { mode: withOptions(noop, {}), namespace, nodeName: 'node-a', live: TEST_LIVE },
      {
        ...STRICT_LISTENERS,
        mode: { ...SILENT_EVENTS, failed: ({ action, error }) => assert.fail(`could not ${action}: ${error}`) },
      },
    );
    try {
      proxy.loop.serviceChanged({ type: 'added', to: service('web') });
      proxy.loop.endpointSliceChanged({ type: 'added', to: slice('web-1', ['10.244.1.1']) });
      proxy.loop.synced();
      await proxy.loop.settled();
      assert.deepEqual([...kernel], [['IPv4 default/web/TCP', 'default/web -> 10.244.1.1:8080']]);
      proxy.loop.serviceChanged({ type: 'removed', from: service('web') });
      await proxy.loop.settled();
      assert.deepEqual([...kernel], []);
    } finally {
      await proxy.close();
    }
  }));
