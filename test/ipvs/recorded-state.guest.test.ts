import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { FAMILIES, type Family } from '../../src/net/index.ts';
import { canonicalRules, rulesOf, type State, stateWithoutRules } from '../support/ipvs-state.ts';
import { createNodeNamespace } from '../support/namespaces.ts';
import { CaseObjects } from '../traffic/case-objects.ts';
import { allCaseFolders, type Configuration, type RecordedCase, readCase } from '../traffic/recorded-case.ts';
import { caseSettings } from '../traffic/settings.ts';
import { startProxy } from '../traffic/start-proxy.ts';
import type { RunningProxy } from '../traffic/suite.ts';

/** The state of the kernel that was recorded from the real kube-proxy after a step. */
function recorded(folder: string, step: number): State {
  const place = join(folder, 'ipvs', step === 0 ? '' : `step-${step}`);
  const names = ['addrs.txt', 'ipset.txt', 'ipvs.txt', 'iptables.v4.txt', 'iptables.v6.txt'];
  return Object.fromEntries(
    names.map(name => {
      const text = readFileSync(join(place, name), 'utf8');
      return [name, name.startsWith('iptables') ? canonicalRules(text) : text];
    }),
  );
}

interface Running {
  readonly proxy: RunningProxy;
  state(): State;
  /** The objects of the last case. The next case removes them. */
  readonly formerObjects: CaseObjects[];
  close(): Promise<void>;
}

function start(configuration: Configuration): Running {
  const namespace = createNodeNamespace();
  // Starting a program takes long in a guest, so this lists rules again only after the proxy wrote rules.
  const rules: Record<Family, string> = { IPv4: '', IPv6: '' };
  const proxy = startProxy('ipvs', namespace, caseSettings(configuration, 'ipvs'), {
    measured: (family, { kind }) => {
      if (kind === 'rules') rules[family] = '';
    },
  });
  const state = () => {
    for (const family of FAMILIES) rules[family] ||= rulesOf(namespace, family);
    return { ...stateWithoutRules(namespace), 'iptables.v4.txt': rules.IPv4, 'iptables.v6.txt': rules.IPv6 };
  };
  const close = async () => {
    await proxy.close();
    namespace.close();
  };
  return { proxy, state, formerObjects: [], close };
}

/** Compares the state after each step. The first step also removes the objects of the case before. */
async function compare({ state, proxy, formerObjects }: Running, { folder, steps }: RecordedCase): Promise<void> {
  const removals = formerObjects.splice(0).map(former => former.apply({ set: [], removed: former.all }));
  const objects = new CaseObjects();
  formerObjects.push(objects);
  for (const [number, step] of steps.entries()) {
    await proxy.apply(...(number === 0 ? removals : []), objects.apply(step));
    assert.deepEqual(state(), recorded(folder, number), `step ${number}`);
  }
}

const cases = await Promise.all(
  allCaseFolders('ipvs')
    .filter(folder => existsSync(join(folder, 'ipvs')))
    .map(readCase),
);

/** One proxy runs all cases, one after another, so that a case that leaves something behind fails the next. */
describe('the kernel has the state that was recorded from the real kube-proxy', () => {
  let running: Running;
  before(() => {
    running = start({});
  });
  after(() => running.close());
  for (const recordedCase of cases.filter(({ configuration }) => Object.keys(configuration).length === 0)) {
    test(`IPVS-1 ${recordedCase.folder}`, () => compare(running, recordedCase));
  }
});

describe('the kernel has the recorded state with other configurations too', () => {
  for (const recordedCase of cases.filter(({ configuration }) => Object.keys(configuration).length > 0)) {
    test(`IPVS-1 ${recordedCase.folder}`, async () => {
      const running = start(recordedCase.configuration);
      try {
        await compare(running, recordedCase);
      } finally {
        await running.close();
      }
    });
  }
});
