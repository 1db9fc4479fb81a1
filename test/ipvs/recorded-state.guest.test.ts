import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { FAMILIES, type Family } from '../../src/net/index.ts';
import { startIpvsProxy } from '../support/ipvs-proxy.ts';
import { canonicalRules, rulesOf, type State, stateWithoutRules } from '../support/ipvs-state.ts';
import { createNodeNamespace } from '../support/namespaces.ts';
import { CaseObjects, NODE_NAME } from '../traffic/case-objects.ts';
import { allCaseFolders, type Configuration, type RecordedCase, readCase } from '../traffic/recorded-case.ts';
import { caseSettings } from '../traffic/settings.ts';

/** What upstream's kube-proxy left in the kernel after a step. */
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
  readonly proxy: ReturnType<typeof startIpvsProxy>;
  state(): State;
  /** The objects of the last case. */
  readonly left: CaseObjects[];
  close(): Promise<void>;
}

function start(configuration: Configuration): Running {
  const namespace = createNodeNamespace();
  // Starting a program takes long in a guest. So the test lists rules only after the mode wrote them.
  const rules: Record<Family, string> = { IPv4: '', IPv6: '' };
  const proxy = startIpvsProxy(namespace, caseSettings(configuration, 'ipvs'), NODE_NAME, {
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
  return { proxy, state, left: [], close };
}

/** Compares after each step. The first step also removes the objects of the case before. */
async function compare({ state, proxy, left }: Running, { folder, steps }: RecordedCase): Promise<void> {
  const before = left.splice(0).map(former => former.take({ set: [], removed: former.all }));
  const objects = new CaseObjects();
  left.push(objects);
  for (const [number, step] of steps.entries()) {
    await proxy.apply(...(number === 0 ? before : []), objects.take(step));
    assert.deepEqual(state(), recorded(folder, number), `step ${number}`);
  }
}

const cases = await Promise.all(
  allCaseFolders('ipvs')
    .filter(folder => existsSync(join(folder, 'ipvs')))
    .map(readCase),
);

/** The cases run in one process, so each must leave nothing behind. */
describe('the recorded state of upstream', () => {
  let running: Running;
  before(() => {
    running = start({});
  });
  after(() => running.close());
  for (const recordedCase of cases.filter(({ configuration }) => Object.keys(configuration).length === 0)) {
    test(`IPVS-1 ${recordedCase.folder}`, () => compare(running, recordedCase));
  }
});

describe('the recorded state of upstream with other configurations', () => {
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
