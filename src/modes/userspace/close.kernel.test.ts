import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakePrograms } from '../../../test/support/fake-programs.ts';
import { service, slice } from '../../../test/support/objects.ts';
import { runIn } from '../../../test/support/run-in.ts';
import { type UserspaceHarness, withUserspace } from '../../../test/support/userspace-mode.ts';
import type { UserspaceOptions } from './mode.ts';

const REAL = 'exec /usr/sbin/$(basename "$0") "$@"';
const FAILING = 'echo "no luck" >&2; exit 1';
const HANGING = 'exec sleep 1000';
/** Writes the rules, and then fails. */
const FAILING_AFTER_WRITE = '/usr/sbin/$(basename "$0") "$@"; echo "Cannot allocate memory" >&2; exit 4';

async function withPrograms(
  work: (harness: UserspaceHarness, programs: FakePrograms) => Promise<void>,
  options: Pick<UserspaceOptions, 'refuseMs'> & { readonly timeoutMs?: number } = {},
): Promise<void> {
  const programs = new FakePrograms({ 'iptables-restore': REAL });
  const { timeoutMs, ...others } = options;
  try {
    await withUserspace(harness => work(harness, programs), {
      ...others,
      programs: { env: programs.env(), timeoutMs },
    });
  } finally {
    programs.close();
  }
}

function addWeb(harness: UserspaceHarness, n: number): void {
  harness.set(service(`web-${n}`, { clusterIP: `10.96.0.${n}` }), slice(`web-${n}-1`, ['10.244.1.1']));
}

const leading = (harness: UserspaceHarness) => harness.rules().filter(rule => /--to-(ports|destination)/.test(rule));
const refusing = (harness: UserspaceHarness) => harness.rules('filter').filter(rule => rule.includes('REJECT')).length;

test('USER-20 after a write that failed, with or without effect, a close leaves no rule that leads to a proxy port', async () => {
  for (const script of [FAILING, FAILING_AFTER_WRITE]) {
    await withPrograms(async (harness, programs) => {
      addWeb(harness, 1);
      await harness.sync();
      programs.replace('iptables-restore', script);
      addWeb(harness, 2);
      await assert.rejects(harness.sync());
      programs.replace('iptables-restore', REAL);
      assert.ok(leading(harness).length > 0);
      await harness.close();
      assert.deepEqual(leading(harness), []);
      assert.ok(refusing(harness) > 0);
    });
  }
});

test('USER-20 a close leaves no such rule if the first write failed after it wrote the rules', () =>
  withPrograms(async (harness, programs) => {
    addWeb(harness, 1);
    programs.replace('iptables-restore', FAILING_AFTER_WRITE);
    await assert.rejects(harness.sync());
    programs.replace('iptables-restore', REAL);
    assert.ok(leading(harness).length > 0);
    await harness.close();
    assert.deepEqual(leading(harness), []);
  }));

test('USER-20 a close leaves no such rule if another program changed the rules and the repair failed', () =>
  withPrograms(async (harness, programs) => {
    addWeb(harness, 1);
    await harness.sync();
    runIn(harness.namespace, 'iptables', ['-t', 'nat', '-F', 'KUBE-PORTALS-HOST']);
    programs.replace('iptables-restore', FAILING);
    await harness.lookForDrift();
    assert.match(harness.events.lines.join(), /failed to repair the IPv4 rules: .*no luck/);
    programs.replace('iptables-restore', REAL);
    await harness.close();
    assert.deepEqual(leading(harness), []);
    assert.ok(refusing(harness) > 0);
  }));

test('USER-20 a close does not wait long for a program that hangs, whether the close or a sync started it', async () => {
  const close = async (harness: UserspaceHarness) => {
    const start = performance.now();
    await harness.close();
    assert.ok(performance.now() - start < 2000);
    assert.match(harness.events.lines.join(), /rules refuse.*not done within 300 ms/);
  };
  await withPrograms(
    async (harness, programs) => {
      addWeb(harness, 1);
      await harness.sync();
      programs.replace('iptables-restore', HANGING);
      await close(harness);
    },
    { refuseMs: 300 },
  );
  await withPrograms(
    async (harness, programs) => {
      addWeb(harness, 1);
      programs.replace('iptables-restore', HANGING);
      const sync = harness.sync();
      const late = assert.rejects(harness.sync(), /userspace mode is closed/);
      await Promise.all([close(harness), late, assert.rejects(sync, /not done after 1 s, killed/)]);
    },
    { refuseMs: 300, timeoutMs: 1000 },
  );
});
