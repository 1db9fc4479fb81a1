import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { describe, test } from 'node:test';
import type { EndpointSlice } from '../../src/api/index.ts';
import type { Explanation } from '../../src/explain/index.ts';
import { appendTo } from '../../src/lib/append-to.ts';
import { describeAnswers } from './answers.ts';
import { type ExplainedCase, withExplainedCase } from './explained-case.ts';
import { type Question, questions } from './matrix.ts';
import type { Mode } from './modes.ts';
import { caseFolders, readCase, readTraffic, VARIED_CASES } from './recorded-case.ts';
import { type RecordedSource, recordedSources, resultIn } from './recorded-network.ts';
import { caseSettings } from './settings.ts';
import type { StartOptions } from './start-proxy.ts';

const CONCURRENT_CASES = 3;

const KERNEL_TOPICS: ReadonlySet<string> = new Set(['sockets', 'kernel', 'connections', 'other rules', 'listeners']);

interface SuiteOptions extends StartOptions {
  readonly cases?: readonly string[];
}

/** Explains questions of recorded cases with what the kernel has. Nothing may raise a false alarm. */
export function explainedSuite(
  mode: Mode,
  name: string,
  { cases = VARIED_CASES, ...options }: SuiteOptions = {},
): void {
  describe(`explanations of a real kernel in ${name} mode`, { concurrency: CONCURRENT_CASES }, () => {
    for (const folder of caseFolders(mode).filter(each => cases.includes(basename(each)))) {
      test(`EXPLAIN-22 ${folder}: no false alarm`, () => explainCase(folder, mode, options));
    }
  });
}

async function explainCase(folder: string, mode: Mode, options: StartOptions): Promise<void> {
  const { configuration, steps } = await readCase(folder);
  const settings = caseSettings(configuration, mode);
  await withExplainedCase(settings, options, async explained => {
    const slices: EndpointSlice[] = [];
    const traffic = readTraffic(folder, mode).split('\n');
    const found: string[] = [];
    for (const [number, step] of steps.entries()) {
      await explained.apply(step);
      slices.push(...step.set.filter(object => object.kind === 'EndpointSlice'));
      const label = number === 0 ? '' : `[step ${number}] `;
      for (const question of sampled(questions(explained.objects.services, recordedSources(slices)))) {
        const { line, wrong } = await explainOne(explained, question, settings.scheduler);
        found.push(...wrong.map(text => `${label}${question.text}\n${text}`));
        assert.ok(traffic.includes(`${label}${line}`), `${label}${line} was not recorded`);
      }
    }
    assert.deepEqual(found, []);
  });
}

/**
 * One question for each address and port; the callers take turns. A question costs many reads of the kernel, and other
 * tests explain all questions without a kernel.
 */
function sampled(asked: readonly Question<RecordedSource>[]): readonly Question<RecordedSource>[] {
  const byDestination = new Map<string, Question<RecordedSource>[]>();
  for (const question of asked) appendTo(byDestination, question.text.replace(/ from .*/, ''), question);
  return [...byDestination.values()].flatMap((callers, i) => callers[i % callers.length] ?? []);
}

async function explainOne(explained: ExplainedCase, question: Question<RecordedSource>, scheduler: string | undefined) {
  const explanation = await askInTime(explained, question);
  const { outcome } = explanation;
  assert.ok(outcome, question.text);
  const line = `${question.text} => ${describeAnswers(question, resultIn(question, outcome), scheduler)}`;
  return { line, wrong: [...kernelAlarms(explanation), ...verdictFault(explanation)] };
}

const MAX_ATTEMPTS = 5;

/** On a busy machine a reading may stop because it takes too long. Then the operator asks again. */
async function askInTime(explained: ExplainedCase, question: Question<RecordedSource>): Promise<Explanation> {
  for (let attempt = 1; ; attempt++) {
    const explanation = await explained.ask(question);
    const isCut = explanation.steps.some(({ details }) => details.some(line => line.includes('took too long')));
    if (!isCut || attempt === MAX_ATTEMPTS) return explanation;
  }
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
