import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { httpSlice, local, web, webSlice } from '../../../test/support/explain-cases.ts';
import { ask, factsOf, stepText, verdictText } from '../../../test/support/explain-facts.ts';
import { service, slice } from '../../../test/support/objects.ts';
import type { Listener, ProbeOutcome, RuleFinding, TrackedFlow } from '../../machine/index.ts';
import { DEFAULT_MODE, type KernelEntry, type PinnedClient } from '../../modes/index.ts';
import type { Ip } from '../../net/index.ts';
import type { KernelFacts } from '../facts.ts';

const ip = (text: string) => text as Ip;
const EQUAL: KernelEntry = {
  kind: 'element',
  place: 'map ip kube-proxy service-numbers',
  wanted: '10.96.0.10 . tcp . 80 : 0x10001000',
  found: '10.96.0.10 . tcp . 80 : 0x10001000',
};

function kernel(
  more: Partial<KernelFacts> = {},
  entries = [EQUAL],
  affinity: readonly PinnedClient[] = [],
): KernelFacts {
  return { readBack: async () => ({ entries, affinity }), ...more };
}

function lines(text: string): readonly string[] {
  return text.split('\n');
}

describe('the kernel', () => {
  test('EXPLAIN-14 every entry that the kernel has is listed', async () => {
    const answer = await ask('web', factsOf([web, webSlice], { kernel: kernel() }));
    assert.deepEqual(lines(stepText(answer, 'kernel')), [
      'good: The kernel has the one entry that the proxy wants, read just now.',
      '✓ map ip kube-proxy service-numbers: 10.96.0.10 . tcp . 80 : 0x10001000',
    ]);
    assert.deepEqual(lines(verdictText(answer)), [
      'works: A connection from any pod to 10.96.0.10:80/TCP is answered by endpoint 10.244.1.2:8080 of default/web.',
      'next: if it still fails, try the endpoints, too',
      '$ kube-proxy explain --probe default/web',
    ]);
  });

  test('EXPLAIN-14 a Service that changes or goes while the kernel is read is unknown, not broken', async () => {
    const change = (type: 'updated' | 'removed') => {
      const facts = factsOf([web, webSlice]);
      const readBack = async () => {
        const to = slice('web-1', ['10.244.1.77'], httpSlice);
        if (type === 'updated') facts.state.endpointSliceChanged({ type, from: webSlice, to });
        else facts.state.serviceChanged({ type, from: web });
        facts.state.take();
        return { entries: [{ ...EQUAL, found: undefined }], affinity: [] };
      };
      return ask('web', { ...facts, kernel: { readBack } });
    };
    for (const type of ['updated', 'removed'] as const) {
      const answer = await change(type);
      assert.equal(
        stepText(answer, 'kernel'),
        'unknown: default/web:http changed while the kernel was read. Ask again.',
      );
      assert.equal(answer.verdict, 'unknown');
    }
  });

  test('EXPLAIN-14 a reading that is not complete does not claim that the kernel has all entries', async () => {
    const readBack = async () => ({ entries: [EQUAL, EQUAL], affinity: [], incomplete: 'the kernel was slow' });
    const answer = await ask('web', factsOf([web, webSlice], { kernel: { readBack } }));
    const found = lines(stepText(answer, 'kernel'));
    assert.equal(found[0], 'note: The kernel has the 2 entries that were read, as the proxy wants them.');
    assert.equal(found.at(-1), 'Not everything was read: the kernel was slow.');
  });

  test('EXPLAIN-14 entries that are missing, different or unexpected are named exactly', async () => {
    const entries = [
      EQUAL,
      { ...EQUAL, found: undefined },
      { ...EQUAL, kind: 'rule', place: 'chain ip kube-proxy services', wanted: 'a', found: 'b' },
      { ...EQUAL, wanted: undefined },
    ];
    const answer = await ask('web', factsOf([web, webSlice], { kernel: kernel({}, entries) }));
    assert.deepEqual(lines(stepText(answer, 'kernel')), [
      'bad: 3 of 4 kernel entries for default/web:http are not as the proxy wants.',
      '✗ element missing in map ip kube-proxy service-numbers',
      '    wanted: 10.96.0.10 . tcp . 80 : 0x10001000',
      '✗ rule different in chain ip kube-proxy services',
      '    wanted: a',
      '    found:  b',
      '✗ element unexpected in map ip kube-proxy service-numbers',
      '    found:  10.96.0.10 . tcp . 80 : 0x10001000',
    ]);
    assert.deepEqual(lines(verdictText(answer)), [
      'broken: The kernel differs from the plan: element missing in map ip kube-proxy service-numbers, and 2 more.',
      'next: see what changed it; the proxy repairs this within syncPeriod',
      '$ kube-proxy history --since 10m',
    ]);
  });

  test('EXPLAIN-14 while a sync is due, a difference is no fault yet', async () => {
    const facts = factsOf([web, webSlice], { kernel: kernel({}, [{ ...EQUAL, found: undefined }]), isPending: true });
    assert.equal((await ask('web', facts)).verdict, 'unknown');
  });

  test('EXPLAIN-14 a kernel that cannot be read makes the answer uncertain', async () => {
    const facts = factsOf([web, webSlice], {
      kernel: { readBack: () => Promise.reject(new Error('operation not permitted')) },
    });
    const answer = await ask('web', facts);
    assert.equal(stepText(answer, 'kernel'), 'unknown: The proxy could not read the kernel: operation not permitted.');
    assert.equal(answer.verdict, 'unknown');
  });
});

