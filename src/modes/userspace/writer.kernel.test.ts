import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakePrograms, refusing } from '../../../test/support/fake-programs.ts';
import { service, slice } from '../../../test/support/objects.ts';
import { type UserspaceUnderTest, withUserspace } from '../../../test/support/userspace-mode.ts';

describe('iptables-restore', () => {
  const withFault = async (
    script: string,
    work: (under: UserspaceUnderTest, programs: FakePrograms) => Promise<void>,
  ) => {
    const programs = new FakePrograms({ 'iptables-restore': script });
    try {
      await withUserspace(under => work(under, programs), { iptables: { env: programs.env() } });
    } finally {
      programs.close();
    }
  };

  const four = (under: UserspaceUnderTest) => {
    for (const n of [1, 2, 3, 4]) {
      under.set(service(`web-${n}`, { clusterIP: `10.96.0.${n}` }), slice(`web-${n}-1`, ['10.244.1.1']));
    }
  };
  const portals = (under: UserspaceUnderTest) =>
    new Set(under.rules().flatMap(rule => /-A KUBE-PORTALS-HOST .*-d (10\.96\S+)\/32/.exec(rule)?.[1] ?? []));

  test('USER-23 a Service whose rules are refused is set aside and told once; the others are written', () =>
    withFault(refusing('10\\.96\\.0\\.3', 'invalid argument'), async (under, programs) => {
      four(under);
      await under.sync();
      const aside = () => under.mode.setAside().map(({ servicePort }) => servicePort);
      assert.deepEqual(aside(), ['default/web-3']);
      assert.deepEqual([...portals(under)].sort(), ['10.96.0.1', '10.96.0.2', '10.96.0.4']);
      await under.sync();
      await under.mode.settle();
      assert.equal(under.refused.length, 1);
      assert.match(under.refused[0]?.error ?? '', /invalid argument/);
      programs.replace('iptables-restore', 'exec /usr/sbin/$(basename "$0") "$@"');
      await under.mode.settle();
      assert.deepEqual(aside(), []);
      assert.equal(portals(under).size, 4);
    }));

  test('USER-23 what is refused for want of memory blames nobody', () =>
    withFault(refusing('10\\.96\\.0\\.3', 'Cannot allocate memory'), async under => {
      four(under);
      await assert.rejects(under.sync(), /Cannot allocate memory/);
      assert.deepEqual(under.refused, []);
    }));
});
