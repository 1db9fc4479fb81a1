import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { descriptorsAfterFailures } from '../../../test/support/ipvs-failing-opens.ts';
import { service, slice } from '../../../test/support/objects.ts';
import { withUserspace } from '../../../test/support/userspace-mode.ts';
import { KernelError } from '../../kernel/errors.ts';
import type { NetworkNamespace } from '../../kernel/netns.ts';
import { parseNodePortAddresses } from '../../model/index.ts';
import { SILENT_EVENTS } from '../mode.ts';
import { UserspaceMode } from './mode.ts';

test('USER-20 if one socket cannot be opened, all others are closed', () => {
  const open = (namespace: NetworkNamespace) => new UserspaceMode({ namespace, events: SILENT_EVENTS });
  const { failures, left } = descriptorsAfterFailures(open);
  assert.ok(failures >= 2);
  assert.equal(left, 0);
});

test('USER-4 an empty range of ports is refused, and nothing stays open', () => {
  const before = readdirSync('/proc/self/fd').length;
  const portRange = { first: 2, last: 1 };
  assert.throws(() => new UserspaceMode({ events: SILENT_EVENTS, portRange }), RangeError);
  assert.equal(readdirSync('/proc/self/fd').length, before);
});

test('SYNC-7 a sync writes the plans of earlier syncs that failed at their start', () =>
  withUserspace(async (harness, namespace) => {
    harness.set(service('web'), slice('web-1', ['10.244.1.1']));
    const { run } = namespace;
    namespace.run = () => {
      throw new KernelError('KERNEL_SOCKET', { operation: 'enter the namespace', errno: 'EMFILE' });
    };
    await assert.rejects(harness.sync(), /EMFILE/);
    namespace.run = run;
    harness.set(service('more', { clusterIP: '10.96.0.2' }), slice('more-1', ['10.244.1.1']));
    const broken = {
      ...parseNodePortAddresses('IPv4', []),
      get containsIPv4Loopback(): boolean {
        throw new Error('no addresses');
      },
    };
    await assert.rejects(harness.sync({ nodePortAddresses: broken }), /no addresses/);
    await harness.sync();
    const portals = harness.rules().flatMap(rule => /-A KUBE-PORTALS-HOST .*-d (\S+)\/32/.exec(rule)?.[1] ?? []);
    assert.deepEqual(portals.sort(), ['10.96.0.1', '10.96.0.2']);
  }));
