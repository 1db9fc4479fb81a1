import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { node, service, slice } from '../../test/support/objects.ts';
import { planOf } from '../../test/support/plans.ts';
import type { EndpointSlice, Service } from '../api/index.ts';
import { changeBetween } from '../lib/change.ts';
import type { Family } from '../net/index.ts';
import { DEFAULT_PLAN_SETTINGS } from '../plan/index.ts';
import { ProxyState } from '../proxy/index.ts';
import { collectChanges } from './collect-changes.ts';
import { History } from './history.ts';

/** A history beside the state of a proxy, without a kernel. */
class Lab {
  readonly clock = new ManualClock(1_000_000);
  readonly history = new History(this.clock);
  readonly state = new ProxyState({
    nodeName: 'node-a',
    settings: DEFAULT_PLAN_SETTINGS,
    startedAt: 0,
    report: () => {},
  });

  async start(services: readonly Service[], slices: readonly EndpointSlice[]): Promise<void> {
    for (const object of services) this.service(undefined, object);
    for (const object of slices) this.slice(undefined, object);
    this.history.listed();
    this.sync();
  }

  service(from: Service | undefined, to: Service | undefined): void {
    const change = changeBetween(from, to);
    if (!change) return;
    this.history.serviceChanged(change);
    this.state.serviceChanged(change);
  }

  slice(from: EndpointSlice | undefined, to: EndpointSlice | undefined): void {
    const change = changeBetween(from, to);
    if (!change) return;
    this.history.endpointSliceChanged(change);
    this.state.endpointSliceChanged(change);
  }

  plan(family: Family = 'IPv4'): void {
    const { model, plans } = this.state.takeFamily(family);
    this.history.taken();
    this.history.planned(family, model, plans);
  }

  sync(family: Family = 'IPv4'): void {
    this.plan(family);
    this.history.synced(family, { full: false, milliseconds: 2 });
  }

  lines(): readonly string[] {
    return this.history.entries().map(({ kind, object, change, cause }) => {
      const about = object === '' ? kind : `${kind} ${object}`;
      return `${about}: ${change}${cause === '' ? '' : ` (${cause})`}`;
    });
  }
}

const PORTS = [{ name: 'http', protocol: 'TCP', port: 8080 }] as const;
const WEB = service('web', { ports: [{ name: 'http' }] });
const SLICE = slice('web-1', ['10.1.0.1', '10.1.0.2'], { service: 'web', ports: PORTS });

test('HISTORY-1 the first objects and the first sync of a family have one entry each', async () => {
  const lab = new Lab();
  lab.history.started('node node-a, mode nftables, IPv4');
  await lab.start([WEB, service('b', { clusterIP: '10.96.0.2' })], [SLICE]);
  assert.deepEqual(lab.lines(), [
    'start: node node-a, mode nftables, IPv4',
    'listed: received 2 Services, 1 EndpointSlice at the start',
    'sync: first sync: 2 service ports',
  ]);
  assert.equal(lab.history.entries().at(-1)?.state, 'written');
});

test('HISTORY-2 a change has the event, the plan in words, and the times until the kernel had it', async () => {
  const lab = new Lab();
  await lab.start([WEB], [SLICE]);
  await lab.clock.advance(1000);
  const triggerTime = '1970-01-01T00:16:40.500Z';
  lab.slice(SLICE, slice('web-1', ['10.1.0.2', '10.1.0.3', '10.1.0.4'], { service: 'web', ports: PORTS, triggerTime }));
  await lab.clock.advance(3);
  lab.plan();
  await lab.clock.advance(4);
  const [waiting] = lab.history.entries({ limit: 1 });
  assert.deepEqual([waiting?.state, waiting?.writtenMs], ['waiting', undefined]);
  assert.deepEqual([...(lab.history.waitingServices() ?? [])], ['default/web']);
  lab.history.synced('IPv4', { full: false, milliseconds: 4 });
  const [entry] = lab.history.entries({ service: key => key === 'default/web' });
  const { id: _id, ...fields } = entry ?? assert.fail('no entry');
  assert.deepEqual(fields, {
    kind: 'change',
    at: 1_001_000,
    receivedAt: 1000,
    object: 'Service default/web',
    service: 'default/web',
    family: 'IPv4',
    change: 'http: 2 endpoints added: 10.1.0.3:8080, 10.1.0.4:8080; 1 removed: 10.1.0.1:8080; 3 in use',
    cause: 'EndpointSlice web-1 updated',
    triggeredAt: 1_000_500,
    state: 'written',
    plannedMs: 3,
    writtenMs: 7,
    syncMs: 4,
    isFullSync: false,
    count: 1,
    lastAt: 1_001_003,
  });
  assert.deepEqual(lab.history.waitingServices(), new Set());
  assert.deepEqual(lab.history.lastChanges(), new Map([['default/web', 1_001_000]]));
});

