import assert from 'node:assert/strict';
import { test } from 'node:test';
import { modeSettingsFor } from '../../../test/support/mode-harness.ts';
import { service, slice } from '../../../test/support/objects.ts';
import { runIn } from '../../../test/support/run-in.ts';
import { type UserspaceHarness, withUserspace } from '../../../test/support/userspace-mode.ts';
import type { Backend } from '../../kernel/iptables/index.ts';
import type { NetworkNamespace } from '../../kernel/netns.ts';
import type { Family } from '../../net/index.ts';
import { previewUserspace } from './preview.ts';

type Preview = (against: 'nothing' | 'kernel', family?: Family) => Promise<string>;

function withPreview(
  work: (harness: UserspaceHarness, preview: Preview, namespace: NetworkNamespace) => Promise<void>,
  backend: Backend = 'nf_tables',
): Promise<void> {
  const programs = { backend };
  return withUserspace(
    (harness, namespace) => {
      const preview: Preview = (against, family = 'IPv4') => {
        const settings = modeSettingsFor(family);
        return previewUserspace({}, { family, plans: harness.plans(family), settings, against, namespace, programs });
      };
      return work(harness, preview, namespace);
    },
    { programs },
  );
}

/** Services with all kinds of rules: both policies, a firewall, no endpoints, UDP, SCTP and both families. */
function addServices(harness: UserspaceHarness): void {
  harness.set(
    service('web', {
      type: 'LoadBalancer',
      clusterIPs: ['10.96.0.1', 'fd00:10:96::1'],
      ipFamilies: ['IPv4', 'IPv6'],
      externalTrafficPolicy: 'Local',
      loadBalancerSourceRanges: ['0.0.0.0/0', '10.244.0.0/16', 'fd00::/8'],
      ingress: [{ ip: '203.0.113.10' }],
      ports: [{ name: 'http', nodePort: 30080 }],
    }),
    slice('web-1', [{ ip: '10.244.1.1', nodeName: 'node-a' }], { ports: HTTP }),
    slice('web-2', [{ ip: 'fd00:10:244:1::1', nodeName: 'node-a' }], { ports: HTTP }),
    service('idle', { clusterIP: '10.96.0.2' }),
    service('dns', { clusterIP: '10.96.0.3', ports: [{ protocol: 'UDP', port: 53 }] }),
    slice('dns-1', ['10.244.1.2'], { ports: [{ name: '', protocol: 'UDP', port: 5353 }] }),
    service('sctp', { clusterIP: '10.96.0.4', ports: [{ protocol: 'SCTP' }] }),
  );
}

const HTTP = [{ name: 'http', protocol: 'TCP', port: 8080 }] as const;
const PORT_NAME = /<proxy port of [^>]*>/g;