const FLOW: TrackedFlow = {
  caller: ip('10.244.1.7'),
  callerPort: 4711,
  target: ip('10.244.9.9'),
  targetPort: 53,
  isTranslated: true,
  isSourceReplaced: false,
  state: undefined,
  isUnreplied: true,
  secondsLeft: 29,
  text: 'udp 17 29 src=10.244.1.7 dst=10.96.0.10 …',
};

describe('connections', () => {
  const dns = service('dns', { clusterIP: '10.96.0.10', ports: [{ port: 53, protocol: 'UDP' }] });
  const dnsSlice = slice('dns-1', ['10.244.1.2'], { ports: [{ name: '', protocol: 'UDP', port: 53 }] });
  const flows = (...found: TrackedFlow[]) => kernel({ flows: async () => ({ flows: found, incomplete: undefined }) });

  test('EXPLAIN-15 a UDP flow of the caller to an endpoint that is gone is the fault', async () => {
    const answer = await ask('dns:53/udp from 10.244.1.7', factsOf([dns, dnsSlice], { kernel: flows(FLOW) }));
    assert.deepEqual(lines(stepText(answer, 'connections')), [
      'bad: 1 connection of this caller is pinned to 10.244.9.9:53, which this frontend does not use.',
      'udp 17 29 src=10.244.1.7 dst=10.96.0.10 …',
    ]);
    assert.deepEqual(lines(verdictText(answer)), [
      'broken: 1 connection of this caller is pinned to 10.244.9.9:53, which this frontend does not use.',
      'next: make the kernel forget the old connections, on the node',
      '$ conntrack -D -p udp --orig-src 10.244.1.7 --orig-dst 10.96.0.10 --orig-port-dst 53',
    ]);
  });

  test('EXPLAIN-15 flows to endpoints of today are good, and a TCP flow to an old endpoint is only noted', async () => {
    const good = { ...FLOW, target: ip('10.244.1.2') };
    const answer = await ask('dns:53/udp from 10.244.1.7', factsOf([dns, dnsSlice], { kernel: flows(good) }));
    const text = 'good: The kernel tracks 1 connection of this caller to this address, none to an old endpoint.';
    assert.equal(stepText(answer, 'connections'), text);
    const tcp = await ask('web from 10.244.1.7', factsOf([web, webSlice], { kernel: flows(FLOW) }));
    assert.match(stepText(tcp, 'connections'), /^note: 1 connection of this caller is pinned to 10\.244\.9\.9:53/);
    assert.equal(tcp.verdict, 'works');
  });

  test('EXPLAIN-15 if no caller is named, the next step asks for the caller of the old UDP flow', async () => {
    const answer = await ask('dns:53/udp', factsOf([dns, dnsSlice], { kernel: flows(FLOW) }));
    assert.equal(answer.verdict, 'works');
    assert.deepEqual(lines(verdictText(answer)).slice(1), [
      'next: ask for the caller of the old connection',
      '$ kube-proxy explain --from 10.244.1.7 10.96.0.10:53/udp',
    ]);
  });

  test('EXPLAIN-15 in a mode that relays, flows lead to the process of the proxy', async () => {
    const relayed = { ...FLOW, target: ip('192.168.0.2'), targetPort: 42901 };
    const relays = { ...DEFAULT_MODE, behaviour: { ...DEFAULT_MODE.behaviour, isRelay: true } };
    const facts = factsOf([dns, dnsSlice], { kernel: flows(relayed), mode: relays });
    assert.match(stepText(await ask('dns:53/udp from 10.244.1.7', facts), 'connections'), /^good: /);
    const other = factsOf([dns, dnsSlice], { kernel: flows(relayed) });
    assert.match(stepText(await ask('dns:53/udp from 10.244.1.7', other), 'connections'), /^bad: /);
  });

  test('EXPLAIN-15 the endpoint to which session affinity leads the caller is named', async () => {
    const pinned = { client: ip('10.244.1.7'), endpoint: '10.244.1.2:8080', secondsLeft: 30 };
    const found = kernel({ flows: async () => ({ flows: [], incomplete: undefined }) }, [EQUAL], [pinned]);
    const answer = await ask('web from 10.244.1.7', factsOf([web, webSlice], { kernel: found }));
    assert.deepEqual(lines(stepText(answer, 'connections')), [
      'good: The kernel tracks 0 connections of this caller to this address.',
      'Session affinity leads the caller to 10.244.1.2:8080 for 30 s more.',
    ]);
    const endless = kernel(
      { flows: async () => ({ flows: [], incomplete: undefined }) },
      [EQUAL],
      [{ ...pinned, secondsLeft: undefined }],
    );
    const unsaid = await ask('web from 10.244.1.7', factsOf([web, webSlice], { kernel: endless }));
    assert.match(stepText(unsaid, 'connections'), /\nSession affinity leads the caller to 10\.244\.1\.2:8080\.$/);
  });

  test('EXPLAIN-15 what cannot be read is noted, and the rest is explained', async () => {
    const broken = kernel({ flows: () => Promise.reject(new Error('no conntrack')) });
    const answer = await ask('web', factsOf([web, webSlice], { kernel: broken }));
    assert.equal(stepText(answer, 'connections'), 'note: The proxy could not look at this: no conntrack.');
    assert.equal(answer.verdict, 'works');
  });
});

