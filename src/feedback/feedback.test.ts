import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FeedbackLab } from '../../test/support/feedback-lab.ts';
import { service } from '../../test/support/objects.ts';
import { ANNOTATION_BALANCE, ANNOTATION_EJECT_AFTER, ANNOTATION_SLOW_START } from '../api/index.ts';

const A = '10.244.1.1';
const B = '10.244.1.2';

test('BALANCE-61 a new endpoint of a Service gets more slots from step to step', async () => {
  const lab = new FeedbackLab();
  lab.setService({ [ANNOTATION_SLOW_START]: '20' });
  lab.setEndpoints([A]);
  assert.deepEqual(lab.slots(), [A]);
  lab.setEndpoints([A, B]);
  const seen: string[] = [];
  for (let second = 0; second <= 20; second += 2) {
    seen.push(`${lab.count(B)}/${lab.count(A)}`);
    await lab.clock.advance(2000);
  }
  assert.deepEqual(seen, ['1/10', '1/5', '3/10', '2/5', '1/2', '3/5', '7/10', '4/5', '9/10', '1/1', '1/1']);
  assert.equal(lab.replanned.length, 9);
  assert.equal(lab.clock.pending, 0);
});

test('BALANCE-61 the endpoints of a new Service are not slowed, although they came before the Service', () => {
  const lab = new FeedbackLab();
  lab.setEndpoints([A]);
  lab.setService({ [ANNOTATION_SLOW_START]: '20' });
  lab.setEndpoints([A, B]);
  assert.deepEqual(lab.slots(), [A, B]);
  assert.equal(lab.clock.pending, 0);
});

test('BALANCE-61 shares change at most once a second', async () => {
  const lab = new FeedbackLab();
  lab.setService({ [ANNOTATION_SLOW_START]: '3' });
  lab.setEndpoints([A]);
  lab.setEndpoints([A, B]);
  await lab.clock.advance(10_000);
  assert.deepEqual(
    lab.replanned,
    [300, 1300, 2300, 3300].map(at => `${at} IPv4 default/web`),
  );
});

test('BALANCE-60 a Service without annotations is not watched and has no timer', () => {
  const lab = new FeedbackLab();
  lab.setService({});
  lab.setEndpoints([A]);
  lab.setEndpoints([A, B]);
  assert.equal(lab.clock.pending, 0);
  assert.equal(lab.feedback.of('IPv4').of('default/web/TCP'), undefined);
  const [plan] = lab.state.family('IPv4').planner.plansOf('default/web');
  assert.equal(plan?.balance, undefined);
});

test('BALANCE-60 a Service that is gone, or no longer asks, is not watched any more', () => {
  const lab = new FeedbackLab();
  const slow = service('web', { annotations: { [ANNOTATION_SLOW_START]: '20' } });
  const watched = () => lab.feedback.of('IPv4').of('default/web/TCP') !== undefined;
  for (const end of [
    { type: 'updated', from: slow, to: service('web') } as const,
    { type: 'removed', from: slow } as const,
  ]) {
    lab.state.serviceChanged({ type: 'added', to: slow });
    lab.setEndpoints([A]);
    lab.setEndpoints([A, B]);
    assert.deepEqual([watched(), lab.clock.pending], [true, 1]);
    lab.state.serviceChanged(end);
    lab.state.take();
    assert.deepEqual([watched(), lab.clock.pending], [false, 0]);
  }
});

test('BALANCE-60 after its end the feedback begins nothing, although the last sync still brings changes', async () => {
  const lab = new FeedbackLab({ needsConnectionFeedback: true });
  await lab.feedback.close();
  lab.setService({
    [ANNOTATION_BALANCE]: 'least-connections',
    [ANNOTATION_SLOW_START]: '20',
    [ANNOTATION_EJECT_AFTER]: '1',
  });
  lab.setEndpoints([A]);
  lab.setEndpoints([A, B]);
  assert.deepEqual([lab.clock.pending, lab.openTables, lab.isSubscribed], [0, 0, false]);
});
