import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { addressEvent, applyEvent, clusterEvent, survivors } from '../../../test/support/cluster-events.ts';
import { IptablesHarness, type IptablesHarnessOptions } from '../../../test/support/iptables-mode.ts';
import { canonicalRules, rulesByServicePort } from '../../../test/support/iptables-rules.ts';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { service, slice } from '../../../test/support/objects.ts';
import { runIn } from '../../../test/support/run-in.ts';
import { waitFor } from '../../../test/support/wait-for.ts';
import type { Backend } from '../../kernel/iptables/index.ts';
import { NetworkNamespace } from '../../kernel/netns.ts';
import { readSysctl, writeSysctl } from '../../kernel/sysctl.ts';
import { parseNodePortAddresses } from '../../model/index.ts';
import type { Ip } from '../../net/index.ts';
import { setAsideName } from '../set-aside.ts';

const BACKENDS: readonly (readonly [Backend, string])[] = [
  ['nf_tables', 'iptables-nft'],
  ['legacy', 'iptables-legacy'],
];
const HOUR_MS = 3_600_000;
const PERIOD_MS = 30_000;

const event = fc.oneof(clusterEvent, addressEvent);

async function withMode(
  work: (mode: IptablesHarness) => Promise<void>,
  options?: IptablesHarnessOptions,
): Promise<void> {
  const namespace = NetworkNamespace.create();
  const mode = new IptablesHarness(namespace, options);
  try {
    await work(mode);
  } finally {
    await mode.close();
    namespace.close();
  }
}

/** All lines of iptables-save, without counters and comments. */
function saved({ namespace }: IptablesHarness, program = 'iptables'): readonly string[] {
  return runIn(namespace, `${program}-save`, [])
    .split('\n')
    .filter(line => line !== '' && !line.startsWith('#'))
    .map(line => line.replace(/ \[\d+:\d+\]$/, ''));
}

function chains(mode: IptablesHarness, pattern: RegExp, program?: string): readonly string[] {
  const lines = saved(mode, program).filter(line => line.startsWith(':'));
  return lines.map(line => line.slice(1, line.indexOf(' '))).filter(chain => pattern.test(chain));
}

const rulesOf = (mode: IptablesHarness, chain: string) => saved(mode).filter(line => line.startsWith(`-A ${chain} `));
const batches = ({ events }: IptablesHarness) => events.measures.filter(({ kind }) => kind === 'batch').length;

const OWN = /^KUBE-(SVC|SVL|SEP|EXT|FW)-/;
const WEB = 'KUBE-SVC-LOLE4ISW44XBNF3G';
const web = service('web', { clusterIP: '10.96.0.10' });
const webSlice = slice('web-1', ['10.244.1.1', '10.244.1.2']);

function setWeb(mode: IptablesHarness): void {
  mode.setService(web);
  mode.setEndpointSlice(webSlice);
}

