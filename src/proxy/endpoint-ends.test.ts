import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { service, slice } from '../../test/support/objects.ts';
import { Model } from '../model/index.ts';
import { EndpointEnds } from './endpoint-ends.ts';

const ANNOTATIONS = {
  drain: {},
  reset: { 'pointsman.dev/endpoint-end': 'reset' },
  'drain-then-reset': {
    'pointsman.dev/endpoint-end': 'drain-then-reset',
    'pointsman.dev/endpoint-end-grace-seconds': '10',
  },
};

/** A Service with two endpoints, and what ended. */
function setUp(end: keyof typeof ANNOTATIONS) {
  const clock = new ManualClock();
  const model = new Model({ family: 'IPv4', nodeName: '', startedAt: 0, report: () => {} });
  const ended: string[] = [];
  const ends = new EndpointEnds({
    clock,
    service: (_family, key) => model.service(key),
    end: async (_family, gone) => void ended.push(...gone.map(({ endpoint }) => endpoint.ip)),
  });
  const take = (endpoints: readonly string[]) => {
    model.setEndpointSlice(slice('web-1', endpoints));
    ends.changesTaken('IPv4', model.take());
  };
  const sync = async (endpoints: readonly string[]) => {
    take(endpoints);
    ends.synced('IPv4');
    await ends.finished();
  };
  model.setService(service('web', { annotations: ANNOTATIONS[end] }));
  take(['10.0.0.1', '10.0.0.2']);
  ends.synced('IPv4');
  return { clock, ends, ended, take, sync };
}

test('ENDING-2 with drain nothing ends, and there is no timer', async () => {
  const { clock, ended, sync } = setUp('drain');
  await sync(['10.0.0.2']);
  assert.deepEqual([ended, clock.pending], [[], 0]);
});

test('ENDING-2 with reset connections end after the sync that removed the endpoint, and not while syncs fail', async () => {
  const { clock, ends, ended, take, sync } = setUp('reset');
  take(['10.0.0.2']);
  await ends.finished();
  assert.deepEqual(ended, [], 'the sync has not succeeded yet');
  await sync([]);
  assert.deepEqual([ended, clock.pending], [['10.0.0.1', '10.0.0.2'], 0]);
});

test('ENDING-2 an endpoint that is back when the sync succeeds keeps its connections', async () => {
  const { ended, take, sync } = setUp('reset');
  take(['10.0.0.2']);
  await sync(['10.0.0.1', '10.0.0.2']);
  assert.deepEqual(ended, []);
});

test('ENDING-2 with drain-then-reset connections end when the grace time is over', async () => {
  const { clock, ends, ended, sync } = setUp('drain-then-reset');
  await sync(['10.0.0.2']);
  await clock.advance(9_999);
  await ends.finished();
  assert.deepEqual(ended, []);
  await clock.advance(1);
  await ends.finished();
  assert.deepEqual([ended, clock.pending], [['10.0.0.1'], 0]);
});

test('ENDING-2 an endpoint that comes back and goes again gets its whole time again', async () => {
  const { clock, ends, ended, sync } = setUp('drain-then-reset');
  await sync(['10.0.0.2']);
  await clock.advance(6_000);
  await sync(['10.0.0.1', '10.0.0.2']);
  await clock.advance(2_000);
  await sync(['10.0.0.2']);
  await clock.advance(9_000);
  await ends.finished();
  assert.deepEqual(ended, [], 'neither the first nor the second time is over');
  await clock.advance(1_000);
  await ends.finished();
  assert.deepEqual(ended, ['10.0.0.1']);
});

test('ENDING-2 a closed proxy ends nothing more', async () => {
  const { clock, ends, ended, sync } = setUp('drain-then-reset');
  await sync(['10.0.0.2']);
  await ends.close();
  await sync([]);
  await clock.advance(60_000);
  assert.deepEqual([ended, clock.pending], [[], 0]);
});