describe('other rules', () => {
  const DROP: RuleFinding = {
    kind: 'rule',
    certainty: 'drops',
    unknown: [],
    text: 'ip daddr 10.244.0.0/16 drop',
    tool: 'nft',
    family: 'inet',
    table: 'firewalld',
    chain: 'filter_FORWARD',
    hook: 'forward',
    priority: 10,
    verdict: 'drop',
    comment: undefined,
  };
  const rules = (...findings: RuleFinding[]) =>
    kernel({ otherRules: async paths => paths.map(() => ({ findings, unread: [], incomplete: undefined })) });

  test('EXPLAIN-16 a rule of another table that drops the packet is the fault', async () => {
    const answer = await ask('web', factsOf([web, webSlice], { kernel: rules(DROP) }));
    assert.deepEqual(lines(stepText(answer, 'other rules')), [
      'bad: A rule in table inet firewalld, chain filter_FORWARD (forward) drops the packet.',
      '✗ ip daddr 10.244.0.0/16 drop',
      'On the way to 10.244.1.2:8080.',
    ]);
    assert.deepEqual(lines(verdictText(answer)).slice(1), [
      'next: change the rule in the program that wrote it',
      '$ nft -a list chain inet firewalld filter_FORWARD',
    ]);
  });

  test('EXPLAIN-16 for a setting of the kernel, the next step is the command that turns it on', async () => {
    const off = { kind: 'sysctl', name: 'net.ipv4.ip_forward', value: '0', text: 'net.ipv4.ip_forward = 0' } as const;
    const sure = { certainty: 'drops', unknown: [] } as const;
    const found = kernel({
      otherRules: async paths =>
        paths.map(() => ({ findings: [{ ...off, ...sure }, DROP], unread: [], incomplete: undefined })),
    });
    const answer = await ask('web', factsOf([web, webSlice], { kernel: found }));
    assert.deepEqual(lines(stepText(answer, 'other rules')), [
      'bad: The setting net.ipv4.ip_forward = 0 drops the packet.',
      'On the way to 10.244.1.2:8080.',
      '✗ A rule in table inet firewalld, chain filter_FORWARD (forward) drops the packet on the way to 10.244.1.2:8080',
      '    ip daddr 10.244.0.0/16 drop',
    ]);
    assert.deepEqual(lines(verdictText(answer)).slice(1), [
      'next: turn the setting on, on the node',
      '$ sysctl -w net.ipv4.ip_forward=1',
    ]);
  });

  test('EXPLAIN-16 the policy of a chain has its own next step', async () => {
    const policy: RuleFinding = { ...DROP, kind: 'policy', tool: 'iptables-nft', table: 'filter', chain: 'FORWARD' };
    const answer = await ask('web', factsOf([web, webSlice], { kernel: rules(policy) }));
    assert.deepEqual(lines(verdictText(answer)), [
      'broken: The policy of iptables-nft table filter, chain FORWARD drops the packet.',
      'next: add a rule that accepts the packet, or change the policy',
      '$ iptables-nft -t filter -S FORWARD',
    ]);
  });

  test('EXPLAIN-16 a rule that may drop the packet is noted with what is not known', async () => {
    const may: RuleFinding = {
      ...DROP,
      certainty: 'may drop',
      unknown: ['input interface'],
      tool: 'iptables-nft',
      table: 'filter',
    };
    const answer = await ask('web', factsOf([web, webSlice], { kernel: rules(may) }));
    assert.deepEqual(lines(stepText(answer, 'other rules')), [
      'note: A rule in iptables-nft table filter, chain filter_FORWARD (forward) may drop the packet.',
      '! ip daddr 10.244.0.0/16 drop',
      'On the way to 10.244.1.2:8080, depending on the input interface.',
    ]);
    assert.equal(answer.verdict, 'works');
    assert.deepEqual(lines(verdictText(answer)).slice(1), [
      'next: if it still fails, change the rule in the program that wrote it',
      '$ iptables-nft -t filter -S filter_FORWARD',
    ]);
  });

  test('EXPLAIN-16 in a mode that relays, rules are looked at on the way to the process and from it', async () => {
    const asked: unknown[] = [];
    const found = {
      ...kernel({
        otherRules: async paths => {
          asked.push(
            ...paths.map(({ packet, isFromNode, endpoint }) => [packet.destination, isFromNode, endpoint?.port]),
          );
          return paths.map(() => ({ findings: [], unread: [], incomplete: undefined }));
        },
      }),
      readBack: async () => ({ entries: [], affinity: [], relayPorts: { Cluster: 40_001 } }),
    };
    const relays = { ...DEFAULT_MODE, behaviour: { ...DEFAULT_MODE.behaviour, isRelay: true } };
    await ask('web from 10.244.1.7', factsOf([web, webSlice], { kernel: found, mode: relays }));
    assert.deepEqual(asked, [
      ['10.96.0.10', false, 40_001],
      ['10.244.1.2', true, undefined],
    ]);
  });

  test('EXPLAIN-16 in a mode with virtual servers, rules are looked at where these replace the destination', async () => {
    const asked: unknown[] = [];
    const found = kernel({
      otherRules: async paths => {
        asked.push(...paths.map(({ translatedBy }) => translatedBy));
        return paths.map(() => ({ findings: [], unread: [], incomplete: undefined }));
      },
    });
    const servers = { ...DEFAULT_MODE.behaviour, translatedBy: 'virtual servers' } as const;
    await ask('web', factsOf([web, webSlice], { kernel: found, mode: { ...DEFAULT_MODE, behaviour: servers } }));
    assert.deepEqual(asked, ['virtual server']);
  });

  test('EXPLAIN-16 in iptables mode the mark follows from whether the source is replaced', async () => {
    const asked: unknown[] = [];
    const found = kernel({
      otherRules: async paths => {
        asked.push(...paths.map(({ masquerade, isFromPod }) => [masquerade, isFromPod]));
        return paths.map(() => ({ findings: [], unread: [], incomplete: undefined }));
      },
    });
    const marks = { ...DEFAULT_MODE, behaviour: { ...DEFAULT_MODE.behaviour, marksMasqueraded: true } };
    const facts = factsOf([web, webSlice], { kernel: found, mode: marks });
    await ask('web from 10.244.1.7', facts);
    await ask('web from outside', facts);
    await ask('web', factsOf([web, webSlice], { kernel: found }));
    assert.deepEqual(asked, [
      [{ mark: 0x4000, isMarked: false }, true],
      [{ mark: 0x4000, isMarked: true }, false],
      [undefined, true],
    ]);
  });

  test('EXPLAIN-16 rules are looked at for one endpoint on this node and for one elsewhere', async () => {
    const asked: (string | undefined)[] = [];
    const both = slice('web-1', ['10.244.2.1', { ip: '10.244.1.1', nodeName: 'node-a' }, '10.244.2.2'], httpSlice);
    const found = kernel({
      otherRules: async paths => {
        asked.push(...paths.map(({ endpoint }) => endpoint?.ip));
        return paths.map(() => ({ findings: [], unread: [], incomplete: undefined }));
      },
    });
    const answer = await ask('web', factsOf([web, both], { kernel: found }));
    assert.deepEqual(asked, ['10.244.1.1', '10.244.2.1']);
    assert.match(stepText(answer, 'other rules'), /^good: No other rule, setting or route/);
  });
});

