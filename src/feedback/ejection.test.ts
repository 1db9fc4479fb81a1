import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FeedbackLab } from '../../test/support/feedback-lab.ts';
import { ANNOTATION_EJECT_AFTER } from '../api/index.ts';
import { endpointsOf, explainEndpoints } from '../plan/index.ts';

const A = '10.244.1.1';
const B = '10.244.1.2';
const EJECT = { [ANNOTATION_EJECT_AFTER]: '2' };

test('BALANCE-71 BALANCE-72 after failures in a row the plan lacks the endpoint for ten seconds', async () => {
  const lab = new FeedbackLab();
  lab.setService(EJECT);
  lab.setEndpoints([A, B]);
  lab.refuse(A);
  lab.accept(A);
  lab.refuse(A);
  assert.deepEqual(lab.slots(), [A, B]);
  lab.refuse(A);
  assert.deepEqual(lab.slots(), [B]);
  lab.refuse(B);
  lab.refuse(B);
  assert.deepEqual(lab.slots(), [B], 'half of them stay');
  await lab.clock.advance(9999);
  assert.deepEqual(lab.slots(), [B]);
  await lab.clock.advance(1);
  assert.deepEqual(lab.slots(), [A, B]);
  assert.deepEqual(
    lab.ejections.map(({ endpoint, leftOut }) => [endpoint, leftOut?.cause, leftOut?.seconds]),
    [
      [`${A}:8080`, 'refused', 10],
      [`${A}:8080`, undefined, undefined],
    ],
  );
  assert.equal(lab.clock.pending, 0);
});

test('BALANCE-70 an endpoint that does not answer for five seconds has failed', async () => {
  const lab = new FeedbackLab();
  lab.setService(EJECT);
  lab.setEndpoints([A, B]);
  lab.call(A);
  lab.call(A);
  await lab.clock.advance(4900);
  assert.deepEqual(lab.slots(), [A, B]);
  await lab.clock.advance(1000);
  assert.deepEqual(lab.slots(), [B]);
  assert.equal(lab.ejections[0]?.leftOut?.cause, 'timed out');
});

test('BALANCE-70 events that the kernel drops are counted, and attempts that wait count as nothing', async () => {
  const lab = new FeedbackLab();
  lab.setService(EJECT);
  lab.setEndpoints([A, B]);
  lab.call(A);
  lab.call(A);
  lab.loseEvents();
  await lab.clock.advance(10_000);
  assert.deepEqual([lab.eventLosses, lab.slots()], [1, [A, B]]);
  assert.equal(lab.clock.pending, 0);
});

test('BALANCE-60 BALANCE-70 the proxy subscribes only while a Service asks, and again after a failure', async () => {
  const lab = new FeedbackLab();
  lab.setService({});
  lab.setEndpoints([A, B]);
  assert.equal(lab.isSubscribed, false);
  lab.setService(EJECT);
  lab.state.take();
  assert.equal(lab.isSubscribed, true);
  lab.failEvents(new Error('socket closed'));
  assert.deepEqual([lab.isSubscribed, lab.errors], [false, ['follow new connections: socket closed']]);
  await lab.clock.advance(30_000);
  assert.equal(lab.isSubscribed, true);
  lab.setService({});
  lab.state.take();
  assert.deepEqual([lab.isSubscribed, lab.clock.pending], [false, 0]);
});

test('BALANCE-74 the reason for an endpoint that is left out is that connections failed', () => {
  const lab = new FeedbackLab();
  lab.setService(EJECT);
  lab.setEndpoints([A, B]);
  lab.refuse(A);
  lab.refuse(A);
  const { model, planner } = lab.state.family('IPv4');
  const [plan] = planner.plansOf('default/web');
  const service = model.service('default/web');
  assert.ok(plan && service);
  const { node } = lab.state.nodeOptions.families.IPv4;
  const explained = explainEndpoints(endpointsOf(service, plan.port), plan.port, node, plan);
  assert.deepEqual(
    explained.map(({ endpoint, cluster }) => [endpoint.ip, cluster?.used, cluster?.reason]),
    [
      [A, false, 'its connections failed'],
      [B, true, 'ready'],
    ],
  );
});