for (const [backend, program] of BACKENDS) {
  describe(`iptables mode with ${backend}`, () => {
    test('IPT-2 after any events the rules are those of a fresh start', () =>
      fc.assert(
        fc.asyncProperty(fc.array(fc.array(event, { maxLength: 6 }), { maxLength: 5 }), async events => {
          const namespace = NetworkNamespace.create();
          const other = NetworkNamespace.create();
          const mode = new IptablesHarness(namespace, { backend });
          const fresh = new IptablesHarness(other, { backend });
          try {
            for (const batch of events) {
              for (const next of batch) applyEvent(mode, next);
              await mode.sync();
            }
            await mode.sync();
            for (const next of survivors(events.flat())) applyEvent(fresh, next);
            await fresh.sync();
            assert.equal(
              rulesByServicePort(namespace, `${program}-save`),
              rulesByServicePort(other, `${program}-save`),
            );
            assert.deepEqual(chains(mode, OWN, program).toSorted(), chains(fresh, OWN, program).toSorted());
            assert.deepEqual([mode.events.setAsides, mode.setAside()], [[], []]);
            assert.deepEqual(
              mode.events.measures.filter(({ kind }) => kind === 'refused'),
              [],
            );
          } finally {
            await Promise.all([mode.close(), fresh.close()]);
            other.close();
            namespace.close();
          }
        }),
        { numRuns: 8, seed: 4 },
      ));

    test('IPT-2 an external IP that becomes a load-balancer IP too gets the same rules as after a fresh start', () =>
      withMode(
        async mode => {
          const ranges = { loadBalancerSourceRanges: ['203.0.113.0/24'] };
          const spec = { type: 'LoadBalancer', clusterIP: '10.96.0.9', externalIPs: ['1.2.3.4'], ...ranges };
          const targets = () => {
            const rules = saved(mode, program).filter(line => line.startsWith('-A KUBE-SERVICES -d 1.2.3.4/32'));
            return rules.map(rule => rule.split(' ').at(-1)?.slice(0, 'KUBE-EXT'.length));
          };
          mode.setService(service('web', spec));
          mode.setEndpointSlice(webSlice);
          await mode.sync();
          mode.setService(service('web', { ...spec, ingress: [{ ip: '1.2.3.4' }] }));
          assert.deepEqual(await mode.sync(), { full: false });
          assert.deepEqual(targets(), ['KUBE-EXT', 'KUBE-FW-']);
          await mode.restart();
          assert.deepEqual(targets(), ['KUBE-EXT', 'KUBE-FW-']);
        },
        { backend },
      ));

    test('IPT-5 the mode removes stale chains, except one that another program jumps to, which it reports', () =>
      withMode(
        async mode => {
          const run = (...args: string[]) => runIn(mode.namespace, program, ['-w', '-t', 'nat', ...args]);
          for (const chain of ['FW-A', 'SVC-A', 'SVC-B', 'SVC-C', 'SEP-A', 'SEP-B', 'SEP-C'])
            run('-N', `KUBE-${chain}`);
          for (const n of ['A', 'B', 'C']) run('-A', `KUBE-SVC-${n}`, '-j', `KUBE-SEP-${n}`);
          run('-N', 'FOREIGN');
          for (const chain of ['SVC-B', 'SEP-C']) run('-A', 'FOREIGN', '-j', `KUBE-${chain}`);
          setWeb(mode);
          await mode.sync();
          assert.deepEqual(chains(mode, /^KUBE-(FW|SVC|SEP)-.$/, program).toSorted(), ['KUBE-SEP-C', 'KUBE-SVC-B']);
          assert.equal(chains(mode, OWN, program).length, 5);
          assert.match(mode.events.lines.join('\n'), /failed to remove IPv4 chains that are not used: .*KUBE-SVC-B/);
          assert.equal(mode.events.measures.filter(({ kind }) => kind === 'cleanup-failed').length, 1);
        },
        { backend },
      ));

    test('IPT-5 the mode adopts the rules of an earlier run, and removes chains that are no longer wanted', () =>
      withMode(
        async mode => {
          setWeb(mode);
          mode.setService(service('gone', { clusterIP: '10.96.0.11' }));
          mode.setEndpointSlice(slice('gone-1', ['10.244.1.9']));
          await mode.sync();
          mode.deleteService('default/gone');
          await mode.close();
          runIn(mode.namespace, program, ['-w', '-t', 'nat', '-N', 'KUBE-KUBELET-CANARY']);
          runIn(mode.namespace, program, ['-w', '-t', 'nat', '-N', 'KUBE-SEP-LOOKALIKE']);
          await mode.sync();
          const before = canonicalRules(mode.namespace, `${program}-save`);
          assert.deepEqual(await mode.restart(), { full: true });
          assert.equal(canonicalRules(mode.namespace, `${program}-save`), before);
          assert.deepEqual(chains(mode, OWN, program).length, 3);
          assert.ok(saved(mode, program).includes(':KUBE-KUBELET-CANARY -'));
        },
        { backend },
      ));

    test('IPT-8 the mode detects a flush of all tables by its canary, and writes everything again', async () => {
      const clock = new ManualClock();
      await withMode(
        async mode => {
          setWeb(mode);
          await mode.sync();
          const before = canonicalRules(mode.namespace, `${program}-save`);
          for (const table of ['mangle', 'nat', 'filter']) {
            for (const flag of ['-F', '-X']) runIn(mode.namespace, program, ['-w', '-t', table, flag]);
          }
          assert.notEqual(canonicalRules(mode.namespace, `${program}-save`), before);
          await clock.advance(PERIOD_MS);
          await waitFor('a repair', () => mode.events.lines.some(line => line.startsWith('repaired')));
          assert.equal(
            mode.events.lines.at(-1),
            'repaired: another program flushed the iptables rules; wrote all rules again',
          );
          assert.equal(canonicalRules(mode.namespace, `${program}-save`), before);
        },
        { backend, clock },
      );
    });

    test('IPT-8 the mode repairs a deleted chain and a deleted jump', async () => {
      const clock = new ManualClock();
      await withMode(
        async mode => {
          setWeb(mode);
          await mode.sync();
          const before = canonicalRules(mode.namespace, `${program}-save`);
          const run = (...args: string[]) => runIn(mode.namespace, program, ['-w', '-t', 'nat', ...args]);
          const repairs = () => mode.events.lines.filter(line => line.startsWith('repaired'));
          run('-D', 'KUBE-SERVICES', '1');
          run('-F', WEB);
          run('-X', WEB);
          await clock.advance(PERIOD_MS);
          await waitFor('the first repair', () => repairs().length === 1);
          assert.match(repairs()[0] ?? '', /changed our iptables rules: .*chain KUBE-SVC-LOLE4ISW44XBNF3G is gone/);
          assert.equal(canonicalRules(mode.namespace, `${program}-save`), before);
          run('-D', 'PREROUTING', '1');
          await clock.advance(PERIOD_MS * 100);
          await waitFor('the second repair', () => repairs().length === 2);
          assert.match(repairs()[1] ?? '', /chain KUBE-SERVICES lost 1 of its rules or of the jumps to it/);
          assert.equal(canonicalRules(mode.namespace, `${program}-save`), before);
        },
        { backend, clock },
      );
    });

    test('IPT-10 the mode sets a Service aside that iptables-restore refuses, and programs all others', () =>
      withMode(
        async mode => {
          setWeb(mode);
          const bad = { sessionAffinity: 'ClientIP', clusterIP: '10.96.0.12' };
          const tooLong = { sessionAffinityTimeoutSeconds: 99_999_999_999 };
          mode.setService(service('bad', { ...bad, ...tooLong }));
          mode.setEndpointSlice(slice('bad-1', ['10.244.1.7']));
          await mode.sync();
          assert.deepEqual(mode.events.setAsides.map(setAsideName), ['default/bad']);
          assert.match(
            mode.events.setAsides[0]?.cause.message ?? '',
            /restore.*line \d+: -A KUBE-SVC-.* --seconds 99999999999/,
          );
          assert.ok(saved(mode, program).some(line => line.endsWith(`-j ${WEB}`)));
          assert.ok(!saved(mode, program).some(line => line.includes('10.96.0.12')));
          mode.setService(service('bad', { ...bad, sessionAffinityTimeoutSeconds: 60 }));
          await mode.sync();
          assert.deepEqual(mode.setAside(), []);
          assert.ok(saved(mode, program).some(line => line.includes('10.96.0.12')));
          mode.setService(service('bad', { ...bad, ...tooLong }));
          await mode.sync();
          assert.deepEqual(mode.setAside().map(setAsideName), ['default/bad']);
          assert.ok(
            saved(mode, program).some(line => line.includes('--seconds 60 ')),
            'its last good version stays',
          );
          await mode.restart();
          assert.deepEqual(mode.setAside().map(setAsideName), ['default/bad']);
          mode.deleteService('default/bad');
          await mode.sync();
          assert.deepEqual(mode.setAside(), []);
        },
        { backend },
      ));
  });
}