describe('listeners', () => {
  const nginx: Listener = { ip: ip('0.0.0.0'), port: 30080, process: { pid: 12, name: 'nginx' }, isOwn: false };
  const listening = (...found: Listener[]) =>
    kernel({ listeners: async () => ({ listeners: found, incomplete: undefined }) });
  const here = slice('web-1', [{ ip: '10.244.1.2', nodeName: 'node-a' }], httpSlice);

  test('EXPLAIN-17 a program that listens at the node port, too, is noted', async () => {
    const answer = await ask('192.168.0.2:30080', factsOf([local, here], { kernel: listening(nginx) }));
    assert.equal(
      lines(stepText(answer, 'listeners'))[0],
      'note: nginx (process 12) listens at the node port 30080/TCP, too.',
    );
    assert.equal(answer.verdict, 'works');
  });

  test('EXPLAIN-17 at an address that no Service has, the program that listens there is named', async () => {
    const answer = await ask(
      '192.168.0.2:22',
      factsOf([local, here], { kernel: listening({ ...nginx, process: undefined }) }),
    );
    assert.equal(
      stepText(answer, 'listeners'),
      'note: A program that the proxy cannot identify listens there and gets the connection.',
    );
    const nobody = await ask('192.168.0.2:22', factsOf([local, here], { kernel: listening() }));
    const text = 'bad: No program of the node listens at 192.168.0.2:22, so the kernel refuses the connection.';
    assert.equal(stepText(nobody, 'listeners'), text);
  });

  test('EXPLAIN-17 only a program at this address gets the connection, also if it is the proxy', async () => {
    const text = async (...found: Listener[]) =>
      stepText(await ask('192.168.0.2:10256', factsOf([local, here], { kernel: listening(...found) })), 'listeners');
    const proxy: Listener = { ...nginx, ip: ip('::'), process: { pid: 7, name: 'kube-proxy' }, isOwn: true };
    assert.equal(await text(proxy), 'note: kube-proxy (process 7) listens there and gets the connection.');
    assert.match(await text({ ...nginx, ip: ip('127.0.0.1') }), /^bad: No program of the node listens at 192/);
    assert.match(await text({ ...nginx, ip: ip('192.168.0.2') }), /^note: nginx/);
  });

  test('EXPLAIN-17 cluster IPs have no listeners', async () => {
    const answer = await ask('web', factsOf([local, here], { kernel: listening(nginx) }));
    assert.equal(stepText(answer, 'listeners'), '');
  });
});

