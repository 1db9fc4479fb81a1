import assert from 'node:assert/strict';
import { test } from 'node:test';
import { service, slice } from '../../../test/support/objects.ts';
import { runIn } from '../../../test/support/run-in.ts';
import { loopMachine, UserspaceHarness } from '../../../test/support/userspace-mode.ts';
import { NetworkNamespace } from '../../kernel/netns.ts';
import { errorText } from '../../lib/error-text.ts';
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
    assert.deepEqual({ ...(await cleanupUserspace({ namespace })) }, { removed: [], errors: [], kept: [] });
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

test('USER-21 cleanup names each chain that it cannot remove, the reason and what to do', async () => {
  const namespace = NetworkNamespace.create();
  try {
    for (const chain of ['KUBE-PORTALS-FILTER', 'KUBE-NODEPORT-NON-LOCAL', 'MINE']) {
      runIn(namespace, 'iptables-nft', ['-t', 'filter', '-N', chain]);
    }
    runIn(namespace, 'iptables-nft', ['-t', 'filter', '-A', 'MINE', '-j', 'KUBE-PORTALS-FILTER']);
    const { removed, errors } = await cleanupUserspace({ namespace, programs: { backend: 'nf_tables' } });
    assert.deepEqual(removed, ['iptables-nft -t filter chain KUBE-NODEPORT-NON-LOCAL']);
    assert.deepEqual(errors.map(errorText), [
      'chain KUBE-PORTALS-FILTER of filter (IPv4, nf_tables): rules of other programs jump to it: delete these rules ' +
        '(iptables-nft-save -t filter | grep -w -- KUBE-PORTALS-FILTER), then run the cleanup again',
    ]);
  } finally {
    namespace.close();
  }
});
