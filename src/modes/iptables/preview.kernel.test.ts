import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IptablesHarness } from '../../../test/support/iptables-mode.ts';
import { modeSettingsFor } from '../../../test/support/mode-harness.ts';
import { service, slice } from '../../../test/support/objects.ts';
import { runIn } from '../../../test/support/run-in.ts';
import type { Backend } from '../../kernel/iptables/index.ts';
import { NetworkNamespace } from '../../kernel/netns.ts';
import { previewIptables } from './preview.ts';

async function withPreview(
  backend: Backend,
  work: (
    mode: IptablesHarness,
    preview: (against: 'nothing' | 'kernel') => Promise<string>,
    namespace: NetworkNamespace,
  ) => Promise<void>,
): Promise<void> {
  const namespace = NetworkNamespace.create();
  const mode = new IptablesHarness(namespace, { backend });
  const preview = (against: 'nothing' | 'kernel') => {
    const settings = modeSettingsFor('IPv4');
    return previewIptables(
      {},
      { family: 'IPv4', plans: mode.plans(), settings, against, namespace, programs: { backend } },
    );
  };
  try {
    await work(mode, preview, namespace);
  } finally {
    await mode.close();
    namespace.close();
  }
}

function addServices(mode: IptablesHarness): void {
  mode.set(
    service('web', { clusterIP: '10.96.0.1', type: 'NodePort', ports: [{ port: 80, nodePort: 30080 }] }),
    slice('web-1', ['10.244.1.1', '10.244.1.2']),
    service('idle', { clusterIP: '10.96.0.2' }),
  );
}

for (const backend of ['nf_tables', 'legacy'] as const) {
  test(`IPT-15 the preview against the kernel is empty after a sync (${backend})`, () =>
    withPreview(backend, async (mode, preview) => {
      addServices(mode);
      await mode.sync();
      assert.equal(await preview('kernel'), '');
      // A partial write inserts rules in another order than a full one.
      mode.set(service('new', { clusterIP: '10.96.0.3' }), slice('new-1', ['10.244.1.3']));
      await mode.sync();
      assert.equal(await preview('kernel'), '');
    }));
}

test('IPT-15 the preview against the kernel restores exactly what another program changed', () =>
  withPreview('nf_tables', async (mode, preview, namespace) => {
    addServices(mode);
    await mode.sync();
    runIn(namespace, 'iptables', ['-t', 'nat', '-F', 'KUBE-NODEPORTS']);
    runIn(namespace, 'iptables', ['-t', 'nat', '-N', 'KUBE-SVC-STALE']);
    runIn(namespace, 'iptables', [
      '-D',
      'FORWARD',
      '-m',
      'comment',
      '--comment',
      'kubernetes forwarding rules',
      '-j',
      'KUBE-FORWARD',
    ]);
    const text = await preview('kernel');
    assert.deepEqual(
      text.split('\n').map(line => line.replace(/(KUBE-EXT-)\S+/, '$1X')),
      [
        '# iptables-restore --noflush --counters',
        '*filter',
        '-I FORWARD -m comment --comment "kubernetes forwarding rules" -j KUBE-FORWARD',
        'COMMIT',
        '*nat',
        ':KUBE-NODEPORTS - [0:0]',
        ':KUBE-SVC-STALE - [0:0]',
        '-A KUBE-NODEPORTS -m comment --comment default/web -m tcp -p tcp -d 127.0.0.0/8 --dport 30080 -m nfacct --nfacct-name localhost_nps_accepted_pkts -j KUBE-EXT-X',
        '-A KUBE-NODEPORTS -m comment --comment default/web -m tcp -p tcp --dport 30080 -j KUBE-EXT-X',
        '-X KUBE-SVC-STALE',
        'COMMIT',
        '',
      ],
    );
    runIn(namespace, 'iptables-restore', ['--noflush'], text);
    assert.equal(await preview('kernel'), '');
  }));

test('IPT-15 the preview against a kernel without rules contains everything', () =>
  withPreview('nf_tables', async (mode, preview) => {
    addServices(mode);
    const text = await preview('kernel');
    for (const line of [
      '-I OUTPUT -m comment --comment "kubernetes service portals" -j KUBE-SERVICES',
      ':KUBE-PROXY-CANARY - [0:0]',
      '--dport 30080',
    ]) {
      assert.ok(text.includes(line), line);
    }
    assert.ok((await preview('nothing')).includes('--dport 30080'));
  }));
