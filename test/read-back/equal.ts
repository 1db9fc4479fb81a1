import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { describe, test } from 'node:test';
import { entryState, type KernelEntry, type KernelReading } from '../../src/modes/index.ts';
import { CHANGED_MEANWHILE } from '../../src/modes/read-back.ts';
import { planName } from '../../src/plan/index.ts';
import { createLoopbackNode } from '../support/namespaces.ts';
import { CaseObjects } from '../traffic/case-objects.ts';
import type { Mode } from '../traffic/modes.ts';
import { caseFolders, readCase } from '../traffic/recorded-case.ts';
import { caseSettings } from '../traffic/settings.ts';
import { type StartedProxy, type StartOptions, startProxy } from '../traffic/start-proxy.ts';

/** `unexpected rule in chain …: …`, for each entry that is not equal. */
export function differences(entries: readonly KernelEntry[]): readonly string[] {
  return entries.flatMap(entry => {
    const state = entryState(entry);
    if (state === 'equal') return [];
    const text = state === 'different' ? `${entry.found} instead of ${entry.wanted}` : (entry.found ?? entry.wanted);
    return [`${state} ${entry.kind} in ${entry.place}: ${text}`];
  });
}

interface SuiteOptions extends StartOptions {
  /** The default is every recorded case. */
  readonly cases?: readonly string[];
}

/** After each step of the recorded cases, each service port's entries are what the mode wants. */
export function equalSuite(rule: string, mode: Mode, { cases, ...options }: SuiteOptions = {}): void {
  describe(`readings in ${mode} mode`, { concurrency: 3 }, () => {
    const folders = caseFolders(mode).filter(folder => cases?.includes(basename(folder)) ?? true);
    for (const folder of folders) test(`${rule} ${folder}`, () => equalCase(folder, mode, options));
  });
}

async function equalCase(folder: string, mode: Mode, options: StartOptions): Promise<void> {
  const { steps, configuration } = await readCase(folder);
  const namespace = createLoopbackNode();
  const proxy = startProxy(mode, namespace, caseSettings(configuration, mode), options);
  const objects = new CaseObjects();
  try {
    for (const [number, step] of steps.entries()) {
      await proxy.apply(objects.apply(step));
      await assertEqual(proxy, `step ${number}`);
    }
  } finally {
    await proxy.close();
    namespace.close();
  }
}

async function assertEqual({ loop, mode }: StartedProxy, where: string): Promise<void> {
  for (const family of loop.families) {
    for (const plan of loop.state.family(family).planner.plans()) {
      const reading = await readQuietly(() => mode.readBack(family, plan));
      const name = `${planName(plan)} ${family} ${where}`;
      assert.ok(reading, name);
      assert.deepEqual(differences(reading.entries), [], name);
      assert.equal(reading.incomplete, undefined, name);
      assert.ok(reading.entries.length > plan.frontends.length, name);
    }
  }
}

/** The mode itself works from time to time, for example because it looks for drift. */
async function readQuietly(read: () => Promise<KernelReading> | undefined): Promise<KernelReading | undefined> {
  for (let attempt = 1; ; attempt++) {
    const reading = await read();
    if (reading?.incomplete !== CHANGED_MEANWHILE || attempt === 10) return reading;
  }
}
