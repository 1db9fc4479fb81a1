import assert from 'node:assert/strict';
import { test } from 'node:test';
import { differences } from '../../../test/read-back/equal.ts';
import { BALANCED, type BalancedService, balancedService } from '../../../test/support/balanced-service.ts';
import { wrongLinks } from '../../../test/support/listed-lines.ts';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { detectorFor, ModeHarness, modeSettingsFor } from '../../../test/support/mode-harness.ts';
import { withNamespace } from '../../../test/support/namespaces.ts';
import { canonicalRuleset, generation, NftablesHarness, nft } from '../../../test/support/nftables-mode.ts';
import { waitFor } from '../../../test/support/wait-for.ts';
import { ANNOTATION_HASH_BY, ANNOTATION_WEIGHTS } from '../../api/index.ts';
import { NftablesSocket } from '../../kernel/nftables/index.ts';
import { ALGORITHMS } from '../../model/index.ts';
import { FAMILIES, type Family } from '../../net/index.ts';
import { kernelLookups } from './kernel-state/table-lookups.ts';
import { NftablesMode } from './mode.ts';
import { previewNftables } from './preview.ts';
import { readBackNftables } from './read-back.ts';
import { layoutOf } from './table/layout.ts';
import { RenderContext } from './table/shared-chains.ts';

const BASE = 'SUSTUHLJ-default/web/tcp/http';
/** The slots of a hash with up to 1024 endpoints. */
const HASH_SLOTS = 4093;
const PODS = BALANCED.IPv4.pods.slice(0, 2);
const HASH = (input: string) => `jhash ${input} mod ${HASH_SLOTS} seed 0x706d6e31`;

async function withService(
  family: Family,
  options: BalancedService,
  work: (harness: NftablesHarness) => Promise<void> | void,
): Promise<void> {
  await withNamespace(async namespace => {
    const harness = new NftablesHarness(namespace, family, { localDetector: detectorFor(family) });
    try {
      harness.set(...balancedService(family, options));
      await harness.sync();
      assert.deepEqual(harness.setAside(), []);
      await work(harness);
    } finally {
      await harness.close();
    }
  });
}

/** The rules of a chain, as nft prints them. */
function rules({ namespace }: NftablesHarness, family: Family, chain: string): readonly string[] {
  const lines = nft(namespace, 'list', 'chain', family === 'IPv4' ? 'ip' : 'ip6', 'kube-proxy', chain).split('\n');
  return lines.slice(2, -3).map(line => line.trim());
}

/** The values of a map by slot, as nft prints them. */
function slots({ namespace }: NftablesHarness, name: string): readonly string[] {
  const [, elements = ''] =
    /elements = \{([^}]*)\}/.exec(nft(namespace, 'list', 'map', 'ip', 'kube-proxy', name)) ?? [];
  const pairs = elements.split(',').map(text => text.trim().split(' : '));
  return pairs.toSorted(([a], [b]) => Number(a) - Number(b)).map(([, value = '']) => value);
}

for (const family of FAMILIES) {
  const nat = family === 'IPv4' ? 'dnat ip to' : 'dnat ip6 to';
  const saddr = family === 'IPv4' ? 'ip saddr' : 'ip6 saddr';
  const map = `map @slots-${BASE}`;
  const cases: readonly (readonly [BalancedService, string])[] = [
    [{ algorithm: 'round-robin' }, 'meta priority set numgen inc mod 3 goto slot-cluster'],
    [{ algorithm: 'least-connections' }, 'meta priority set numgen inc mod 3 goto slot-cluster'],
    [{ algorithm: 'consistent-hash', pods: BALANCED[family].pods.slice(0, 2) }, `${nat} ${HASH(saddr)} ${map}`],
    [
      {
        algorithm: 'consistent-hash',
        pods: BALANCED[family].pods.slice(0, 2),
        annotations: { [ANNOTATION_HASH_BY]: 'client-address-and-port' },
      },
      `${nat} ${HASH(`${saddr} . th sport`)} ${map}`,
    ],
  ];
  for (const [options, rule] of cases) {
    test(`BALANCE-31 BALANCE-32 BALANCE-33 ${family} has: ${rule}`, () =>
      withService(family, options, harness => {
        assert.deepEqual(rules(harness, family, `service-${BASE}`), [rule]);
        const external = rules(harness, family, `external-${BASE}`);
        assert.deepEqual(external.at(-1), `goto service-${BASE}`);
      }));
  }
}

