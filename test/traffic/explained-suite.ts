import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { describe, test } from 'node:test';
import type { EndpointSlice } from '../../src/api/index.ts';
import type { Explanation } from '../../src/explain/index.ts';
import { describeAnswers } from './answers.ts';
import { type ExplainedCase, withExplainedCase } from './explained-case.ts';
import { type Question, questions } from './matrix.ts';
import type { Mode } from './modes.ts';
import { caseFolders, readCase, readTraffic } from './recorded-case.ts';
import { type RecordedSource, recordedSources, resultIn } from './recorded-network.ts';
import { caseSettings } from './settings.ts';
import type { StartOptions } from './start-proxy.ts';

/** Together they have every kind of frontend, policy, protocol and family. */
const CASES: ReadonlySet<string> = new Set(
  process.env['CASES']?.split(',') ?? [
    'clusterip-many-ports-protocols',
    'dual-stack',
    'external-ips',
    'internal-policy-local',
    'loadbalancer-local',
    'loadbalancer-source-ranges',
    'no-endpoints',
    'nodeport-local',
    'seq-endpoints-roll',
    'session-affinity',
  ],
);

const KERNEL_TOPICS: ReadonlySet<string> = new Set(['kernel', 'connections', 'other rules', 'listeners']);

/** Explains every question of recorded cases with what the kernel has. Nothing may raise a false alarm. */
export function explainedSuite(mode: Mode, name: string, options: StartOptions = {}): void {
  describe(`explanations of a real kernel in ${name} mode`, () => {
    for (const folder of caseFolders(mode).filter(each => CASES.has(basename(each)))) {
      test(`EXPLAIN-22 ${folder}: no false alarm`, () => explainCase(folder, mode, options));
    }
  });
}

async function explainCase(folder: string, mode: Mode, options: StartOptions): Promise<void> {
  const { configuration, steps } = await readCase(folder);
  const settings = caseSettings(configuration, mode);
  await withExplainedCase(settings, options, async explained => {
    const slices: EndpointSlice[] = [];
    const lines: string[] = [];
    const found: string[] = [];
    for (const [number, step] of steps.entries()) {
      await explained.apply(step);
      slices.push(...step.set.filter(object => object.kind === 'EndpointSlice'));
      const label = number === 0 ? '' : `[step ${number}] `;
      for (const question of questions(explained.objects.services, recordedSources(slices))) {
        const { line, wrong } = await explainOne(explained, question, settings.scheduler);
        lines.push(`${label}${line}`);
        found.push(...wrong.map(text => `${label}${question.text}\n${text}`));
      }
    }
    assert.deepEqual(found, []);
    assert.equal(lines.join('\n'), readTraffic(folder, mode));
  });
}

async function explainOne(explained: ExplainedCase, question: Question<RecordedSource>, scheduler: string | undefined) {
  const explanation = await explained.ask(question);
  const { outcome } = explanation;
  assert.ok(outcome, question.text);
  const line = `${question.text} => ${describeAnswers(question, resultIn(question, outcome), scheduler)}`;
  return { line, wrong: [...kernelAlarms(explanation), ...verdictFault(explanation)] };
}

/** What the kernel says. All of it must be good on a node that only the proxy changes. */
function kernelAlarms(explanation: Explanation): readonly string[] {
  const isHere = explanation.outcome?.kind === 'elsewhere';
  return (
    explanation.steps
      .filter(({ topic, verdict }) => KERNEL_TOPICS.has(topic) && verdict !== 'good')
      // No program listens at a port that no Service has there.
      .filter(({ topic }) => !(isHere && topic === 'listeners'))
      .map(({ topic, verdict, text, details }) => [`${topic} ${verdict}: ${text}`, ...details].join('\n'))
  );
}

/** A connection works exactly if endpoints answer it. */
function verdictFault({ verdict, outcome, summary }: Explanation): readonly string[] {
  const isAnswered = outcome?.kind === 'answered' && outcome.lost.length === 0;
  return (verdict === 'works') === isAnswered ? [] : [`${verdict}: ${summary}`];
}
