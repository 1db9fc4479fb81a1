import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { applyEvent, type ClusterEvent, clusterEvent, survivors } from '../../../test/support/cluster-events.ts';
import { canonicalRuleset, generation, NftablesHarness, nft } from '../../../test/support/nftables-mode.ts';
import { service, slice } from '../../../test/support/objects.ts';
import { waitFor } from '../../../test/support/wait-for.ts';
import { NetworkNamespace } from '../../kernel/netns.ts';
import type { Ip } from '../../net/index.ts';
import { setAsideName } from '../set-aside.ts';
import { cleanupNftables } from './cleanup.ts';

async function inNamespace(work: (namespace: NetworkNamespace) => Promise<void>): Promise<void> {
  const namespace = NetworkNamespace.create();
  try {
    await work(namespace);
  } finally {
    namespace.close();
  }
}

const withMode = (work: (mode: NftablesHarness, namespace: NetworkNamespace) => Promise<void>) =>
  inNamespace(async namespace => {
    const mode = new NftablesHarness(namespace);
    try {
      await work(mode, namespace);
    } finally {
      await mode.close();
    }
  });

const element = (namespace: NetworkNamespace, set: string, key: string) =>
  nft(namespace, 'list', 'map', 'ip', 'kube-proxy', set)
    .split('\n')
    .map(line =>
      line
        .replace(/^.*elements = \{/, '')
        .trim()
        .replace(/[,}\s]+$/, ''),
    )
    .find(line => line.startsWith(key));

/** Adds Services of every kind. */
function addServices(mode: NftablesHarness): void {
  mode.setService(service('web', { clusterIP: '10.96.0.1', ports: [{ name: 'http', port: 80 }] }));
  mode.setEndpointSlice(
    slice('web-1', ['10.244.1.1', '10.244.2.1'], { ports: [{ name: 'http', protocol: 'TCP', port: 8080 }] }),
  );
  mode.setService(
    service('lb', {
      clusterIP: '10.96.0.2',
      type: 'LoadBalancer',
      externalTrafficPolicy: 'Local',
      externalIPs: ['198.51.100.1'],
      ingress: [{ ip: '203.0.113.1' }],
      loadBalancerSourceRanges: ['192.168.0.0/24'],
      ports: [{ port: 443, nodePort: 30443 }],
    }),
  );
  mode.setEndpointSlice(slice('lb-1', [{ ip: '10.244.1.2', nodeName: 'node-a' }, '10.244.2.2']));
  mode.setService(
    service('sticky', { clusterIP: '10.96.0.3', sessionAffinity: 'ClientIP', sessionAffinityTimeoutSeconds: 60 }),
  );
  mode.setEndpointSlice(slice('sticky-1', ['10.244.1.3', '10.244.2.3']));
  mode.setService(service('idle', { clusterIP: '10.96.0.4' }));
  mode.setService(service('far', { clusterIP: '10.96.0.5', internalTrafficPolicy: 'Local' }));
  mode.setEndpointSlice(slice('far-1', ['10.244.2.5']));
}

