import assert from 'node:assert/strict';
import { test } from 'node:test';
import { service, slice } from '../../../test/support/objects.ts';
import { runIn } from '../../../test/support/run-in.ts';
import { loopMachine, UserspaceHarness } from '../../../test/support/userspace-mode.ts';
import { NetworkNamespace } from '../../kernel/netns.ts';
import { cleanupUserspace } from './cleanup.ts';

const PROGRAMS = ['iptables-nft', 'ip6tables-nft', 'iptables-legacy', 'ip6tables-legacy'];
const saved = (namespace: NetworkNamespace) =>
  PROGRAMS.map(program => runIn(namespace, `${program}-save`, []).replaceAll(/^#.*\n|\[\d+:\d+\]/gm, ''));

test('USER-21 cleanup removes the chains of both backends unless the options name one', async () => {
  const namespace = loopMachine();
  try {
    for (const backend of ['nf_tables', 'legacy'] as const) {
      const harness = new UserspaceHarness(namespace, { programs: { backend } });
      harness.set(service('web'), slice('web-1', ['10.244.1.1']));
      await harness.sync({}, ['IPv4', 'IPv6']);
      await harness.close();
    }
    const named = await cleanupUserspace({ namespace, programs: { backend: 'nf_tables' } });
    assert.deepEqual(named.errors, []);
    assert.equal(named.removed.length, 12);
    assert.deepEqual(
      saved(namespace).map(text => text.includes('KUBE-')),
      [false, false, true, true],
    );
    const { removed, errors } = await cleanupUserspace({ namespace });
    assert.deepEqual(errors, []);
    assert.equal(removed.length, 12);
    assert.ok(removed.every(what => /^ip6?tables-legacy -t /.test(what)));
    assert.ok(!saved(namespace).join('').includes('KUBE-'));
  } finally {
    namespace.close();
  }
});

test('USER-21 cleanup creates no table', async () => {
  const namespace = NetworkNamespace.create();
  try {
    assert.deepEqual({ ...(await cleanupUserspace({ namespace })) }, { removed: [], errors: [] });
    assert.deepEqual(saved(namespace), ['', '', '', '']);
    for (const program of ['iptables-nft', 'iptables-legacy']) {
      runIn(namespace, program, ['-t', 'filter', '-N', 'KUBE-PORTALS-FILTER']);
    }
    const { removed, errors } = await cleanupUserspace({ namespace });
    assert.deepEqual(errors, []);
    assert.equal(removed.length, 2);
    assert.ok(!saved(namespace).join('').includes('*nat'));
  } finally {
    namespace.close();
  }
});
