import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { describe, test } from 'node:test';
import { listedRule } from '../../src/kernel/iptables/index.ts';
import { appendTo } from '../../src/lib/append-to.ts';
import { entryState, type KernelEntry, type KernelReading, type Listing } from '../../src/modes/index.ts';
import { iptablesFamily } from '../../src/modes/iptables-words.ts';
import type { Family } from '../../src/net/index.ts';
import { planName } from '../../src/plan/index.ts';
import { lineText, wrongLinks } from '../support/listed-lines.ts';
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
    const entries = new Map<string, KernelEntry[]>();
    for (const plan of loop.state.family(family).planner.plans()) {
      const reading = await readQuietly(() => mode.readBack(family, plan));
      const name = `${planName(plan)} ${family} ${where}`;
      assert.ok(reading, name);
      assert.deepEqual(differences(reading.entries), [], name);
      assert.equal(reading.incomplete, undefined, name);
      assert.ok(reading.entries.length > plan.frontends.length, name);
      for (const entry of reading.entries) appendTo(entries, plan.service, entry);
    }
    for (const [service, read] of entries) {
      const listing = await mode.listing(family, loop.state.family(family).planner.plansOf(service));
      assertListed(listing, read, family, `${service} ${family} ${where}`);
    }
  }
}

/** What the kernel has for the Service is listed, and what is listed for the Service is in the kernel. */
function assertListed(listing: Listing, entries: readonly KernelEntry[], family: Family, name: string): void {
  assert.deepEqual(wrongLinks(listing), [], name);
  const kinds = ['rule', 'element', 'set entry', 'virtual server', 'real server', 'address'];
  const read = entries.filter(({ kind }) => kinds.includes(kind));
  const found = new Set(read.map(({ found: text = '' }) => saved(text, family)));
  const listed = listing.blocks.flatMap(({ id, lines }) => (id === 'listeners' ? [] : lines));
  const all = new Set(listed.map(line => saved(lineText(line), family)));
  // A reading also has the rules that other service ports have in this chain.
  const isOfOthers = (text: string) => text.startsWith('-A KUBE-IPVS-OUT-FILTER ');
  const lacking = [...found].filter(text => !all.has(text) && !isOfOthers(text));
  assert.deepEqual(lacking, [], `${name}: what the listing lacks`);
  const own = listed.filter(({ service }) => service !== undefined).map(line => saved(lineText(line), family));
  assert.deepEqual(
    own.filter(text => !found.has(text)),
    [],
    `${name}: what only the listing has`,
  );
}

/** iptables-save lists a rule in other words than a mode writes it. */
function saved(text: string, family: Family): string {
  const [, start, rule] = /^(-A [A-Z]\S+ )(.*)$/.exec(text) ?? [];
  return start === undefined || rule === undefined ? text : start + listedRule(iptablesFamily(family), rule);
}

/** The mode itself works from time to time, and on a busy machine a reading may take longer than it may. */
async function readQuietly(read: () => Promise<KernelReading> | undefined): Promise<KernelReading | undefined> {
  for (let attempt = 1; ; attempt++) {
    const reading = await read();
    if (reading?.incomplete === undefined || attempt === 10) return reading;
  }
}
