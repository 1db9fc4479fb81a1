import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LoopUnderTest, RETRY } from '../../test/support/loop-under-test.ts';
import { service } from '../../test/support/objects.ts';
import { NO_VERSIONS, ProgrammedVersions, type ResourceVersions } from './programmed-versions.ts';

test('PROGRAMMED-2 versions are programmed when the syncs of all families have succeeded', async () => {
  const under = new LoopUnderTest(['IPv4', 'IPv6']);
  let version = 10;
  const programmed = new ProgrammedVersions(() => ({ services: String(version), endpointSlices: String(version) }));
  under.programmed = programmed;
  const now = () => programmed.state(under.loop.isPending).programmed.services;
  under.failing = 'IPv6';
  under.loop.serviceChanged({ type: 'added', to: service('default/web', {}) });
  assert.equal(now(), undefined);
  under.loop.synced();
  await under.clock.advance(RETRY - 1);
  assert.equal(now(), undefined, 'IPv6 has failed');
  under.failing = undefined;
  await under.clock.advance(1);
  assert.equal(now(), '10');
  under.duringSync = async () => {
    if (version === 12) return;
    version = 12;
    under.loop.serviceChanged({ type: 'added', to: service('default/late', {}) });
  };
  version = 11;
  under.loop.serviceChanged({ type: 'added', to: service('default/next', {}) });
  assert.equal(now(), '10', 'there is something to write');
  under.failing = 'mode';
  await under.clock.advance(0);
  assert.equal(now(), '10', 'the sync has failed');
  under.failing = undefined;
  await under.clock.advance(RETRY);
  assert.equal(now(), '12');
  await under.loop.close();
});

describe('programmed versions', () => {
  function create(services: string, endpointSlices = '1') {
    let received: ResourceVersions = { services, endpointSlices };
    const versions = new ProgrammedVersions(() => received);
    const receive = (next: Partial<ResourceVersions>) => {
      received = { ...received, ...next };
    };
    return { versions, receive };
  }

  test('PROGRAMMED-2 nothing is programmed before the first run of syncs has succeeded', () => {
    const { versions } = create('10');
    assert.deepEqual(versions.state(false).programmed, NO_VERSIONS);
    assert.equal(versions.state(false).isPending, true);
    versions.allTaken();
    assert.deepEqual(versions.state(true).programmed, NO_VERSIONS);
    versions.allWritten();
    assert.deepEqual(versions.state(true).programmed, { services: '10', endpointSlices: '1' });
  });

  test('PROGRAMMED-2 what comes during a sync counts after the next sync', () => {
    const { versions, receive } = create('10');
    versions.allTaken();
    receive({ services: '11' });
    versions.allWritten();
    assert.equal(versions.state(true).programmed.services, '10');
    assert.equal(versions.state(true).received.services, '11');
    versions.allTaken();
    versions.allWritten();
    assert.equal(versions.state(true).programmed.services, '11');
  });

  test('PROGRAMMED-2 a run that failed programs nothing', () => {
    const { versions, receive } = create('10');
    versions.allTaken();
    versions.allWritten();
    receive({ services: '11' });
    versions.allTaken();
    receive({ services: '12' });
    assert.equal(versions.state(true).programmed.services, '10');
  });

  test('PROGRAMMED-3 bookmarks and changes without a sync count at once, and are not lost when a sync begins', () => {
    const { versions, receive } = create('10');
    versions.allTaken();
    versions.allWritten();
    receive({ endpointSlices: '40' });
    assert.equal(versions.state(false).programmed.endpointSlices, '40');
    receive({ services: '41' });
    assert.deepEqual(versions.state(true).programmed, { services: '10', endpointSlices: '40' });
  });

  test('PROGRAMMED-3 only objects raise the number of changes', () => {
    const { versions, receive } = create('10');
    versions.objectChanged();
    versions.allTaken();
    versions.allWritten();
    assert.equal(versions.state(false).changes, 1);
    receive({ services: '20' });
    assert.equal(versions.state(false).changes, 1);
    versions.objectChanged();
    assert.equal(versions.state(true).changes, 1);
    assert.equal(versions.state(false).changes, 2);
  });

  test('PROGRAMMED-4 after a restore of the API server, versions of before do not count', () => {
    const { versions, receive } = create('100');
    versions.allTaken();
    versions.allWritten();
    receive({ services: undefined });
    assert.equal(versions.state(true).programmed.services, undefined);
    receive({ services: '50' });
    assert.equal(versions.state(true).programmed.services, undefined);
    assert.equal(versions.state(false).programmed.services, '50');
  });
});
