import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakePrograms } from '../../../test/support/fake-programs.ts';
import { service, slice } from '../../../test/support/objects.ts';
import { runIn, type UserspaceUnderTest, withUserspace } from '../../../test/support/userspace-mode.ts';
import type { UserspaceModeOptions } from './mode-options.ts';

const REAL = 'exec /usr/sbin/$(basename "$0") "$@"';
const FAILING = 'echo "no luck" >&2; exit 1';
const HANGING = 'exec sleep 1000';
/** Writes, and yet nobody hears of it. */
const TURNING_BAD = '/usr/sbin/$(basename "$0") "$@"; echo "Cannot allocate memory" >&2; exit 4';

async function withPrograms(
  work: (under: UserspaceUnderTest, programs: FakePrograms) => Promise<void>,
  options: Pick<UserspaceModeOptions, 'refuseMs'> & { readonly timeoutMs?: number } = {},
): Promise<void> {
  const programs = new FakePrograms({ 'iptables-restore': REAL });
  const { timeoutMs, ...others } = options;
  try {
    await withUserspace(under => work(under, programs), { ...others, iptables: { env: programs.env(), timeoutMs } });
  } finally {
    programs.close();
  }
}

function web(under: UserspaceUnderTest, n: number): void {
  under.set(service(`web-${n}`, { clusterIP: `10.96.0.${n}` }), slice(`web-${n}-1`, ['10.244.1.1']));
}

const leading = (under: UserspaceUnderTest) => under.rules().filter(rule => /--to-(ports|destination)/.test(rule));
const refusing = (under: UserspaceUnderTest) => under.rules('filter').filter(rule => rule.includes('REJECT')).length;

test('USER-20 after a write that failed, or of which that is not sure, no rule leads to a port that is free', async () => {
  for (const script of [FAILING, TURNING_BAD]) {
    await withPrograms(async (under, programs) => {
      web(under, 1);
      await under.sync();
      programs.replace('iptables-restore', script);
      web(under, 2);
      await assert.rejects(under.sync());
      programs.replace('iptables-restore', REAL);
      assert.ok(leading(under).length > 0);
      await under.mode.close();
      assert.deepEqual(leading(under), []);
      assert.ok(refusing(under) > 0);
    });
  }
});

test('USER-20 the same if the very first write is not sure', () =>
  withPrograms(async (under, programs) => {
    web(under, 1);
    programs.replace('iptables-restore', TURNING_BAD);
    await assert.rejects(under.sync());
    programs.replace('iptables-restore', REAL);
    assert.ok(leading(under).length > 0);
    await under.mode.close();
    assert.deepEqual(leading(under), []);
  }));

test('USER-20 the same if others changed the rules and they could not be put right', () =>
  withPrograms(async (under, programs) => {
    web(under, 1);
    await under.sync();
    runIn(under.namespace, 'iptables', ['-t', 'nat', '-F', 'KUBE-PORTALS-HOST']);
    programs.replace('iptables-restore', FAILING);
    await under.mode.settle();
    assert.match(under.told.join(), /looking after the IPv4 rules.*no luck/);
    programs.replace('iptables-restore', REAL);
    await under.mode.close();
    assert.deepEqual(leading(under), []);
    assert.ok(refusing(under) > 0);
  }));

test('USER-20 a close does not wait long for a program that hangs, neither its own nor that of a sync', async () => {
  const close = async (under: UserspaceUnderTest) => {
    const start = performance.now();
    await under.mode.close();
    assert.ok(performance.now() - start < 2000);
    assert.match(under.told.join(), /rules refuse.*not done within 300 ms/);
  };
  await withPrograms(
    async (under, programs) => {
      web(under, 1);
      await under.sync();
      programs.replace('iptables-restore', HANGING);
      await close(under);
    },
    { refuseMs: 300 },
  );
  await withPrograms(
    async (under, programs) => {
      web(under, 1);
      programs.replace('iptables-restore', HANGING);
      const sync = under.sync();
      const late = assert.rejects(under.mode.settle(), /userspace mode is closed/);
      await Promise.all([close(under), late, assert.rejects(sync, /not done after 1 s, killed/)]);
    },
    { refuseMs: 300, timeoutMs: 1000 },
  );
});