describe('writing Services', () => {
  test('NFT-1 comments of elements name their Service, and a change of endpoints changes only elements', () =>
    withMode(async (mode, namespace) => {
      addServices(mode);
      await mode.sync();
      assert.equal(
        element(namespace, 'service-numbers', '10.96.0.1'),
        '10.96.0.1 . tcp . 80 comment "default/web:http" : 0x10002000',
      );
      assert.match(element(namespace, 'targets', '0x10002000') ?? '', /^0x10002000 : goto pick-cluster-2,/);
      const chains = nft(namespace, 'list', 'chains');
      mode.setEndpointSlice(
        slice('web-1', ['10.244.1.1', '10.244.3.1'], { ports: [{ name: 'http', protocol: 'TCP', port: 8080 }] }),
      );
      await mode.sync();
      assert.equal(nft(namespace, 'list', 'chains'), chains);
      assert.equal(
        element(namespace, 'cluster-endpoints', '10.96.0.1 . tcp . 80 . 0x00000001'),
        '10.96.0.1 . tcp . 80 . 0x00000001 : 10.244.3.1 . 8080',
      );
    }));

  test('NFT-17 chains for up to ten endpoints always exist; a chain for more exists as long as a Service uses it', () =>
    withMode(async (mode, namespace) => {
      const chains = (): string[] => nft(namespace, 'list', 'chains').match(/pick-\S+/g) ?? [];
      await mode.sync();
      const permanent = chains();
      assert.ok(permanent.includes('pick-cluster-1'), String(permanent));
      assert.ok(permanent.includes('pick-nodeport-local-10'), String(permanent));
      const endpoints = (count: number) => Array.from({ length: count }, (_, i) => `10.244.1.${i + 1}`);
      mode.setService(service('web', { clusterIP: '10.96.0.1' }));
      mode.setEndpointSlice(slice('web-1', endpoints(10)));
      await mode.sync();
      assert.deepEqual(chains(), permanent);
      mode.setEndpointSlice(slice('web-1', endpoints(11)));
      await mode.sync();
      assert.deepEqual(
        chains().filter(chain => !permanent.includes(chain)),
        ['pick-cluster-11'],
      );
      mode.deleteService('default/web');
      await mode.sync();
      await mode.settle();
      assert.deepEqual(chains(), permanent);
    }));

  test('NFT-1 a Service without endpoints rejects, and a Service that may not use its remote endpoints drops', () =>
    withMode(async (mode, namespace) => {
      addServices(mode);
      await mode.sync();
      assert.equal(
        element(namespace, 'no-endpoint-services', '10.96.0.4'),
        '10.96.0.4 . tcp . 80 comment "default/idle" : goto reject-chain',
      );
      assert.equal(
        element(namespace, 'no-endpoint-services', '10.96.0.5'),
        '10.96.0.5 . tcp . 80 comment "default/far" : drop',
      );
    }));

  test('NFT-2 the mode removes chains that no Service uses any more', () =>
    withMode(async (mode, namespace) => {
      addServices(mode);
      await mode.sync();
      for (const name of ['lb', 'sticky', 'web', 'idle', 'far']) {
        mode.deleteService(`default/${name}`);
        mode.deleteEndpointSlice(`default/${name}-1`);
      }
      await mode.sync();
      await mode.settle();
      const left = canonicalRuleset(namespace);
      await inNamespace(async fresh => {
        const empty = new NftablesHarness(fresh);
        await empty.sync();
        assert.equal(left, canonicalRuleset(fresh));
        await empty.close();
      });
    }));

  test('NFT-2 the mode removes unused chains within seconds, without another sync', () =>
    withMode(async (mode, namespace) => {
      addServices(mode);
      await mode.sync();
      mode.deleteService('default/sticky');
      await mode.sync();
      assert.match(nft(namespace, 'list', 'chains'), /endpoint-/);
      const isRemoved = () => !/endpoint-/.test(nft(namespace, 'list', 'chains'));
      await waitFor('the chains are gone', isRemoved, { timeoutMs: 3000 });
    }));

  test('NFT-2 a Service that is added again before its chains are removed gets everything back', () =>
    withMode(async (mode, namespace) => {
      addServices(mode);
      await mode.sync();
      const before = canonicalRuleset(namespace);
      mode.deleteService('default/sticky');
      mode.deleteService('default/lb');
      await mode.sync();
      addServices(mode);
      await mode.sync();
      await mode.settle();
      assert.equal(canonicalRuleset(namespace), before);
    }));

  test('NFT-3 a sync writes new node port addresses, service ranges and a new masquerade mark', () =>
    withMode(async (mode, namespace) => {
      addServices(mode);
      await mode.sync();
      const nodePortAddresses = {
        family: 'IPv4',
        matchAll: false,
        cidrs: [],
        containsIPv4Loopback: false,
        containsExplicitLoopback: false,
      } as const;
      await mode.sync({
        nodePortAddresses,
        nodePortIPs: ['192.168.0.2' as Ip],
        serviceCIDRs: ['10.96.0.0/16', '10.96.0.0/12', '10.200.0.0/16'],
        masqueradeMark: 0x8000,
      });
      const ruleset = nft(namespace, 'list', 'table', 'ip', 'kube-proxy');
      assert.match(ruleset, /elements = \{ 192\.168\.0\.2 \}/);
      assert.match(ruleset, /elements = \{ 10\.96\.0\.0\/12, 10\.200\.0\.0\/16 \}/);
      assert.match(ruleset, /ip daddr @nodeport-ips meta l4proto \. th dport vmap @service-nodeports/);
      assert.doesNotMatch(ruleset, /0x00004000/);
    }));

  test('NFT-3 an address that is added or removed changes only its element', () =>
    withMode(async (mode, namespace) => {
      const addresses = {
        family: 'IPv4',
        matchAll: false,
        cidrs: [],
        containsIPv4Loopback: false,
        containsExplicitLoopback: false,
      } as const;
      const sync = (...ips: string[]) => mode.sync({ nodePortAddresses: addresses, nodePortIPs: ips as Ip[] });
      addServices(mode);
      await sync('192.168.0.2');
      const before = generation(namespace);
      await sync('192.168.0.2', '192.168.0.3');
      await sync('192.168.0.3');
      await sync('192.168.0.3');
      assert.equal(generation(namespace) - before, 2);
      assert.match(
        nft(namespace, 'list', 'set', 'ip', 'kube-proxy', 'nodeport-ips'),
        /elements = \{ 192\.168\.0\.3 \}/,
      );
    }));

  test('NFT-4 the mode writes a large first sync in parts and reports its progress', () =>
    withMode(async (mode, namespace) => {
      for (let i = 0; i < 4500; i++) {
        const name = `s${i}`;
        mode.setService(service(name, { clusterIP: `10.100.${i >> 8}.${i & 255}` }));
        mode.setEndpointSlice(slice(`${name}-1`, [`10.244.${i >> 8}.${i & 255}`]));
      }
      mode.setService(service('kube-system/dns', { clusterIP: '10.96.0.10', ports: [{ protocol: 'UDP', port: 53 }] }));
      const before = generation(namespace);
      await mode.sync();
      assert.deepEqual(mode.events.lines, [
        'progress IPv4 2000/4501',
        'progress IPv4 4000/4501',
        'progress IPv4 4501/4501',
      ]);
      assert.equal(generation(namespace) - before, 4, 'one transaction for the fixed part and three for Services');
      assert.equal(
        nft(namespace, 'list', 'set', 'ip', 'kube-proxy', 'cluster-ips').match(/10\.\d+\.\d+\.\d+/g)?.length,
        4501,
      );
    }));
});

