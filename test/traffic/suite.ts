import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EndpointSlice } from '../../src/api/index.ts';
import { Cluster, type ProbeResult } from '../../src/demo/playground/index.ts';
import { familyOf } from '../../src/net/index.ts';
import { describeAnswers } from './answers.ts';
import { askAll, forgetFlows } from './ask.ts';
import { CaseObjects, NODE_NAME, type ObjectChanges } from './case-objects.ts';
import { Endpoints } from './endpoints.ts';
import { clusterSources, type Question, questions } from './matrix.ts';
import type { Mode } from './modes.ts';
import { caseFolders, questionOf, type RecordedCase, readCase, readTraffic } from './recorded-case.ts';
import { type CaseSettings, caseSettings } from './settings.ts';

export { handOver, type ObjectChanges } from './case-objects.ts';
export type { Mode } from './modes.ts';
export type { CaseSettings } from './settings.ts';

export interface RunningProxy {
  /** Resolves when all changes are programmed. */
  apply(...changes: readonly ObjectChanges[]): Promise<void>;
  close(): Promise<void>;
}

export interface ProxyOptions {
  /** The proxy runs in the namespace `cluster.node`. */
  readonly cluster: Cluster;
  readonly settings: CaseSettings;
  readonly nodeName: string;
  /** The name of the case, for messages. */
  readonly caseName: string;
  /** All that the case has in any step. */
  readonly slices: readonly EndpointSlice[];
}

export type StartProxy = (options: ProxyOptions) => Promise<RunningProxy>;

/** Looks at the cluster when all questions of a step are answered. */
export type AfterStep = (cluster: Cluster, asked: readonly Question[], results: readonly ProbeResult[]) => void;

/**
 * How many cases run at the same time. Most of a case is waiting for answers that do not come, most of all in ipvs
 * mode.
 */
const CONCURRENT_CASES: Readonly<Record<Mode, number>> = { nftables: 3, ebpf: 4, iptables: 3, ipvs: 8, userspace: 3 };

/** Runs every recorded case with real packets. The names of the tests cite the rule. */
export function trafficSuite(rule: string, mode: Mode, startProxy: StartProxy, afterStep?: AfterStep): void {
  describe(`traffic in ${mode} mode`, { concurrency: CONCURRENT_CASES[mode] }, () => {
    for (const folder of caseFolders(mode)) {
      test(`${rule} ${folder}`, () => trafficCase(folder, mode, startProxy, afterStep));
    }
  });
}

/** Fails unless every question is answered exactly as recorded. */
export async function trafficCase(
  folder: string,
  mode: Mode,
  startProxy: StartProxy,
  afterStep?: AfterStep,
): Promise<void> {
  const lines = await observeCase(await readCase(folder), mode, startProxy, afterStep);
  assert.equal(lines.join('\n'), readTraffic(folder, mode));
}

async function observeCase(
  recorded: RecordedCase,
  mode: Mode,
  startProxy: StartProxy,
  afterStep?: AfterStep,
): Promise<readonly string[]> {
  const cluster = Cluster.create();
  const endpoints = new Endpoints(cluster);
  const settings = caseSettings(recorded.configuration, mode);
  try {
    const slices = recorded.steps.flatMap(({ set }) => set.filter(object => object.kind === 'EndpointSlice'));
    const proxy = await startProxy({ cluster, settings, nodeName: NODE_NAME, caseName: recorded.name, slices });
    try {
      return await observeSteps(recorded, settings, { cluster, endpoints, proxy, afterStep });
    } finally {
      await proxy.close();
    }
  } finally {
    await endpoints.close();
    cluster.close();
  }
}

/** The recorded questions that nobody answers. */
function silentQuestions(folder: string, mode: Mode): ReadonlySet<string> {
  const lines = readTraffic(folder, mode).split('\n');
  return new Set(lines.filter(line => line.endsWith(' => timeout')).map(questionOf));
}

interface Observed {
  readonly cluster: Cluster;
  readonly endpoints: Endpoints;
  readonly proxy: RunningProxy;
  readonly afterStep: AfterStep | undefined;
}

async function observeSteps(
  { folder, steps }: RecordedCase,
  { mode, scheduler }: CaseSettings,
  { cluster, endpoints, proxy, afterStep }: Observed,
): Promise<readonly string[]> {
  const silent = silentQuestions(folder, mode);
  const objects = new CaseObjects();
  const lines: string[] = [];
  for (const [number, step] of steps.entries()) {
    await proxy.apply(objects.apply(step));
    await endpoints.serve(step.set.filter(object => object.kind === 'EndpointSlice'));
    await forgetFlows(cluster.node);
    const asked = questions(objects.services, clusterSources(cluster, endpoints));
    const label = number === 0 ? '' : `[step ${number}] `;
    const results = await askAll(asked, mode, {
      endpointsOf: ({ service, ip }) => objects.endpointCount(service, familyOf(ip)),
      isSilent: ({ text }) => silent.has(`${label}${text}`),
    });
    afterStep?.(cluster, asked, results);
    for (const [i, question] of asked.entries()) {
      const result = results[i];
      if (result) lines.push(`${label}${question.text} => ${describeAnswers(question, result, scheduler)}`);
    }
  }
  return lines;
}
