import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { applyEvent, type ClusterEvent, survivors } from '../../../test/support/cluster-events.ts';
import {
  DEFAULT_SETTINGS,
  eventsStep,
  history,
  LARGE,
  NEEDS_ALL_PARTS,
  type Step,
} from '../../../test/support/ebpf-history.ts';
import { countedEndpoints, leastConnectionsEndpoints, mapContents } from '../../../test/support/ebpf-map-contents.ts';
import { EbpfLab } from '../../../test/support/ebpf-mode.ts';
import { FAMILIES, type Family } from '../../net/index.ts';

/** The steps so far, as far as they say what the maps must have. */
class Wanted {
  readonly #events: ClusterEvent[] = [];
  readonly left = new Map<Family, readonly string[]>();
  settings = DEFAULT_SETTINGS;

  apply(lab: EbpfLab, events: readonly ClusterEvent[]): void {
    this.#events.push(...events);
    for (const event of events) applyEvent(lab.harness, event);
  }

  /** Brings a mode that begins anew to what is wanted. */
  async start(lab: EbpfLab): Promise<void> {
    for (const event of survivors(this.#events)) applyEvent(lab.harness, event);
    for (const [family, ids] of this.left) await lab.harness.mode.leave(family, ids);
    await lab.harness.sync(this.settings);
  }
}

async function perform(step: Step, lab: EbpfLab, wanted: Wanted): Promise<void> {
  const { harness } = lab;
  if (step.kind === 'events') wanted.apply(lab, step.events);
  else if (step.kind === 'settings') wanted.settings = step.settings;
  else if (step.kind === 'leave') {
    wanted.left.set(step.family, step.ids);
    await harness.mode.leave(step.family, step.ids);
  } else if (step.kind === 'restart') {
    await harness.restart();
    for (const [family, ids] of wanted.left) await harness.mode.leave(family, ids);
  } else {
    // Another program empties a map.
    const map = step.kind === 'damage' ? harness.mode.maps?.get('frontends4') : undefined;
    map?.removeBatch(map.entries().keys);
    await harness.mode.lookForDrift();
  }
  await harness.sync(wanted.settings);
}

/** The maps are compared before the mode itself looks for drift, because a repair would hide what the writer did wrong. */
async function compareWithFreshStart(lab: EbpfLab, wanted: Wanted): Promise<void> {
  const { harness } = lab;
  await EbpfLab.with(async fresh => {
    await wanted.start(fresh);
    assert.deepEqual(mapContents(harness.mode.maps), mapContents(fresh.harness.mode.maps));
    const reports = lab.lines.length;
    // A look removes endpoints that are no longer counted. Nothing else is left to do.
    await harness.mode.lookForDrift();
    assert.deepEqual(lab.lines.slice(reports), []);
    assert.deepEqual(countedEndpoints(lab.folder), leastConnectionsEndpoints(harness.mode.maps));
  });
}

function checkHistory(steps: readonly Step[]): Promise<void> {
  return EbpfLab.with(async lab => {
    const wanted = new Wanted();
    for (const step of steps) await perform(step, lab, wanted);
    await compareWithFreshStart(lab, wanted);
    assert.equal(lab.harness.mode.condition().isServing, true);
  });
}

test('EBPF-11 after any changes, restarts and drift the maps are those of a fresh start', () =>
  fc.assert(
    fc.asyncProperty(history, fc.nat({ max: 3 }), (steps, parts) =>
      checkHistory(parts > 0 ? [eventsStep(NEEDS_ALL_PARTS), ...steps] : steps),
    ),
    { numRuns: 30, seed: 1 },
  ));

test('EBPF-11 after the maps had to grow they are those of a fresh start', () =>
  checkHistory([
    eventsStep([{ kind: 'service', object: LARGE }]),
    ...fc.sample(history, { numRuns: 1, seed: 2 }).flat(),
    eventsStep([{ kind: 'delete-service', key: 'default/large' }]),
  ]));

test('EBPF-11 sockets have nothing of Services that they leave to the network', () =>
  EbpfLab.with(async lab => {
    const wanted = new Wanted();
    for (const step of [eventsStep(NEEDS_ALL_PARTS), ...fc.sample(history, { numRuns: 1, seed: 3 }).flat()]) {
      await perform(step, lab, wanted);
    }
    const ids = ['a', 'b', 'c'].map(name => `default/${name}/TCP`);
    for (const family of FAMILIES) await lab.harness.mode.leave(family, ids);
    await EbpfLab.with(async fresh => {
      for (const event of NEEDS_ALL_PARTS) applyEvent(fresh.harness, event);
      await fresh.harness.sync(wanted.settings);
      assert.deepEqual(mapContents(lab.harness.mode.maps), mapContents(fresh.harness.mode.maps));
    });
  }));