test('HISTORY-3 the words name ports, addresses, policies and settings that changed', async () => {
  const lab = new Lab();
  await lab.start([WEB], [SLICE]);
  const second = service('web', {
    ports: [{ name: 'http' }],
    externalIPs: ['1.2.3.4'],
    internalTrafficPolicy: 'Local',
  });
  lab.service(WEB, second);
  lab.sync();
  const third = service('web', {
    ports: [{ name: 'http' }, { name: 'dns', port: 53, protocol: 'UDP' }],
    sessionAffinity: 'ClientIP',
  });
  lab.service(second, third);
  lab.sync();
  lab.slice(SLICE, slice('web-1', [], { service: 'web', ports: PORTS, addressType: 'IPv4' }));
  lab.sync();
  lab.service(third, undefined);
  lab.sync();
  assert.deepEqual(lab.lines().slice(2), [
    'change Service default/web: http: internal traffic policy Cluster → Local; external IP 1.2.3.4 added (Service web updated)',
    'change Service default/web: port dns added: cluster IP 10.96.0.1, 0 endpoints; ' +
      'http: internal traffic policy Local → Cluster; session affinity off → 10800 s; external IP 1.2.3.4 gone (Service web updated)',
    'change Service default/web: http: 2 endpoints removed: 10.1.0.1:8080, 10.1.0.2:8080; no endpoint is left (EndpointSlice web-1 updated)',
    'change Service default/web: port http removed; port dns removed (Service web removed)',
  ]);
});

test('HISTORY-4 an event that changes nothing in the kernel says so', async () => {
  const lab = new Lab();
  await lab.start([WEB], [SLICE]);
  const unready = { ip: '10.1.0.9', ready: false, serving: false };
  const more = slice('web-1', ['10.1.0.1', '10.1.0.2', unready], { service: 'web', ports: PORTS });
  lab.slice(SLICE, more);
  lab.sync();
  lab.slice(undefined, slice('ghost-1', ['10.1.0.7'], { service: 'ghost' }));
  lab.sync();
  // A resync delivers the same object again.
  lab.slice(more, more);
  lab.sync();
  assert.deepEqual(lab.lines().slice(2), [
    'change Service default/web: nothing to write: the endpoints that changed are not used on this node (EndpointSlice web-1 updated)',
    'change Service default/ghost: nothing to write: no Service has these endpoints (EndpointSlice ghost-1 added)',
  ]);
  assert.equal(lab.history.entries().at(-1)?.state, 'none');
});

test('HISTORY-5 a Service that changed because of another one, or of the Node, says so', async () => {
  const lab = new Lab();
  const [a, b] = [service('a', { externalIPs: ['1.2.3.4'] }), service('b', { clusterIP: '10.96.0.2' })];
  await lab.start([a, b], []);
  const claims = service('b', { clusterIP: '10.96.0.2', externalIPs: ['1.2.3.4'] });
  lab.service(b, claims);
  lab.sync();
  lab.service(a, undefined);
  lab.sync();
  assert.deepEqual(lab.lines().slice(2), [
    'change Service default/b: external IP 1.2.3.4 belongs to Service default/a (Service b updated)',
    'change Service default/b: external IP 1.2.3.4 added (another Service changed)',
    'change Service default/a: port 80/TCP removed (Service a removed)',
  ]);
  const zoned = node('node-a', { labels: { 'topology.kubernetes.io/zone': 'z1' } });
  lab.history.nodeChanged({ type: 'updated', from: node('node-a'), to: node('node-a') });
  lab.history.nodeChanged({ type: 'updated', from: node('node-a'), to: zoned });
  assert.deepEqual(lab.lines().slice(5), ['node Node node-a: zone none → z1']);
});

test('HISTORY-6 a sync with very many changes has one entry for most of them', async () => {
  const lab = new Lab();
  await lab.start([], []);
  const many = Array.from({ length: 1000 }, (_, i) => service(`s${i}`, { clusterIP: `10.96.${i >> 8}.${i & 255}` }));
  for (const each of many) lab.service(undefined, each);
  lab.sync();
  const entries = lab.history.entries().slice(2);
  assert.equal(entries.length, 257);
  assert.equal(entries.at(-1)?.change, '744 further changes in one sync');
});