test('BALANCE-30 weights repeat endpoints in the slots of the shared chains', () =>
  withService('IPv4', { algorithm: 'weighted', annotations: { [ANNOTATION_WEIGHTS]: '10.244.1.1=3' } }, harness => {
    const listed = nft(harness.namespace, 'list', 'map', 'ip', 'kube-proxy', 'cluster-endpoints');
    assert.equal(listed.match(/: 10\.244\.1\.1 \. 8080/g)?.length, 3);
    assert.equal(listed.match(/: 10\.244\.1\.\d \. 8080/g)?.length, 5);
    const targets = nft(harness.namespace, 'list', 'map', 'ip', 'kube-proxy', 'targets');
    assert.match(targets, /goto pick-cluster-5, .*goto external-nodeport-cluster-5/);
  }));

for (const family of FAMILIES) {
  const [nft, address] = family === 'IPv4' ? ['ip', 'ip daddr'] : ['ip6', 'ip6 daddr'];
  const frontend = 'meta l4proto . th dport . meta priority';
  test(`BALANCE-32 the ${family} chain of slots looks for frontends with an address, and then for node ports`, () =>
    withService(family, { algorithm: 'round-robin' }, harness =>
      assert.deepEqual(rules(harness, family, 'slot-cluster'), [
        `meta priority set none dnat ${nft} to ${address} . ${frontend} map @cluster-endpoints`,
        `meta priority set none dnat ${nft} to ${frontend} map @nodeport-cluster-endpoints`,
      ]),
    ));
}

for (const [algorithm, rule] of [
  ['round-robin', 'meta priority set numgen inc mod 1 goto slot-local'],
  ['consistent-hash', `dnat ip to ${HASH('ip saddr')} map @local-slots-${BASE}`],
] as const) {
  test(`BALANCE-31 endpoints of this node have a chain of their own with ${algorithm}`, () => {
    const spec = { externalTrafficPolicy: 'Local', internalTrafficPolicy: 'Local' } as const;
    return withService('IPv4', { algorithm, spec }, async harness => {
      const [web, endpoints] = balancedService('IPv4', { algorithm, spec });
      const [first = assert.fail(), ...others] = endpoints.endpoints;
      harness.set(web, { ...endpoints, endpoints: [{ ...first, nodeName: 'node-a' }, ...others] });
      await harness.sync();
      assert.deepEqual(rules(harness, 'IPv4', `local-${BASE}`), [rule]);
      assert.equal(rules(harness, 'IPv4', `external-${BASE}`).at(-1), `goto local-${BASE}`);
    });
  });
}

test('BALANCE-34 with session affinity the map gives the number of an endpoint', () => {
  const spec = { sessionAffinity: 'ClientIP' } as const;
  return withService('IPv4', { algorithm: 'round-robin', pods: PODS, spec }, harness => {
    const known = rules(harness, 'IPv4', `service-${BASE}`);
    assert.deepEqual(
      known.map(rule => rule.replace(/[A-Z2-7]{8}-default\/web\/tcp\/http__/g, '')),
      [
        'ip saddr @affinity-10.244.1.1/8080 goto endpoint-10.244.1.1/8080',
        'ip saddr @affinity-10.244.1.2/8080 goto endpoint-10.244.1.2/8080',
        `meta priority set numgen inc mod 2 map @choices-${BASE}`,
        'meta priority 0:1 meta priority set none goto endpoint-10.244.1.1/8080',
        'meta priority 0:2 meta priority set none goto endpoint-10.244.1.2/8080',
      ],
    );
    assert.deepEqual(slots(harness, `choices-${BASE}`).toSorted(), ['0x00000001', '0x00000002']);
  });
});

test('BALANCE-34 session affinity with equal chances has the rules that it has without a choice', () =>
  withService('IPv4', { algorithm: 'random', spec: { sessionAffinity: 'ClientIP' } }, harness => {
    const [, , , first = ''] = rules(harness, 'IPv4', `service-${BASE}`);
    assert.match(first, /^numgen random mod 3 0 goto endpoint-/);
  }));

for (const algorithm of ALGORITHMS) {
  for (const sessionAffinity of ['None', 'ClientIP'] as const) {
    const options = {
      algorithm,
      annotations: { [ANNOTATION_WEIGHTS]: '10.244.1.1=3' },
      spec: { sessionAffinity },
    };
    test(`BALANCE-36 a reading, the listing, a preview and a restart know ${algorithm}, affinity ${sessionAffinity}`, () =>
      withService('IPv4', options, async harness => {
        const plans = harness.plans();
        const [plan = assert.fail()] = plans;
        assert.deepEqual(differences((await harness.mode.readBack('IPv4', plan)).entries), []);
        const listing = await harness.mode.listing('IPv4', plans);
        assert.deepEqual(wrongLinks(listing), []);
        const { namespace } = harness;
        const input = {
          family: 'IPv4',
          plans,
          settings: modeSettingsFor('IPv4'),
          against: 'kernel',
          namespace,
        } as const;
        assert.equal(await previewNftables({}, input), '');
        const before = generation(namespace);
        await harness.restart();
        assert.equal(generation(namespace), before);
      }));
  }
}

