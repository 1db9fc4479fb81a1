import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ModeHarness, modeSettingsFor, RecordedEvents } from '../../test/support/mode-harness.ts';
import { service, slice } from '../../test/support/objects.ts';
import { MetricSet } from '../observe/metrics/index.ts';
import { planId, type ServicePortPlan } from '../plan/index.ts';
import { LayeredMode, type SocketLayer } from './layered-mode.ts';
import type { Mode } from './mode.ts';
import { type SetAside, setAsideOf } from './set-aside.ts';
import { TakeOver } from './take-over.ts';
import type { ServicePortTraffic } from './traffic/index.ts';
import { SteadyTraffic } from './traffic/steady-traffic.ts';

const NOTHING = { added: [], updated: [], removed: [] };

/** Two layers that record what they do. Tests replace single functions of them. */
class Layers {
  readonly done: string[] = [];
  readonly events = new RecordedEvents();
  setAside: readonly SetAside[] = [];
  readonly mode: LayeredMode;

  constructor(sockets: Partial<SocketLayer> = {}, network: Partial<Mode> = {}) {
    const layers = {
      sockets: { ...this.#recording('sockets'), leave: async () => {}, ...sockets },
      network: { ...this.#recording('network'), setAside: () => this.setAside, ...network },
    };
    this.mode = new LayeredMode(layers, this.events);
  }

  sync() {
    return this.mode.sync('IPv4', NOTHING, modeSettingsFor('IPv4'));
  }

  #recording(name: string): Mode {
    const record = (what: string) => void this.done.push(`${name} ${what}`);
    return {
      sync: async family => {
        record(`sync ${family}`);
        return { full: name === 'network' };
      },
      setAside: () => [],
      readBack: async () => ({ entries: [entryOf(name)], affinity: [], incomplete: `${name} was cut` }),
      listing: async () => ({ blocks: [blockOf(name)], incomplete: `${name} was cut` }),
      registerMetrics: () => record('metrics'),
      close: async () => record('close'),
    };
  }
}

const entryOf = (kind: string) => ({ kind, place: 'here', wanted: 'a', found: 'a' });
const blockOf = (id: string) => ({ id, group: 'g', kind: 'map', name: id, lines: [], total: 0 });

function webPlan(): ServicePortPlan {
  const harness = new ModeHarness(() => new Layers().mode);
  harness.set(service('web'), slice('web', ['10.244.1.1']));
  return harness.plans()[0] ?? assert.fail('no plan');
}

test('EBPF-60 a sync writes the sockets first and then the network, and reports the sync of the network', async () => {
  const layers = new Layers();
  assert.deepEqual(await layers.sync(), { full: true });
  assert.deepEqual(layers.done, ['sockets sync IPv4', 'network sync IPv4']);
});

test('EBPF-60 sockets that fail never fail a sync, and are reported once', async () => {
  let failure: string | undefined = 'no memory';
  const layers = new Layers({
    sync: async () => {
      if (failure !== undefined) throw new Error(failure);
      return { full: false };
    },
  });
  const line = 'failed to write the IPv4 sockets: Error: no memory';
  for (let attempt = 0; attempt < 3; attempt++) assert.deepEqual(await layers.sync(), { full: true });
  assert.deepEqual(layers.events.lines, [line]);
  assert.equal(layers.events.failures[0]?.needsSync, undefined);
  failure = undefined;
  await layers.sync();
  failure = 'no memory';
  await layers.sync();
  assert.deepEqual(layers.events.lines, [line, line]);
});

test('EBPF-60 a network that fails fails the sync', async () => {
  const layers = new Layers({}, { sync: () => Promise.reject(new Error('refused')) });
  await assert.rejects(layers.sync(), /refused/);
  assert.deepEqual([layers.done, layers.events.lines], [['sockets sync IPv4'], []]);
});

test('EBPF-61 the sockets leave out what the network set aside, until the network serves it', async () => {
  const left: string[] = [];
  const layers = new Layers({
    leave: async (family, ids) => void left.push(`${family} ${ids.join(' ')}`),
    setAside: () => assert.fail('the network serves what only the sockets lack'),
  });
  await layers.sync();
  const plan = webPlan();
  const cause = { code: 'INTERNAL', message: 'refused' } as const;
  layers.setAside = [setAsideOf('IPv4', plan, cause), setAsideOf('IPv6', plan, cause)];
  await layers.sync();
  await layers.sync();
  assert.deepEqual(left, [`IPv4 ${planId(plan)}`]);
  assert.equal(layers.mode.setAside().length, 2);
  layers.setAside = [];
  await layers.sync();
  assert.deepEqual(left, [`IPv4 ${planId(plan)}`, 'IPv4 ']);
});

test('EBPF-61 sockets that cannot leave a service port out are asked again at the next sync', async () => {
  let attempts = 0;
  const layers = new Layers({
    leave: async () => {
      if (++attempts === 1) throw new Error('no memory');
    },
  });
  layers.setAside = [setAsideOf('IPv4', webPlan(), { code: 'INTERNAL', message: 'refused' })];
  for (let sync = 0; sync < 3; sync++) await layers.sync();
  assert.equal(attempts, 2);
  assert.equal(layers.events.lines.length, 1);
});

test('EBPF-62 readings and listings have the sockets first, and say what both lack', async () => {
  const { mode } = new Layers();
  const { entries, incomplete } = await mode.readBack('IPv4', webPlan());
  assert.deepEqual(
    entries.map(({ kind }) => kind),
    ['sockets', 'network'],
  );
  assert.equal(incomplete, 'sockets was cut; network was cut');
  const listing = await mode.listing('IPv4', []);
  assert.deepEqual(
    listing.blocks.map(({ id }) => id),
    ['sockets', 'network'],
  );
  assert.equal(listing.incomplete, 'sockets was cut; network was cut');
});

test('EBPF-63 connections are the sum of both layers, and unknown only if neither counts', async () => {
  const counts = (...entries: [string, number][]) => ({ connectionCounts: async () => new Map(entries) });
  const both = new Layers(counts(['a', 1], ['b', 2]), counts(['b', 3], ['c', 4]));
  assert.deepEqual(Object.fromEntries((await both.mode.connectionCounts()) ?? []), { a: 1, b: 5, c: 4 });
  assert.deepEqual(Object.fromEntries((await new Layers({}, counts(['c', 4])).mode.connectionCounts()) ?? []), {
    c: 4,
  });
  assert.deepEqual(Object.fromEntries((await new Layers(counts(['a', 1])).mode.connectionCounts()) ?? []), { a: 1 });
  assert.equal(await new Layers().mode.connectionCounts(), undefined);
});

test('TRAFFIC-2 a network whose counters cannot be read now does not make the sum of both layers decrease and grow again', async () => {
  const port = { family: 'IPv4', service: 'default/web', port: '' } as const;
  let network: readonly ServicePortTraffic[] | undefined = [{ ...port, connections: 100 }];
  const { mode } = new Layers({ traffic: async () => [{ ...port, connections: 5 }] }, { traffic: async () => network });
  const steady = new SteadyTraffic();
  const read = async () => {
    const reading = await mode.traffic();
    return reading && (await steady.take(reading))[0]?.connections;
  };
  assert.equal(await read(), 105);
  const counted = network;
  network = undefined;
  assert.equal(await read(), undefined);
  network = counted;
  assert.equal(await read(), 105);
});

test('TRAFFIC-9 sockets that do not count leave the figures of the network as they are', async () => {
  const traffic = [{ family: 'IPv4', service: 'default/web', port: '', connections: 3 }] as const;
  assert.equal(await new Layers({}, { traffic: async () => traffic }).mode.traffic(), traffic);
  assert.equal(await new Layers({ traffic: async () => traffic }).mode.traffic(), traffic);
});

test('TRAFFIC-9 bytes and packets are unknown if sockets had all connections, and not 0', async () => {
  const port = (service: string) => ({ family: 'IPv4', service, port: '' }) as const;
  const endpoints = (active: number, packets: number) =>
    new Map([['10.244.1.1:80', { active, packets, bytes: packets }]]);
  const { mode } = new Layers(
    {
      traffic: async () => [
        { ...port('a'), connections: 5, endpoints: new Map([['10.244.1.1:80', { active: 2 }]]) },
        { ...port('b'), connections: 5 },
        { ...port('c'), connections: 0 },
      ],
    },
    {
      traffic: async () => [
        { ...port('a'), connections: 0, packets: 0, bytes: 0, endpoints: endpoints(0, 0) },
        { ...port('b'), connections: 1, packets: 9, bytes: 900, endpoints: endpoints(1, 9) },
        { ...port('c'), connections: 0, packets: 0, bytes: 0 },
      ],
    },
  );
  const figures = (await mode.traffic())?.map(each => {
    const endpoint = each.endpoints?.get('10.244.1.1:80');
    return [each.connections, each.packets, each.bytes, endpoint?.active, endpoint?.packets];
  });
  assert.deepEqual(figures, [
    [5, undefined, undefined, 2, undefined],
    [6, 9, 900, 1, 9],
    [0, 0, 0, undefined, undefined],
  ]);
});

test('EBPF-64 the condition and the sockets come from the socket layer, also behind a mode that takes over', async () => {
  const condition = { name: 'sockets', isServing: true, note: 'serving' };
  const { mode } = new Layers({ condition: () => condition, sockets: async () => ({ sockets: [], count: 0 }) });
  const around = (inner: Mode) => new TakeOver(inner, ['IPv4'], [], { events: new RecordedEvents() });
  for (const each of [mode, around(mode)]) {
    assert.deepEqual(each.condition(), condition);
    assert.deepEqual(await each.sockets(), { sockets: [], count: 0 });
  }
  const without = around(new Layers().mode);
  assert.deepEqual([without.condition(), await without.sockets()], [undefined, undefined]);
});

test('EBPF-60 both layers register metrics, and the sockets close first', async () => {
  const layers = new Layers();
  layers.mode.registerMetrics(new MetricSet());
  await layers.mode.close();
  assert.deepEqual(layers.done, ['sockets metrics', 'network metrics', 'sockets close', 'network close']);
});

test('EBPF-60 the network closes even if the sockets fail to close', async () => {
  const layers = new Layers({ close: () => Promise.reject(new Error('busy')) });
  await assert.rejects(layers.mode.close(), /busy/);
  assert.deepEqual(layers.done, ['network close']);
});

test('EBPF-65 the network knows which chains iptables had', () => {
  const { mode } = new Layers({}, { hadChain: chain => chain === 'KUBE-SERVICES' });
  assert.deepEqual([mode.hadChain?.('KUBE-SERVICES'), mode.hadChain?.('KUBE-OTHER')], [true, false]);
  assert.equal(new Layers().mode.hadChain, undefined);
});
