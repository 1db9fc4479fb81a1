import assert from 'node:assert/strict';
import { test } from 'node:test';
import { askRoute } from '../../test/support/ask-route.ts';
import { listingFacts } from '../../test/support/listing-facts.ts';
import { service, slice } from '../../test/support/objects.ts';
import type { Facts } from '../explain/index.ts';
import { History } from '../history/index.ts';
import { parseNamePattern } from '../lib/name-pattern.ts';
import type { SetAside } from '../modes/index.ts';
import { type ListingQuery, serviceRows, servicesRoute } from './services.ts';
import type { ServiceRow } from './services-row.ts';

function listed(): History {
  const history = new History();
  history.listed();
  return history;
}

async function rowsOf(facts: Facts, query: ListingQuery = {}, history = listed()): Promise<readonly ServiceRow[]> {
  const rows: ServiceRow[] = [];
  for await (const group of serviceRows(facts, history, undefined, query)) rows.push(...group);
  return rows;
}

/** The state of the only Service, and the reasons. */
async function stateOf(input: Parameters<typeof listingFacts>[0], history?: History): Promise<string> {
  const [row] = await rowsOf(listingFacts(input), {}, history);
  return [row?.state, ...(row?.reasons ?? [])].join(': ');
}

const WEB = service('web');
const ENDPOINTS = slice('web-1', ['10.1.0.1', { ip: '10.1.0.2', ready: false, serving: false }], { service: 'web' });

test('HISTORY-22 a row has addresses, ports, and endpoints in use and in all', async () => {
  const lb = service('shop/lb', {
    type: 'LoadBalancer',
    clusterIP: '10.96.0.9',
    externalIPs: ['1.2.3.4'],
    ingress: [{ ip: '5.6.7.8' }],
    ports: [
      { name: 'http', nodePort: 30080 },
      { name: 'dns', port: 53, protocol: 'UDP' },
    ],
  });
  const ports = [
    { name: 'http', protocol: 'TCP', port: 8080 },
    { name: 'dns', protocol: 'UDP', port: 53 },
  ] as const;
  const endpoints = slice('shop/lb-1', ['10.1.0.1', '10.1.0.2', { ip: '10.1.0.3', ready: false, serving: false }], {
    service: 'lb',
    ports,
  });
  const [row] = await rowsOf(listingFacts({ services: [lb], slices: [endpoints] }));
  assert.deepEqual(row, {
    namespace: 'shop',
    name: 'lb',
    type: 'LoadBalancer',
    addresses: ['10.96.0.9', '1.2.3.4', '5.6.7.8'],
    ports: ['80:30080/TCP', '53/UDP'],
    endpoints: [{ family: 'IPv4', used: 2, all: 3 }],
    connections: undefined,
    state: 'programmed',
    reasons: [],
    changed: undefined,
  });
});

test('HISTORY-22 the rows are sorted by namespace and name, and a pattern chooses some', async () => {
  const names = ['shop/b', 'web', 'shop/a', 'a-b/z', 'a/zz'];
  const facts = listingFacts({ services: names.map(name => service(name, { clusterIP: 'None' })) });
  const namesOf = async (query: ListingQuery) =>
    (await rowsOf(facts, query)).map(({ namespace, name }) => `${namespace}/${name}`);
  assert.deepEqual(await namesOf({}), ['a/zz', 'a-b/z', 'default/web', 'shop/a', 'shop/b']);
  assert.deepEqual(await namesOf({ pattern: parseNamePattern('shop/*') }), ['shop/a', 'shop/b']);
  assert.deepEqual(await namesOf({ pattern: parseNamePattern('web') }), ['default/web']);
});

test('HISTORY-22 a row has the time of the last change that the history knows', async () => {
  const history = listed();
  const facts = listingFacts({ services: [WEB], slices: [ENDPOINTS] });
  const NOTHING = { services: [], staleFlowsPossible: false, triggerTimes: new Map() };
  history.planned('IPv4', NOTHING, { added: [], updated: [], removed: [] });
  assert.equal((await rowsOf(facts, {}, history))[0]?.changed, undefined);
  const added = facts.state.family('IPv4').planner.plansOf('default/web');
  history.planned('IPv4', NOTHING, { added, updated: [], removed: [] });
  const changed = (await rowsOf(facts, {}, history))[0]?.changed ?? assert.fail('no time');
  assert.ok(Math.abs(Date.now() - Date.parse(changed)) < 60_000);
});