test('USER-25 a preview against nothing has all chains, jumps and rules, with names in place of proxy ports', () =>
  withPreview(async (harness, preview) => {
    addServices(harness);
    await harness.sync();
    const text = await preview('nothing');
    const [command, explanation, table] = text.split('\n');
    assert.equal(command, '# iptables-restore --noflush');
    assert.match(explanation ?? '', /^# .*<proxy port of SERVICE, POLICY>/);
    assert.equal(table, '*filter');
    const at = '-d 10.96.0.1/32 -p tcp -m comment --comment default/web:http -m tcp --dport 80';
    for (const line of [
      ':KUBE-PORTALS-HOST - [0:0]',
      '-I FORWARD -m conntrack --ctstate NEW -m comment --comment "portals without endpoints, and the ports behind portals" -j KUBE-PORTALS-FILTER',
      `-A KUBE-PORTALS-CONTAINER ${at} -j REDIRECT --to-ports <proxy port of default/web:http, Cluster>`,
      `-A KUBE-PORTALS-HOST ${at} -j DNAT --to-destination 192.168.0.2:<proxy port of default/web:http, Cluster>`,
      '-A KUBE-PORTALS-FILTER -d 10.96.0.2/32 -p tcp -m comment --comment default/idle -m tcp --dport 80 -j REJECT',
    ]) {
      assert.ok(text.split('\n').includes(line), line);
    }
    assert.ok(text.includes('<proxy port of default/web:http, Local>'));
    assert.match(await preview('nothing', 'IPv6'), /^# ip6tables-restore --noflush\n/);
    // The sync wrote all of these rules, and no others.
    const written = harness.rules().length + harness.rules('filter').length;
    assert.equal(text.split('\n').filter(line => /^-[AI] /.test(line)).length, written);
  }));

for (const backend of ['nf_tables', 'legacy'] as const) {
  test(`USER-25 after a sync there is no difference to the kernel (${backend})`, () =>
    withPreview(async (harness, preview) => {
      addServices(harness);
      await harness.sync({}, ['IPv4', 'IPv6']);
      assert.equal(await preview('kernel'), '');
      assert.equal(await preview('kernel', 'IPv6'), '');
      // A partial write appends rules, so their order is not that of a full write.
      harness.set(service('web', { ports: [{ name: 'http', port: 81 }] }));
      await harness.sync({}, ['IPv4', 'IPv6']);
      assert.equal(await preview('kernel'), '');
    }, backend));
}

test('USER-25 the difference to the kernel is what another program changed, and writing it mends that', () =>
  withPreview(async (harness, preview, namespace) => {
    addServices(harness);
    await harness.sync();
    const before = harness.rules();
    const port = harness.proxyPort('KUBE-PORTALS-HOST', 'default/dns');
    const host = harness.rules().find(rule => rule.startsWith('-A KUBE-PORTALS-HOST') && rule.includes('10.96.0.3/32'));
    runIn(namespace, 'sh', ['-c', `iptables -t nat -D ${host?.slice('-A '.length)}`]);
    runIn(namespace, 'iptables', ['-t', 'nat', '-A', 'KUBE-NODEPORT-HOST', '-p', 'tcp', '-j', 'RETURN']);
    runIn(namespace, 'iptables', ['-D', 'FORWARD', '1']);
    const text = await preview('kernel');
    assert.deepEqual(text.split('\n'), [
      '# iptables-restore --noflush',
      '*filter',
      '-I FORWARD -m conntrack --ctstate NEW -m comment --comment "portals without endpoints, and the ports behind portals" -j KUBE-PORTALS-FILTER',
      'COMMIT',
      '*nat',
      `-A KUBE-PORTALS-HOST -d 10.96.0.3/32 -p udp -m comment --comment default/dns -m udp --dport 53 -j DNAT --to-destination 192.168.0.2:${port}`,
      '-D KUBE-NODEPORT-HOST -p tcp -j RETURN',
      'COMMIT',
      '',
    ]);
    runIn(namespace, 'iptables-restore', ['--noflush'], text);
    assert.equal(await preview('kernel'), '');
    assert.deepEqual(harness.rules().toSorted(), before.toSorted());
  }));

test('USER-25 a Service that has no proxy yet differs with the names of its proxy ports', () =>
  withPreview(async (harness, preview) => {
    addServices(harness);
    await harness.sync();
    harness.set(service('new', { clusterIP: '10.96.0.9' }), slice('new-1', ['10.244.1.3']));
    const text = await preview('kernel');
    const lines = text.split('\n').filter(line => line.startsWith('-'));
    assert.equal(lines.length, 3);
    assert.ok(lines.every(line => line.startsWith('-A') && line.includes('--comment default/new ')));
    assert.deepEqual(
      new Set(text.match(PORT_NAME)),
      new Set(['<proxy port of SERVICE, POLICY>', '<proxy port of default/new, Cluster>']),
    );
  }));

test('USER-25 on a machine without rules the difference is everything', () =>
  withPreview(async (harness, preview, namespace) => {
    addServices(harness);
    const lines = (text: string) => text.split('\n').toSorted();
    assert.deepEqual(lines(await preview('kernel')), lines(await preview('nothing')));
    assert.equal(runIn(namespace, 'iptables-nft-save'), '', 'a preview writes nothing');
  }));