describe('the first sync of a new process', () => {
  test('NFT-5 a restart writes nothing if nothing changed', () =>
    withMode(async (mode, namespace) => {
      addServices(mode);
      await mode.sync();
      await mode.settle();
      const before = generation(namespace);
      await mode.restart();
      await mode.settle();
      assert.equal(generation(namespace), before);
    }));

  test('NFT-5 a restart keeps the clients of session affinity, and corrects what differs from the plans', () =>
    withMode(async (mode, namespace) => {
      addServices(mode);
      await mode.sync();
      const set = /set (affinity-\S+)/.exec(nft(namespace, 'list', 'sets'))?.[1] ?? '';
      nft(namespace, 'add', 'element', 'ip', 'kube-proxy', set, '{ 10.1.2.3 timeout 60s }');
      await mode.close();
      nft(namespace, 'add', 'chain', 'ip', 'kube-proxy', 'service-OLD-default/gone/tcp/');
      nft(
        namespace,
        'add',
        'element',
        'ip',
        'kube-proxy',
        'service-ips',
        '{ 10.96.9.9 . tcp . 80 : goto service-OLD-default/gone/tcp/ }',
      );
      nft(namespace, 'flush', 'chain', 'ip', 'kube-proxy', 'services');
      const again = new NftablesHarness(namespace);
      addServices(again);
      await again.sync();
      await again.settle();
      await again.close();
      const ruleset = nft(namespace, 'list', 'table', 'ip', 'kube-proxy');
      assert.match(ruleset, /10\.1\.2\.3/);
      assert.doesNotMatch(ruleset, /gone|10\.96\.9\.9/);
      assert.match(ruleset, /chain services \{\n\t\tip daddr @cluster-ips/);
    }));

  test('NFT-5 a restart writes nothing for a service port whose name is longer than a comment can be', () =>
    withMode(async (mode, namespace) => {
      const name = `${'n'.repeat(63)}/${'s'.repeat(63)}`;
      const http = { name: 'p'.repeat(63), protocol: 'TCP', port: 80 } as const;
      mode.setService(service(name, { clusterIP: '10.96.0.1', ports: [http] }));
      mode.setEndpointSlice(slice(`${name}-1`, ['10.244.1.1'], { ports: [http] }));
      await mode.sync();
      await mode.settle();
      assert.match(element(namespace, 'service-numbers', '10.96.0.1') ?? '', /comment "n{63}\/s{63}:" : /);
      const before = generation(namespace);
      await mode.restart();
      await mode.settle();
      assert.equal(generation(namespace), before);
    }));

  test('NFT-6 the mode takes over a table that upstream made, or a table whose sets have other types', () =>
    inNamespace(async namespace => {
      nft(namespace, 'add', 'table', 'ip', 'kube-proxy');
      nft(
        namespace,
        'add',
        'map',
        'ip',
        'kube-proxy',
        'service-ips',
        '{ type ipv4_addr . inet_proto . inet_service : verdict ; }',
      );
      nft(namespace, 'add', 'chain', 'ip', 'kube-proxy', 'service-ULMVA6XW-ns1/svc1/tcp/p80');
      nft(
        namespace,
        'add',
        'element',
        'ip',
        'kube-proxy',
        'service-ips',
        '{ 172.30.0.41 . tcp . 80 : goto service-ULMVA6XW-ns1/svc1/tcp/p80 }',
      );
      nft(namespace, 'add', 'chain', 'ip', 'kube-proxy', 'nat-output', '{ type nat hook output priority -50 ; }');
      const mode = new NftablesHarness(namespace);
      addServices(mode);
      await mode.sync();
      await mode.settle();
      const takenOver = canonicalRuleset(namespace);
      await mode.close();
      nft(namespace, 'flush', 'ruleset');
      nft(namespace, 'add', 'table', 'ip', 'kube-proxy');
      nft(namespace, 'add', 'set', 'ip', 'kube-proxy', 'cluster-ips', '{ type inet_service ; }');
      await mode.restart();
      await mode.settle();
      assert.equal(canonicalRuleset(namespace), takenOver);
      await inNamespace(async fresh => {
        const clean = new NftablesHarness(fresh);
        addServices(clean);
        await clean.sync();
        assert.equal(takenOver, canonicalRuleset(fresh));
        await clean.close();
      });
      await mode.close();
    }));
});

describe('drift', () => {
  const alterations: [string, string[][]][] = [
    ['flushes the ruleset', [['flush', 'ruleset']]],
    ['deletes the table', [['delete', 'table', 'ip', 'kube-proxy']]],
    ['flushes a chain', [['flush', 'chain', 'ip', 'kube-proxy', 'services']]],
    ['adds a rule', [['add', 'rule', 'ip', 'kube-proxy', 'services', 'accept']]],
    ['deletes an element', [['delete', 'element', 'ip', 'kube-proxy', 'service-numbers', '{ 10.96.0.1 . tcp . 80 }']]],
    ['adds an element', [['add', 'element', 'ip', 'kube-proxy', 'cluster-ips', '{ 1.2.3.4 }']]],
    ['flushes a set', [['flush', 'map', 'ip', 'kube-proxy', 'cluster-endpoints']]],
  ];
  for (const [what, commands] of alterations) {
    test(`NFT-7 the mode repairs the table at once and reports it if another program ${what}`, () =>
      withMode(async (mode, namespace) => {
        addServices(mode);
        await mode.sync();
        const before = canonicalRuleset(namespace);
        nft(namespace, 'add', 'table', 'ip', 'other');
        for (const command of commands) nft(namespace, ...command);
        await waitFor('the report of the repair', () => mode.events.lines.length > 0, { timeoutMs: 2000 });
        assert.match(mode.events.lines[0] ?? '', /^repaired: nft/);
        nft(namespace, 'add', 'table', 'ip', 'other');
        nft(namespace, 'delete', 'table', 'ip', 'other');
        assert.equal(canonicalRuleset(namespace), before);
      }));
  }

  test('NFT-7 the mode repairs what another program changes during a large sync, while the watch is paused', () =>
    withMode(async (mode, namespace) => {
      addServices(mode);
      await mode.sync();
      for (let i = 0; i < 1000; i++) mode.setService(service(`s${i}`, { clusterIP: `10.100.${i >> 8}.${i & 255}` }));
      const syncing = mode.sync();
      nft(namespace, 'delete', 'element', 'ip', 'kube-proxy', 'cluster-ips', '{ 10.96.0.1 }');
      await syncing;
      await waitFor('a repair', () => mode.events.lines.some(line => line.startsWith('repaired')));
      assert.match(nft(namespace, 'list', 'set', 'ip', 'kube-proxy', 'cluster-ips'), /10\.96\.0\.1[,\s]/);
    }));

  test('NFT-7 the mode removes a chain that another program adds to our table', () =>
    withMode(async (mode, namespace) => {
      addServices(mode);
      await mode.sync();
      nft(namespace, 'add', 'chain', 'ip', 'kube-proxy', 'stray');
      await waitFor('the chain is gone', () => !nft(namespace, 'list', 'chains').includes('chain stray'));
    }));

  test('NFT-7 if another program undoes every repair, the mode still repairs, but after growing pauses', () =>
    withMode(async (mode, namespace) => {
      addServices(mode);
      await mode.sync();
      const undoRepair = () => nft(namespace, 'delete', 'element', 'ip', 'kube-proxy', 'cluster-ips', '{ 10.96.0.1 }');
      for (let i = 1; i <= 10; i++) {
        undoRepair();
        await waitFor(`repair ${i}`, () => mode.events.lines.length === i, { timeoutMs: 2000 });
      }
      undoRepair();
      await delay(400);
      assert.equal(mode.events.lines.length, 10);
      await waitFor('repair 11', () => mode.events.lines.length === 11);
    }));

  test('NFT-7 our own writes and changes of other tables are not drift, and the mode does not touch other tables', () =>
    withMode(async (mode, namespace) => {
      nft(namespace, 'add', 'table', 'ip', 'other');
      addServices(mode);
      await mode.sync();
      for (let i = 0; i < 20; i++) {
        mode.setEndpointSlice(
          slice('web-1', [`10.244.1.${i + 1}`], { ports: [{ name: 'http', protocol: 'TCP', port: 8080 }] }),
        );
        await mode.sync();
        nft(namespace, 'add', 'chain', 'ip', 'other', `chain${i}`);
      }
      await delay(100);
      assert.deepEqual(mode.events.lines, []);
      assert.equal(nft(namespace, 'list', 'table', 'ip', 'other').match(/chain chain/g)?.length, 20);
    }));

  test('NFT-7 a sync succeeds although another program has just deleted objects that the sync changes', () =>
    withMode(async (mode, namespace) => {
      addServices(mode);
      await mode.sync();
      nft(namespace, 'flush', 'ruleset');
      mode.deleteService('default/web');
      await mode.sync();
      await mode.settle();
      await delay(100);
      const found = canonicalRuleset(namespace);
      await inNamespace(async fresh => {
        const clean = new NftablesHarness(fresh);
        addServices(clean);
        clean.deleteService('default/web');
        await clean.sync();
        assert.equal(found, canonicalRuleset(fresh));
        await clean.close();
      });
      assert.deepEqual(mode.events.setAsides, []);
    }));
});

describe('Services that the kernel refuses', () => {
  // The kernel refuses the set, because the timeout is too long.
  const bad = (name: string, clusterIP: string) =>
    service(name, { clusterIP, sessionAffinity: 'ClientIP', sessionAffinityTimeoutSeconds: 1e15 });

  test('NFT-8 the mode sets a refused Service aside with its error, and programs the others', () =>
    withMode(async (mode, namespace) => {
      addServices(mode);
      mode.setService(bad('bad', '10.96.0.66'));
      mode.setEndpointSlice(slice('bad-1', ['10.244.1.66']));
      await mode.sync();
      assert.deepEqual(mode.setAside().map(setAsideName), ['default/bad']);
      assert.match(mode.setAside()[0]?.cause.message ?? '', /affinity-.*ERANGE|EINVAL/);
      assert.equal(mode.events.setAsides.length, 1);
      assert.ok(element(namespace, 'service-numbers', '10.96.0.1'));
      assert.equal(element(namespace, 'service-numbers', '10.96.0.66'), undefined);
    }));

  test('NFT-8 the mode retries a refused Service only after it changes', () =>
    withMode(async (mode, namespace) => {
      addServices(mode);
      await mode.sync();
      mode.setService(bad('bad', '10.96.0.66'));
      mode.setEndpointSlice(slice('bad-1', ['10.244.1.66']));
      await mode.sync();
      mode.setService(service('new', { clusterIP: '10.96.0.77' }));
      await mode.sync();
      assert.equal(mode.events.setAsides.length, 1, 'reported once');
      assert.ok(element(namespace, 'no-endpoint-services', '10.96.0.77'));
      mode.setService(service('bad', { clusterIP: '10.96.0.66' }));
      await mode.sync();
      assert.deepEqual(mode.setAside(), []);
      assert.ok(element(namespace, 'service-numbers', '10.96.0.66'));
    }));

  test('NFT-8 if the kernel refuses a new version of a Service, the last good version stays', () =>
    withMode(async (mode, namespace) => {
      addServices(mode);
      await mode.sync();
      mode.setService({
        ...bad('web', '10.96.0.1'),
        spec: { ...bad('web', '10.96.0.1').spec, ports: [{ name: 'http', protocol: 'TCP', port: 80, nodePort: 0 }] },
      });
      await mode.sync();
      assert.equal(mode.events.setAsides.length, 1);
      assert.ok(element(namespace, 'service-numbers', '10.96.0.1'));
      nft(namespace, 'flush', 'ruleset');
      await waitFor('a repair', () => mode.events.lines.length > 0);
      assert.ok(element(namespace, 'service-numbers', '10.96.0.1'), 'a repair writes the last good version');
      assert.equal(mode.events.setAsides.length, 1);
    }));

  test('NFT-8 the mode finds several refused Services among many', () =>
    withMode(async (mode, namespace) => {
      for (let i = 0; i < 50; i++) {
        const make = i % 17 === 3 ? bad : (name: string, clusterIP: string) => service(name, { clusterIP });
        mode.setService(make(`s${i}`, `10.96.1.${i}`));
        mode.setEndpointSlice(slice(`s${i}-1`, [`10.244.1.${i + 1}`]));
      }
      await mode.sync();
      assert.deepEqual(mode.setAside().map(setAsideName).sort(), ['default/s20', 'default/s3', 'default/s37']);
      assert.equal(nft(namespace, 'list', 'map', 'ip', 'kube-proxy', 'service-numbers').match(/: 0x/g)?.length, 47);
    }));
});

describe('cleanup', () => {
  test('NFT-9 the cleanup removes both tables and nothing else, and a second cleanup removes nothing', () =>
    inNamespace(async namespace => {
      nft(namespace, 'add', 'table', 'ip', 'other');
      for (const family of ['IPv4', 'IPv6'] as const) {
        const mode = new NftablesHarness(namespace, family);
        addServices(mode);
        await mode.sync();
        await mode.close();
      }
      const { removed, errors } = await cleanupNftables({ namespace });
      assert.deepEqual(removed, ['table ip kube-proxy', 'table ip6 kube-proxy']);
      assert.deepEqual(errors, []);
      assert.equal(nft(namespace, 'list', 'ruleset'), 'table ip other {\n}\n');
      assert.deepEqual((await cleanupNftables({ namespace })).removed, []);
    }));
});

describe('random histories', () => {
  const step = fc.oneof(
    { weight: 6, arbitrary: clusterEvent },
    { weight: 3, arbitrary: fc.constant('sync' as const) },
    { weight: 1, arbitrary: fc.constant('restart' as const) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        'flush ruleset',
        'flush map ip kube-proxy service-numbers',
        'flush map ip kube-proxy service-ips',
        'add rule ip kube-proxy services accept',
      ),
    },
  );

  test('NFT-10 after any events, restarts and drift the table is that of a fresh start with the final objects', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), steps =>
        withMode(async (mode, namespace) => {
          const events: ClusterEvent[] = [];
          let isThere = false;
          for (const next of steps) {
            if (next === 'sync') await mode.sync();
            else if (next === 'restart') await mode.restart();
            else if (typeof next !== 'string') {
              events.push(next);
              applyEvent(mode, next);
            } else if (isThere) nft(namespace, ...next.split(' '));
            if (next === 'flush ruleset') isThere = false;
            isThere ||= next === 'sync' || next === 'restart';
          }
          await mode.restart();
          await mode.sync();
          await mode.settle();
          const found = canonicalRuleset(namespace);
          await inNamespace(async fresh => {
            const clean = new NftablesHarness(fresh);
            for (const next of survivors(events)) applyEvent(clean, next);
            await clean.sync();
            assert.equal(found, canonicalRuleset(fresh));
            await clean.close();
          });
        }),
      ),
      { numRuns: 25, seed: 1 },
    );
  });
});