test('HISTORY-7 a change that the kernel refuses is not shown as written', async () => {
  const lab = new Lab();
  await lab.start([], []);
  lab.service(undefined, WEB);
  lab.service(undefined, service('b', { clusterIP: '10.96.0.2' }));
  lab.plan();
  const cause = { code: 'INTERNAL', message: 'no room' } as const;
  lab.history.setAside({ family: 'IPv4', namespace: 'default', name: 'web', port: 'http', protocol: 'TCP', cause });
  lab.history.synced('IPv4', { full: false, milliseconds: 1 });
  const states = lab.history.entries().filter(({ kind }) => kind === 'change');
  assert.deepEqual(
    states.map(({ service, state }) => [service, state]),
    [
      ['default/web', 'setAside'],
      ['default/b', 'written'],
    ],
  );
});

test('HISTORY-7 changes of a failed sync wait, and equal failures are one entry with a count', async () => {
  const lab = new Lab();
  await lab.start([], []);
  lab.service(undefined, WEB);
  lab.plan();
  for (let i = 0; i < 3; i++) lab.history.syncFailed('IPv4', 'no luck');
  assert.deepEqual(lab.lines().slice(3), ['syncFailed: no luck']);
  assert.equal(lab.history.entries().at(-1)?.count, 3);
  assert.deepEqual(lab.history.waitingServices(), new Set(['default/web']));
  await lab.clock.advance(5000);
  lab.history.synced('IPv4', { full: true, milliseconds: 9 });
  assert.deepEqual(lab.lines().slice(4), ['sync: succeeded after 3 failed attempts']);
  assert.deepEqual(lab.history.entries()[2]?.writtenMs, 5000);
});

test('HISTORY-10 a million events stay within the number and the size of the ring', async () => {
  const lab = new Lab();
  await lab.start([WEB], [SLICE]);
  const problems = Array.from({ length: 300 }, (_, i) => ({
    object: `Service default/${'x'.repeat(i)}`,
    message: 'm'.repeat(10 * i),
  }));
  const versions = [1, 2].map(i => slice('web-1', [`10.1.0.${i}`], { service: 'web', ports: PORTS }));
  for (let i = 0; i < 500_000; i++) {
    const change = { type: 'updated', from: versions[i & 1] ?? SLICE, to: versions[(i + 1) & 1] ?? SLICE } as const;
    lab.history.endpointSliceChanged(change);
    lab.history.problem(problems[i % 300] ?? assert.fail());
    if (i % 100 > 0) continue;
    lab.state.endpointSliceChanged(change);
    lab.sync();
  }
  assert.ok(lab.history.size <= 4096 && lab.history.size > 1000, `${lab.history.size} entries`);
  assert.ok(lab.history.bytes <= 4 << 20, `${lab.history.bytes} bytes`);
  assert.ok(lab.history.entries().every(({ change, object }) => change.length <= 400 && object.length <= 400));
});

test('HISTORY-11 entries can be limited to Services, to later ones, to a time and to a number', async () => {
  const lab = new Lab();
  await lab.start([], []);
  for (const name of ['a', 'b', 'c']) {
    await lab.clock.advance(1000);
    lab.service(undefined, service(name, { clusterIP: `10.96.0.${name.charCodeAt(0)}` }));
    lab.sync();
  }
  const names = (query: Parameters<History['entries']>[0]) => lab.history.entries(query).map(({ service }) => service);
  assert.deepEqual(names({ service: key => key !== 'default/b' }), ['default/a', 'default/c']);
  assert.deepEqual(names({ after: 4 }), ['default/c']);
  assert.deepEqual(names({ since: 1_002_000 }), ['default/b', 'default/c']);
  assert.deepEqual(names({ limit: 1 }), ['default/c']);
});

test('HISTORY-22 the times of the last changes can be limited to some Services', async () => {
  const lab = new Lab();
  await lab.start([], []);
  for (const name of ['a', 'b', 'c']) {
    await lab.clock.advance(1000);
    lab.service(undefined, service(name, { clusterIP: `10.96.0.${name.charCodeAt(0)}` }));
    lab.sync();
  }
  const limited = lab.history.lastChanges(new Set(['default/b', 'default/gone']));
  assert.deepEqual([...limited], [['default/b', 1_002_000]]);
  assert.equal(lab.history.lastChanges().size, 3);
});

