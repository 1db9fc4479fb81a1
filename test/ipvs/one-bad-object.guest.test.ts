import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ServicePortPlan } from '../../src/plan/index.ts';
import { assertSurvives } from '../support/hostile-objects.ts';
import { IpvsHarness } from '../support/ipvs-mode.ts';
import { servers } from '../support/ipvs-state.ts';
import { modeSettingsFor } from '../support/mode-harness.ts';
import { createNodeNamespace } from '../support/namespaces.ts';
import { brokenPlan, planOf } from '../support/plans.ts';

async function withMode(work: (harness: IpvsHarness, listing: () => string) => Promise<void>): Promise<void> {
  const namespace = createNodeNamespace();
  const harness = new IpvsHarness(namespace);
  try {
    await work(harness, () => servers(namespace));
  } finally {
    await harness.close();
    namespace.close();
  }
}

describe('one bad object in ipvs mode', () => {
  test('MODE-10 a service port that cannot be prepared is set aside alone, at the first sync and at later ones', () =>
    withMode(async (harness, listing) => {
      const sync = (...added: ServicePortPlan[]) =>
        harness.mode.sync('IPv4', { added, updated: [], removed: [] }, modeSettingsFor('IPv4'));
      await sync(brokenPlan('a'), planOf('good', ['10.244.1.1']));
      assert.match(listing(), /-r 10\.244\.1\.1:8080/);
      await sync(brokenPlan('b'));
      const setAside = harness.setAside().map(({ name, cause }) => [name, cause.code, cause.message]);
      assert.deepEqual(setAside.sort(), [
        ['a', 'INTERNAL', 'no frontends'],
        ['b', 'INTERNAL', 'no frontends'],
      ]);
    }));

  test('MODE-10 whatever one Service contains, the others are programmed', () =>
    withMode((harness, listing) =>
      assertSurvives(harness, () => assert.match(listing(), /^-A -t 10\.96\.0\.1:80 -s rr$/m), { numRuns: 10 }),
    ));
});
