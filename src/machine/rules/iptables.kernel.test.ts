import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { addRules, findIn, lines, onNode } from '../../../test/support/machine.ts';
import { runIn } from '../../../test/support/run-in.ts';
import type { NetworkNamespace } from '../../kernel/netns.ts';

const BACKENDS = ['nft', 'legacy'] as const;

function restore(
  node: NetworkNamespace,
  backend: (typeof BACKENDS)[number],
  table: string,
  body: string,
  v6 = false,
): void {
  const rules = body.split('\n').map(line => line.trim());
  const text = [`*${table}`, ...rules.filter(line => line !== ''), 'COMMIT', ''].join('\n');
  runIn(node, `${v6 ? 'ip6tables' : 'iptables'}-${backend}-restore`, ['--noflush'], text);
}

for (const backend of BACKENDS) {
  test(`MACHINE-21 a policy of iptables that drops forwarded packets is found (${backend})`, () =>
    onNode(async node => {
      runIn(node, `iptables-${backend}`, ['-P', 'FORWARD', 'DROP']);
      const { findings, incomplete } = await findIn(node, {});
      assert.equal(incomplete, undefined);
      assert.deepEqual(findings, [
        {
          kind: 'policy',
          tool: `iptables-${backend}`,
          family: 'ip',
          table: 'filter',
          hook: 'forward',
          priority: 0,
          chain: 'FORWARD',
          verdict: 'drop',
          text: '-P FORWARD DROP',
          comment: undefined,
          certainty: 'drops',
          unknown: [],
        },
      ]);
    }));

  test(`MACHINE-21 rules of iptables are found with their comments (${backend})`, () =>
    onNode(async node => {
      restore(
        node,
        backend,
        'filter',
        `-A FORWARD -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
         -A FORWARD -s 10.244.0.0/16 -d 10.244.1.0/24 -p tcp -m multiport --dports 22,8000:8100 -m comment --comment "no \\"web\\" here" -j REJECT --reject-with tcp-reset
         -A FORWARD ! -d 10.244.1.9/32 -j DROP`,
      );
      const { findings } = await findIn(node, {});
      assert.equal(findings.length, 1);
      const [finding = assert.fail()] = findings;
      assert.ok(finding.kind === 'rule');
      assert.deepEqual([finding.comment, finding.verdict, finding.certainty], ['no "web" here', 'reject', 'drops']);
      assert.match(finding.text, /^-A FORWARD -s 10\.244\.0\.0\/16 .*-j REJECT --reject-with tcp-reset$/);
    }));

  test(`MACHINE-22 the chains of Docker give no false alarm, and its policy is found (${backend})`, () =>
    onNode(async node => {
      restore(node, backend, 'filter', DOCKER);
      assert.deepEqual(lines(await findIn(node, {})), []);
      runIn(node, `iptables-${backend}`, ['-P', 'FORWARD', 'DROP']);
      assert.deepEqual(lines(await findIn(node, {})), ['filter FORWARD may drop (input interface): -P FORWARD DROP']);
      assert.deepEqual(lines(await findIn(node, { isFromPod: true })), ['filter FORWARD drops: -P FORWARD DROP']);
      restore(node, backend, 'filter', '-I FORWARD 1 -s 10.244.0.0/16 -j ACCEPT');
      assert.deepEqual(lines(await findIn(node, {})), []);
    }));

  test(`MACHINE-23 the proxy's own chains are not reported, and what they accept counts (${backend})`, () =>
    onNode(async node => {
      restore(
        node,
        backend,
        'filter',
        `:KUBE-FORWARD - [0:0]
         :KUBE-SERVICES - [0:0]
         :KUBE-FIREWALL - [0:0]
         -P FORWARD DROP
         -A FORWARD -m conntrack --ctstate NEW -j KUBE-SERVICES
         -A FORWARD -j KUBE-FORWARD
         -A FORWARD -j KUBE-FIREWALL
         -A KUBE-SERVICES -d 10.96.0.10/32 -p tcp -m tcp --dport 80 -j REJECT
         -A KUBE-FORWARD -m conntrack --ctstate INVALID -j DROP
         -A KUBE-FORWARD -m mark --mark 0x4000/0x4000 -j ACCEPT
         -A KUBE-FIREWALL ! -s 127.0.0.0/8 -d 127.0.0.0/8 -m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP
         -A KUBE-FIREWALL -m mark --mark 0x8000/0x8000 -j DROP`,
      );
      assert.deepEqual(lines(await findIn(node, {})), [
        'filter KUBE-FIREWALL may drop (packet mark): -A KUBE-FIREWALL -m mark --mark 0x8000/0x8000 -j DROP',
        'filter FORWARD may drop (packet mark): -P FORWARD DROP',
      ]);
      const other =
        'filter KUBE-FIREWALL may drop (packet mark): -A KUBE-FIREWALL -m mark --mark 0x8000/0x8000 -j DROP';
      const marked = { mark: 0x4000, isMarked: true };
      assert.deepEqual(lines(await findIn(node, { masquerade: marked })), []);
      assert.deepEqual(lines(await findIn(node, { masquerade: { ...marked, isMarked: false } })), [
        other,
        'filter FORWARD drops: -P FORWARD DROP',
      ]);
    }));
}