test('IPT-10 the mode finds many refused Services', () =>
  withMode(async mode => {
    setWeb(mode);
    const names = Array.from({ length: 12 }, (_, i) => `bad${i}`);
    for (const [i, name] of names.entries()) {
      const affinity = { sessionAffinity: 'ClientIP', sessionAffinityTimeoutSeconds: 99_999_999_999 };
      mode.setService(service(name, { clusterIP: `10.96.1.${i}`, ...affinity }));
      mode.setEndpointSlice(slice(`${name}-1`, ['10.244.1.7']));
    }
    await mode.sync();
    const refused = mode.setAside().map(setAsideName);
    assert.deepEqual(refused.toSorted(), names.map(name => `default/${name}`).toSorted());
    assert.ok(saved(mode).some(line => line.endsWith(`-j ${WEB}`)));
  }));

test('IPT-3 a sync without changes runs no program, and a sync of an added endpoint writes two chains', () =>
  withMode(async mode => {
    setWeb(mode);
    mode.setService(service('other', { clusterIP: '10.96.0.11' }));
    mode.setEndpointSlice(slice('other-1', ['10.244.1.9']));
    assert.deepEqual(await mode.sync(), { full: true });
    const before = batches(mode);
    assert.deepEqual(await mode.sync(), { full: false });
    assert.equal(batches(mode), before);
    mode.setEndpointSlice(slice('web-1', ['10.244.1.1', '10.244.1.2', '10.244.1.3']));
    assert.deepEqual(await mode.sync(), { full: false });
    assert.equal(batches(mode), before + 1);
    const counts = mode.events.measures.flatMap(measure => (measure.kind === 'rules' ? [measure] : [])).slice(-2);
    assert.deepEqual(counts, [
      { kind: 'rules', table: 'filter', total: 4, last: 0 },
      // In the Service's chain a masquerading rule and one for each endpoint, in the new endpoint's chain two rules.
      { kind: 'rules', table: 'nat', total: 21, last: 6 },
    ]);
    assert.equal(rulesOf(mode, WEB).length, 4);
  }));

