import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { answeringApi } from '../../test/support/answering-api.ts';
import { ManualClock } from '../../test/support/manual-clock.ts';
import type { SetAside } from '../modes/index.ts';
import type { ProgrammedState } from '../proxy/index.ts';
import { ProgrammedReport } from './programmed-report.ts';

const PATCHED = { status: 200, body: '{}' };

describe('the report of what is programmed', () => {
  let open: ProgrammedReport | undefined;
  afterEach(() => open?.close());

  function start(intervalMs = 5000) {
    const clock = new ManualClock(Date.UTC(2026, 0, 1));
    const api = answeringApi(() => PATCHED);
    const failures: string[] = [];
    let recoveries = 0;
    let state: ProgrammedState = stateOf(0, undefined);
    let setAside: readonly SetAside[] = [];
    open = new ProgrammedReport({
      client: api.client,
      node: 'node-a',
      namespace: 'pointsman-nodes',
      intervalMs,
      nodeUid: () => 'uid-a',
      bootId: 'boot-1',
      state: () => state,
      setAside: () => setAside,
      onFailure: error => failures.push(error),
      onRecovery: () => recoveries++,
      clock,
      random: () => 0,
    });
    return {
      clock,
      api,
      failures,
      recoveries: () => recoveries,
      programmed(changes: number, version = String(100 + changes)) {
        state = stateOf(changes, version);
      },
      putAside(...names: string[]) {
        setAside = names.map(name => ({
          family: 'IPv4' as const,
          namespace: 'shop',
          name,
          port: 'http',
          protocol: 'TCP' as const,
          cause: { code: 'INTERNAL' as const, message: 'refused' },
        }));
      },
    };
  }

  test('PROGRAMMED-7 the first write follows the first sync, and finds no Lease, so the proxy creates it', async () => {
    const { clock, api, programmed } = start();
    await clock.advance(10_000);
    assert.deepEqual(api.requests, []);
    programmed(1);
    api.answer = ({ method }) => (method === 'PATCH' ? { status: 404, body: '{}' } : { status: 201, body: '{}' });
    await clock.advance(1000);
    assert.deepEqual(
      api.requests.map(({ method, path, contentType }) => [method, path, contentType]),
      [
        [
          'PATCH',
          '/apis/coordination.k8s.io/v1/namespaces/pointsman-nodes/leases/pointsman-node-a',
          'application/merge-patch+json',
        ],
        ['POST', '/apis/coordination.k8s.io/v1/namespaces/pointsman-nodes/leases', 'application/json'],
      ],
    );
    const { metadata } = api.object(1);
    assert.deepEqual(metadata.annotations, {
      'pointsman.dev/programmed-services': '101',
      'pointsman.dev/programmed-endpointslices': '101',
      'pointsman.dev/boot-id': 'boot-1',
    });
  });

  test('PROGRAMMED-7 writes are at least the interval apart, and a change in between is written then', async () => {
    const { clock, api, programmed } = start();
    programmed(1);
    await clock.advance(1000);
    assert.equal(api.requests.length, 1);
    for (let changes = 2; changes < 50; changes++) {
      programmed(changes);
      await clock.advance(1000);
    }
    // 48 s with a change in every second, and at most one write in 5 s.
    assert.ok(api.requests.length >= 8 && api.requests.length <= 10, `${api.requests.length} writes`);
    await clock.advance(5000);
    const { metadata } = api.object(api.requests.length - 1);
    assert.equal(metadata.annotations['pointsman.dev/programmed-services'], '149');
  });

  test('PROGRAMMED-7 without a change the Lease is renewed once a minute; a bookmark is no reason to write', async () => {
    const { clock, api, programmed } = start();
    programmed(1);
    await clock.advance(1000);
    programmed(1, '500');
    await clock.advance(58_000);
    assert.equal(api.requests.length, 1);
    await clock.advance(3000);
    assert.equal(api.requests.length, 2);
    const { metadata, spec } = api.object(1);
    assert.equal(metadata.annotations['pointsman.dev/programmed-services'], '500');
    assert.match(spec.renewTime, /^2026-01-01T00:01:0\d\.000000Z$/);
  });

  test('PROGRAMMED-7 another Service that is set aside is a reason to write', async () => {
    const { clock, api, programmed, putAside } = start();
    programmed(1);
    await clock.advance(1000);
    putAside('web', 'cart', 'web');
    await clock.advance(10_000);
    assert.equal(api.requests.length, 2);
    assert.equal(api.object(1).metadata.annotations['pointsman.dev/set-aside'], 'shop/cart,shop/web');
    putAside();
    await clock.advance(10_000);
    assert.equal(api.object(2).metadata.annotations['pointsman.dev/set-aside'], null);
  });

  test('PROGRAMMED-8 a failure is reported once, retried with growing waits, and its end is reported', async () => {
    const { clock, api, programmed, failures, recoveries } = start();
    api.answer = () => ({ status: 403, body: JSON.stringify({ kind: 'Status', message: 'leases is forbidden' }) });
    programmed(1);
    await clock.advance(300_000);
    assert.deepEqual(failures, ['leases is forbidden']);
    // After 1 s, then 5, 10, 20, 40, 80 and 160 s later.
    assert.ok(api.requests.length >= 5 && api.requests.length <= 8, `${api.requests.length} writes`);
    assert.equal(open?.failure, 'leases is forbidden');
    api.answer = () => PATCHED;
    await clock.advance(600_000);
    assert.equal(recoveries(), 1);
    assert.equal(open?.failure, undefined);
  });

  test('PROGRAMMED-8 an API server that does not answer is a failure after 15 s', async () => {
    const { clock, api, programmed, failures } = start();
    api.client.request = () => new Promise(() => {});
    programmed(1);
    await clock.advance(20_000);
    assert.deepEqual(failures, ['not done within 15000 ms']);
  });
});

function stateOf(changes: number, version: string | undefined): ProgrammedState {
  const versions = { services: version, endpointSlices: version };
  return { programmed: versions, received: versions, isPending: false, changes };
}
