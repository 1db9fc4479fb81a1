import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ObservedConnection } from '../../../../../inspect/index.ts';
import { answered, endpoint, frontend, nodePort, port } from '../fixture.ts';
import { MORE, pictureOf } from './model.ts';
import { linkKey, NOTHING_OBSERVED, observe, wayKey } from './observed.ts';

const A = '10.244.1.10:8080';
const PICTURE = pictureOf(port([frontend(answered([A])), nodePort(answered([A]))], [endpoint(A)]));

function connection(overrides: Partial<ObservedConnection>): ObservedConnection {
  return {
    service: 'shop/web',
    from: 'pod',
    to: '10.96.0.10:80',
    protocol: 'TCP',
    endpoint: A,
    count: 1,
    isAsPlanned: true,
    ...overrides,
  };
}

describe('real connections in the picture', () => {
  test('PAGE-67 are counted on their way and on their link', () => {
    const once = observe(NOTHING_OBSERVED, [connection({ count: 3 })], PICTURE);
    const twice = observe(once, [connection({ count: 2 }), connection({ from: 'outside' })], PICTURE);
    assert.equal(twice.ways.get(wayKey('pod', '10.96.0.10:80'))?.count, 5);
    assert.equal(twice.ways.get(wayKey('outside', '10.96.0.10:80'))?.count, 1);
    assert.equal(twice.links.get(linkKey('10.96.0.10:80', A)), 6);
    assert.equal(twice.round, 2);
    assert.equal(twice.moving.length, 2, 'only those of the last event move');
  });

  test('PAGE-67 to any address of the node belong to the node port', () => {
    const { ways } = observe(NOTHING_OBSERVED, [connection({ to: '192.168.0.2:30080' })], PICTURE);
    assert.equal(ways.get(wayKey('pod', '30080'))?.count, 1);
  });

  test('PAGE-67 that were not as planned are marked and listed, the newest first', () => {
    const failed = connection({ endpoint: undefined, failure: 'no answer', isAsPlanned: false });
    const strange = connection({ endpoint: '10.9.9.9:80', isAsPlanned: false, count: 2 });
    const { ways, links, unplanned } = observe(observe(NOTHING_OBSERVED, [failed], PICTURE), [strange], PICTURE);
    assert.deepEqual(ways.get(wayKey('pod', '10.96.0.10:80')), { count: 3, unplanned: 3 });
    assert.equal(links.get(linkKey('10.96.0.10:80', MORE)), 2);
    assert.deepEqual(unplanned, [strange, failed]);
    const again = observe(observe(NOTHING_OBSERVED, [failed], PICTURE), [failed], PICTURE);
    assert.deepEqual(again.unplanned, [{ ...failed, count: 2 }]);
  });

  test('PAGE-67 to addresses that the picture does not show change nothing', () => {
    assert.equal(observe(NOTHING_OBSERVED, [connection({ to: '192.0.2.1:99' })], PICTURE), NOTHING_OBSERVED);
  });
});