const DOCKER = `:DOCKER - [0:0]
  :DOCKER-USER - [0:0]
  :DOCKER-ISOLATION-STAGE-1 - [0:0]
  :DOCKER-ISOLATION-STAGE-2 - [0:0]
  -A FORWARD -j DOCKER-USER
  -A FORWARD -j DOCKER-ISOLATION-STAGE-1
  -A FORWARD -o docker0 -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
  -A FORWARD -o docker0 -j DOCKER
  -A FORWARD -i docker0 ! -o docker0 -j ACCEPT
  -A FORWARD -i docker0 -o docker0 -j ACCEPT
  -A DOCKER ! -i docker0 -o docker0 -j DROP
  -A DOCKER-ISOLATION-STAGE-1 -i docker0 ! -o docker0 -j DOCKER-ISOLATION-STAGE-2
  -A DOCKER-ISOLATION-STAGE-1 -j RETURN
  -A DOCKER-ISOLATION-STAGE-2 -o docker0 -j DROP
  -A DOCKER-ISOLATION-STAGE-2 -j RETURN
  -A DOCKER-USER -j RETURN`;

test('MACHINE-21 the tables raw, mangle and security are read at their places, and IPv6 has its own programs', () =>
  onNode(async node => {
    restore(node, 'nft', 'raw', '-A PREROUTING -d 10.96.0.10/32 -p tcp -m tcp --dport 80 -j DROP');
    restore(node, 'nft', 'mangle', '-A FORWARD -d 10.244.1.9/32 -m conntrack --ctstate NEW -j DROP');
    restore(node, 'nft', 'filter', '-A FORWARD -d fd00:10:244::9/128 -j DROP', true);
    assert.deepEqual(lines(await findIn(node, {})), [
      'raw PREROUTING drops: -A PREROUTING -d 10.96.0.10/32 -p tcp -m tcp --dport 80 -j DROP',
      'mangle FORWARD drops: -A FORWARD -d 10.244.1.9/32 -m conntrack --ctstate NEW -j DROP',
    ]);
    const v6 = {
      packet: { source: 'fd00:10:244::5', destination: 'fd00:10:96::a', port: 80 },
      endpoint: { ip: 'fd00:10:244::9', port: 8080 },
    };
    const { findings } = await findIn(node, v6);
    assert.deepEqual(
      findings.map(finding => 'tool' in finding && [finding.tool, finding.family]),
      [['ip6tables-nft', 'ip6']],
    );
  }));

test('MACHINE-24 no table of iptables is created by a search', () =>
  onNode(async node => {
    await findIn(node, {});
    assert.equal(runIn(node, 'nft', ['list', 'tables']), '');
    runIn(node, 'iptables-nft', ['-A', 'FORWARD', '-j', 'ACCEPT']);
    await findIn(node, {});
    assert.equal(runIn(node, 'nft', ['list', 'tables']), 'table ip filter\n');
  }));

test('MACHINE-24 a table of nft with the names of iptables is read as a table of nft', () =>
  onNode(async node => {
    addRules(
      node,
      `table ip filter { chain FORWARD { type filter hook forward priority 0; policy drop; tcp dport { 22, 80 } accept; } }`,
    );
    assert.deepEqual(lines(await findIn(node, {})), ['filter FORWARD drops: policy drop']);
    // A rule of iptables beside it: nf_tables does not show what its match means.
    runIn(node, 'iptables-nft', ['-A', 'FORWARD', '-m', 'length', '--length', '9', '-j', 'DROP']);
    assert.deepEqual(lines(await findIn(node, {})).at(-1), 'filter FORWARD drops: policy drop');
  }));

test('MACHINE-20 thousands of chains of a proxy in the table nat do not hide a rule of the table filter', () =>
  onNode(async node => {
    const names = Array.from({ length: 3000 }, (_, i) => `KUBE-SVC-${i}`);
    restore(node, 'nft', 'nat', names.map(name => `:${name} - [0:0]`).join('\n'));
    restore(node, 'nft', 'filter', '-A FORWARD -d 10.244.1.9/32 -j DROP');
    assert.deepEqual(lines(await findIn(node, {})), ['filter FORWARD drops: -A FORWARD -d 10.244.1.9/32 -j DROP']);
    addRules(node, 'table ip other { chain gate { type filter hook forward priority 1; policy drop; } }');
    assert.deepEqual(lines(await findIn(node, {})), [
      'filter FORWARD drops: -A FORWARD -d 10.244.1.9/32 -j DROP',
      'other gate drops: policy drop',
    ]);
  }));

test('MACHINE-23 the filter tables of upstream in the recorded cases give no findings', () =>
  onNode(async node => {
    const texts = readdirSync('test/cases')
      .map(name => `test/cases/${name}/iptables/iptables.v4.txt`)
      .filter(existsSync)
      // The kernel has no counters of nfacct here, and the test needs no table nat.
      .map(path =>
        readFileSync(path, 'utf8').replaceAll(/-m nfacct --nfacct-name +\S+ |^\*nat[\s\S]*?^COMMIT\n/gm, ''),
      );
    const different = new Set(texts);
    assert.ok(different.size > 5);
    for (const text of different) {
      runIn(node, 'iptables-nft-restore', [], text);
      assert.deepEqual(lines(await findIn(node, {})), [], text);
      assert.deepEqual(lines(await findIn(node, { isFromNode: true })), [], text);
    }
  }));