describe('probes', () => {
  const two = slice('web-1', ['10.244.1.2', '10.244.2.2'], httpSlice);
  const probing = (...outcomes: ProbeOutcome[]) =>
    kernel({
      probe: async endpoints =>
        endpoints.map((endpoint, i) => ({ endpoint, outcome: outcomes[i] ?? 'connected', ms: 3.2, detail: undefined })),
    });

  test('EXPLAIN-18 an endpoint that does not answer is the fault, and not the proxy', async () => {
    const answer = await ask('web', factsOf([web, two], { kernel: probing('connected', 'refused') }), true);
    assert.deepEqual(lines(stepText(answer, 'probe')), [
      'bad: 1 of 2 endpoints does not answer the node.',
      '✓ 10.244.1.2:8080  connected after 3 ms',
      '✗ 10.244.2.2:8080  refused after 3 ms',
    ]);
    assert.deepEqual(lines(verdictText(answer)), [
      'broken: The proxy is right, the endpoint is not: 10.244.2.2:8080 refuses the connection.',
      'next: check that the pod listens at port 8080, which is the targetPort',
      '$ kubectl -n default get pods -o wide --field-selector status.podIP=10.244.2.2',
    ]);
  });

  test('EXPLAIN-18 endpoints that answer are good, and those that cannot be probed are noted', async () => {
    const good = await ask('web', factsOf([web, two], { kernel: probing() }), true);
    assert.match(stepText(good, 'probe'), /^good: All 2 endpoints answer the node\.\n/);
    const open = await ask('web', factsOf([web, two], { kernel: probing('cannot tell') }), true);
    assert.match(stepText(open, 'probe'), /^note: The probe cannot tell whether 1 endpoint serves TCP\.\n/);
    assert.equal(open.verdict, 'works');
  });

  test('EXPLAIN-18 without --probe nothing is sent, and without a running proxy the answer says so', async () => {
    const quiet = await ask('web', factsOf([web, two], { kernel: probing('refused') }));
    assert.equal(stepText(quiet, 'probe'), '');
    const none = await ask('web', factsOf([web, two], { origin: 'manifests' }), true);
    assert.equal(
      stepText(none, 'probe'),
      'unknown: Only a running proxy can probe endpoints; ask the one on the node.',
    );
  });
});
