import assert from 'node:assert/strict';
import { test } from 'node:test';
import { askRoute } from '../../test/support/ask-route.ts';
import { listingFacts } from '../../test/support/listing-facts.ts';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { service } from '../../test/support/objects.ts';
import { History } from '../history/index.ts';
import { historyRoute } from './history.ts';

const FACTS = listingFacts({ services: [service('web'), service('shop/cart', { clusterIP: '10.96.0.2' })] });
const NOTHING = { services: [], staleFlowsPossible: false, triggerTimes: new Map() };
const NO_PLANS = { added: [], updated: [], removed: [] };

/** A history with one change of default/web at second 1010. */
async function lab() {
  const clock = new ManualClock(1_000_000);
  const history = new History(clock);
  history.started('node node-a');
  history.listed();
  history.planned('IPv4', NOTHING, NO_PLANS);
  await clock.advance(10_000);
  history.serviceChanged({ type: 'added', to: service('web') });
  history.taken();
  await clock.advance(3);
  const added = FACTS.state.family('IPv4').planner.plansOf('default/web');
  history.planned('IPv4', NOTHING, { ...NO_PLANS, added });
  history.synced('IPv4', { full: true, milliseconds: 1.26 });
  return { clock, history, route: historyRoute({ history, nodeName: 'node-a', objects: FACTS.objects }) };
}

test('HISTORY-13 the answer has a schema, and an entry has only fields with a value', async () => {
  const { route } = await lab();
  const { lines } = await askRoute(route, '/v1/history');
  assert.deepEqual(lines[0], {
    schema: 'pointsman.history/v1',
    node: 'node-a',
    startedAt: '1970-01-01T00:16:40.000Z',
  });
  assert.deepEqual(lines[1], { id: 1, kind: 'start', time: '1970-01-01T00:16:40.000Z', change: 'node node-a' });
  assert.deepEqual(lines[4], {
    id: 4,
    kind: 'change',
    time: '1970-01-01T00:16:50.000Z',
    object: 'Service default/web',
    service: 'default/web',
    family: 'IPv4',
    change: 'port 80/TCP added: cluster IP 10.96.0.1, 0 endpoints',
    cause: 'Service web added',
    state: 'written',
    plannedMs: 3,
    writtenMs: 3,
    syncMs: 1.3,
    fullSync: true,
  });
});

test('HISTORY-13 a query chooses entries, and a wrong one is refused', async () => {
  const { route } = await lab();
  const idsOf = async (query: string) => {
    const { lines } = await askRoute(route, `/v1/history?${query}`);
    return lines[0].error ?? lines.slice(1).map(({ id }) => id);
  };
  assert.deepEqual(await idsOf('service=web'), [4]);
  assert.deepEqual(await idsOf('service=w*'), [4]);
  assert.deepEqual(await idsOf('service=shop/cart'), [], 'it exists, and did not change');
  assert.deepEqual(await idsOf('since=1970-01-01T00:16:50Z'), [4]);
  assert.deepEqual(await idsOf('after=2&limit=1'), [4]);
  assert.equal(await idsOf('since=yesterday'), 'since is not a time in the form of RFC 3339');
  assert.equal(await idsOf('limit=x'), 'limit is not a number');
  assert.equal(await idsOf('service=wbe'), 'there is no Service "default/wbe": did you mean default/web?');
});

test('HISTORY-13 a Service that is gone still has its history', async () => {
  const { history } = await lab();
  const route = historyRoute({ history, nodeName: 'node-a', objects: listingFacts({ services: [] }).objects });
  const { lines } = await askRoute(route, '/v1/history?service=web');
  assert.equal(lines.length, 2);
});

test('HISTORY-13 a follower receives complete entries, each once, and only those of its Services', async () => {
  const { history, route } = await lab();
  const end = new AbortController();
  history.serviceChanged({ type: 'removed', from: service('web') });
  history.taken();
  const removed = FACTS.state.family('IPv4').planner.plansOf('default/web');
  history.planned('IPv4', NOTHING, { ...NO_PLANS, removed });
  const answer = askRoute(route, '/v1/history?service=web&follow=true', end.signal);
  await new Promise(resolve => setImmediate(resolve));
  history.synced('IPv4', { full: false, milliseconds: 1 });
  history.configured('changed: syncPeriod');
  end.abort();
  const { lines } = await answer;
  assert.deepEqual(
    lines.slice(1).map(({ id, state }) => [id, state]),
    [
      [4, 'written'],
      [5, 'written'],
    ],
  );
});