test('IPT-3 rules of Services are added and deleted above the last rule of the chain', () =>
  withMode(async mode => {
    setWeb(mode);
    await mode.sync();
    for (const i of [1, 2, 3]) {
      mode.setService(service(`s${i}`, { clusterIP: `10.96.1.${i}` }));
      mode.setEndpointSlice(slice(`s${i}-1`, ['10.244.1.9']));
      await mode.sync();
    }
    mode.deleteService('default/s2');
    await mode.sync();
    const rules = saved(mode).filter(line => line.startsWith('-A KUBE-SERVICES'));
    assert.deepEqual(
      rules.map(rule => /"(\S+) /.exec(rule)?.[1]),
      ['default/s3', 'default/s1', 'default/web', 'kubernetes'],
    );
  }));

test('IPT-9 the mode adds, changes and removes many Services in several restores', () =>
  withMode(async mode => {
    const numbers = Array.from({ length: 800 }, (_, i) => i);
    const setEndpoint = (i: number, ip: string) => mode.setEndpointSlice(slice(`s${i}-1`, [ip]));
    for (const i of numbers) {
      mode.setService(service(`s${i}`, { clusterIP: `10.96.${i >> 8}.${i & 255}` }));
      setEndpoint(i, `10.244.${i >> 8}.${i & 255}`);
    }
    await mode.sync();
    assert.ok(mode.events.lines.some(line => line.startsWith('progress IPv4')));
    assert.equal(chains(mode, OWN).length, 1600);
    for (const i of numbers) setEndpoint(i, `10.245.${i >> 8}.${i & 255}`);
    const before = batches(mode);
    assert.deepEqual(await mode.sync(), { full: false });
    assert.ok(batches(mode) > before + 1);
    assert.equal(chains(mode, OWN).length, 1600);
    assert.ok(!saved(mode).some(line => line.includes(' 10.244.0.7/32')));
    for (const i of numbers.slice(10)) mode.deleteService(`default/s${i}`);
    assert.deepEqual(await mode.sync(), { full: false });
    assert.equal(chains(mode, OWN).length, 20);
    assert.equal(rulesOf(mode, 'KUBE-SERVICES').length, 11);
    assert.deepEqual(
      mode.events.measures.filter(({ kind }) => kind === 'refused'),
      [],
    );
  }));

test('IPT-8 a changed sync period takes effect at once', async () => {
  const clock = new ManualClock();
  await withMode(
    async mode => {
      setWeb(mode);
      await mode.sync();
      await mode.sync({ syncPeriodMs: 100 });
      runIn(mode.namespace, 'iptables', ['-w', '-t', 'nat', '-F', 'KUBE-SERVICES']);
      await clock.advance(100);
      await waitFor('a repair', () => mode.events.lines.some(line => line.startsWith('repaired')));
    },
    { clock, settings: { syncPeriodMs: HOUR_MS } },
  );
});

test('IPT-3 the mode writes everything again after an hour, except in a large cluster', async () => {
  const clock = new ManualClock();
  await withMode(
    async mode => {
      setWeb(mode);
      assert.deepEqual(await mode.sync(), { full: true });
      await clock.advance(HOUR_MS);
      assert.deepEqual(await mode.sync(), { full: false });
      await clock.advance(1);
      assert.deepEqual(await mode.sync(), { full: true });
      assert.deepEqual(await mode.sync({ endpointCount: () => 1001 }), { full: false });
      await clock.advance(2 * HOUR_MS);
      assert.deepEqual(await mode.sync({ endpointCount: () => 1001 }), { full: false });
    },
    { clock, settings: { syncPeriodMs: 10 * HOUR_MS } },
  );
});

test('IPT-4 in a large cluster the rules of endpoints lose their comments only when their Service changes', () =>
  withMode(async mode => {
    setWeb(mode);
    mode.setService(service('other', { clusterIP: '10.96.0.11' }));
    mode.setEndpointSlice(slice('other-1', ['10.244.1.9']));
    await mode.sync({ endpointCount: () => 1000 });
    const commented = () => saved(mode).filter(line => /^-A KUBE-SEP-.*--comment/.test(line)).length;
    assert.equal(commented(), 6);
    await mode.sync({ endpointCount: () => 1001 });
    assert.equal(commented(), 6);
    mode.setEndpointSlice(slice('web-1', ['10.244.1.1', '10.244.1.2', '10.244.1.3']));
    await mode.sync({ endpointCount: () => 1001 });
    assert.equal(commented(), 2);
    assert.ok(!rulesOf(mode, WEB).some(rule => rule.includes('->')));
    await mode.restart();
    assert.equal(commented(), 8);
  }));

test('IPT-2 a partial sync becomes a full one if another program deleted a rule from a shared chain', () =>
  withMode(async mode => {
    setWeb(mode);
    await mode.sync();
    const before = canonicalRules(mode.namespace, 'iptables-save');
    mode.setService(service('other', { clusterIP: '10.96.0.11' }));
    await mode.sync();
    runIn(mode.namespace, 'iptables', ['-F', 'KUBE-SERVICES']);
    mode.deleteService('default/other');
    assert.deepEqual(await mode.sync(), { full: true });
    assert.deepEqual(
      mode.events.measures.filter(({ kind }) => kind === 'refused'),
      [{ kind: 'refused', full: false }],
    );
    assert.equal(canonicalRules(mode.namespace, 'iptables-save'), before);
    assert.deepEqual(mode.events.setAsides, []);
  }));

test('IPT-5 existing jumps stay at their places, and missing jumps are inserted at the top', () =>
  withMode(async mode => {
    const run = (...args: string[]) => runIn(mode.namespace, 'iptables', args);
    run('-t', 'mangle', '-N', 'KUBE-KUBELET-CANARY');
    run('-N', 'KUBE-FIREWALL');
    run('-A', 'INPUT', '-j', 'KUBE-FIREWALL');
    run('-A', 'INPUT', '-p', 'tcp', '-j', 'ACCEPT');
    await mode.sync();
    const targets = () => rulesOf(mode, 'INPUT').map(rule => rule.split(' ').at(-1));
    const expected = ['KUBE-PROXY-FIREWALL', 'KUBE-NODEPORTS', 'KUBE-EXTERNAL-SERVICES', 'KUBE-FIREWALL', 'ACCEPT'];
    assert.deepEqual(targets(), expected);
    await mode.restart();
    assert.deepEqual(targets(), expected);
  }));

test('IPT-6 localhost accepts node ports only in IPv4, and the mode sets route_localnet for it', async () => {
  const sysctl = 'net/ipv4/conf/all/route_localnet';
  await withMode(async mode => {
    assert.equal(readSysctl(sysctl, mode.namespace), '0');
    await mode.sync();
    assert.equal(readSysctl(sysctl, mode.namespace), '1');
    assert.match(mode.events.lines.join('\n'), /notice: Setting route_localnet=1 to allow node-ports on localhost; /);
    assert.equal(rulesOf(mode, 'KUBE-FIREWALL').length, 1);
  });
  for (const options of [{ localhostNodePorts: false }, { family: 'IPv6' as const }]) {
    await withMode(async mode => {
      await mode.sync();
      assert.equal(readSysctl(sysctl, mode.namespace), '0');
      assert.deepEqual(rulesOf(mode, 'KUBE-FIREWALL'), []);
    }, options);
  }
});

test('IPT-6 the last rules follow the node port addresses, without loopback if the mode cannot serve it', async () => {
  const settings = { nodePortAddresses: parseNodePortAddresses('IPv4', ['192.168.0.0/16', '127.0.0.0/8']) };
  const ips = (...list: string[]) => ({ nodePortIPs: list as readonly string[] as readonly Ip[] });
  const tails = (mode: IptablesHarness) =>
    saved(mode)
      .filter(line => line.endsWith('-j KUBE-NODEPORTS') && line.startsWith('-A KUBE-SERVICES'))
      .map(line => line.split(' ')[3]);
  await withMode(
    async mode => {
      await mode.sync(ips('127.0.0.1', '192.168.0.2'));
      assert.deepEqual(tails(mode), ['127.0.0.1/32', '192.168.0.2/32']);
      assert.deepEqual(await mode.sync(ips('127.0.0.1', '192.168.0.3')), { full: false });
      assert.deepEqual(tails(mode), ['127.0.0.1/32', '192.168.0.3/32']);
    },
    { settings },
  );
  await withMode(
    async mode => {
      await mode.sync(ips('127.0.0.1', '192.168.0.2'));
      assert.deepEqual(tails(mode), ['192.168.0.2/32']);
      const what = '--nodeport-addresses includes localhost but --iptables-localhost-nodeports=false was passed';
      assert.ok(mode.events.lines.includes(`notice: ${what}`));
    },
    { settings, localhostNodePorts: false },
  );
});

test('IPT-7 the mode writes no rule that drops INVALID packets if the kernel is liberal', () =>
  withMode(async mode => {
    writeSysctl('net/netfilter/nf_conntrack_tcp_be_liberal', 1, mode.namespace);
    await mode.sync();
    assert.ok(!saved(mode).some(line => line.includes('INVALID')));
    assert.ok(mode.events.lines.some(line => line.includes('not installing DROP rules for INVALID packets')));
  }));

test('IPT-12 the operator gets a notice about rules that a proxy left in the other backend', () =>
  withMode(async mode => {
    runIn(mode.namespace, 'iptables-legacy', ['-w', '-t', 'nat', '-N', 'KUBE-KUBELET-CANARY']);
    runIn(mode.namespace, 'iptables-legacy', ['-w', '-t', 'nat', '-N', 'KUBE-SERVICES']);
    await mode.sync();
    await waitFor('the notice', () => mode.events.lines.some(line => line.includes('Both iptables backends')));
    assert.match(
      mode.events.lines.join('\n'),
      /nf_tables, which this proxy writes, and legacy \(1 chains, for example KUBE-SERVICES in nat/,
    );
  }));