test('BALANCE-36 the listing has the chain and the map of the service port, with the first slots', () =>
  withService('IPv4', { algorithm: 'consistent-hash' }, async harness => {
    const { blocks } = await harness.mode.listing('IPv4', harness.plans());
    const own = blocks.filter(({ name }) => name.endsWith(BASE));
    assert.deepEqual(
      own.map(({ id, servicePort, lines, total }) => [id, servicePort, lines.length, total]).toSorted(),
      [
        [`chain external-${BASE}`, 'default/web:http', 2, 2],
        [`chain service-${BASE}`, 'default/web:http', 1, 1],
        [`map slots-${BASE}`, 'default/web:http', 200, HASH_SLOTS],
      ],
    );
  }));

test('BALANCE-36 the mode repairs chains and maps of one service port', () =>
  withService('IPv4', { algorithm: 'consistent-hash' }, async ({ namespace }) => {
    const wanted = canonicalRuleset(namespace);
    for (const damage of [
      ['flush', 'map', 'ip', 'kube-proxy', `slots-${BASE}`],
      ['add', 'element', 'ip', 'kube-proxy', `slots-${BASE}`, `{ ${HASH_SLOTS} : 10.9.9.9 . 1 }`],
      ['flush', 'chain', 'ip', 'kube-proxy', `service-${BASE}`],
    ]) {
      nft(namespace, ...damage);
      await waitFor(`the mode has repaired: ${damage.join(' ')}`, () => canonicalRuleset(namespace) === wanted);
    }
  }));

test('BALANCE-36 a reading finds a slot that is missing, and one too many', () =>
  withNamespace(async namespace => {
    // No time passes for the mode, so it repairs nothing.
    const clock = new ManualClock();
    const harness = new ModeHarness(events => new NftablesMode({ namespace, events, clock }));
    try {
      harness.set(...balancedService('IPv4', { algorithm: 'consistent-hash', pods: PODS }));
      await harness.sync();
      const [plan = assert.fail()] = harness.plans();
      nft(namespace, 'delete', 'element', 'ip', 'kube-proxy', `slots-${BASE}`, '{ 0x1 }');
      nft(namespace, 'add', 'element', 'ip', 'kube-proxy', `slots-${BASE}`, `{ ${HASH_SLOTS} : 10.9.9.9 . 1 }`);
      const { entries } = await harness.mode.readBack('IPv4', plan);
      assert.deepEqual(
        differences(entries).map(text => text.split(':')[0]),
        [`missing element in map ip kube-proxy slots-${BASE}`, `unexpected element in map ip kube-proxy slots-${BASE}`],
      );
    } finally {
      await harness.close();
    }
  }));

test('BALANCE-36 a reading finds slots that the kernel leaves out of a list', () =>
  withService('IPv4', { algorithm: 'consistent-hash' }, async harness => {
    const [plan = assert.fail()] = harness.plans();
    const layout = layoutOf('IPv4');
    const options = modeSettingsFor('IPv4', { localDetector: detectorFor('IPv4') });
    const socket = NftablesSocket.open({ namespace: harness.namespace });
    try {
      const lookups = kernelLookups(socket, layout);
      const { entries } = await readBackNftables({
        context: new RenderContext(layout, options),
        options,
        lookups: { ...lookups, elements: (set, limit) => lookups.elements(set, limit).slice(1000) },
        plan,
      });
      assert.deepEqual(differences(entries), []);
    } finally {
      socket.close();
    }
  }));

test('BALANCE-31 the mode removes the chain and the map when the Service does not choose any more', () =>
  withService('IPv4', { algorithm: 'consistent-hash' }, async harness => {
    const names = () => nft(harness.namespace, 'list', 'table', 'ip', 'kube-proxy').match(/(chain|map) .*\/.*(?= \{)/g);
    assert.deepEqual(names()?.toSorted(), [`chain external-${BASE}`, `chain service-${BASE}`, `map slots-${BASE}`]);
    harness.set(...balancedService('IPv4', { algorithm: 'random' }));
    await harness.sync();
    await harness.settle();
    assert.equal(names(), null);
    harness.set(...balancedService('IPv4', { algorithm: 'round-robin' }));
    await harness.sync();
    assert.deepEqual(names()?.toSorted(), [`chain external-${BASE}`, `chain service-${BASE}`]);
    assert.deepEqual(harness.events.lines, []);
  }));