test('INSPECT-25 a listener hears of each event about a Service that a sync has yet to take', async () => {
  const lab = new Lab();
  await lab.start([WEB], [SLICE]);
  const heard: string[] = [];
  const stop = lab.history.onArrival(key => heard.push(key));
  lab.slice(SLICE, slice('web-1', ['10.1.0.9'], { service: 'web' }));
  lab.history.endpointSliceChanged({ type: 'updated', from: SLICE, to: SLICE });
  lab.slice(undefined, slice('orphan', ['10.1.0.9'], { service: '' }));
  lab.service(WEB, undefined);
  assert.deepEqual(heard, ['default/web', 'default/web']);
  stop();
  lab.service(undefined, WEB);
  assert.equal(heard.length, 2);
});

test('INSPECT-24 a sync says how long its slowest Service took from the event to the kernel', async () => {
  const lab = new Lab();
  await lab.start([], []);
  assert.equal(lab.history.synced('IPv4', { full: false, milliseconds: 1 }), undefined);
  lab.service(undefined, WEB);
  await lab.clock.advance(30);
  lab.service(undefined, service('b', { clusterIP: '10.96.0.9' }));
  lab.plan();
  await lab.clock.advance(5);
  assert.equal(lab.history.synced('IPv4', { full: false, milliseconds: 5 }), 35);
});

test('BALANCE-23 the history has a changed algorithm, and weights that changed', async () => {
  const lab = new Lab();
  const balanced = (annotations: Record<string, string>) => service('web', { annotations });
  const weights = (text: string) => ({ 'pointsman.dev/balance': 'weighted', 'pointsman.dev/weights': text });
  const plain = balanced({});
  await lab.start([plain], [slice('web-1', ['10.0.0.1', '10.0.0.2'])]);
  const weighted = balanced(weights('10.0.0.1=3'));
  lab.service(plain, weighted);
  lab.sync();
  lab.service(weighted, balanced(weights('10.0.0.1=1')));
  lab.sync();
  const [first, second] = lab.lines().slice(-2);
  assert.match(first ?? '', /balance default → weighted; 1 weight changed: 10\.0\.0\.1:8080 1 → 3/);
  assert.match(second ?? '', /1 weight changed: 10\.0\.0\.1:8080 3 → 1/);
});

test('BALANCE-23 a new endpoint has no changed weight in the history', async () => {
  const lab = new Lab();
  const annotations = { 'pointsman.dev/balance': 'weighted', 'pointsman.dev/weights': '10.0.0.2=3' };
  const before = slice('web-1', ['10.0.0.1']);
  await lab.start([service('web', { annotations })], [before]);
  lab.slice(before, slice('web-1', ['10.0.0.1', '10.0.0.2']));
  lab.sync();
  const line = lab.lines().at(-1) ?? '';
  assert.match(line, /1 endpoint added: 10\.0\.0\.2:8080; 2 in use/);
  assert.doesNotMatch(line, /weight/);
});

test('BALANCE-74 the entry of an endpoint that is left out says why', () => {
  const clock = new ManualClock();
  const history = new History(clock);
  const [from, to] = [planOf('web', ['10.1.0.1', '10.1.0.2']), planOf('web', ['10.1.0.1'])];
  const model = { services: [], staleFlowsPossible: false, triggerTimes: new Map() };
  history.planned('IPv4', model, { added: [from], updated: [], removed: [] });
  history.learned('default/web', 'connections failed');
  history.taken();
  history.planned('IPv4', model, { added: [], updated: [{ from, to }], removed: [] });
  const [entry] = history.entries().filter(({ kind }) => kind === 'change');
  assert.deepEqual(
    [entry?.change, entry?.cause],
    ['1 endpoint removed: 10.1.0.2:8080; 1 in use', 'connections failed'],
  );
});

test('BALANCE-60 a change of shares alone has no entry', () => {
  const plan = planOf('web', ['10.1.0.1', '10.1.0.2']);
  const [endpoint] = plan.endpoints.cluster;
  assert.ok(endpoint);
  const balanceOf = (slots: number) => ({
    algorithm: undefined,
    unavailable: undefined,
    hashBy: 'client-address' as const,
    weights: undefined,
    isInSlowStart: false,
    slots: { cluster: Array.from({ length: slots }, () => endpoint), local: [] },
  });
  const updated = [{ from: plan, to: { ...plan, balance: balanceOf(3) } }];
  const model = { services: [], staleFlowsPossible: false, triggerTimes: new Map() };
  assert.deepEqual(collectChanges(model, { added: [], updated, removed: [] }, 9), { changes: [], left: 0 });
});
