import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakePrograms, refusing } from '../../../test/support/fake-programs.ts';
import { service, slice } from '../../../test/support/objects.ts';
import { type UserspaceHarness, withUserspace } from '../../../test/support/userspace-mode.ts';

import { setAsideName } from '../set-aside.ts';

describe('iptables-restore', () => {
  const withRestore = async (
    script: string,
    work: (harness: UserspaceHarness, programs: FakePrograms) => Promise<void>,
  ) => {
    const programs = new FakePrograms({ 'iptables-restore': script });
    try {
      await withUserspace(harness => work(harness, programs), { programs: { env: programs.env() } });
    } finally {
      programs.close();
    }
  };

  const addFour = (harness: UserspaceHarness) => {
    for (const n of [1, 2, 3, 4]) {
      harness.set(service(`web-${n}`, { clusterIP: `10.96.0.${n}` }), slice(`web-${n}-1`, ['10.244.1.1']));
    }
  };
  const portals = (harness: UserspaceHarness) =>
    new Set(harness.rules().flatMap(rule => /-A KUBE-PORTALS-HOST .*-d (10\.96\S+)\/32/.exec(rule)?.[1] ?? []));

  test('USER-23 a Service whose rules are refused is set aside and reported once; the others are written', () =>
    withRestore(refusing('10\\.96\\.0\\.3', 'invalid argument'), async (harness, programs) => {
      addFour(harness);
      await harness.sync();
      const names = () => harness.setAside().map(setAsideName);
      assert.deepEqual(names(), ['default/web-3']);
      assert.deepEqual([...portals(harness)].sort(), ['10.96.0.1', '10.96.0.2', '10.96.0.4']);
      await harness.sync();
      await harness.lookForDrift();
      assert.equal(harness.events.setAsides.length, 1);
      assert.match(harness.events.setAsides[0]?.cause.message ?? '', /invalid argument/);
      programs.replace('iptables-restore', 'exec /usr/sbin/$(basename "$0") "$@"');
      await harness.lookForDrift();
      assert.deepEqual(names(), []);
      assert.equal(portals(harness).size, 4);
    }));

  test('USER-23 if rules are refused for lack of memory, no Service is set aside', () =>
    withRestore(refusing('10\\.96\\.0\\.3', 'Cannot allocate memory'), async harness => {
      addFour(harness);
      await assert.rejects(harness.sync(), /Cannot allocate memory/);
      assert.deepEqual(harness.events.setAsides, []);
    }));
});
