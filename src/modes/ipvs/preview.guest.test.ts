import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IpvsHarness } from '../../../test/support/ipvs-mode.ts';
import { ipvsState } from '../../../test/support/ipvs-state.ts';
import { modeSettingsFor } from '../../../test/support/mode-harness.ts';
import { createNodeNamespace } from '../../../test/support/namespaces.ts';
import { service, slice } from '../../../test/support/objects.ts';
import { runIn } from '../../../test/support/run-in.ts';
import type { NetworkNamespace } from '../../kernel/netns.ts';
import type { Family } from '../../net/index.ts';
import { previewIpvs } from './preview.ts';

interface PreviewCase {
  readonly mode: IpvsHarness;
  readonly namespace: NetworkNamespace;
  /** What differs from the kernel. Fails if the preview changes the kernel. */
  difference(): Promise<string>;
}

async function withPreview(family: Family, work: (it: PreviewCase) => Promise<void>): Promise<void> {
  const namespace = createNodeNamespace();
  const mode = new IpvsHarness(namespace, {}, family);
  const difference = async () => {
    const before = ipvsState(namespace);
    const input = { family, plans: mode.plans(), settings: modeSettingsFor(family), namespace };
    const text = await previewIpvs({}, { ...input, against: 'kernel' });
    assert.deepEqual(ipvsState(namespace), before, 'a preview writes nothing');
    return text;
  };
  try {
    await work({ mode, namespace, difference });
  } finally {
    await mode.close();
    namespace.close();
  }
}

function addServices(mode: IpvsHarness): void {
  mode.set(
    service('web', { clusterIP: '10.96.0.1', ports: [{ nodePort: 30080 }], sessionAffinity: 'ClientIP' }),
    slice('web-1', [{ ip: '10.244.1.1', nodeName: 'node-a' }, '10.244.2.1']),
    service('dns', { clusterIP: '10.96.0.53', ports: [{ protocol: 'UDP', port: 53 }] }),
    slice('dns-1', ['10.244.2.53'], { ports: [{ name: '', protocol: 'UDP', port: 53 }] }),
    service('lb', {
      clusterIP: '10.96.0.2',
      type: 'LoadBalancer',
      ingress: [{ ip: '203.0.113.1' }],
      // The ranges exclude the node, so there is a rule that drops.
      loadBalancerSourceRanges: ['203.0.113.9/32'],
    }),
    slice('lb-1', ['10.244.2.2']),
    service('six', { clusterIP: 'fd00:10:96::1', ipFamilies: ['IPv6'] }),
    slice('six-1', ['fd00:10:244::1']),
  );
}

const PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  ipset: ['restore'],
  ip: ['-batch', '-'],
  ipvsadm: ['-R'],
  'iptables-restore': ['--noflush'],
  'ip6tables-restore': ['--noflush'],
};

/** Hands each section of a preview to the program that its title names. */
function apply(namespace: NetworkNamespace, text: string): void {
  for (const section of text.split(/^# IPv[46]: /m).slice(1)) {
    const [title = '', ...lines] = section.split('\n');
    const [program = ''] = title.split(' ');
    runIn(namespace, program, PROGRAMS[program] ?? assert.fail(`no program ${program}`), lines.join('\n'));
  }
}

for (const family of ['IPv4', 'IPv6'] as const) {
  test(`IPVS-21 on an empty machine the ${family} difference is everything, and the programs accept it`, () =>
    withPreview(family, async ({ mode, namespace, difference }) => {
      addServices(mode);
      const text = await difference();
      assert.equal(text.match(/^create /gm)?.length, 17);
      assert.match(text, /^link add kube-ipvs0 txqueuelen 0 type dummy$/m);
      apply(namespace, text);
      assert.equal(await difference(), '');
      const applied = ipvsState(namespace);
      await mode.restart();
      assert.deepEqual(ipvsState(namespace), applied, 'the mode writes the same');
    }));
}

test('IPVS-21 after a sync there is no difference', () =>
  withPreview('IPv4', async ({ mode, difference }) => {
    addServices(mode);
    await mode.sync();
    assert.equal(await difference(), '');
  }));

test('IPVS-21 the difference is what another program changed, and the programs repair it', () =>
  withPreview('IPv4', async ({ mode, namespace, difference }) => {
    addServices(mode);
    await mode.sync();
    const before = ipvsState(namespace);
    const foreign = '-A -t 172.16.0.1:80 -s wlc';
    for (const command of [
      `ipvsadm ${foreign}`,
      'ipvsadm -e -t 10.96.0.1:80 -r 10.244.1.1:8080 -m -w 7',
      'ipvsadm -d -t 10.96.0.1:80 -r 10.244.2.1:8080',
      'ipvsadm -A -t 203.0.113.1:444 -s rr',
      'ipset del KUBE-CLUSTER-IP 10.96.0.1,tcp:80',
      'ipset add KUBE-CLUSTER-IP 10.96.0.9,tcp:80',
      'ip addr del 10.96.0.2/32 dev kube-ipvs0',
      'ip addr add 10.96.0.9/32 dev kube-ipvs0',
      'iptables -t nat -F KUBE-MARK-MASQ',
    ]) {
      const [program = '', ...args] = command.split(' ');
      runIn(namespace, program, args);
    }
    const text = await difference();
    assert.deepEqual(text.split('\n'), [
      '# IPv4: ipset restore',
      'add KUBE-CLUSTER-IP 10.96.0.1,tcp:80',
      'del KUBE-CLUSTER-IP 10.96.0.9,tcp:80',
      '# IPv4: ip -batch',
      'addr add 10.96.0.2/32 dev kube-ipvs0',
      'addr del 10.96.0.9/32 dev kube-ipvs0',
      '# IPv4: ipvsadm -R',
      '-e -t 10.96.0.1:80 -r 10.244.1.1:8080 -m -w 1',
      '-a -t 10.96.0.1:80 -r 10.244.2.1:8080 -m -w 1',
      '-D -t 203.0.113.1:444',
      '# IPv4: iptables-restore -w 5 --noflush --counters',
      '*nat',
      ':KUBE-MARK-MASQ - [0:0]',
      '-A KUBE-MARK-MASQ -j MARK --or-mark 0x00004000',
      'COMMIT',
      '',
    ]);
    apply(namespace, text);
    assert.equal(await difference(), '');
    runIn(namespace, 'ipvsadm', ['-D', '-t', '172.16.0.1:80']);
    assert.deepEqual(ipvsState(namespace), before);
  }));
