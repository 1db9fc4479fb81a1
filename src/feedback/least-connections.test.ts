import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FeedbackLab } from '../../test/support/feedback-lab.ts';
import { service, slice } from '../../test/support/objects.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { ANNOTATION_BALANCE, ANNOTATION_SLOW_START } from '../api/index.ts';
import type { Flow } from '../kernel/conntrack/index.ts';

const A = '10.244.1.1';
const B = '10.244.1.2';
const LEAST = { [ANNOTATION_BALANCE]: 'least-connections' };

test('BALANCE-62 the endpoint with fewer connections gets more slots, until the connections are level', async () => {
  const lab = new FeedbackLab({ needsConnectionFeedback: true });
  lab.setService(LEAST);
  lab.setEndpoints([A, B]);
  const [ofA, ofB] = [lab.flow(A), lab.flow(B)];
  lab.flows = [ofA, ofB];
  await lab.clock.advance(5000);
  assert.deepEqual([lab.slots(), lab.replanned], [[A, B], []], 'nothing is written while they are level');
  lab.flows = [ofA, ofB, ...Array.from({ length: 8 }, () => lab.flow(A))];
  const look = async (number: number) => {
    await lab.clock.advance(1000);
    await waitFor(`look ${number}`, () => lab.replanned.length === number && lab.clock.pending > 0);
  };
  await look(1);
  assert.deepEqual([lab.count(A), lab.count(B)], [3, 7], 'as many come as before');
  await look(2);
  assert.deepEqual([lab.count(A), lab.count(B)], [1, 10], 'few come');
  lab.flows = [...lab.flows, ...Array.from({ length: 8 }, () => lab.flow(B))];
  await look(3);
  assert.deepEqual(lab.slots(), [A, B]);
});

test('BALANCE-62 an endpoint in slow start gets no rush, although it has no connections', async () => {
  const lab = new FeedbackLab({ needsConnectionFeedback: true });
  lab.setService({ ...LEAST, [ANNOTATION_SLOW_START]: '3600' });
  lab.setEndpoints([A]);
  lab.setEndpoints([A, B]);
  lab.flows = Array.from({ length: 100 }, (_, i) => lab.flow(i < 91 ? A : B));
  await lab.clock.advance(3000);
  assert.deepEqual([lab.count(A), lab.count(B)], [10, 1]);
});

test('BALANCE-62 of very many Services, some get other shares in each second, and all in turn', async () => {
  const lab = new FeedbackLab({ needsConnectionFeedback: true });
  const flows: Flow[] = [];
  for (let i = 0; i < 100; i++) {
    const name = `s${i}`;
    const spec = { annotations: LEAST, clusterIP: `10.96.1.${i}` };
    lab.state.serviceChanged({ type: 'added', to: service(name, spec) });
    const endpoints = [`10.244.2.${i}`, `10.244.3.${i}`];
    lab.state.endpointSliceChanged({ type: 'added', to: slice(`${name}-1`, endpoints) });
    for (let n = 0; n < 10; n++) flows.push(lab.flow(`10.244.2.${i}`));
  }
  lab.state.take();
  lab.flows = flows;
  await lab.clock.advance(1000);
  await waitFor('the first look', () => lab.replanned.length === 64);
  await lab.clock.advance(1000);
  await waitFor('the second look', () => lab.replanned.length === 100);
  assert.equal(new Set(lab.replanned.map(text => text.split(' ')[2])).size, 100);
  await lab.clock.advance(2000);
  assert.equal(lab.replanned.length, 100);
});

test('BALANCE-60 the proxy lists connections only while a Service asks for it, and only for modes that need it', async () => {
  for (const needsConnectionFeedback of [true, false]) {
    const lab = new FeedbackLab({ needsConnectionFeedback });
    lab.setService({ 'pointsman.dev/balance': 'least-connections' });
    lab.setEndpoints([A, B]);
    assert.equal(lab.openTables, needsConnectionFeedback ? 1 : 0);
    await lab.clock.advance(3000);
    assert.equal(lab.looks.length, needsConnectionFeedback ? 3 : 0);
    for (const look of lab.looks) assert.deepEqual(look, { family: 'IPv4', protocol: 6, reply: { srcPort: 8080 } });
    lab.setService({});
    lab.state.take();
    await lab.clock.advance(0);
    assert.deepEqual([lab.openTables, lab.clock.pending], [0, 0]);
  }
});

test('BALANCE-60 a default of the operator counts for all Services', async () => {
  const lab = new FeedbackLab({ needsConnectionFeedback: true });
  lab.setService({});
  lab.setEndpoints([A, B]);
  assert.equal(lab.openTables, 0);
  lab.setDefault('least-connections');
  assert.equal(lab.openTables, 1);
  lab.setDefault(undefined);
  await lab.clock.advance(0);
  assert.equal(lab.openTables, 0);
});
