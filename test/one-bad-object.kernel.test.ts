import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, test } from 'node:test';
import type { EndpointSlice, Service } from '../src/api/index.ts';
import { NetworkNamespace } from '../src/kernel/netns.ts';
import type { Mode } from '../src/modes/mode.ts';
import type { ServicePortPlan } from '../src/plan/index.ts';
import { assertSurvives, GOOD, INJECTED_RULE } from './support/hostile-objects.ts';
import { IptablesHarness } from './support/iptables-mode.ts';
import { type ModeHarness, modeSettingsFor } from './support/mode-harness.ts';
import { NftablesHarness } from './support/nftables-mode.ts';
import { service, slice } from './support/objects.ts';
import { brokenPlan, planOf } from './support/plans.ts';
import { UserspaceHarness } from './support/userspace-mode.ts';

type Objects = readonly (Service | EndpointSlice)[];

const MODES: Readonly<Record<string, (namespace: NetworkNamespace) => ModeHarness<Mode>>> = {
  nftables: namespace => new NftablesHarness(namespace),
  iptables: namespace => new IptablesHarness(namespace),
  userspace: namespace => new UserspaceHarness(namespace),
};

/** All rules of the kernel, as nft and iptables list them. */
function ruleset(namespace: NetworkNamespace): string {
  const programs: [string, string[]][] = [
    ['nft', ['list', 'ruleset']],
    ['iptables-save', []],
  ];
  return programs
    .map(([program, args]) => namespace.run(() => spawnSync(program, args, { encoding: 'utf8' })).stdout)
    .join('');
}

async function withMode(mode: string, work: (harness: ModeHarness<Mode>, listing: () => string) => Promise<void>) {
  const namespace = NetworkNamespace.create();
  namespace.run(() => spawnSync('ip', ['link', 'set', 'lo', 'up']));
  const harness = MODES[mode]?.(namespace) ?? assert.fail(`there is no mode ${mode}`);
  try {
    await work(harness, () => ruleset(namespace));
  } finally {
    await harness.close();
    namespace.close();
  }
}

const BAD_OBJECTS: Readonly<Record<string, Objects>> = {
  'a cluster IP of the wrong family': [
    service('bad', { clusterIP: 'fd00::1', clusterIPs: ['fd00::1'], ipFamilies: ['IPv4'] }),
    slice('bad-1', ['10.244.1.2']),
  ],
  'an endpoint of the wrong family': [
    service('bad', { clusterIP: '10.96.0.2' }),
    slice('bad-1', ['fd00::5'], { addressType: 'IPv4' }),
  ],
};

/** The kernel leads to the cluster IP and node port of the good Service, and has no rule that a name asked for. */
function assertGood(listing: string): void {
  assert.match(listing, /10\.96\.0\.1 \. tcp \. 80|-d 10\.96\.0\.1\/32 -p tcp .*--dport 80 -j/);
  assert.match(listing, /tcp \. 30080|--dport 30080 -j/);
  assert.doesNotMatch(listing, INJECTED_RULE);
}

for (const mode of Object.keys(MODES)) {
  describe(`one bad object in ${mode} mode`, () => {
    for (const [what, objects] of Object.entries(BAD_OBJECTS)) {
      test(`MODEL-22 ${what} leaves all other Services as they are`, () =>
        withMode(mode, async (harness, listing) => {
          harness.set(...objects, ...GOOD);
          await harness.sync();
          assertGood(listing());
          assert.deepEqual(harness.setAside(), []);
        }));
    }

    test('MODE-10 a service port that cannot be prepared is set aside alone, at the first sync and at later ones', () =>
      withMode(mode, async (harness, listing) => {
        const sync = (...added: ServicePortPlan[]) =>
          harness.mode.sync('IPv4', { added, updated: [], removed: [] }, modeSettingsFor('IPv4'));
        await sync(brokenPlan('a'), planOf('good', ['10.244.1.1']));
        assert.match(listing(), /10\.96\.0\.1/);
        await sync(brokenPlan('b'), planOf('other', ['10.244.1.5']));
        assert.match(listing(), /default.other/);
        const setAside = harness.setAside().map(({ name, cause }) => [name, cause.code, cause.message]);
        assert.deepEqual(setAside.sort(), [
          ['a', 'INTERNAL', 'no frontends'],
          ['b', 'INTERNAL', 'no frontends'],
        ]);
      }));

    test('MODE-10 whatever one Service contains, the others are programmed', () =>
      withMode(mode, (harness, listing) =>
        assertSurvives(harness, () => assertGood(listing()), { numRuns: mode === 'nftables' ? 100 : 30 }),
      ));

    test('MODE-10 a name with a quote and a line feed writes no rule of its own', () =>
      withMode(mode, async (harness, listing) => {
        const name = 'x"\n-A KUBE-SERVICES -j LOG --log-prefix evil\n-A KUBE-SERVICES -m comment --comment "y';
        const bad = service(`default/${name}`, { clusterIP: '10.96.0.2', ports: [{ name }] });
        const badSlice = slice(`default/bad-1`, ['10.244.1.2'], { service: name });
        harness.set(bad, badSlice, ...GOOD);
        await harness.sync();
        assertGood(listing());
      }));
  });
}