test('HISTORY-23 a Service whose ports all have endpoints is programmed', async () => {
  assert.equal(await stateOf({ services: [WEB], slices: [ENDPOINTS] }), 'programmed');
});

test('HISTORY-23 a port without an endpoint that can serve has the state noEndpoints', async () => {
  assert.equal(await stateOf({ services: [WEB] }), 'noEndpoints: port 80/TCP has no endpoints');
  const unready = slice('web-1', [{ ip: '10.1.0.1', ready: false, serving: false }], { service: 'web' });
  assert.equal(
    await stateOf({ services: [WEB], slices: [unready] }),
    'noEndpoints: port 80/TCP: none of 1 endpoints can serve',
  );
});

test('HISTORY-23 a policy Local without an endpoint on this node has the state noLocalEndpoints', async () => {
  const internal = service('web', { internalTrafficPolicy: 'Local' });
  assert.equal(
    await stateOf({ services: [internal], slices: [ENDPOINTS] }),
    'noLocalEndpoints: port 80/TCP: internalTrafficPolicy is Local, and no endpoint is on this node',
  );
  const external = service('web', { type: 'NodePort', externalTrafficPolicy: 'Local', ports: [{ nodePort: 30080 }] });
  assert.equal(
    await stateOf({ services: [external], slices: [ENDPOINTS] }),
    'noLocalEndpoints: port 80/TCP: externalTrafficPolicy is Local, and no endpoint is on this node',
  );
});

test('HISTORY-23 a refused port, a conflict and a problem of the input are states, and the worst one counts', async () => {
  const port: SetAside = {
    family: 'IPv4',
    namespace: 'default',
    name: 'web',
    port: 'http',
    protocol: 'TCP',
    cause: { code: 'INTERNAL', message: 'no room' },
  };
  assert.equal(
    await stateOf({ services: [WEB], setAside: [port] }),
    'setAside: port http, IPv4: no room: port 80/TCP has no endpoints',
  );
  const problem = { object: 'EndpointSlice default/web-1', field: 'ports[0].port', message: 'is missing' };
  assert.equal(
    await stateOf({ services: [WEB], slices: [ENDPOINTS], problems: [problem] }),
    'problem: EndpointSlice default/web-1: ports[0].port is missing',
  );
  const rivals = ['a', 'b'].map((name, i) =>
    service(name, { clusterIP: `10.96.0.${i + 1}`, externalIPs: ['1.2.3.4'], type: 'LoadBalancer' }),
  );
  const slices = ['a', 'b'].map(name => slice(`${name}-1`, ['10.1.0.1'], { service: name }));
  const [a, b] = await rowsOf(listingFacts({ services: rivals, slices }));
  assert.deepEqual([a?.state, b?.state], ['programmed', 'conflict']);
  assert.deepEqual(b?.reasons, ['ExternalIP 1.2.3.4:80 belongs to Service default/a']);
});

test('HISTORY-23 a Service whose object cannot be used at all is listed, too', async () => {
  const problem = { object: 'Service shop/cart', field: 'spec.ports[0].port', message: 'is no port' };
  const facts = listingFacts({ services: [WEB, service('z/z', { clusterIP: 'None' })], problems: [problem] });
  const rows = await rowsOf(facts);
  assert.deepEqual(
    rows.map(({ name, state }) => [name, state]),
    [
      ['web', 'noEndpoints'],
      ['cart', 'problem'],
      ['z', 'notProxied'],
    ],
  );
  const { lines } = await ask('/v1/services?name=shop/cart', facts);
  assert.deepEqual(lines[1].reasons, ['spec.ports[0].port is no port']);
});

test('HISTORY-23 a Service whose last changes the kernel does not have is waiting', async () => {
  const history = listed();
  history.serviceChanged({ type: 'added', to: WEB });
  const input = { services: [WEB], slices: [ENDPOINTS] };
  assert.equal(await stateOf({ ...input, isPending: true }, history), 'waiting');
  assert.equal(await stateOf({ ...input, isPending: true }, new History()), 'waiting', 'before the first sync');
  assert.equal(await stateOf(input, history), 'programmed');
});

test('HISTORY-23 Services that no proxy serves have the state notProxied', async () => {
  assert.equal(await stateOf({ services: [service('web', { clusterIP: 'None' })] }), 'notProxied: headless');
  assert.equal(await stateOf({ services: [service('web', { type: 'ExternalName' })] }), 'notProxied: a DNS name only');
  assert.equal(
    await stateOf({ services: [service('web', { clusterIP: 'fd00::1' })] }),
    'notProxied: it has no cluster IP of a family that this node serves',
  );
});

test('HISTORY-26 only Services that do not answer every caller are broken', async () => {
  const services = [WEB, service('idle', { clusterIP: '10.96.0.2' }), service('headless', { clusterIP: 'None' })];
  const rows = await rowsOf(listingFacts({ services, slices: [ENDPOINTS] }), { isBrokenOnly: true });
  assert.deepEqual(
    rows.map(({ name }) => name),
    ['idle'],
  );
});

test('HISTORY-25 other work runs while very many Services are listed', async () => {
  const services = Array.from({ length: 20_000 }, (_, i) =>
    service(`s${i}`, { clusterIP: `10.${96 + (i >> 16)}.${(i >> 8) & 255}.${i & 255}` }),
  );
  const facts = listingFacts({ services });
  let groups = 0;
  let rows = 0;
  for await (const group of serviceRows(facts, listed(), undefined, {})) {
    groups++;
    rows += group.length;
  }
  assert.equal(rows, 20_000);
  assert.ok(groups > 3, `${groups} groups`);
});

async function ask(path: string, facts: Facts) {
  const connectionCounts = async () => new Map([['default/web', 7]]);
  return await askRoute(servicesRoute({ facts: () => facts, history: listed(), connectionCounts }), path);
}

test('HISTORY-24 the list has a schema, and the connections of each Service if the mode counts them', async () => {
  const facts = listingFacts({ services: [WEB, service('b', { clusterIP: '10.96.0.2' })] });
  const { status, lines } = await ask('/v1/services?broken=true', facts);
  assert.equal(status, 200);
  assert.equal(lines[0].schema, 'pointsman.services/v1');
  assert.equal(lines[0].countsConnections, true);
  assert.deepEqual(
    lines.slice(1).map(({ name, connections }) => [name, connections]),
    [
      ['b', 0],
      ['web', 7],
    ],
  );
});

test('HISTORY-27 for a name that does not exist the answer has the nearest one', async () => {
  const facts = listingFacts({ services: [service('shop/cart'), service('shop/web'), service('checkout')] });
  const errorOf = async (name: string) => (await ask(`/v1/services?name=${name}`, facts)).lines[0].error;
  assert.equal(await errorOf('chekout'), 'there is no Service "default/chekout": did you mean default/checkout?');
  assert.equal(await errorOf('cart'), 'there is no Service "default/cart": did you mean shop/cart?');
  assert.equal(
    await errorOf('nothing'),
    'there is no Service "default/nothing": a proxy does not watch headless Services',
  );
});

test('BALANCE-22 a row has the algorithm, and a mode that does not have it makes no Service broken', async () => {
  const web = service('web', { annotations: { 'pointsman.dev/balance': 'round-robin' } });
  const object = 'Service default/web';
  const problems = [{ object, reason: 'unavailable', message: 'round-robin is not available' }] as const;
  const [row] = await rowsOf(listingFacts({ services: [web], slices: [ENDPOINTS], problems }));
  assert.deepEqual(row?.balance, { algorithm: 'round-robin', from: 'annotation' });
  assert.equal(row?.state, 'programmed');
});
